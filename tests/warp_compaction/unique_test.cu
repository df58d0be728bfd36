// unique: with equality of all bits, and with one under which equal elements differ; its arguments.
#include <cmath>
#include <functional>
#include <limits>

#include "compaction_suite.cuh"
#include "elements.cuh"
#include "operations.hpp"
#include "preconditions.cuh"
#include "warp_compaction/oracle.hpp"
#include "warp_compaction/warp_compaction.cuh"

namespace warpath::warp_compaction::test {

namespace {

template <class T, class Equal>
struct Unique {
  using Rule = detail::KeepFirstOfRun<T, detail::NoCompanion, Equal>;
  struct Prepared {
    std::vector<T> items;
    Expected expected;
  };
  static constexpr bool is_tagged = std::is_same_v<Equal, SameKey>;
  static std::string name() {
    return "Unique" + std::to_string(sizeof(T)) + "Bytes" + (is_tagged ? "SameKey" : "Equal");
  }

  static Prepared make(const Case& c) {
    Random random(c.seed);
    const auto keys = make_keys(c.distribution, c.n, run_length, random);
    Prepared prepared;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint64_t tag = i % (1u << SameKey::tag_bits);
      prepared.items.push_back(
          make_element<T>(is_tagged ? keys[i] << SameKey::tag_bits | tag : keys[i]));
    }
    prepared.expected.columns = {column_of(oracle::unique(prepared.items, Equal{}))};
    return prepared;
  }

  static Result run(Laboratory& laboratory, const Case& c, const Prepared& prepared) {
    const cudaStream_t stream = laboratory.stream(c);
    const Input<T> in(prepared.items, c.in_offset, stream);
    Output<T> out(c.n, c.out_offset, stream);
    DeviceCount kept(stream);
    unique(in.span(), out.span(), kept, laboratory.workspace, stream, Equal{}, c.way.options);
    return {{out.image()}, kept.get(stream), -1, in.is_intact()};
  }
};

using UniqueTypes = testing::Types<Unique<std::uint32_t, SameKey>, Unique<std::uint64_t, SameKey>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Unique, CompactionTest, UniqueTypes, OperationNames);

// By ==, -0.0 and 0.0 tie, and NaN equals nothing, not even itself.
TEST(Unique, FloatsAreEqualAsTheLanguageSays) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> in = {0.0f, -0.0f, 1.0f, nan, nan, nan, -0.0f, 0.0f};
  const std::vector<float> expected = {0.0f, 1.0f, nan, nan, nan, -0.0f};
  Laboratory laboratory;
  const cudaStream_t stream = laboratory.own_stream;
  for (const Way& way :
       {single_pass_by(Path::small), single_pass_by(Path::pipeline), two_pass_ways[0]}) {
    const Input<float> input(in, 0, stream);
    Output<float> out(static_cast<std::int64_t>(in.size()), 0, stream);
    DeviceCount kept(stream);
    unique(input.span(), out.span(), kept, laboratory.workspace, stream, way.options);
    const Result result{{out.image()}, kept.get(stream), -1, input.is_intact()};
    EXPECT_TRUE(judge(result, {{column_of(expected)}})) << way.name;
  }
}

using Element = std::uint32_t;

class UniqueArguments : public PreconditionTest {
 protected:
  UniqueArguments() { write_zeros(memory_); }
  void call(DeviceSpan<const Element> in, DeviceSpan<Element> out) {
    unique(in, out, kept_, workspace_, stream_);
  }
  DeviceBuffer<Element> memory_{2 * n, stream_};
  Element* const data_ = memory_.data();
};

TEST_F(UniqueArguments, OutputNeedsRoomForAll) {
  rejects({"out", "99", "100"}, [&] { call({data_, n}, {data_ + n, n - 1}); });
}

TEST_F(UniqueArguments, OutputIsApartFromInput) {
  rejects({"out overlaps in"}, [&] { call({data_, n}, {data_, n}); });
  rejects({"out overlaps in"}, [&] { call({data_ + n - 1, n}, {data_, n}); });
  accepts([&] { call({data_, n}, {data_ + n, n}); });
}

TEST_F(UniqueArguments, CountIsApartFromBoth) {
  rejects({"kept overlaps in"}, [&] { call(on_kept<Element>(n), {data_, n}); });
  rejects({"out overlaps kept"}, [&] { call({data_, n}, on_kept<Element>(n)); });
}

TEST_F(UniqueArguments, CountsAreNotNegativeAndMemoryIsThere) {
  rejects({"in has -1"}, [&] { call({data_, -1}, {data_ + n, n}); });
  rejects({"out has -1"}, [&] { call({data_, 0}, {data_ + n, -1}); });
  rejects({"in is null"}, [&] { call({nullptr, n}, {data_ + n, n}); });
}

TEST_F(UniqueArguments, OptionsAreWhatTheTableHas) {
  const Options options{.path = static_cast<Path>(-1)};
  rejects({"options.path is -1"}, [&] {
    unique(DeviceSpan<Element>{data_, n}, DeviceSpan<Element>{data_ + n, n}, kept_, workspace_,
           stream_, options);
  });
}

}  // namespace

testing::AssertionResult check_unique(Laboratory& laboratory, const Case& c) {
  return check<Unique<std::uint32_t, SameKey>>(laboratory, c);
}

}  // namespace warpath::warp_compaction::test
