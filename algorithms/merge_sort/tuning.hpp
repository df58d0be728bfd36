// Shapes of the kernels. They are types and not values, since they parametrise kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace warpath::merge_sort {

/// A block of Threads threads works on a tile of Threads x Items items. At least Blocks blocks
/// shall fit on a multiprocessor, as far as registers go; with 0 the compiler chooses.
template <int Threads, int Items, int Blocks = 0>
struct TileShape {
  static constexpr int threads = Threads;
  static constexpr int items = Items;
  static constexpr int blocks = Blocks;
  static constexpr int tile_items = Threads * Items;
};

/// A block that merges `Ways` runs: Ways / 2 of its threads are for the parts of the first merges
/// that are not full.
template <int Threads, int Items, int Ways, int Blocks = 0>
struct MergeTileShape {
  static constexpr int threads = Threads;
  static constexpr int items = Items;
  static constexpr int blocks = Blocks;
  static constexpr int ways = Ways;
  static constexpr int tile_items = (Threads - Ways / 2) * Items;
  static_assert(Ways >= 2 && Ways <= 32 && (Ways & (Ways - 1)) == 0 && Ways / 2 < Threads);
};

/// What a sort is parametrised by. Sort: the tiles that are sorted first, the runs of the first
/// merge pass. Merge: the tiles that a merge pass writes, and how many runs `multiway_merge` merges
/// at once, a power of two, at most 32: a lane for each run.
template <class Sort, class Merge>
struct SortTuning {
  using SortShape = Sort;
  using MergeShape = Merge;
  static constexpr int ways = Merge::ways;
  /// From that many items on, positions in runs take 64 bits.
  static constexpr std::int64_t least_for_wide_positions = std::int64_t{1} << 32;
};

/// By the size of an item. What bounds the merges is shared memory: so a thread has as many items
/// as registers hold where four blocks fit on a multiprocessor, an odd number, so that threads read
/// different banks. Each tile has its positions, a word for each of the runs that are merged: less
/// than 1 % of the items' bytes.
template <std::size_t ItemBytes>
using TuningOf = std::conditional_t<
    ItemBytes <= 2, SortTuning<TileShape<256, 31, 4>, MergeTileShape<256, 31, 8, 4>>,
    std::conditional_t<
        ItemBytes <= 8, SortTuning<TileShape<256, 23, 4>, MergeTileShape<256, 23, 16, 4>>,
        std::conditional_t<ItemBytes <= 16,
                           SortTuning<TileShape<256, 15>, MergeTileShape<256, 15, 16>>,
                           SortTuning<TileShape<256, 7>, MergeTileShape<256, 7, 16>>>>>;

}  // namespace warpath::merge_sort
