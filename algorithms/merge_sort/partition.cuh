// Where a merge pass is split: for the first item of each output tile, how many items of each run
// come before it. One kernel for two runs, one for up to 32; only the latter needs slack.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/merge_path.cuh"
#include "core/warp.cuh"
#include "merge_sort/items.cuh"

namespace warpath::merge_sort::detail {

/// A tile of the output of a merge pass: from about item `rank` of its group on.
struct OutputTile {
  std::int64_t group;  ///< the first item of the group
  std::int64_t rank;
  bool is_last;  ///< of its group
};

/// The runs that a pass merges: `ways` neighbouring runs of `run_items` items are a group, merged
/// to one run of the next pass. The last run, and the last group, may be shorter; where a group
/// lacks runs, those have no items. Each group has tiles of its own, of tile_items each, give or
/// take `slack` at either end.
struct RunGroups {
  std::int64_t n;
  std::int64_t run_items;
  int ways;  ///< a power of two
  int tile_items;
  int slack = 0;  ///< at most tile_items / 2

  [[nodiscard]] __host__ __device__ __forceinline__ std::int64_t tiles_of_group() const {
    return divide_up(run_items * ways, tile_items);
  }
  [[nodiscard]] __host__ __device__ __forceinline__ std::int64_t tiles() const {
    const std::int64_t group_items = run_items * ways;
    return n / group_items * tiles_of_group() + divide_up(n % group_items, tile_items);
  }
  [[nodiscard]] __device__ __forceinline__ OutputTile tile(std::int64_t number) const {
    const std::int64_t group = number / tiles_of_group() * (run_items * ways);
    const std::int64_t rank = number % tiles_of_group() * tile_items;
    const std::int64_t left = min(run_items * ways, n - group) - rank;
    return {group, rank, left <= tile_items};
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
__global__ void find_positions_kernel(Columns in, RunGroups runs, std::int64_t tiles, Less less,
                                      Positions positions) {
  hopper::wait_for_kernel_before();
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (number >= tiles) return;
  const OutputTile tile = runs.tile(number);
  const std::int64_t a = tile.group;
  const std::int64_t b = tile.group + runs.run_items;
  const std::int64_t from_a =
      merge_path(ColumnView<Columns>{in, a}, runs.run_count(a), ColumnView<Columns>{in, b},
                 runs.run_count(b), tile.rank, less);
  positions.set(2 * number, from_a);
  positions.set(2 * number + 1, tile.rank - from_a);
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

/// The first index in [low, high) for which is_before(index) does not hold, or high; it holds for
/// none after that. Bisects [guess - spread, guess + spread] if the index lies there, else what is
/// left on its side. A spread as wide as all of it: the ends are looked at first.
template <class IsBefore>
__device__ __forceinline__ std::int64_t first_not_before(std::int64_t low, std::int64_t high,
                                                         std::int64_t guess, std::int64_t spread,
                                                         IsBefore is_before) {
  if (low >= high) return low;
  const std::int64_t left = max(guess - spread, low + 1);
  const std::int64_t right = min(guess + spread, high - 1);
  // Neither probe waits for the other.
  const bool is_left = !is_before(left - 1);
  const bool is_right = is_before(right);
  if (is_left) {
    high = left - 1;
  } else if (is_right) {
    low = right + 1;
  } else {
    low = left;
    high = right;
  }
  while (low < high) {
    const std::int64_t probe = low + (high - low) / 2;
    if (is_before(probe)) {
      low = probe + 1;
    } else {
      high = probe;
    }
  }
  return low;
}

/// How many items the intervals have whose middles come before this lane's: each lane has the
/// middle of an interval of `width` items.
template <class Columns, class Less>
__device__ __forceinline__ std::int64_t items_of_those_before(const Columns& in,
                                                              std::int64_t middle,
                                                              std::int64_t width, Less less) {
  const auto own = in.load(middle);
  std::int64_t before = 0;
#pragma unroll 4
  for (int lane = 0; lane < warp_threads; ++lane) {
    const auto other = in.load(__shfl_sync(full_warp, middle, lane));
    const std::int64_t other_width = __shfl_sync(full_warp, width, lane);
    const bool is_before = lane < lane_index() ? !less(own, other) : less(other, own);
    before += is_before ? other_width : 0;
  }
  return before;
}

/// How warp_find_position takes its pivot.
enum class Pivot {
  at_share,   ///< all intervals are spread alike: at the share of the widest that it has of all
  in_order,   ///< they lie one after the other: where it then is in one of them
  at_middle,  ///< the middle of that one
};

/// How many items of each run of a group come before one item of what they are merged to: item
/// `rank` of it, give or take the slack; none if it is the first. Up to 32 runs, a lane each. One
/// full warp.
///
/// Of equal items, those of earlier runs come first: so all items of a group have an order,
/// whatever `less` says. Each lane keeps the interval that its position lies in. An item of one is
/// the pivot: the items before it are counted, and if they are as many as asked for, that is the
/// answer; else all intervals end or begin there. The sum of the intervals' ends stays between
/// `rank`'s both sides, so that the positions add up to so many even if `less` is no order.
///
/// What takes time is that each load waits for the one before. If the items of all intervals are
/// spread alike, the position is at the same share of each of them, give or take the square root:
/// so that is where the pivot is taken, from the widest, and where its place is searched first.
/// Where this misses by far, the runs may lie one after the other, as those of sorted input do, or
/// some of them: then the intervals are put in the order of their middles, and the pivot is from
/// the one that has the position in it.
///
/// Runs: RunGroups, or ScatteredRuns.
template <class Columns, class Runs, class Less>
__device__ std::int64_t warp_find_position(const Columns& in, const Runs& runs, std::int64_t group,
                                           std::int64_t rank, Less less) {
  constexpr int guessed_rounds = 12;
  constexpr float deviations = 2.8F;
  const int lane = lane_index();
  const std::int64_t run = group + lane * runs.run_items;
  if (rank == 0) return 0;
  std::int64_t low = 0;
  std::int64_t high = lane < runs.ways ? runs.run_count(run) : 0;
  Pivot kind = Pivot::at_share;
  for (int round = 0;; ++round) {
    const std::int64_t width = high - low;
    int lane_of_pivot = widest_lane(width);
    if (lane_of_pivot < 0) return low;
    const auto all = static_cast<std::int64_t>(warp_sum(static_cast<std::uint64_t>(width)));
    const std::int64_t left =
        rank - static_cast<std::int64_t>(warp_sum(static_cast<std::uint64_t>(low)));
    std::int64_t place = width / 2;
    std::int64_t spread = width;
    if (kind == Pivot::at_share) {
      const float share = static_cast<float>(left) / static_cast<float>(all);
      const float expected = share * static_cast<float>(width);
      const float deviation = sqrtf(max(0.0F, expected * (1 - share)));
      place = static_cast<std::int64_t>(expected);
      spread = static_cast<std::int64_t>(deviations * deviation) + 2;
    } else {
      const std::int64_t middle = width > 0 ? run + low + place : group;
      const std::int64_t before = items_of_those_before(in, middle, width, less);
      const unsigned has_it = __ballot_sync(full_warp, before <= left && left < before + width);
      if (has_it != 0) lane_of_pivot = __ffs(static_cast<int>(has_it)) - 1;
      if (kind == Pivot::in_order) place = left - before;
    }
    const std::int64_t guess = low + min(max(place, std::int64_t{0}), width - 1);
    const auto pivot = in.load(__shfl_sync(full_warp, run + guess, lane_of_pivot));
    const auto is_before = [&](std::int64_t i) {
      const auto item = in.load(run + i);
      return lane < lane_of_pivot ? !less(pivot, item) : less(item, pivot);
    };
    const std::int64_t before =
        lane == lane_of_pivot ? guess : first_not_before(low, high, guess, spread, is_before);
    const auto sum = static_cast<std::int64_t>(warp_sum(static_cast<std::uint64_t>(before)));
    const std::int64_t missed_by = max(sum - rank, rank - sum);
    if (missed_by <= runs.slack) return before;
    if (kind == Pivot::in_order) {
      kind = Pivot::at_middle;
    } else {
      const bool is_near = kind == Pivot::at_middle || missed_by < all / 8;
      kind = is_near && round < guessed_rounds ? Pivot::at_share : Pivot::in_order;
    }
    if (sum < rank) {
      low = before;
      if (lane == lane_of_pivot) ++low;  // the pivot is before the tile's first item, too
    } else {
      high = before;
    }
  }
}

/// Up to 32 runs a group, a warp a tile. positions[ways * tile + i] becomes the tile's position in
/// run i of its group.
template <class Columns, class Less>
__global__ void find_multiway_positions_kernel(Columns in, RunGroups runs, std::int64_t tiles,
                                               Less less, Positions positions) {
  hopper::wait_for_kernel_before();
  const std::int64_t number =
      static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_threads) + warp_index();
  if (number >= tiles) return;
  const OutputTile tile = runs.tile(number);
  const std::int64_t position = warp_find_position(in, runs, tile.group, tile.rank, less);
  if (lane_index() < runs.ways) positions.set(runs.ways * number + lane_index(), position);
}

}  // namespace warpath::merge_sort::detail
