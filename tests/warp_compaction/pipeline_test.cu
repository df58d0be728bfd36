// The Hopper pipeline in one block with a small ring: what its warps hold and wait for decides
// soon.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "../device_vectors.cuh"
#include "../guarded.cuh"
#include "core/buffer.cuh"
#include "core/launch.cuh"
#include "warp_compaction/warp_compaction.cuh"

namespace warpath::warp_compaction::test {
namespace {

struct IsPositive {
  __device__ bool operator()(int value) const { return value > 0; }
};
using Rule = detail::KeepIf<int, IsPositive>;
/// Tiles of 1024 items, and a ring that holds no more.
using Shape = detail::PipelineShape<1, 8, 1, 8, 2, 1024>;

/// is_kept[t]: whether all items of tile t are kept, or none.
void expect_kept(const std::vector<bool>& is_kept) {
  if (!can_run(detail::pipeline_kernel<Rule, Shape>,
               {.hopper = true, .shared_bytes = sizeof(detail::PipelineStorage<Rule, Shape>)})) {
    GTEST_SKIP() << "the pipeline needs compute capability 9.0";
  }
  std::vector<int> values;
  std::vector<int> expected;
  for (const bool is_tile_kept : is_kept) {
    for (int i = 0; i < Shape::tile_items; ++i) {
      const int number = static_cast<int>(values.size()) + 1;
      values.push_back(is_tile_kept ? number : -number);
      if (is_tile_kept) expected.push_back(number);
    }
  }
  const DeviceBuffer<int> in = on_device(values);
  Guarded<int> out(in.count());
  DeviceCount kept;
  Workspace workspace;
  launch({1, Shape::threads, sizeof(detail::PipelineStorage<Rule, Shape>), nullptr},
         detail::pipeline_kernel<Rule, Shape>, Rule{},
         detail::InputOf<Rule>{in.data(), nullptr, in.count()},
         detail::OutputOf<Rule>{out.span().data, nullptr, in.count()},
         workspace.look_back(nullptr, static_cast<std::int64_t>(is_kept.size())), kept.data(), 0);
  ASSERT_EQ(kept.get(nullptr), static_cast<std::int64_t>(expected.size()));
  EXPECT_TRUE(out.get(kept.get(nullptr)) == expected);
}

// Tiles that keep nothing take all slots before any of the ring. Then a compactor that reuses a
// slot while another still reads it would spoil what that one believes to be free of the ring.
TEST(Pipeline, SlotsAreReusedWhenAllHaveReadThem) {
  for (int more = 0; more < 3; ++more) {
    std::vector<bool> is_kept(Shape::slots + more, false);
    is_kept.insert(is_kept.end(), 2 * Shape::slots, true);
    expect_kept(is_kept);
  }
}

/// The same rule; *seen counts the items that it has decided on.
struct CountedIsPositive {
  unsigned* seen;
  __device__ bool operator()(int value) const {
    atomicAdd(seen, 1u);
    return value > 0;
  }
};
using CountedRule = detail::KeepIf<int, CountedIsPositive>;

__device__ void wait_until(unsigned* counter, unsigned least) {
  while (atomicAdd(counter, 0u) < least) __nanosleep(20);
}

/// Two blocks that run at the same time. Block 0 draws the first tile, which keeps nothing, and
/// says so only once block 1, a pipeline, has decided on `enough` items: until then it copies none.
__global__ void late_first_tile_pipeline_kernel(CountedRule rule, detail::InputOf<CountedRule> in,
                                                detail::OutputOf<CountedRule> out,
                                                LookBack look_back, std::int64_t* kept,
                                                unsigned* is_drawn, unsigned enough) {
  unsigned* const seen = rule.predicate.seen;
  if (blockIdx.x == 0) {
    if (warp_index() != 0) return;
    const TileTicket ticket = look_back.draw();
    look_back.clear(ticket);
    if (lane_index() == 0) {
      atomicExch(is_drawn, 1u);
      wait_until(seen, enough);
      for (int i = 0; i < 1000; ++i) __nanosleep(20);  // what may be written is written now
      look_back.publish(ticket, 0);
      wait_until(seen, static_cast<unsigned>(in.count) - Shape::tile_items);
    }
    __syncwarp();
    static_cast<void>(look_back.draw());  // the last block to draw none ends the call
    return;
  }
  if (threadIdx.x == 0) wait_until(is_drawn, 1);
  __syncthreads();  // the first tile is drawn
  detail::Pipeline<CountedRule, Shape> pipeline(in, out, look_back, 0);
  pipeline.init();
  pipeline.run(rule, kept);
}

// Ten tiles fit into the ring, and with the eleventh it would be passed by one warp's items: the
// compactors wait for the copiers, or they would write over the first tile.
TEST(Pipeline, RingIsNotWrittenOverBeforeItIsCopied) {
  constexpr int tile_kept = 96;
  constexpr int tiles = 40;
  constexpr auto bytes = sizeof(detail::PipelineStorage<CountedRule, Shape>);
  if (!can_run(late_first_tile_pipeline_kernel, {.hopper = true, .shared_bytes = bytes})) {
    GTEST_SKIP() << "the pipeline needs compute capability 9.0";
  }
  std::vector<int> values(tiles * Shape::tile_items, -1);
  std::vector<int> expected;
  for (int tile = 1; tile < tiles; ++tile) {
    for (int i = 0; i < tile_kept; ++i) {
      const int place = tile * Shape::tile_items + i;
      values[static_cast<std::size_t>(place)] = place;
      expected.push_back(place);
    }
  }
  const DeviceBuffer<int> in = on_device(values);
  Guarded<int> out(in.count());
  DeviceBuffer<unsigned> counters = on_device(std::vector<unsigned>(2));
  DeviceCount kept;
  Workspace workspace;
  CountedRule rule{CountedIsPositive{counters.data()}};
  detail::InputOf<CountedRule> input{in.data(), nullptr, in.count()};
  detail::OutputOf<CountedRule> output{out.span().data, nullptr, in.count()};
  LookBack look_back = workspace.look_back(nullptr, tiles);
  std::int64_t* count = kept.data();
  unsigned* is_drawn = counters.data() + 1;
  unsigned enough = 11 * Shape::tile_items;
  void* arguments[] = {&rule, &input, &output, &look_back, &count, &is_drawn, &enough};
  WARPATH_CUDA_CHECK(cudaLaunchCooperativeKernel(late_first_tile_pipeline_kernel, dim3(2),
                                                 dim3(Shape::threads), arguments, bytes, nullptr));
  ASSERT_EQ(kept.get(nullptr), static_cast<std::int64_t>(expected.size()));
  EXPECT_TRUE(out.get(kept.get(nullptr)) == expected);
}

/// Where a column of T lies that begins `bytes` after a cache line. It is not read.
template <class T>
const T* column_after_line(int bytes) {
  return reinterpret_cast<const T*>(std::uintptr_t{1 << 20} + static_cast<std::uintptr_t>(bytes));
}
template <int Size>
struct Bytes {
  unsigned char bytes[Size];
};
struct Any {
  template <class T>
  __host__ __device__ bool operator()(const T&) const {
    return true;
  }
};
template <class T>
int items_before(int bytes) {
  return detail::items_before_lines<detail::KeepIf<T, Any>>({column_after_line<T>(bytes), {}, 0});
}
template <class T, class U>
int items_before(int item_bytes, int companion_bytes) {
  return detail::items_before_lines<detail::KeepFirstOfRun<T, U, std::equal_to<>>>(
      {column_after_line<T>(item_bytes), column_after_line<U>(companion_bytes), 0});
}

TEST(Pipeline, TilesBeginWhereCacheLinesDo) {
  EXPECT_EQ(items_before<double>(0), 0);
  EXPECT_EQ(items_before<double>(8), 15);
  EXPECT_EQ(items_before<int>(124), 1);
  EXPECT_EQ(items_before<unsigned char>(1), 127);
  EXPECT_EQ(items_before<Bytes<12>>(12), 31);
  EXPECT_EQ((items_before<float, double>(4, 8)), 31);
}

TEST(Pipeline, TilesBeginALineOfBulkCopiesWhereNoCacheLineIsNear) {
  EXPECT_EQ(items_before<Bytes<63>>(63), 15);
  EXPECT_EQ((items_before<int, int>(0, 16)), 0);
}

TEST(Pipeline, NeedsAPlaceWhereAllColumnsBeginALine) {
  EXPECT_EQ(items_before<Bytes<12>>(1), -1);
  EXPECT_EQ(items_before<Bytes<16>>(8), -1);
  EXPECT_EQ((items_before<int, int>(120, 124)), -1);
}

// The halo of the first whole tile is a line, and must not begin before the input does.
TEST(Pipeline, FirstTileHasRoomForAHalo) {
  EXPECT_EQ((items_before<double, detail::NoCompanion>(120, 0)), 17);
  EXPECT_EQ((items_before<Bytes<12>, detail::NoCompanion>(116, 0)), 33);
}

}  // namespace
}  // namespace warpath::warp_compaction::test
