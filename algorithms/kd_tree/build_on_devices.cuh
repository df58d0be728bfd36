// Building a balanced k-d tree on several devices: the public host function.
//
// Source: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Refactoring the Kd Tree algorithm
// for Multiple GPUs".
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "core/cuda_check.cuh"
#include "core/devices.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "kd_tree/arguments.cuh"
#include "kd_tree/build.cuh"
#include "kd_tree/fast_top.cuh"
#include "kd_tree/several_devices.cuh"
#include "kd_tree/sorted_top.cuh"
#include "kd_tree/tree.cuh"
#include "multi_gpu_sort/arguments.cuh"

namespace warpath::kd_tree {

namespace detail {

inline void require_options(const Devices& devices, const DevicesOptions& options) {
  require_options(options.build, "options.build");
  if (options.build.after_step) {
    throw std::invalid_argument(
        "options.build.after_step is set: expected none, since a build on several devices is told "
        "of by no step");
  }
  require_enum("options.sort", options.sort);
  if (options.sort == multi_gpu_sort::Variant::radix_exchange) {
    throw std::invalid_argument(
        "options.sort is radix_exchange: expected swap_merge or splitter_merge for tuples");
  }
  if ((devices.count() & (devices.count() - 1)) != 0) {
    throw std::invalid_argument("a tree on " + std::to_string(devices.count()) +
                                " devices: expected a power of two");
  }
  if (options.build.variant == Variant::fast) {
    require_in_range("the number of devices of a fast build", devices.count(), 1, most_parts);
  }
  multi_gpu_sort::detail::require_access(devices,
                                         "expected devices that have, since medians are "
                                         "written to the first one");
}

}  // namespace detail

/// Builds the tree of the points of all parts, or of all but duplicates, and writes its median
/// stores, as build() does: the same ones. The numbers of tuples go through the parts, one after
/// the other. Returns the number of nodes.
///
/// parts: one a device, on it; of any sizes, at most most_tuples points together, of the same
/// dimensions. medians: on the first device, median_entries() of all. devices: 1, 2, 4, ..., with
/// access to each other. All work is in their streams, and ends where that of the first one does.
/// Blocks the host, for NaN and for how the tuples are divided. Errors: as build() has them; of
/// NaN, with the numbers that tuples have in all parts together.
template <class C>
std::int64_t build_on_devices(const Devices& devices,
                              std::type_identity_t<std::span<const Points<C>>> parts,
                              std::type_identity_t<DeviceSpan<std::uint32_t>> medians,
                              DevicesMemory& memory, const DevicesOptions& options = {}) {
  static_assert(std::is_arithmetic_v<C> && (sizeof(C) == 4 || sizeof(C) == 8),
                "a coordinate must be a number of 4 or 8 bytes");
  const std::int64_t n = detail::require_parts(devices, parts);
  detail::require_options(devices, options);
  require_room("medians", medians, median_entries(n));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    require_apart("parts[" + std::to_string(i) + "]", parts[i].coordinates, "medians", medians);
  }
  if (n == 0) return 0;
  if (devices.count() == 1) {
    const CurrentDevice current(devices.ordinal(0));
    return build(parts[0], medians, memory.of(0).build, devices.stream(0), options.build);
  }
  {
    const CurrentDevice current(devices.ordinal(0));
    detail::clear_entries(medians.data, 0, median_entries(n), devices.stream(0));
  }
  if (options.build.variant != Variant::fast) {
    return detail::SortedTop<C>(devices, parts, n, medians.data, memory, options).run();
  }
  std::vector<detail::NumberedTuples<C>> tuples;
  std::int64_t nodes = n;
  if (options.build.removes_duplicates) {
    detail::SortedTop<C> sorted(devices, parts, n, medians.data, memory, options);
    tuples = sorted.sort_all();
    nodes = sorted.nodes();
  } else {
    std::int64_t first = 0;
    for (const Points<C>& part : parts) {
      tuples.push_back(
          {part.coordinates.data, part.count(), nullptr, static_cast<std::uint32_t>(first)});
      first += part.count();
    }
  }
  detail::run_fast_top(devices, tuples, nodes, parts[0].dimensions, medians.data, memory);
  return nodes;
}

}  // namespace warpath::kd_tree
