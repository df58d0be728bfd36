// Where a merge pass is split: for the first item of each output tile, how many items of each run
// come before it. One kernel for two runs, one for up to 32.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/merge_path.cuh"
#include "core/warp.cuh"

namespace warpath::merge_sort::detail {

/// The runs that a pass merges: `ways` neighbouring runs of `run_items` items are a group, merged
/// to one run of the next pass. The last run, and the last group, may be shorter; where a group
/// lacks runs, those have no items.
struct RunGroups {
  std::int64_t n;
  std::int64_t run_items;
  int ways;  ///< a power of two

  /// The first item of the group that item i lies in.
  [[nodiscard]] __device__ __forceinline__ std::int64_t group_of(std::int64_t i) const {
    const std::int64_t group_items = run_items * ways;
    return i / group_items * group_items;
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t group_items(std::int64_t group) const {
    return min(run_items * ways, n - group);
  }
  /// How many items a run has that begins at item `begin`, or would if there were so many.
  [[nodiscard]] __device__ __forceinline__ std::int64_t run_count(std::int64_t begin) const {
    return max(std::int64_t{0}, min(run_items, n - begin));
  }
};

/// Positions in runs: of 4 bytes, or 8 where an index may need them.
struct Positions {
  void* words;
  bool is_wide;
  __device__ __forceinline__ std::int64_t get(std::int64_t i) const {
    return is_wide ? static_cast<const std::int64_t*>(words)[i]
                   : std::int64_t{static_cast<const std::uint32_t*>(words)[i]};
  }
  __device__ __forceinline__ void set(std::int64_t i, std::int64_t position) const {
    if (is_wide) {
      static_cast<std::int64_t*>(words)[i] = position;
    } else {
      static_cast<std::uint32_t*>(words)[i] = static_cast<std::uint32_t>(position);
    }
  }
};

/// The items of columns from `first` on.
template <class Columns>
struct ColumnView {
  const Columns& columns;
  std::int64_t first;
  __device__ __forceinline__ typename Columns::Item operator[](std::int64_t i) const {
    return columns.load(first + i);
  }
};

/// Two runs a group, a thread a tile: merge path. positions[2 * tile], [2 * tile + 1] become the
/// tile's positions in its group's runs.
template <class Columns, class Less>
__global__ void find_positions_kernel(Columns in, RunGroups runs, int tile_items,
                                      std::int64_t tiles, Less less, Positions positions) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (tile >= tiles) return;
  const std::int64_t group = runs.group_of(tile * tile_items);
  const std::int64_t rank = tile * tile_items - group;
  const std::int64_t a = group;
  const std::int64_t b = group + runs.run_items;
  const std::int64_t from_a = merge_path(ColumnView<Columns>{in, a}, runs.run_count(a),
                                         ColumnView<Columns>{in, b}, runs.run_count(b), rank, less);
  positions.set(2 * tile, from_a);
  positions.set(2 * tile + 1, rank - from_a);
}

/// The lane that has the greatest width, if any has one above 0; else -1. All lanes call it.
__device__ __forceinline__ int widest_lane(std::int64_t width) {
  constexpr std::int64_t most =
      (std::int64_t{1} << 27) - 1;  // what the lane's 5 bits leave room for
  const auto key =
      static_cast<unsigned>(min(width, most)) << 5 | static_cast<unsigned>(lane_index());
  const unsigned widest = __reduce_max_sync(full_warp, key);
  return widest >> 5 == 0 ? -1 : static_cast<int>(widest & 31);
}

/// Up to 32 runs a group, a warp a tile, a lane a run. positions[ways * tile + i] becomes the
/// tile's position in run i of its group.
///
/// Of equal items, those of earlier runs come first: so all items of a group have an order,
/// whatever `less` says. Each lane keeps the interval that its position lies in. The middle item of
/// the widest interval is the pivot: the items before it are counted, and all intervals end or
/// begin there. The sum of their ends stays between `rank`'s both sides, so that the positions add
/// up to `rank` even if `less` is no order.
template <class Columns, class Less>
__global__ void find_multiway_positions_kernel(Columns in, RunGroups runs, int tile_items,
                                               std::int64_t tiles, Less less, Positions positions) {
  const std::int64_t tile =
      static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_threads) + warp_index();
  if (tile >= tiles) return;
  const int lane = lane_index();
  const std::int64_t group = runs.group_of(tile * tile_items);
  const std::int64_t rank = tile * tile_items - group;
  const std::int64_t run = group + lane * runs.run_items;
  const std::int64_t count = lane < runs.ways ? runs.run_count(run) : 0;
  // All other runs may be taken whole, or not at all.
  std::int64_t low = max(std::int64_t{0}, rank - (runs.group_items(group) - count));
  std::int64_t high = min(count, rank);
  for (int lane_of_pivot = widest_lane(high - low); lane_of_pivot >= 0;
       lane_of_pivot = widest_lane(high - low)) {
    const std::int64_t middle = low + (high - low) / 2;
    const auto pivot = in.load(__shfl_sync(full_warp, run + middle, lane_of_pivot));
    std::int64_t before = low;
    std::int64_t end = high;
    if (lane == lane_of_pivot) before = end = middle;
    while (before < end) {
      const std::int64_t probe = before + (end - before) / 2;
      const auto item = in.load(run + probe);
      const bool is_before = lane < lane_of_pivot ? !less(pivot, item) : less(item, pivot);
      if (is_before) {
        before = probe + 1;
      } else {
        end = probe;
      }
    }
    if (warp_sum(static_cast<std::uint64_t>(before)) < static_cast<std::uint64_t>(rank)) {
      low = before;
      if (lane == lane_of_pivot) ++low;  // the pivot is before the tile's first item, too
    } else {
      high = before;
    }
  }
  if (lane < runs.ways) positions.set(runs.ways * tile + lane, low);
}

}  // namespace warpath::merge_sort::detail
