// Building a balanced k-d tree: the public host functions.
//
// Sources: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub; R. A. Brown, "Building a Balanced
// k-d Tree in O(kn log n) Time", Journal of Computer Graphics Techniques 4(1), 2015,
// http://jcgt.org/published/0004/01/03/ .
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/buffer.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "kd_tree/arguments.cuh"
#include "kd_tree/distinct.cuh"
#include "kd_tree/fast_build.cuh"
#include "kd_tree/memory.cuh"
#include "kd_tree/nodes.cuh"
#include "kd_tree/reference_build.cuh"
#include "kd_tree/tree.cuh"
#include "kd_tree/variant.hpp"

namespace warpath::kd_tree {

/// Builds the tree of all points, or of all but duplicates, and writes its median stores: entries
/// of levels that the tree does not reach, if duplicates were removed, become no_node. Returns the
/// number of nodes. Every variant builds the same tree.
///
/// points: n tuples, 0 to most_tuples. medians: median_entries(n). Blocks the host: for NaN, and
/// for the number of nodes where duplicates are removed. Throws std::invalid_argument, which names
/// the argument, or the first tuple and coordinate that are NaN; CudaError, which says how many
/// bytes are needed and how many are free, if memory lacks. Infinities are numbers like others;
/// -0.0 is equal to 0.0.
template <class C>
std::int64_t build(const Points<C>& points, std::type_identity_t<DeviceSpan<std::uint32_t>> medians,
                   BuildMemory& memory, cudaStream_t stream, const Options& options = {}) {
  static_assert(std::is_arithmetic_v<C> && (sizeof(C) == 4 || sizeof(C) == 8),
                "a coordinate must be a number of 4 or 8 bytes");
  const std::int64_t n = detail::require_points(points);
  detail::require_options(options);
  require_room("medians", medians, median_entries(n));
  require_apart("points", points.coordinates, "medians", medians);
  if (n == 0) return 0;
  if (options.variant != Variant::fast) {
    return detail::ReferenceBuild<C>(points, medians.data, memory, stream, options).run();
  }
  const std::uint32_t* references = nullptr;
  std::int64_t nodes = n;
  if (options.removes_duplicates) {
    const detail::DistinctTuples<C> distinct(points, memory, stream);
    detail::tell(options.after_step, Step::remove_duplicates, 0);
    references = distinct.references;
    nodes = distinct.count;
    detail::clear_entries(medians.data, median_entries(nodes), median_entries(n), stream);
  }
  DeviceCount first_nan(stream);
  detail::run_fast_build(points, references, nodes, medians.data, first_nan, memory, stream,
                         options.after_step);
  merge_sort::require_no_nan(first_nan, Tuples<C>{points.coordinates, points.dimensions, 0},
                             stream);
  return nodes;
}

}  // namespace warpath::kd_tree
