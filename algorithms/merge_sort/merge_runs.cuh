// A merge pass: each block writes one tile of the output, from the pieces of the runs that a
// partition kernel has found.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/hopper.cuh"
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
  std::int64_t rank;                   ///< the first item of the tile in its group
  int count;                           ///< the items of the tile
  int begins[warp_threads + 1];        ///< where the pieces begin in the tile, and where they end
  std::int64_t sources[warp_threads];  ///< item j of the tile, of piece i, is item sources[i] + j
};

/// What a tile is merged from, if its group's runs are taken from their positions `from` to `to`:
/// one warp, a lane a run. Were the comparator no order, pieces could overlap: then they are cut
/// off where the tile ends.
template <class Item, class Shape, class Runs>
__device__ __forceinline__ void warp_set_pieces(MergeStorage<Item, Shape>& shared, const Runs& runs,
                                                const OutputTile& tile, std::int64_t from,
                                                std::int64_t to) {
  const int lane = lane_index();
  if (lane >= runs.ways) from = to = 0;
  const auto rank = static_cast<std::int64_t>(warp_sum(static_cast<std::uint64_t>(from)));
  const auto end = static_cast<std::int64_t>(warp_sum(static_cast<std::uint64_t>(to)));
  const auto count = static_cast<int>(end - rank);
  const std::int64_t piece = min(max(std::int64_t{0}, to - from), std::int64_t{count});
  const int before = warp_inclusive_sum(static_cast<int>(piece)) - static_cast<int>(piece);
  if (lane < runs.ways) {
    shared.begins[lane] = min(before, count);
    shared.sources[lane] = tile.group + lane * runs.run_items + from - before;
  }
  if (lane == 0) {
    shared.begins[runs.ways] = count;
    shared.rank = rank;
    shared.count = count;
  }
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

/// Merges the pieces of a tile to `out`. The whole block, once the pieces are set.
template <LowLevelMerge low_level, class Item, class Shape, class In, class Out, class Less>
__device__ __forceinline__ void block_merge_pieces(MergeStorage<Item, Shape>& shared, const In& in,
                                                   const Out& out, int ways, const OutputTile& tile,
                                                   Less less) {
  const int count = shared.count;
  const int share = divide_up(count, Shape::threads / warp_threads);
  warp_load_pieces(shared.tile, in, shared.begins, shared.sources, warp_index() * share,
                   min((warp_index() + 1) * share, count));
  block_fill_end(shared.tile, count, in.load(tile.group));
  __syncthreads();  // the pieces are there
  const int begin = static_cast<int>(threadIdx.x) < ways ? shared.begins[threadIdx.x] : 0;
  const bool is_after_others =
      begin == 0 || begin >= count || !less(shared.tile[begin], shared.tile[begin - 1]);
  if (__syncthreads_and(is_after_others) == 0) {
#pragma unroll 1
    for (int stride = 1; stride < ways; stride *= 2) {
      block_merge<low_level>(shared.tile, AnyRuns{shared.begins, stride, ways / stride, count},
                             less);
    }
  }
  const std::int64_t begin_of_tile = tile.group + shared.rank;
#pragma unroll
  for (int i = 0; i < Shape::items; ++i) {
    const int own = i * Shape::threads + static_cast<int>(threadIdx.x);
    if (own < count) out.store(begin_of_tile + own, shared.tile[own]);
  }
}

/// Merges the runs of each group of `in` to one, in `out`: one block a tile.
template <class Shape, LowLevelMerge low_level, class Columns, class Less>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    merge_runs_kernel(Columns in, Columns out, RunGroups runs, Positions positions, Less less) {
  auto& shared = dynamic_shared<MergeStorage<typename Columns::Item, Shape>>();
  const OutputTile tile = runs.tile(blockIdx.x);
  hopper::wait_for_kernel_before();
  if (warp_index() == 0) {
    const std::int64_t run = tile.group + lane_index() * runs.run_items;
    const std::int64_t place = runs.ways * std::int64_t{blockIdx.x} + lane_index();
    std::int64_t from = 0;
    std::int64_t to = 0;
    if (lane_index() < runs.ways) {
      from = positions.get(place);
      to = tile.is_last ? runs.run_count(run) : positions.get(place + runs.ways);
    }
    warp_set_pieces(shared, runs, tile, from, to);
  }
  __syncthreads();  // the pieces are known
  block_merge_pieces<low_level>(shared, in, out, runs.ways, tile, less);
}

}  // namespace warpath::merge_sort::detail
