// Duplicates: sorted references without them, and the entries of levels that a tree does not reach
// without them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/span.hpp"
#include "core/superkey.cuh"
#include "kd_tree/memory.cuh"
#include "kd_tree/tree.cuh"
#include "merge_sort/merge_sort.cuh"
#include "warp_compaction/warp_compaction.cuh"

namespace warpath::kd_tree::detail {

/// Entries [begin, end) hold no node.
inline void clear_entries(std::uint32_t* medians, std::int64_t begin, std::int64_t end,
                          cudaStream_t stream) {
  if (begin >= end) return;
  WARPATH_CUDA_CHECK(cudaMemsetAsync(medians + begin, 0xFF,
                                     static_cast<std::size_t>(end - begin) * sizeof(std::uint32_t),
                                     stream));
}

/// Copies the first of each run of equal tuples, of references sorted by superkey, and its value.
/// Returns how many there are, once they are there. Throws std::logic_error if the references are
/// not sorted.
template <class C>
std::int64_t keep_distinct(const Tuples<C>& tuples, DeviceSpan<const C> values,
                           DeviceSpan<const std::uint32_t> references, DeviceSpan<C> kept_values,
                           DeviceSpan<std::uint32_t> kept_references, Workspace& workspace,
                           cudaStream_t stream) {
  DeviceCount kept(stream);
  DeviceCount first_disorder(stream);
  warp_compaction::remove_duplicates<C, std::uint32_t>(values, references, tuples, kept_values,
                                                       kept_references, kept, first_disorder,
                                                       workspace, stream);
  const std::int64_t disorder = first_disorder.get(stream);
  if (disorder >= 0) {
    throw std::logic_error("the references by coordinate " + std::to_string(tuples.primary) +
                           " are not sorted at " + std::to_string(disorder));
  }
  return kept.get(stream);
}

/// The references of all tuples but duplicates. Throws std::invalid_argument if there is NaN.
template <class C>
struct DistinctTuples {
  std::uint32_t* references = nullptr;
  std::int64_t count = 0;

  DistinctTuples(const Points<C>& points, BuildMemory& memory, cudaStream_t stream) {
    const std::int64_t n = points.count();
    const Tuples<C> tuples{points.coordinates, points.dimensions, 0};
    const auto [sorted, values, kept_values] =
        memory.arrays.template take<std::uint32_t, C, C>(stream, n, n, n);
    const auto [kept] = memory.distinct.template take<std::uint32_t>(stream, n);
    DeviceCount first_nan(stream);
    const DeviceSpan<std::uint32_t> references_of_all{sorted, n};
    merge_sort::iota_references(references_of_all, stream);
    merge_sort::sort_superkeys(tuples, {sorted, n}, {values, n}, first_nan, memory.steps, stream,
                               {merge_sort::Variant::key_then_ties});
    merge_sort::require_no_nan(first_nan, tuples, stream);
    count = keep_distinct<C>(tuples, {values, n}, {sorted, n}, {kept_values, n}, {kept, n},
                             memory.steps, stream);
    references = kept;
  }
};

}  // namespace warpath::kd_tree::detail
