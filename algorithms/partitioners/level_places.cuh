// From a place in a reference array to its segment, and to what lies before that segment on the
// less sides of its level: for kernels that go through a level place by place.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "partitioners/levels.cuh"

namespace warpath::partitioners::detail {

/// What an element adds to a count of both sides: 2 if it is less than its segment's pivot, 1 if it
/// is the pivot. Since a segment has one pivot at most, the count within a segment tells both.
inline constexpr std::uint32_t units_of_less = 2;
inline constexpr std::uint32_t units_of_pivot = 1;

/// The units of a segment of `count` elements.
__host__ __device__ __forceinline__ std::uint32_t units_of_segment(std::uint32_t count) {
  return count == 0 ? 0 : (count - 1) / 2 * units_of_less + units_of_pivot;
}

/// The units of all 2^depth segments into which the levels below split `count` places. A segment
/// and the gap after it are an equal share of count + 1 places, rounded up or down.
__host__ __device__ __forceinline__ std::uint32_t units_of_subtree(std::uint32_t count, int depth) {
  const std::uint32_t segments = std::uint32_t{1} << depth;
  const std::uint32_t least = ((count + 1) >> depth) - 1;
  const std::uint32_t larger = (count + 1) & (segments - 1);
  return (segments - larger) * units_of_segment(least) + larger * units_of_segment(least + 1);
}

/// A node on the way from the whole tree down to a segment.
struct LevelPlace {
  Segment segment;
  int depth = 0;
  std::uint32_t units_before = 0;  ///< of all segments of the level before this one

  /// Goes down to the segment of a level that has both `place` and `last`, each of them or the gap
  /// after it; where a median lies between the two, to the last node that has both. This node must
  /// have them.
  __host__ __device__ __forceinline__ void descend(Level level, std::uint32_t place,
                                                   std::uint32_t last) {
    while (depth < level.number) {
      // A pivot's gap belongs to the segment before it.
      const std::uint32_t median = segment.median();
      if (place <= median && last > median) return;
      ++depth;
      const Segment less = segment.less_side();
      if (place <= median) {
        segment = less;
      } else {
        segment = segment.greater_side();
        units_before += units_of_subtree(less.count(), level.number - depth);
      }
    }
  }
  __host__ __device__ __forceinline__ void descend(Level level, std::uint32_t place) {
    descend(level, place, place);
  }
  /// Whether `place` is one of the segment's own.
  [[nodiscard]] __host__ __device__ __forceinline__ bool has(std::uint32_t place) const {
    return place >= segment.begin && place < segment.end;
  }
};

/// Where the way down begins.
__host__ __device__ __forceinline__ LevelPlace root_of(Level level) {
  return {{0, level.n}, 0, 0};
}

}  // namespace warpath::partitioners::detail
