// Exponentials, and distances: the arithmetic of the formulas. Products and sums that must come out
// the same wherever they are computed are written as fma(), so that no compiler chooses.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "map_reduce/arrays.cuh"
#include "map_reduce/instructions.cuh"

namespace warpath::map_reduce {

inline constexpr double log2_e = 1.4426950408889634074;

/// 2^x; relative error 2^-22, results below 2^-126 are 0.
__device__ __forceinline__ float exp2_of(float x) {
  return detail::exp2_approx(x);
}

/// The same for -126 < x < 127 without the special function unit, of which a multiprocessor has one
/// for eight FMA units: 2^x = 2^round(x) 2^f, where a polynomial of f, |f| <= 1/2, has a relative
/// error of 1.3e-7 with its rounding.
__device__ __forceinline__ float exp2_by_polynomial(float x) {
  constexpr float rounder = 12582912;  // 1.5 * 2^23: what is added to it loses its fraction
  const float rounded = x + rounder;
  const float f = x - (rounded - rounder);
  float power = 1.32764678e-3f;
  power = fmaf(power, f, 9.67554125e-3f);
  power = fmaf(power, f, 5.55071329e-2f);
  power = fmaf(power, f, 2.40221197e-1f);
  power = fmaf(power, f, 6.93146967e-1f);
  power = fmaf(power, f, 1.00000007f);
  // The sum's lowest bits are the integer: into the exponent with them.
  std::uint32_t bits = 0;
  std::uint32_t exponent = 0;
  memcpy(&bits, &power, sizeof bits);
  memcpy(&exponent, &rounded, sizeof exponent);
  bits += exponent << 23;
  memcpy(&power, &bits, sizeof power);
  return power;
}

/// 2^-(a b), a b >= 0; the product is rounded once, in float.
__device__ __forceinline__ float exp2_of_minus_product(float a, float b) {
  return exp2_of(-a * b);
}

namespace detail {

/// 2^(a b), where the product is never rounded, and a b, which is there too, rounded to 1/32.
struct Exp2OfProduct {
  double exponent;
  double value;  ///< for exponents of -1022 to 1024 - 1/32, and of a NaN
};
/// With a b = n / 32 + f, |f| <= 1/64, it is 2^(n / 32), from a table, times a polynomial of f: 9
/// operations in double, where a polynomial of |f| <= 1/2 would take 15.
__device__ __forceinline__ Exp2OfProduct exp2_by_table(double a, double b) {
  // The bits of 2^(k / 32), less k << 47.
  static constexpr std::uint64_t powers[32] = {
      0x3ff0000000000000, 0x3fefd9b0d3158574, 0x3fefb5586cf9890f, 0x3fef9301d0125b51,
      0x3fef72b83c7d517b, 0x3fef54873168b9aa, 0x3fef387a6e756238, 0x3fef1e9df51fdee1,
      0x3fef06fe0a31b715, 0x3feef1a7373aa9cb, 0x3feedea64c123422, 0x3feece086061892d,
      0x3feebfdad5362a27, 0x3feeb42b569d4f82, 0x3feeab07dd485429, 0x3feea47eb03a5585,
      0x3feea09e667f3bcd, 0x3fee9f75e8ec5f74, 0x3feea11473eb0187, 0x3feea589994cce13,
      0x3feeace5422aa0db, 0x3feeb737b0cdc5e5, 0x3feec49182a3f090, 0x3feed503b23e255d,
      0x3feee89f995ad3ad, 0x3feeff76f2fb5e47, 0x3fef199bdd85529c, 0x3fef3720dcef9069,
      0x3fef5818dcfba487, 0x3fef7c97337b9b5f, 0x3fefa4afa2a490da, 0x3fefd0765b6e4540};
  constexpr double rounder = 211106232532992;  // 1.5 * 2^47: what is added to it is rounded to 1/32
  const double rounded = fma(a, b, rounder);
  const double exponent = rounded - rounder;
  const double f = fma(a, b, -exponent);
  double fraction = 1.33334408515965096e-3;
  fraction = fma(fraction, f, 9.61818175607490655e-3);
  fraction = fma(fraction, f, 5.55041086695943524e-2);
  fraction = fma(fraction, f, 2.4022650695508401e-1);
  fraction = fma(fraction, f, 6.93147180559944994e-1);
  fraction *= f;  // 2^f - 1

  // The sum's lowest bits are n. Added to a double's exponent n leaves n % 32 below it, which the
  // table lacks.
  const std::uint32_t n = words_of(rounded).lower;
  const std::uint64_t chosen = powers[n % 32];
  const double power = double_of(
      {static_cast<std::uint32_t>(chosen >> 32) + (n << 15), static_cast<std::uint32_t>(chosen)});
  return {exponent, fma(power, fraction, power)};
}
inline constexpr std::uint32_t upper_infinity = 0x7ff00000;  ///< the upper words of some doubles
inline constexpr std::uint32_t upper_1024 = 0x40900000;
inline constexpr std::uint32_t upper_minus_1022 = 0xc08ff000;
inline constexpr std::uint32_t upper_minus_infinity = 0xfff00000;

/// The value, or 0 if the exponent is less than -1022. (Comparisons of integers, which leave the
/// units for doubles alone.)
__device__ __forceinline__ double value_unless_small(const Exp2OfProduct& power) {
  const std::uint32_t upper = words_of(power.exponent).upper;
  const bool is_small = upper - upper_minus_1022 - 1 < upper_minus_infinity - upper_minus_1022;
  return is_small ? 0.0 : power.value;
}

}  // namespace detail

/// 2^-(a b), a b >= 0, where the product is never rounded; relative error 3.2e-16, results below
/// 2^-1022 are 0.
__device__ __forceinline__ double exp2_of_minus_product(double a, double b) {
  return detail::value_unless_small(detail::exp2_by_table(-a, b));
}
/// 2^x; relative error 3.2e-16, results below 2^-1022 are 0.
__device__ __forceinline__ double exp2_of(double x) {
  const detail::Exp2OfProduct power = detail::exp2_by_table(x, 1.0);
  const std::uint32_t upper = detail::words_of(power.exponent).upper;
  const bool is_large = upper - detail::upper_1024 <= detail::upper_infinity - detail::upper_1024;
  return is_large ? std::numeric_limits<double>::infinity() : detail::value_unless_small(power);
}

__device__ __forceinline__ float log2_of(float x) {
  return log2f(x);
}
__device__ __forceinline__ double log2_of(double x) {
  return log2(x);
}
/// Of numbers that are not negative; relative error 2^-23 in float.
__device__ __forceinline__ float root_of(float x) {
  return detail::root_approx(x);
}
__device__ __forceinline__ double root_of(double x) {
  return sqrt(x);
}

/// The sum of squares of D numbers, by sixteens: the sum of all is rounded D / 16 times only, and
/// at 128 dimensions that is most of the error. (The square of a number that is left over is added
/// in one rounding: a compiler does so at some places only, and bits must not depend on it.)
template <int D, class T, class NumberOf>
__device__ __forceinline__ T sum_of_squares(NumberOf number_of) {
  T sum = 0;
#pragma unroll
  for (int first = 0; first < D; first += 16) {
    const T number = number_of(first);
    if (first > 0 && first == D - 1) return fma(number, number, sum);
    T part = number * number;
#pragma unroll
    for (int k = first + 1; k < D && k < first + 16; ++k) {
      const T next = number_of(k);
      part = fma(next, next, part);
    }
    sum = first == 0 ? part : sum + part;
  }
  return sum;
}

/// |x - y|^2, with one rounding a dimension beside that of the difference.
template <class T, int D>
__device__ __forceinline__ T squared_distance(const Vector<T, D>& x, const Vector<T, D>& y) {
  return sum_of_squares<D, T>([&](int k) { return x[k] - y[k]; });
}

template <class T, int D>
__device__ __forceinline__ T inner_product(const Vector<T, D>& x, const Vector<T, D>& y) {
  T sum = x[0] * y[0];
#pragma unroll
  for (int k = 1; k < D; ++k) sum = fma(x[k], y[k], sum);
  return sum;
}

}  // namespace warpath::map_reduce
