// From a call to the kernels of its variant. The host functions of merge_sort.cuh end here.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "merge_sort/merge_runs.cuh"
#include "merge_sort/partition.cuh"
#include "merge_sort/tile_sort.cuh"
#include "merge_sort/tuning.hpp"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::detail {

/// The passes over n items: one that sorts tiles, and the fewest that merge them. Each merge halves
/// the number of runs some times; the passes share these times out evenly, so that none is idle.
struct Passes {
  int merges;    ///< how many passes merge
  int halvings;  ///< how often they halve the number of runs, together

  /// How many runs pass 0, 1, ... of the merges merges at once. The first ones merge most.
  [[nodiscard]] constexpr int ways(int pass) const {
    return 1 << (halvings / merges + (pass < halvings % merges ? 1 : 0));
  }
};

template <class Tuning>
constexpr Passes passes_of(std::int64_t n, Variant variant) {
  const auto tiles = static_cast<std::uint64_t>(divide_up(n, Tuning::SortShape::tile_items));
  const int halvings = tiles > 1 ? std::bit_width(tiles - 1) : 0;
  const int most =
      variant == Variant::binary_merge ? 1 : std::bit_width(unsigned{Tuning::ways}) - 1;
  return {static_cast<int>(divide_up(halvings, most)), halvings};
}

/// Whether positions in runs of n items take 8 bytes, and not 4.
template <class Tuning>
constexpr bool has_wide_positions(std::int64_t n) {
  return n >= Tuning::least_for_wide_positions;
}

/// Bytes of the positions that the merges of n items need: none if there is no merge.
template <class Tuning>
std::int64_t position_bytes(std::int64_t n, const Options& options) {
  const Passes passes = passes_of<Tuning>(n, options.variant);
  if (passes.merges == 0) return 0;
  // The first merges have the smallest groups, each with tiles of its own, and the most runs.
  const RunGroups runs{n, Tuning::SortShape::tile_items, passes.ways(0),
                       Tuning::MergeShape::tile_items};
  return runs.tiles() * passes.ways(0) * (has_wide_positions<Tuning>(n) ? 8 : 4);
}

/// How many items the spare columns hold: none if there is no merge.
template <class Tuning>
constexpr std::int64_t spare_items(std::int64_t n, const Options& options) {
  return passes_of<Tuning>(n, options.variant).merges > 0 ? n : 0;
}

/// Sorts the n > 0 items of `in` to `home`. `in` has load(i), and may be of the same memory as
/// `home`. `spare`: as large as home (spare_items), `positions`: position_bytes. Where `condition`
/// does not hold, everything stays as it is.
template <class Tuning, LowLevelMerge low_level, class In, class Columns, class Less>
void sort_columns(const In& in, Columns home, Columns spare, void* positions, std::int64_t n,
                  Less less, cudaStream_t stream, Variant variant, Condition condition) {
  using SortShape = typename Tuning::SortShape;
  using MergeShape = typename Tuning::MergeShape;
  using Item = typename Columns::Item;
  const Passes passes = passes_of<Tuning>(n, variant);
  // The last pass ends at home, and each one at the other side.
  Columns from = passes.merges % 2 == 0 ? home : spare;
  Columns to = passes.merges % 2 == 0 ? spare : home;
  launch({static_cast<unsigned>(divide_up(n, SortShape::tile_items)), SortShape::threads,
          sizeof(SharedTile<Item, SortShape>), stream},
         sort_tiles_kernel<SortShape, low_level, In, Columns, Less>, in, from, n, less, condition);

  const Positions found{positions, has_wide_positions<Tuning>(n)};
  RunGroups runs{n, SortShape::tile_items, 1, MergeShape::tile_items};
  for (int pass = 0; pass < passes.merges; ++pass) {
    runs.ways = passes.ways(pass);
    const std::int64_t tiles = runs.tiles();
    constexpr unsigned threads = 128;
    if (variant == Variant::binary_merge) {
      launch({static_cast<unsigned>(divide_up(tiles, threads)), threads, 0, stream},
             find_positions_kernel<Columns, Less>, from, runs, tiles, less, found, condition);
    } else {
      launch({static_cast<unsigned>(divide_up(tiles, threads / warp_threads)), threads, 0, stream},
             find_multiway_positions_kernel<Columns, Less>, from, runs, tiles, less, found,
             condition);
    }
    launch({static_cast<unsigned>(tiles), MergeShape::threads,
            sizeof(MergeStorage<Item, MergeShape>), stream},
           merge_runs_kernel<MergeShape, low_level, Columns, Less>, from, to, runs, found, less,
           condition);
    std::swap(from, to);
    runs.run_items *= runs.ways;
  }
}
template <class Tuning, class In, class Columns, class Less>
void sort_columns(const In& in, Columns home, Columns spare, void* positions, std::int64_t n,
                  Less less, cudaStream_t stream, const Options& options,
                  Condition condition = {}) {
  if (options.low_level == LowLevelMerge::merge_path) {
    sort_columns<Tuning, LowLevelMerge::merge_path>(in, home, spare, positions, n, less, stream,
                                                    options.variant, condition);
  } else {
    sort_columns<Tuning, LowLevelMerge::rank_search>(in, home, spare, positions, n, less, stream,
                                                     options.variant, condition);
  }
}

}  // namespace warpath::merge_sort::detail
