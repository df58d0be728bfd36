// What host functions check before they launch anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "core/devices.cuh"
#include "core/enum_names.hpp"
#include "core/preconditions.cuh"
#include "kd_tree/tree.cuh"
#include "kd_tree/variant.hpp"

namespace warpath::kd_tree::detail {

/// The number of points. Throws unless they are whole tuples, and not too many.
template <class C>
std::int64_t require_points(const Points<C>& points, const std::string& name = "points") {
  require_span(name, points.coordinates);
  require_in_range("dimensions", points.dimensions, 1, most_dimensions);
  if (points.coordinates.count % points.dimensions != 0) {
    throw std::invalid_argument(name + " has " + std::to_string(points.coordinates.count) +
                                " coordinates: expected a multiple of dimensions, which is " +
                                std::to_string(points.dimensions));
  }
  require_in_range("the number of tuples of " + name, points.count(), 0, most_tuples);
  return points.count();
}

/// The number of all points. Throws unless they are whole tuples, of the same dimensions, one part
/// a device, and not too many.
template <class C>
std::int64_t require_parts(const Devices& devices, std::span<const Points<C>> parts) {
  require_count("parts", static_cast<std::int64_t>(parts.size()), "devices", devices.count());
  std::int64_t n = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    n += require_points(parts[i], "parts[" + std::to_string(i) + "]");
    if (parts[i].dimensions == parts[0].dimensions) continue;
    throw std::invalid_argument("parts[" + std::to_string(i) + "].dimensions is " +
                                std::to_string(parts[i].dimensions) + ": expected " +
                                std::to_string(parts[0].dimensions) + ", that of parts[0]");
  }
  require_in_range("the number of all points", n, 0, most_tuples);
  return n;
}

inline void require_options(const Options& options, const std::string& name = "options") {
  require_enum(name + ".variant", options.variant);
  if (options.sort) {
    require_enum(name + ".sort.variant", options.sort->variant);
    require_enum(name + ".sort.low_level", options.sort->low_level);
  }
  const partitioners::Options& partition = options.partition;
  require_enum(name + ".partition.variant", partition.variant);
  require_in_range(name + ".partition.warps", partition.warps, 1, partitioners::most_warps);
  if (partition.partitioner == partitioners::Partitioner::by_level) return;
  require_enum(name + ".partition.partitioner", partition.partitioner);
  throw std::invalid_argument(name + ".partition.partitioner is " +
                              std::string(enum_name(partition.partitioner)) +
                              ": expected by_level, since a build has levels for each of them");
}

}  // namespace warpath::kd_tree::detail
