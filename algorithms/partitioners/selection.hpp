// Which of the source's partitioners serves which level, and how often each is called.
#pragma once

#include <cstdint>

#include "partitioners/levels.cuh"
#include "partitioners/variant.hpp"

namespace warpath::partitioners {

/// Segments of at most so many elements go to sub_warp, and to leaf.
inline constexpr std::uint32_t sub_warp_segment = 16;
inline constexpr std::uint32_t leaf_segment = 3;

/// The partitioner of a level of n references, where `warps` warps run. Source: "Partitioning".
inline Partitioner partitioner_of_level(std::int64_t n, int level, int warps) {
  const Level of{static_cast<std::uint32_t>(n), level};
  if (of.largest_segment() <= leaf_segment) return Partitioner::leaf;
  if (of.largest_segment() <= sub_warp_segment) return Partitioner::sub_warp;
  if (static_cast<std::int64_t>(of.segments()) < warps) return Partitioner::multi_warp;
  return Partitioner::warp_per_array;
}

/// How often a build calls each partitioner.
struct CallCounts {
  int multi_warp = 0;
  int warp_per_array = 0;
  int sub_warp = 0;
  int leaf = 0;

  [[nodiscard]] constexpr int total() const {
    return multi_warp + warp_per_array + sub_warp + leaf;
  }
  bool operator==(const CallCounts&) const = default;
};

/// The calls of a build over n references, one a level up to the one that leaf ends: counted from
/// the selection itself.
inline CallCounts count_calls(std::int64_t n, int warps) {
  CallCounts calls;
  for (int level = 0; level <= leaf_level(n); ++level) {
    switch (partitioner_of_level(n, level, warps)) {
      case Partitioner::multi_warp:
        ++calls.multi_warp;
        break;
      case Partitioner::warp_per_array:
        ++calls.warp_per_array;
        break;
      case Partitioner::sub_warp:
        ++calls.sub_warp;
        break;
      default:
        ++calls.leaf;
    }
  }
  return calls;
}

}  // namespace warpath::partitioners
