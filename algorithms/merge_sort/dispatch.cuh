// From a call to the kernels of its variant. The host functions of merge_sort.cuh end here.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "merge_sort/merge_runs.cuh"
#include "merge_sort/partition.cuh"
#include "merge_sort/passes.cuh"
#include "merge_sort/tile_sort.cuh"
#include "merge_sort/tuning.hpp"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::detail {

/// Whether positions in runs of n items take 8 bytes, and not 4.
template <class Tuning>
constexpr bool has_wide_positions(std::int64_t n) {
  return n >= Tuning::least_for_wide_positions;
}

/// Calls act.operator()<T>() with the tuning T by which n items are sorted.
template <class Tuning, class Act>
constexpr auto with_tuning(std::int64_t n, const Options& options, const Act& act) {
  using Few = typename Tuning::FewItemsTuning;
  if constexpr (!std::is_void_v<Few>) {
    const bool is_default = options.variant == Variant::multiway_merge &&
                            options.low_level == LowLevelMerge::merge_path;
    if (is_default && n <= Tuning::most_few_items &&
        passes_of<Few>(n, options.variant).merges <= passes_of<Tuning>(n, options.variant).merges) {
      return with_tuning<Few>(n, options, act);
    }
  }
  return act.template operator()<Tuning>();
}

/// How many passes merge n items.
template <class Tuning>
constexpr int merge_passes(std::int64_t n, const Options& options) {
  return with_tuning<Tuning>(n, options,
                             [&]<class T>() { return passes_of<T>(n, options.variant).merges; });
}

/// Bytes of the positions that the merges of n items need: none if there is no merge.
template <class Tuning>
std::int64_t bytes_of_positions(std::int64_t n, const Options& options) {
  const Passes passes = passes_of<Tuning>(n, options.variant);
  if (passes.merges == 0) return 0;
  // The first merges have the smallest groups, each with tiles of its own, and the most runs.
  return run_groups<Tuning>(n, passes, 0).tiles() * passes.ways(0) *
         (has_wide_positions<Tuning>(n) ? 8 : 4);
}

template <class Tuning>
std::int64_t position_bytes(std::int64_t n, const Options& options) {
  return with_tuning<Tuning>(n, options,
                             [&]<class T>() { return bytes_of_positions<T>(n, options); });
}

/// How many items the spare columns hold: none if there is no merge.
template <class Tuning>
constexpr std::int64_t spare_items(std::int64_t n, const Options& options) {
  return merge_passes<Tuning>(n, options) > 0 ? n : 0;
}

/// All kernels but the first one wait for the kernel before themselves.
inline constexpr bool starts_early = true;

/// As the passes before the last one see columns.
template <class Columns>
constexpr Columns between_passes(Columns columns) {
  if constexpr (requires { columns.is_result; }) columns.is_result = false;
  return columns;
}

/// Sorts the n > 0 items of `in` to `home`. `in` has load(i), and may be of the same memory as
/// `home`. `spare`: as large as home (spare_items), `positions`: position_bytes.
template <class Tuning, LowLevelMerge low_level, class In, class Columns, class Less>
void sort_columns(const In& in, Columns home, Columns spare, void* positions, std::int64_t n,
                  Less less, cudaStream_t stream, Variant variant) {
  using SortShape = typename Tuning::SortShape;
  using MergeShape = typename Tuning::MergeShape;
  using Item = typename Columns::Item;
  const Passes passes = passes_of<Tuning>(n, variant);
  // The last pass ends at home, and each one at the other side.
  Columns from = between_passes(passes.merges % 2 == 0 ? home : spare);
  Columns to = between_passes(passes.merges % 2 == 0 ? spare : home);
  launch({static_cast<unsigned>(divide_up(n, SortShape::tile_items)), SortShape::threads,
          sizeof(SharedTile<Item, SortShape>), stream},
         sort_tiles_kernel<SortShape, low_level, In, Columns, Less>, in,
         passes.merges == 0 ? home : from, n, less);

  const Positions found{positions, has_wide_positions<Tuning>(n)};
  for (int pass = 0; pass < passes.merges; ++pass) {
    const RunGroups runs = run_groups<Tuning>(n, passes, pass);
    const std::int64_t tiles = runs.tiles();
    constexpr unsigned threads = 128;
    if (variant == Variant::binary_merge) {
      launch({static_cast<unsigned>(divide_up(tiles, threads)), threads, 0, stream, starts_early},
             find_positions_kernel<Columns, Less>, from, runs, tiles, less, found);
    } else {
      launch({static_cast<unsigned>(divide_up(tiles, threads / warp_threads)), threads, 0, stream,
              starts_early},
             find_multiway_positions_kernel<Columns, Less>, from, runs, tiles, less, found);
    }
    launch({static_cast<unsigned>(tiles), MergeShape::threads,
            sizeof(MergeStorage<Item, MergeShape>), stream, starts_early},
           merge_runs_kernel<MergeShape, low_level, Columns, Less>, from,
           pass + 1 == passes.merges ? home : to, runs, found, less);
    std::swap(from, to);
  }
}
template <class Tuning, class In, class Columns, class Less>
void sort_columns(const In& in, Columns home, Columns spare, void* positions, std::int64_t n,
                  Less less, cudaStream_t stream, const Options& options) {
  if (options.low_level == LowLevelMerge::merge_path) {
    with_tuning<Tuning>(n, options, [&]<class T>() {
      sort_columns<T, LowLevelMerge::merge_path>(in, home, spare, positions, n, less, stream,
                                                 options.variant);
    });
  } else {
    sort_columns<Tuning, LowLevelMerge::rank_search>(in, home, spare, positions, n, less, stream,
                                                     options.variant);
  }
}

}  // namespace warpath::merge_sort::detail
