// compact_if: its results; its arguments; what a call is to the host.
#include <chrono>
#include <future>
#include <utility>

#include "../test_size.hpp"
#include "compaction_suite.cuh"
#include "elements.cuh"
#include "operations.hpp"
#include "preconditions.cuh"
#include "warp_compaction/oracle.hpp"
#include "warp_compaction/warp_compaction.cuh"

namespace warpath::warp_compaction::test {

namespace {

template <class T>
struct CompactIf {
  using Rule = detail::KeepIf<T, IsOdd>;
  struct Prepared {
    std::vector<T> items;
    Expected expected;
  };
  static std::string name() { return "CompactIf" + std::to_string(sizeof(T)) + "Bytes"; }

  static Prepared make(const Case& c) {
    Random random(c.seed);
    const auto flags = make_flags(c.distribution, c.n, run_length, random);
    Prepared prepared;
    for (std::size_t i = 0; i < flags.size(); ++i) {
      prepared.items.push_back(make_element<T>(i * 2 + flags[i]));
    }
    prepared.expected.columns = {column_of(oracle::compact_if(prepared.items, IsOdd{}))};
    return prepared;
  }

  static Result run(Laboratory& laboratory, const Case& c, const Prepared& prepared) {
    const cudaStream_t stream = laboratory.stream(c);
    const Input<T> in(prepared.items, c.in_offset, stream);
    Output<T> out(c.n, c.out_offset, stream);
    DeviceCount kept(stream);
    compact_if(in.span(), out.span(), IsOdd{}, kept, laboratory.workspace, stream, c.way.options);
    return {{out.image()}, kept.get(stream), -1, in.is_intact()};
  }
};

using CompactIfTypes = testing::Types<CompactIf<std::uint32_t>, CompactIf<Element12>>;
INSTANTIATE_TYPED_TEST_SUITE_P(CompactIf, CompactionTest, CompactIfTypes, OperationNames);

using Element = std::uint32_t;

class CompactIfArguments : public PreconditionTest {
 protected:
  CompactIfArguments() { write_zeros(memory_); }
  void call(DeviceSpan<const Element> in, DeviceSpan<Element> out) {
    compact_if(in, out, IsOdd{}, kept_, workspace_, stream_);
  }
  DeviceBuffer<Element> memory_{4 * n, stream_};
  Element* const data_ = memory_.data();
};

TEST_F(CompactIfArguments, OutputNeedsRoomForAll) {
  rejects({"out", "99", "100"}, [&] { call({data_, n}, {data_ + n, n - 1}); });
  rejects({"out", "0", "1"}, [&] { call({data_, 1}, {nullptr, 0}); });
}

TEST_F(CompactIfArguments, OutputIsApartFromInput) {
  rejects({"out overlaps in"}, [&] { call({data_, n}, {data_, n}); });
  rejects({"out overlaps in"}, [&] { call({data_, n}, {data_ + n - 1, n}); });
  rejects({"out overlaps in"}, [&] { call({data_ + n, n}, {data_ + 1, n}); });
  rejects({"out overlaps in"}, [&] { call({data_ + n, 1}, {data_, 2 * n}); });
}

TEST_F(CompactIfArguments, CountIsApartFromBoth) {
  rejects({"kept overlaps in"}, [&] { call(on_kept<Element>(n), {data_, n}); });
  rejects({"out overlaps kept"}, [&] { call({data_, n}, on_kept<Element>(n)); });
}

TEST_F(CompactIfArguments, NeighboursAreApart) {
  accepts([&] { call({data_, n}, {data_ + n, n}); });
  accepts([&] { call({data_ + n, n}, {data_, n}); });
  accepts([&] { call({data_, 0}, {data_, 0}); });
  accepts([&] { call({nullptr, 0}, {nullptr, 0}); });
}

TEST_F(CompactIfArguments, CountsAreNotNegativeAndMemoryIsThere) {
  rejects({"in has -1"}, [&] { call({data_, -1}, {data_ + n, n}); });
  rejects({"out has -5"}, [&] { call({data_, 0}, {data_ + n, -5}); });
  rejects({"in is null", "100"}, [&] { call({nullptr, n}, {data_ + n, n}); });
  rejects({"out is null", "100"}, [&] { call({data_, n}, {nullptr, n}); });
}

TEST_F(CompactIfArguments, OptionsAreWhatTheTableHas) {
  const auto call_with = [&](const Options& options) {
    compact_if(DeviceSpan<Element>{data_, n}, DeviceSpan<Element>{data_ + n, n}, IsOdd{}, kept_,
               workspace_, stream_, options);
  };
  rejects({"options.variant is 3", "two_pass_copy, two_pass_recount, single_pass"},
          [&] { call_with({.variant = static_cast<Variant>(3)}); });
  rejects({"options.variant is -1"}, [&] { call_with({.variant = static_cast<Variant>(-1)}); });
  rejects({"options.path is 5", "automatic, small, medium, plain, pipeline"},
          [&] { call_with({.path = static_cast<Path>(5)}); });
  // Also where it would not be looked at.
  rejects({"options.path is 7"},
          [&] { call_with({.variant = Variant::two_pass_copy, .path = static_cast<Path>(7)}); });
}

// A gate in the stream stays shut until the call has returned. If the call waited for the stream,
// the gate would open by itself, too late.
TEST(CompactIf, DoesNotWaitForTheStream) {
#ifdef SIMT_EMULATION
  // Else a stream of the emulator is done whenever a call returns.
  const bool was_lazy = std::exchange(simt::options().lazy, true);
#endif
  struct Gate {
    std::promise<void> opener;
    bool was_opened = false;
  };
  const auto pass = [](void* data) {
    auto& gate = *static_cast<Gate*>(data);
    gate.was_opened =
        gate.opener.get_future().wait_for(std::chrono::seconds(5)) == std::future_status::ready;
  };
  constexpr std::int64_t items = 100;
  Stream stream;
  Workspace workspace;
  DeviceBuffer<Element> in(items, stream);
  DeviceBuffer<Element> out(items, stream);
  DeviceCount kept(stream);
  WARPATH_CUDA_CHECK(cudaMemsetAsync(in.data(), 0xFF, items * sizeof(Element), stream));
  const auto call = [&](const Way& way) {
    compact_if(in.span(), out.span(), IsOdd{}, kept, workspace, stream, way.options);
  };
  std::vector<Way> ways(single_pass_ways.begin(), single_pass_ways.end());
  ways.insert(ways.end(), two_pass_ways.begin(), two_pass_ways.end());
  for (const Way& way : ways) {
    call(way);  // the first call of a kernel may load it, which may wait
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    Gate gate;
    WARPATH_CUDA_CHECK(cudaLaunchHostFunc(stream, pass, &gate));
    call(way);
    gate.opener.set_value();
    EXPECT_EQ(kept.get(stream), items);
    EXPECT_TRUE(gate.was_opened) << way.name;
  }
#ifdef SIMT_EMULATION
  simt::options().lazy = was_lazy;
#endif
}

// Sizes at which `automatic` takes each of the kernels. They are more than a thousand tiles, so
// that a look back goes over several rows of 32.
TEST(CompactIf, AutomaticPaths) {
  if (is_small()) GTEST_SKIP() << "WARPATH_TEST_SIZE=small";
  using Tuning = detail::TuningOf<CompactIf<Element12>::Rule>;
  Laboratory laboratory;
  const Way way = single_pass_by(Path::automatic);
  std::uint64_t seed = 20260702;
  for (const std::int64_t bytes :
       {Tuning::small_bytes, Tuning::medium_bytes, Tuning::pipeline_bytes}) {
    const auto items = bytes / static_cast<std::int64_t>(sizeof(Element12));
    for (const std::int64_t count : {items - 1, items + 1}) {
      EXPECT_TRUE(
          check<CompactIf<Element12>>(laboratory, {way, count, Distribution::uniform, seed++}));
    }
  }
}

// What the header promises beside input and output.
TEST(CompactIf, ExtraMemory) {
  Stream stream;
  constexpr std::int64_t items = 300'001;
  DeviceBuffer<Element> in(items, stream);
  DeviceBuffer<Element> out(items, stream);
  DeviceCount kept(stream);
  WARPATH_CUDA_CHECK(cudaMemsetAsync(in.data(), 0, items * sizeof(Element), stream));
  const auto extra_bytes = [&](const Way& way) {
    Workspace workspace;
    compact_if(in.span(), out.span(), IsOdd{}, kept, workspace, stream, way.options);
    EXPECT_EQ(kept.get(stream), 0);
    return workspace.bytes();
  };
  for (const Way& way : single_pass_ways) {
    const std::int64_t tile = tile_of<CompactIf<Element>::Rule>(way);
    const std::int64_t tiles = (items + tile - 1) / tile;
    EXPECT_LE(extra_bytes(way), 16 * tiles + 4096) << way.name;
    EXPECT_LE(extra_bytes(way), 9 * tiles + 2048) << way.name;
  }
  constexpr std::int64_t counts = 16 * 1024;
  constexpr std::int64_t rounding = 256;
  constexpr std::int64_t copy = items * static_cast<std::int64_t>(sizeof(Element));
  for (const Way& way : two_pass_ways) {
    const bool copies = way.options.variant == Variant::two_pass_copy;
    EXPECT_LE(extra_bytes(way), counts + (copies ? copy + rounding : 0)) << way.name;
  }
}

#ifdef SIMT_EMULATION
// A device without room for the scratch memory: an exception, no leak, and a workspace that still
// works.
TEST(CompactIf, FailedAllocationsLeakNothing) {
  constexpr std::int64_t items = 50'000;
  Laboratory laboratory;
  const std::size_t used_at_first = used_device_bytes();
  {
    const cudaStream_t stream = laboratory.own_stream;
    DeviceBuffer<Element> in(items, stream);
    DeviceBuffer<Element> out(items, stream);
    DeviceCount kept(stream);
    WARPATH_CUDA_CHECK(cudaMemsetAsync(in.data(), 0xFF, items * sizeof(Element), stream));
    const std::size_t used = used_device_bytes();
    const std::size_t room = simt::options().device_memory;
    for (const Way& way : {two_pass_ways[0], two_pass_ways[2], single_pass_by(Path::small)}) {
      const auto call = [&] {
        compact_if(in.span(), out.span(), IsOdd{}, kept, laboratory.workspace, stream, way.options);
      };
      laboratory.workspace = {};
      WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
      simt::options().device_memory = used + 100;
      EXPECT_THROW(call(), CudaError) << way.name;
      EXPECT_EQ(used_device_bytes(), used) << way.name;
      EXPECT_EQ(laboratory.workspace.bytes(), 0) << way.name;
      simt::options().device_memory = room;
      call();
      EXPECT_EQ(kept.get(stream), items) << way.name;
    }
    laboratory.workspace = {};
  }
  EXPECT_EQ(used_device_bytes(), used_at_first);
}
#endif

// No operation leaves memory allocated.
TEST(CompactIf, CallsLeakNothing) {
  const std::size_t used = used_device_bytes();
  {
    Laboratory laboratory;
    for (const Way& way :
         {single_pass_by(Path::small), single_pass_by(Path::pipeline), two_pass_ways[0]}) {
      EXPECT_TRUE(check_compact_if(laboratory, {way, 20'000, Distribution::uniform, 20260705}));
    }
  }
  EXPECT_EQ(used_device_bytes(), used);
}

}  // namespace

testing::AssertionResult check_compact_if(Laboratory& laboratory, const Case& c) {
  return check<CompactIf<std::uint32_t>>(laboratory, c);
}

}  // namespace warpath::warp_compaction::test
