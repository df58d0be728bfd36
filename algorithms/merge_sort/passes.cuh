// The passes of a sort: how many runs each of them merges at once.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/divide_up.hpp"
#include "merge_sort/partition.cuh"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::detail {

/// The passes over n items: one that sorts tiles, and the fewest that merge them. Each merge halves
/// the number of runs some times; the passes share these times out evenly, so that none is idle.
struct Passes {
  int merges;    ///< how many passes merge
  int halvings;  ///< how often they halve the number of runs, together

  /// How many runs pass 0, 1, ... of the merges merges at once. The first ones merge most.
  [[nodiscard]] __host__ __device__ constexpr int ways(int pass) const {
    return 1 << (halvings / merges + (pass < halvings % merges ? 1 : 0));
  }
};

/// Of n items, of which a pass merges up to 2^most_halvings runs at once.
template <class Tuning>
__host__ __device__ constexpr Passes passes_of(std::int64_t n, int most_halvings) {
  int halvings = 0;
  for (auto left = (n - 1) / Tuning::SortShape::tile_items; left > 0; left /= 2) ++halvings;
  return {(halvings + most_halvings - 1) / most_halvings, halvings};
}
template <class Tuning>
__host__ __device__ constexpr Passes passes_of(std::int64_t n, Variant variant) {
  return passes_of<Tuning>(
      n, variant == Variant::binary_merge ? 1 : Tuning::MergeShape::most_halvings);
}

/// The runs that merge pass number `pass` merges.
template <class Tuning>
__host__ __device__ constexpr RunGroups run_groups(std::int64_t n, const Passes& passes, int pass) {
  using MergeShape = typename Tuning::MergeShape;
  RunGroups runs{n, Tuning::SortShape::tile_items, 1, MergeShape::aimed_items, MergeShape::slack};
  for (int before = 0; before < pass; ++before) runs.run_items *= passes.ways(before);
  runs.ways = passes.ways(pass);
  return runs;
}

/// Into how many tiles long_ties.cuh divides a run of n tied references: as many as any of its
/// passes has. The first merges have the smallest groups, each with tiles of its own.
template <class Tuning>
__host__ __device__ constexpr std::int64_t tiles_of_run(std::int64_t n) {
  const Passes passes = passes_of<Tuning>(n, Variant::multiway_merge);
  return passes.merges == 0 ? 1 : run_groups<Tuning>(n, passes, 0).tiles();
}

}  // namespace warpath::merge_sort::detail
