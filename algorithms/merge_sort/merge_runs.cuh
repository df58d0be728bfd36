// A merge pass: each block writes one tile of the output, from the pieces of the runs that a
// partition kernel has found.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/launch.cuh"
#include "core/warp.cuh"
#include "merge_sort/block_merge.cuh"
#include "merge_sort/partition.cuh"
#include "merge_sort/tuning.hpp"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::detail {

template <class Item, class Shape>
struct MergeStorage {
  SharedTile<Item, Shape> tile;
  int begins[warp_threads + 1];        ///< where the pieces begin in the tile, and where they end
  std::int64_t sources[warp_threads];  ///< item j of the tile, of piece i, is item sources[i] + j
};

/// Finds the pieces that tile number `tile` of `count` items is merged from: one warp, a lane a
/// run. Were the comparator no order, pieces could overlap: then they are cut off where the tile
/// ends.
__device__ __forceinline__ void warp_find_pieces(const RunGroups& runs, const Positions& positions,
                                                 std::int64_t tile, std::int64_t tile_begin,
                                                 int count, int* begins, std::int64_t* sources) {
  const int lane = lane_index();
  const std::int64_t group = runs.group_of(tile_begin);
  const std::int64_t run = group + lane * runs.run_items;
  const bool is_last = tile_begin + count == group + runs.group_items(group);
  std::int64_t from = 0;
  std::int64_t piece = 0;
  if (lane < runs.ways) {
    from = positions.get(runs.ways * tile + lane);
    const std::int64_t to =
        is_last ? runs.run_count(run) : positions.get(runs.ways * (tile + 1) + lane);
    piece = min(max(std::int64_t{0}, to - from), static_cast<std::int64_t>(count));
  }
  const int before = warp_inclusive_sum(static_cast<int>(piece)) - static_cast<int>(piece);
  if (lane < runs.ways) {
    begins[lane] = min(before, count);
    sources[lane] = run + from - before;
  }
  if (lane == 0) begins[runs.ways] = count;
}

/// Merges the runs of each group of `in` to one, in `out`: one block a tile, whose size divides
/// that of the runs.
template <class Shape, LowLevelMerge low_level, class Columns, class Less>
__global__ void __launch_bounds__(Shape::threads)
    merge_runs_kernel(Columns in, Columns out, RunGroups runs, Positions positions, Less less) {
  auto& shared = dynamic_shared<MergeStorage<typename Columns::Item, Shape>>();
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * Shape::tile_items;
  const int count =
      static_cast<int>(min(static_cast<std::int64_t>(Shape::tile_items), runs.n - begin));
  if (warp_index() == 0) {
    warp_find_pieces(runs, positions, blockIdx.x, begin, count, shared.begins, shared.sources);
  }
  __syncthreads();  // the pieces are known

  const AnyRuns pieces{shared.begins, 1, runs.ways, count};
#pragma unroll
  for (int i = 0; i < Shape::items; ++i) {
    const int own = i * Shape::threads + thread;
    if (own < count) shared.tile[own] = in.load(shared.sources[pieces.run_of(own)] + own);
  }
  __syncthreads();  // the pieces are there
#pragma unroll 1
  for (int stride = 1; stride < runs.ways; stride *= 2) {
    block_merge<low_level>(shared.tile, AnyRuns{shared.begins, stride, runs.ways / stride, count},
                           less);
  }
#pragma unroll
  for (int i = 0; i < Shape::items; ++i) {
    const int own = i * Shape::threads + thread;
    if (own < count) out.store(begin + own, shared.tile[own]);
  }
}

}  // namespace warpath::merge_sort::detail
