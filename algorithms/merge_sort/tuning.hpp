// Shapes of the kernels. They are types and not values, since they parametrise kernels.
#pragma once

#include <bit>
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
/// that are not full. A tile may begin earlier, or later, by one SlackShare-th of the items that it
/// has room for: that makes tiles a little smaller, and their positions sooner found.
template <int Threads, int Items, int Ways, int Blocks = 0, int SlackShare = 128>
struct MergeTileShape {
  static constexpr int threads = Threads;
  static constexpr int items = Items;
  static constexpr int blocks = Blocks;
  static constexpr int ways = Ways;
  static constexpr int most_halvings = std::bit_width(unsigned{Ways}) - 1;  ///< of the runs
  static constexpr int tile_items = (Threads - Ways / 2) * Items;  ///< that there is room for
  static constexpr int slack = tile_items / SlackShare;
  static constexpr int aimed_items = tile_items - 2 * slack;
  static_assert(Ways >= 2 && Ways <= 32 && (Ways & (Ways - 1)) == 0 && Ways / 2 < Threads);
};

/// A block that looks for ties in a tile of Threads x Items places, and sorts runs of up to
/// MostRanked of them in shared memory, about Threads x SortedItems at once: as many as a tile may
/// have, or fewer, where few are expected. Where no run is longer than MostCounted, each item
/// counts those that are before it. At least Blocks blocks shall fit on a multiprocessor.
template <int Threads, int Items, int SortedItems, int MostRanked, int MostCounted, int Blocks = 4>
struct TiesTileShape {
  static constexpr int threads = Threads;
  static constexpr int blocks = Blocks;
  static constexpr int tile_items = Threads * Items;
  static constexpr int most_ranked = MostRanked;
  static constexpr int most_counted = MostCounted;
  /// Places that a thread looks at: a run may reach beyond the tile.
  static constexpr int places = Items + (MostRanked + Threads - 1) / Threads;
  /// Words of 32 places each, from MostRanked before the tile on, to one after those looked at.
  static constexpr int words = (MostRanked + Threads * places) / 32 + 2;
  using SortShape = TileShape<Threads, SortedItems>;
  static_assert(MostRanked > 0 && MostRanked <= SortShape::tile_items && places <= 31);
  static_assert(tile_items + 2 * MostRanked < 1 << 16);
};

/// What a sort is parametrised by. Sort: the tiles that are sorted first, the runs of the first
/// merge pass. Merge: the tiles that a merge pass writes, and how many runs `multiway_merge` merges
/// at once, a power of two, at most 32: a lane for each run. Few: what `multiway_merge` takes
/// instead for up to MostFew items, unless that takes more passes; or void. Ties: those of
/// superkeys; from least_for_sparse_ties items on, SparseTies instead.
template <class Sort, class Merge, class Few = void, std::int64_t MostFew = 0,
          class Ties = TiesTileShape<Sort::threads, 5, 7, 2 * Sort::threads, 64>,
          class SparseTies = TiesTileShape<Sort::threads, 8, 3, 2 * Sort::threads, 64, 6>>
struct SortTuning {
  using SortShape = Sort;
  using MergeShape = Merge;
  using FewItemsTuning = Few;
  using TiesShape = Ties;
  using SparseTiesShape = SparseTies;
  static constexpr std::int64_t most_few_items = MostFew;
  static constexpr std::int64_t least_for_sparse_ties = std::int64_t{1} << 22;
  static_assert(Sort::threads == Merge::threads && Sort::threads == Ties::threads);
  static_assert(Ties::most_ranked == SparseTies::most_ranked);
  static_assert(Merge::tile_items <= Sort::tile_items);
  /// From that many items on, positions in runs take 64 bits.
  static constexpr std::int64_t least_for_wide_positions = std::int64_t{1} << 32;
};

/// By the size of an item. What bounds the merges is shared memory: so a thread has as many items
/// as registers hold where four blocks fit on a multiprocessor, an odd number, so that threads read
/// different banks. Each tile has its positions, a word for each of the runs that are merged: less
/// than 1 % of the items' bytes, and less than 2 % of small tiles of keys. Where items are few,
/// time is that of a block, and of a pass: tiles are smaller, and more runs are merged at once.
template <std::size_t ItemBytes>
using TuningOf = std::conditional_t<
    ItemBytes <= 2, SortTuning<TileShape<256, 31, 4>, MergeTileShape<256, 31, 8, 4>>,
    std::conditional_t<
        ItemBytes <= 8,
        SortTuning<TileShape<256, 23, 4>, MergeTileShape<256, 23, 16, 4>,
                   SortTuning<TileShape<256, 23, 4>, MergeTileShape<256, 23, 32, 4, 64>,
                              SortTuning<TileShape<256, 11, 4>, MergeTileShape<256, 11, 32, 4, 40>>,
                              3 << 19>,
                   3 << 21>,
        std::conditional_t<ItemBytes <= 16,
                           SortTuning<TileShape<256, 15>, MergeTileShape<256, 15, 16>>,
                           SortTuning<TileShape<256, 7>, MergeTileShape<256, 7, 16>>>>>;

}  // namespace warpath::merge_sort
