// The Hopper pipeline in one block with a small ring: what its warps hold and wait for decides
// soon.
#include <gtest/gtest.h>

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
         workspace.look_back(nullptr, static_cast<std::int64_t>(is_kept.size())), kept.data());
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

}  // namespace
}  // namespace warpath::warp_compaction::test
