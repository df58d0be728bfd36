// A merge pass: each block writes one tile of the output, from the pieces of the runs that a
// partition kernel has found.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/launch.cuh"
#include "core/warp.cuh"
#include "merge_sort/block_merge.cuh"
#include "merge_sort/items.cuh"
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
                                                 std::int64_t number, const OutputTile& tile,
                                                 int* begins, std::int64_t* sources) {
  const int lane = lane_index();
  const std::int64_t run = tile.group + lane * runs.run_items;
  std::int64_t from = 0;
  std::int64_t piece = 0;
  if (lane < runs.ways) {
    from = positions.get(runs.ways * number + lane);
    const std::int64_t to =
        tile.is_last ? runs.run_count(run) : positions.get(runs.ways * (number + 1) + lane);
    piece = min(max(std::int64_t{0}, to - from), static_cast<std::int64_t>(tile.count));
  }
  const int before = warp_inclusive_sum(static_cast<int>(piece)) - static_cast<int>(piece);
  if (lane < runs.ways) {
    begins[lane] = min(before, tile.count);
    sources[lane] = run + from - before;
  }
  if (lane == 0) begins[runs.ways] = tile.count;
}

/// Loads items begin to end - 1 of a tile. One full warp; many loads are under way at once.
template <class Item, class Shape, class Columns>
__device__ __forceinline__ void warp_load_pieces(SharedTile<Item, Shape>& tile, const Columns& in,
                                                 const int* begins, const std::int64_t* sources,
                                                 int begin, int end) {
  constexpr int loads = sizeof(Item) <= 8 ? 8 : 4;
  int piece = 0;
  while (begin < end) {
    while (begins[piece + 1] <= begin) ++piece;
    const int piece_end = min(begins[piece + 1], end);
    const std::int64_t source = sources[piece];
    for (int first = begin + lane_index(); first < piece_end; first += loads * warp_threads) {
      Item items[loads];
#pragma unroll
      for (int i = 0; i < loads; ++i) {
        const int own = first + i * warp_threads;
        if (own < piece_end) items[i] = in.load(source + own);
      }
#pragma unroll
      for (int i = 0; i < loads; ++i) {
        const int own = first + i * warp_threads;
        if (own < piece_end) tile[own] = items[i];
      }
    }
    begin = piece_end;
  }
}

/// Merges the runs of each group of `in` to one, in `out`: one block a tile.
template <class Shape, LowLevelMerge low_level, class Columns, class Less>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    merge_runs_kernel(Columns in, Columns out, RunGroups runs, Positions positions, Less less,
                      Condition condition) {
  if (!condition.holds()) return;
  auto& shared = dynamic_shared<MergeStorage<typename Columns::Item, Shape>>();
  const int thread = static_cast<int>(threadIdx.x);
  const OutputTile tile = runs.tile(blockIdx.x);
  if (warp_index() == 0) {
    warp_find_pieces(runs, positions, blockIdx.x, tile, shared.begins, shared.sources);
  }
  __syncthreads();  // the pieces are known

  const int share = divide_up(tile.count, Shape::threads / warp_threads);
  warp_load_pieces(shared.tile, in, shared.begins, shared.sources, warp_index() * share,
                   min((warp_index() + 1) * share, tile.count));
  block_fill_end(shared.tile, tile.count, in.load(tile.group));
  __syncthreads();  // the pieces are there
#pragma unroll 1
  for (int stride = 1; stride < runs.ways; stride *= 2) {
    block_merge<low_level>(shared.tile,
                           AnyRuns{shared.begins, stride, runs.ways / stride, tile.count}, less);
  }
#pragma unroll
  for (int i = 0; i < Shape::items; ++i) {
    const int own = i * Shape::threads + thread;
    if (own < tile.count) out.store(tile.group + tile.rank + own, shared.tile[own]);
  }
}

}  // namespace warpath::merge_sort::detail
