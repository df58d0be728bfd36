// unique_by_key: two columns, of equal and of very different widths; its arguments.
#include <functional>

#include "compaction_suite.cuh"
#include "elements.cuh"
#include "operations.hpp"
#include "preconditions.cuh"
#include "warp_compaction/oracle.hpp"
#include "warp_compaction/warp_compaction.cuh"

namespace warpath::warp_compaction::test {

namespace {

template <class K, class V, class Equal = SameKey>
struct UniqueByKey {
  using Rule = KeepFirstOfRun<K, V, Equal>;
  static constexpr std::size_t element_bytes = sizeof(K) + sizeof(V);
  struct Prepared {
    std::vector<K> keys;
    std::vector<V> values;
    Expected expected;
  };
  static std::string name() {
    return "UniqueByKey" + std::to_string(sizeof(K)) + "And" + std::to_string(sizeof(V)) + "Bytes";
  }

  static Prepared make(const Case& c) {
    Random random(c.seed);
    const auto keys =
        make_keys(c.distribution, c.n, SinglePassTuning<element_bytes>::Plain::tile_items, random);
    constexpr bool is_tagged = std::is_same_v<Equal, SameKey>;
    Prepared prepared;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint64_t tag = i % (1u << SameKey::tag_bits);
      prepared.keys.push_back(
          make_element<K>(is_tagged ? keys[i] << SameKey::tag_bits | tag : keys[i]));
      prepared.values.push_back(make_element<V>(i));
    }
    const auto pairs = oracle::unique_by_key(prepared.keys, prepared.values, Equal{});
    prepared.expected.columns = {column_of(pairs.first), column_of(pairs.second)};
    return prepared;
  }

  static Result run(Laboratory& laboratory, const Case& c, const Prepared& prepared) {
    const cudaStream_t stream = laboratory.stream(c);
    const Input<K> keys(prepared.keys, c.in_offset, stream);
    const Input<V> values(prepared.values, c.in_offset * 5 % 8, stream);
    Output<K> out_keys(c.n, c.out_offset, stream);
    Output<V> out_values(c.n, c.out_offset * 3 % 8, stream);
    DeviceCount kept(stream);
    unique_by_key(keys.span(), values.span(), out_keys.span(), out_values.span(), kept,
                  laboratory.workspace, stream, c.way.options, Equal{});
    return {{out_keys.image(), out_values.image()},
            kept.get(stream),
            -1,
            keys.is_intact() && values.is_intact()};
  }
};

using Types =
    testing::Types<UniqueByKey<std::uint32_t, std::uint32_t>,
                   UniqueByKey<std::uint64_t, std::uint32_t>, UniqueByKey<std::uint32_t, Element16>,
                   UniqueByKey<Element16, Element16>, UniqueByKey<Element16, std::uint8_t>,
                   UniqueByKey<std::uint8_t, std::uint8_t, std::equal_to<>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Types, CompactionTest, Types, OperationNames);

using Element = std::uint32_t;
constexpr std::int64_t n = 100;

class UniqueByKeyArguments : public PreconditionTest {
 protected:
  void call(DeviceSpan<const Element> keys, DeviceSpan<const Element> values,
            DeviceSpan<Element> out_keys, DeviceSpan<Element> out_values) {
    unique_by_key(keys, values, out_keys, out_values, kept_, workspace_, stream_);
  }
  /// Place number i for an argument; all are apart.
  [[nodiscard]] Element* place(int i) { return memory_.data() + 2 * n * i; }
  DeviceBuffer<Element> memory_{10 * n, stream_};
};

TEST_F(UniqueByKeyArguments, AValueForEachKey) {
  rejects({"values", "99", "100", "keys"}, [&] {
    call({place(0), n}, {place(1), n - 1}, {place(2), n}, {place(3), n});
  });
}

TEST_F(UniqueByKeyArguments, OutputsNeedRoomForAll) {
  rejects({"out_keys", "99", "100"}, [&] {
    call({place(0), n}, {place(1), n}, {place(2), n - 1}, {place(3), n});
  });
  rejects({"out_values", "99", "100"}, [&] {
    call({place(0), n}, {place(1), n}, {place(2), n}, {place(3), n - 1});
  });
}

TEST_F(UniqueByKeyArguments, OutputsAreApartFromInputsAndEachOther) {
  rejects({"out_keys overlaps keys"}, [&] {
    call({place(0), n}, {place(1), n}, {place(0) + n - 1, n}, {place(3), n});
  });
  rejects({"out_values overlaps values"}, [&] {
    call({place(0), n}, {place(1), n}, {place(2), n}, {place(1) + n - 1, n});
  });
  rejects({"out_values overlaps keys"}, [&] {
    call({place(0), n}, {place(1), n}, {place(2), n}, {place(0) + 1, n});
  });
  rejects({"out_keys overlaps values"}, [&] {
    call({place(0), n}, {place(1), n}, {place(1), n}, {place(3), n});
  });
  rejects({"out_values overlaps out_keys"}, [&] {
    call({place(0), n}, {place(1), n}, {place(2), n}, {place(2) + n - 1, n});
  });
}

TEST_F(UniqueByKeyArguments, InputsMayBeTheSame) {
  accepts([&] { call({place(0), n}, {place(0), n}, {place(2), n}, {place(3), n}); });
}

}  // namespace

testing::AssertionResult check_unique_by_key(Laboratory& laboratory, const Case& c) {
  return check<UniqueByKey<std::uint32_t, std::uint32_t>>(laboratory, c);
}

}  // namespace warpath::warp_compaction::test
