// The coordinates of a tuple or of a query while it is searched for.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/vector.cuh"
#include "kd_tree/distance.cuh"

namespace warpath::kd_tree::detail {

/// How many coordinates lie between those of one row and the next: rows of up to 16 bytes are
/// padded, so that each is read by one access.
template <class C>
__host__ __device__ constexpr int row_length(int dimensions) {
  int padded = 1;
  while (padded < dimensions) padded *= 2;
  return padded * static_cast<int>(sizeof(C)) <= 16 ? padded : dimensions;
}

/// D coordinates, in registers.
template <class C, int D>
class Coordinates {
 public:
  static __device__ __forceinline__ Coordinates of_tuple(const C* tuple, int) {
    Coordinates coordinates;
#pragma unroll
    for (int k = 0; k < D; ++k) coordinates.values_[k] = tuple[k];
    return coordinates;
  }
  static __device__ __forceinline__ Coordinates of_row(const C* row, int dimensions) {
    constexpr int length = row_length<C>(D);
    if constexpr (length * sizeof(C) > 16) return of_tuple(row, dimensions);
    C values[length];
    load_vector(row, values);
    return of_tuple(values, dimensions);
  }

  [[nodiscard]] __device__ __forceinline__ int count() const {
    return D;
  }
  [[nodiscard]] __device__ __forceinline__ C operator[](int k) const {
    C value = values_[0];
#pragma unroll
    for (int i = 1; i < D; ++i) value = k == i ? values_[i] : value;
    return value;
  }
  /// The squared distance of a tuple: squared_distance(), unrolled.
  [[nodiscard]] __device__ __forceinline__ Distance<C> squared_distance_to(
      const Coordinates& tuple) const {
    Distance<C> sum = 0;
#pragma unroll
    for (int k = 0; k < D; ++k) sum += squared_difference(values_[k], tuple.values_[k]);
    return sum;
  }

 private:
  C values_[D];
};

/// Any number of coordinates, in memory.
template <class C>
class Coordinates<C, 0> {
 public:
  static __device__ __forceinline__ Coordinates of_tuple(const C* tuple, int dimensions) {
    Coordinates coordinates;
    coordinates.values_ = tuple;
    coordinates.count_ = dimensions;
    return coordinates;
  }
  static __device__ __forceinline__ Coordinates of_row(const C* row, int dimensions) {
    return of_tuple(row, dimensions);
  }

  [[nodiscard]] __device__ __forceinline__ int count() const { return count_; }
  [[nodiscard]] __device__ __forceinline__ C operator[](int k) const { return values_[k]; }
  [[nodiscard]] __device__ __forceinline__ Distance<C> squared_distance_to(
      const Coordinates& tuple) const {
    return squared_distance(values_, tuple.values_, count_);
  }

 private:
  const C* values_;
  int count_;
};

template <class Tuple>
__device__ __forceinline__ bool has_nan(const Tuple& tuple) {
  for (int k = 0; k < tuple.count(); ++k) {
    if (tuple[k] != tuple[k]) return true;
  }
  return false;
}

}  // namespace warpath::kd_tree::detail
