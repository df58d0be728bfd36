// On which side of a pivot a reference lies.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/span.hpp"
#include "core/superkey.cuh"
#include "partitioners/levels.cuh"

namespace warpath::partitioners {

/// A reference array that a level partitions: `in` as the level before has left it, `out` as the
/// next level reads it.
struct ReferenceArray {
  DeviceSpan<const std::uint32_t> in;
  DeviceSpan<std::uint32_t> out;
};

/// The most reference arrays of a call: one for each coordinate but the primary one.
inline constexpr int most_arrays = 15;

}  // namespace warpath::partitioners

namespace warpath::partitioners::detail {

enum class Side : unsigned char { less, pivot, greater };

/// The arrays of a call, as a kernel takes them.
struct ArrayList {
  const std::uint32_t* in[most_arrays];
  std::uint32_t* out[most_arrays];
  int count;
};

/// The order of tuples: by superkey and, if they are equal, by reference. So no two of them tie,
/// and arrays that a stable sort has left agree on it.
template <class Coordinate>
struct TupleOrder {
  const Coordinate* coordinates;  ///< those of tuple r begin at r * dimensions
  int dimensions;
  int primary;

  [[nodiscard]] __device__ __forceinline__ const Coordinate* at(std::uint32_t reference) const {
    return coordinates + static_cast<std::int64_t>(reference) * dimensions;
  }
  /// Whether tuple a comes before tuple b.
  [[nodiscard]] __device__ __forceinline__ bool less(std::uint32_t a, std::uint32_t b) const {
    const int order = compare_superkeys(at(a), at(b), dimensions, primary);
    return order != 0 ? order < 0 : a < b;
  }
};

/// Finds sides by comparing superkeys. A tuple's primary coordinate decides; the others are read
/// where it ties.
template <class Coordinate>
struct CompareSides {
  TupleOrder<Coordinate> order;

  /// What is compared with, read once for many references.
  struct Pivot {
    std::uint32_t reference;
    Coordinate value;
  };
  [[nodiscard]] __device__ __forceinline__ Pivot pivot(std::uint32_t reference) const {
    return {reference, order.at(reference)[order.primary]};
  }
  [[nodiscard]] __device__ __forceinline__ Side side(std::uint32_t reference,
                                                     const Pivot& pivot) const {
    if (reference == pivot.reference) return Side::pivot;
    const Coordinate* tuple = order.at(reference);
    const Coordinate value = tuple[order.primary];
    if (value < pivot.value) return Side::less;
    if (pivot.value < value) return Side::greater;
    const int rest =
        compare_superkeys(tuple, order.at(pivot.reference), order.dimensions, order.primary, 1);
    const bool is_less = rest != 0 ? rest < 0 : reference < pivot.reference;
    return is_less ? Side::less : Side::greater;
  }
};

/// Finds sides in a bit vector: bit r is set if tuple r is greater than the pivot of its segment.
struct LookUpSides {
  const std::uint32_t* greater_bits;

  struct Pivot {
    std::uint32_t reference;
  };
  [[nodiscard]] __device__ __forceinline__ Pivot pivot(std::uint32_t reference) const {
    return {reference};
  }
  [[nodiscard]] __device__ __forceinline__ Side side(std::uint32_t reference, Pivot pivot) const {
    if (reference == pivot.reference) return Side::pivot;
    const bool is_greater = (greater_bits[reference / 32] >> reference % 32 & 1) != 0;
    return is_greater ? Side::greater : Side::less;
  }
};

/// The node of a segment: the reference at its median.
__device__ __forceinline__ std::uint32_t node_of(Segment segment, const std::uint32_t* primary) {
  return segment.count() > 0 ? primary[segment.median()] : no_node;
}

/// Stores the nodes of a level. The whole grid.
__device__ __forceinline__ void grid_store_medians(Level level, const std::uint32_t* primary,
                                                   std::uint32_t* medians) {
  const std::uint32_t stride = gridDim.x * blockDim.x;
  for (std::uint32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < level.segments(); k += stride) {
    medians[k] = node_of(level.segment(k), primary);
  }
}

}  // namespace warpath::partitioners::detail
