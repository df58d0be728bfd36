// What the host functions demand of their arguments beyond core/preconditions.cuh.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/checked.hpp"
#include "core/cuda_check.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "warp_compaction/variant.hpp"

namespace warpath::warp_compaction::detail {

/// What an element can be. Does not compile otherwise.
template <class T>
constexpr void require_element() {
  static_assert(std::is_trivially_copyable_v<T>,
                "an element must be trivially copyable: kernels copy its bytes");
  static_assert(std::is_copy_assignable_v<T>,
                "an element must be assignable: kernels write it to its place in the output");
  static_assert(alignof(T) <= 16,
                "an element must be aligned to at most 16 bytes: no memory access is wider");
  static_assert(sizeof(T) <= 256,
                "an element must have at most 256 bytes: compact indices, and gather by them");
}

inline void require_options(const Options& options) {
  require_enum("options.variant", options.variant);
  require_enum("options.path", options.path);
}

/// Whether a value is not the coordinate that it stands for.
template <class Coordinate, class Reference>
struct IsNotCoordinate {
  const Reference* references;
  const Coordinate* tuples;
  int dimensions;
  int primary;
  __device__ bool operator()(const Coordinate* values, std::int64_t i) const {
    return values[i] != tuples[static_cast<std::int64_t>(references[i]) * dimensions + primary];
  }
};

/// Where checks are on: throws unless values[i] is coordinate `primary` of tuple references[i]. The
/// references are numbers of tuples.
template <class Coordinate, class Reference>
void require_values_of_tuples(DeviceSpan<const Coordinate> values,
                              DeviceSpan<const Reference> references,
                              DeviceSpan<const Coordinate> coordinates, int dimensions, int primary,
                              cudaStream_t stream) {
  if (!is_checked()) return;
  const IsNotCoordinate<Coordinate, Reference> is_wrong{references.data, coordinates.data,
                                                        dimensions, primary};
  const std::int64_t i = first_broken(values, is_wrong, stream);
  if (i < 0) return;
  const auto tuple = static_cast<std::int64_t>(value_at(references, i, stream));
  const Coordinate expected = value_at(coordinates, tuple * dimensions + primary, stream);
  throw std::invalid_argument(
      "values[" + std::to_string(i) + "] is " + std::to_string(value_at(values, i, stream)) +
      ": expected " + std::to_string(expected) + ", coordinate " + std::to_string(primary) +
      " of tuple references[" + std::to_string(i) + "] = " + std::to_string(tuple));
}

}  // namespace warpath::warp_compaction::detail
