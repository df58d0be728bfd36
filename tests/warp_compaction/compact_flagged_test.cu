// compact_flagged: flags beside the elements; its arguments.
#include "compaction_suite.cuh"
#include "elements.cuh"
#include "operations.hpp"
#include "preconditions.cuh"
#include "warp_compaction/oracle.hpp"
#include "warp_compaction/warp_compaction.cuh"

namespace warpath::warp_compaction::test {

namespace {

template <class T, class Flag>
struct CompactFlagged {
  using Rule = detail::KeepFlagged<T, Flag>;
  struct Prepared {
    std::vector<T> items;
    std::vector<Flag> flags;
    Expected expected;
  };
  static std::string name() {
    return "CompactFlagged" + std::to_string(sizeof(T)) + "BytesBy" + std::to_string(sizeof(Flag));
  }

  static Prepared make(const Case& c) {
    Random random(c.seed);
    const auto kept = make_flags(c.distribution, c.n, run_length, random);
    Prepared prepared;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      prepared.items.push_back(make_element<T>(i));
      // Any bit makes a flag.
      prepared.flags.push_back(static_cast<Flag>(Flag{kept[i]} << random() % (8 * sizeof(Flag))));
    }
    prepared.expected.columns = {
        column_of(oracle::compact_flagged(prepared.items, prepared.flags))};
    return prepared;
  }

  static Result run(Laboratory& laboratory, const Case& c, const Prepared& prepared) {
    const cudaStream_t stream = laboratory.stream(c);
    const Input<T> in(prepared.items, c.in_offset, stream);
    const Input<Flag> flags(prepared.flags, c.in_offset * 5 % 8, stream);
    Output<T> out(c.n, c.out_offset, stream);
    DeviceCount kept(stream);
    compact_flagged(in.span(), flags.span(), out.span(), kept, laboratory.workspace, stream,
                    c.way.options);
    return {{out.image()}, kept.get(stream), -1, in.is_intact() && flags.is_intact()};
  }
};

using CompactFlaggedTypes = testing::Types<CompactFlagged<std::uint32_t, std::uint8_t>,
                                           CompactFlagged<std::uint64_t, std::uint8_t>>;
INSTANTIATE_TYPED_TEST_SUITE_P(CompactFlagged, CompactionTest, CompactFlaggedTypes, OperationNames);

using Element = std::uint32_t;

class CompactFlaggedArguments : public PreconditionTest {
 protected:
  CompactFlaggedArguments() { write_zeros(memory_); }
  void call(DeviceSpan<const Element> in, DeviceSpan<const Element> flags,
            DeviceSpan<Element> out) {
    compact_flagged(in, flags, out, kept_, workspace_, stream_);
  }
  DeviceBuffer<Element> memory_{5 * n, stream_};
  Element* const data_ = memory_.data();
};

TEST_F(CompactFlaggedArguments, AFlagForEachElement) {
  rejects({"flags", "99", "100"}, [&] {
    call({data_, n}, {data_ + n, n - 1}, {data_ + 2 * n, n});
  });
  rejects({"flags", "101", "100"}, [&] {
    call({data_, n}, {data_ + n, n + 1}, {data_ + 3 * n, n});
  });
}

TEST_F(CompactFlaggedArguments, OutputNeedsRoomForAll) {
  rejects({"out", "99", "100"}, [&] { call({data_, n}, {data_ + n, n}, {data_ + 2 * n, n - 1}); });
}

TEST_F(CompactFlaggedArguments, OutputIsApartFromInputs) {
  rejects({"out overlaps in"}, [&] { call({data_, n}, {data_ + 2 * n, n}, {data_ + n - 1, n}); });
  rejects({"out overlaps flags"}, [&] {
    call({data_, n}, {data_ + 2 * n, n}, {data_ + n + 1, n});
  });
}

TEST_F(CompactFlaggedArguments, CountIsApartFromAll) {
  rejects({"kept overlaps in"}, [&] { call(on_kept<Element>(n), {data_, n}, {data_ + n, n}); });
  rejects({"kept overlaps flags"}, [&] { call({data_, n}, on_kept<Element>(n), {data_ + n, n}); });
  rejects({"out overlaps kept"}, [&] { call({data_, n}, {data_ + n, n}, on_kept<Element>(n)); });
}

TEST_F(CompactFlaggedArguments, CountsAreNotNegativeAndMemoryIsThere) {
  rejects({"in has -1"}, [&] { call({data_, -1}, {data_ + n, n}, {data_ + 2 * n, n}); });
  rejects({"flags has -1"}, [&] { call({data_, n}, {data_ + n, -1}, {data_ + 2 * n, n}); });
  rejects({"out has -1"}, [&] { call({data_, n}, {data_ + n, n}, {data_ + 2 * n, -1}); });
  rejects({"flags is null"}, [&] { call({data_, n}, {nullptr, n}, {data_ + 2 * n, n}); });
}

TEST_F(CompactFlaggedArguments, OptionsAreWhatTheTableHas) {
  rejects({"options.variant is 3"}, [&] {
    compact_flagged(DeviceSpan<Element>{data_, n}, DeviceSpan<Element>{data_ + n, n},
                    DeviceSpan<Element>{data_ + 2 * n, n}, kept_, workspace_, stream_,
                    {.variant = static_cast<Variant>(3)});
  });
}

TEST_F(CompactFlaggedArguments, InputsMayBeTheSame) {
  accepts([&] { call({data_, n}, {data_, n}, {data_ + n, n}); });
}

}  // namespace

testing::AssertionResult check_compact_flagged(Laboratory& laboratory, const Case& c) {
  return check<CompactFlagged<std::uint64_t, std::uint8_t>>(laboratory, c);
}

}  // namespace warpath::warp_compaction::test
