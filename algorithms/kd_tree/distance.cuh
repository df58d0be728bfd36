// Squared Euclidean distances: one definition for device, host and oracle's comparison, so that
// ties are the same everywhere.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace warpath::kd_tree {

/// What squared distances between tuples of C are: float of floats, else double.
template <class C>
using Distance = std::conditional_t<std::is_same_v<C, float>, float, double>;

namespace detail {

// A multiplication and an addition, each rounded: never one fused operation, which the compiler may
// choose on one machine and not on another.
__host__ __device__ __forceinline__ float rounded_product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  const volatile float product = a * b;
  return product;
#endif
}
__host__ __device__ __forceinline__ double rounded_product(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  const volatile double product = a * b;
  return product;
#endif
}

/// |a - b|, of integers exactly until it is rounded once; 0 of equal infinities.
template <class C>
__host__ __device__ __forceinline__ Distance<C> difference(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (a == b) return Distance<C>{0};
    return a < b ? b - a : a - b;
  } else {
    using Unsigned = std::make_unsigned_t<C>;
    const auto x = static_cast<Unsigned>(a);
    const auto y = static_cast<Unsigned>(b);
    return static_cast<Distance<C>>(a < b ? static_cast<Unsigned>(y - x)
                                          : static_cast<Unsigned>(x - y));
  }
}

}  // namespace detail

/// The square of what lies between two coordinates.
template <class C>
__host__ __device__ __forceinline__ Distance<C> squared_difference(C a, C b) {
  const Distance<C> d = detail::difference(a, b);
  return detail::rounded_product(d, d);
}

/// The squares of all coordinates' differences, summed in the order of the coordinates, each step
/// rounded. NaN if one of them is.
template <class C>
__host__ __device__ __forceinline__ Distance<C> squared_distance(const C* a, const C* b,
                                                                 int dimensions) {
  Distance<C> sum = 0;
  for (int k = 0; k < dimensions; ++k) sum += squared_difference(a[k], b[k]);
  return sum;
}

}  // namespace warpath::kd_tree
