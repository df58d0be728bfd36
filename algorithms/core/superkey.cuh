// The order of k-d tuples by superkey.
//
// Source: R. A. Brown, "Building a Balanced k-d Tree in O(kn log n) Time", Journal of Computer
// Graphics Techniques 4(1), 2015, http://jcgt.org/published/0004/01/03/ . The superkey of a tuple
// is the cyclic permutation of its coordinates that begins with one of them: x:y:z, y:z:x, z:x:y.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/arguments.hpp"
#include "core/span.hpp"

namespace warpath {

/// The tuples that references are numbers of: `dimensions` coordinates each.
template <class C>
struct Tuples {
  DeviceSpan<const C> coordinates;
  int dimensions = 1;  ///< 1 to 16
  int primary = 0;     ///< the coordinate that the references are sorted by, first of the superkey
};

/// The number of tuples of the argument `name`. Throws unless dimensions and primary are in range,
/// the coordinates are those of whole tuples, and there are tuples if there are references.
template <class C>
std::int64_t require_tuples(const Tuples<C>& tuples, std::int64_t references,
                            const std::string& name = "tuples") {
  require_in_range("dimensions", tuples.dimensions, 1, 16);
  require_in_range("primary", tuples.primary, 0, tuples.dimensions - 1);
  if (tuples.coordinates.count % tuples.dimensions != 0) {
    throw std::invalid_argument(name + " has " + std::to_string(tuples.coordinates.count) +
                                " coordinates: expected a multiple of dimensions, which is " +
                                std::to_string(tuples.dimensions));
  }
  if (references > 0 && tuples.coordinates.count == 0) {
    throw std::invalid_argument(name + " has no coordinates: expected those of the tuples that " +
                                std::to_string(references) + " references name");
  }
  return tuples.coordinates.count / tuples.dimensions;
}

/// Compares the superkeys of two tuples of `dimensions` coordinates that begin with coordinate
/// `primary`: negative if a's is less, positive if it is greater, 0 if the tuples are equal. The
/// first `known_equal` coordinates of the superkeys are known to be equal and are not read.
template <class Coordinate>
__host__ __device__ __forceinline__ int compare_superkeys(const Coordinate* a, const Coordinate* b,
                                                          int dimensions, int primary,
                                                          int known_equal = 0) {
  int order = 0;
  for (int k = known_equal; k < dimensions && order == 0; ++k) {
    const int turned = primary + k;
    const int coordinate = turned < dimensions ? turned : turned - dimensions;
    order = (b[coordinate] < a[coordinate] ? 1 : 0) - (a[coordinate] < b[coordinate] ? 1 : 0);
  }
  return order;
}

/// A tuple, and its primary coordinate.
template <class C>
struct TupleItem {
  C value;
  const C* tuple;
};

/// Tuples by superkey: the tuples themselves are read only where their primary coordinates tie.
template <class C>
struct ByTuple {
  int dimensions;
  int primary;
  __device__ __forceinline__ bool operator()(const TupleItem<C>& a, const TupleItem<C>& b) const {
    if (a.value != b.value) return a.value < b.value;
    return compare_superkeys(a.tuple, b.tuple, dimensions, primary, 1) < 0;
  }
};

/// Tuples in an order: by references to them, and their primary coordinates beside. They may lie on
/// any device that the reading one has access to.
template <class C>
struct SortedTuples {
  const C* values;
  const std::uint32_t* references;
  const C* coordinates;
  int dimensions;
  [[nodiscard]] __device__ __forceinline__ TupleItem<C> operator[](std::int64_t i) const {
    return {values[i], coordinates + std::int64_t{references[i]} * dimensions};
  }
};

}  // namespace warpath
