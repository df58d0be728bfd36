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

/// 2^(a b); the product is rounded once, in float.
__device__ __forceinline__ float exp2_of_product(float a, float b) {
  return exp2_of(a * b);
}

/// 2^(a b), where the product is never rounded; relative error 3e-16, results below 2^-1021.5 are
/// 0. Half the instructions of exp2(), and none for the product.
__device__ __forceinline__ double exp2_of_product(double a, double b) {
  constexpr double rounder = 6755399441055744;  // 1.5 * 2^52
  const double rounded = fma(a, b, rounder);
  const double whole = rounded - rounder;
  const double f = fma(a, b, -whole);
  double power = 4.43528070319254596e-10;
  power = fma(power, f, 7.07410557983053419e-9);
  power = fma(power, f, 1.01781980353714773e-7);
  power = fma(power, f, 1.32154330899061269e-6);
  power = fma(power, f, 1.52527334899555607e-5);
  power = fma(power, f, 1.54035304625139061e-4);
  power = fma(power, f, 1.33335581467899546e-3);
  power = fma(power, f, 9.6181291075883357e-3);
  power = fma(power, f, 5.55041086648199215e-2);
  power = fma(power, f, 2.40226506959101562e-1);
  power = fma(power, f, 6.9314718055994533e-1);
  power = fma(power, f, 1.0);
  std::uint64_t bits = 0;
  std::uint64_t exponent = 0;
  memcpy(&bits, &power, sizeof bits);
  memcpy(&exponent, &rounded, sizeof exponent);
  bits += exponent << 52;
  memcpy(&power, &bits, sizeof power);
  if (whole < -1021) return 0;
  return whole < 1024 ? power : (whole == whole ? std::numeric_limits<double>::infinity() : whole);
}
__device__ __forceinline__ double exp2_of(double x) {
  return exp2_of_product(x, 1.0);
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
