// Shapes of the kernels. They are types and not values, since they parametrise kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace warpath::merge_sort {

/// A block of Threads threads works on a tile of Threads x Items items.
template <int Threads, int Items>
struct TileShape {
  static constexpr int threads = Threads;
  static constexpr int items = Items;
  static constexpr int tile_items = Threads * Items;
};

/// What a sort is parametrised by. Sort: the tiles that are sorted first, the runs of the first
/// merge pass. Merge: the tiles that a merge pass writes. Ways: how many runs `multiway_merge`
/// merges at once, a power of two, at most 32: a lane for each run.
template <class Sort, class Merge, int Ways>
struct SortTuning {
  using SortShape = Sort;
  using MergeShape = Merge;
  static constexpr int ways = Ways;
  /// From that many items on, positions in runs take 64 bits.
  static constexpr std::int64_t least_for_wide_positions = std::int64_t{1} << 32;

  static_assert(Ways >= 2 && Ways <= 32 && (Ways & (Ways - 1)) == 0);
  static_assert(Sort::tile_items % Merge::tile_items == 0, "no tile lies in two groups of runs");
};

/// By the size of an item. A tile is at most 64 KiB, 80 KiB with the padding against bank
/// conflicts. Tiles of small items are large, since each has its positions: a word for each of the
/// runs that are merged, which are less than 1 % of the items' bytes.
template <std::size_t ItemBytes>
using TuningOf = std::conditional_t<
    ItemBytes <= 8, SortTuning<TileShape<512, 16>, TileShape<512, 16>, 16>,
    std::conditional_t<ItemBytes <= 16, SortTuning<TileShape<512, 8>, TileShape<512, 8>, 16>,
                       SortTuning<TileShape<512, 4>, TileShape<512, 4>, 16>>>;

}  // namespace warpath::merge_sort
