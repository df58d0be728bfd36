// The formulas F(p, x_i, y_j). A formula is a struct: its members are the parameters p, and
//
//   __device__ Value operator()(x_i..., y_j...) const
//
// gets one Vector<T, D> of each x-array and one of each y-array, and returns a number or a Vector.
// One that has work which depends on i or on j alone may do it once, before the pairs: it has types
// Row and Column, row(x_i...) and column(y_j...) make them, and operator() takes those two.
//
// x and y: D numbers. b: a signal of E numbers for each j; with E = 1, Value is the number itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "map_reduce/arithmetic.cuh"
#include "map_reduce/arrays.cuh"

namespace warpath::map_reduce {

/// A formula's value: E numbers, or one.
template <class T, int E>
using ValueOf = std::conditional_t<E == 1, T, Vector<T, E>>;

template <class T, int D>
__device__ __forceinline__ Vector<T, D> scaled(T factor, const Vector<T, D>& vector) {
  Vector<T, D> result;
#pragma unroll
  for (int k = 0; k < D; ++k) result[k] = factor * vector[k];
  return result;
}

/// factor * b, as a formula's value.
template <class T, int E>
__device__ __forceinline__ ValueOf<T, E> weighted(T factor, const Vector<T, E>& b) {
  return scaled(factor, b);
}

/// A column of the formulas that have a signal.
template <class T, int D, int E>
struct PointAndSignal {
  Vector<T, D> y;
  Vector<T, E> b;
};

namespace detail {

/// Returns the width. Throws std::invalid_argument, with the formula's name, unless it is a
/// positive finite number.
inline double require_width(const char* formula, double width) {
  if (width > 0 && std::isfinite(width)) return width;
  char text[32];
  std::snprintf(text, sizeof text, "%g", width);
  throw std::invalid_argument(std::string("the width of ") + formula + " is " + text +
                              ": expected a positive, finite number");
}

/// A factor of distances, split: scale = power * rest. Coordinates are multiplied by `power`, a
/// power of two, which is exact; then they are subtracted; the distance is multiplied by `rest`.
/// So a difference is as exact as that of the coordinates themselves, however far they lie from the
/// origin. `power` is 1 except for scales so large or small that squares of distances of about
/// 1 / scale, or the square of `scale`, would leave the range of T. It stays small enough for
/// coordinates of up to 2^63 (float).
template <class T>
struct SplitScale {
  explicit SplitScale(double scale) {
    constexpr bool is_float = sizeof(T) == sizeof(float);
    constexpr int plain = 50;
    constexpr int most = is_float ? 64 : 512;
    constexpr int least = is_float ? -80 : -1000;
    const int exponent = std::ilogb(scale);
    const int beyond = exponent > plain ? exponent - plain : std::min(0, exponent + plain);
    power = std::ldexp(T{1}, std::clamp(beyond, least, most));
    // Neither it nor its square is 0 or infinite: an infinite distance stays one.
    rest = std::clamp(scale / static_cast<double>(power), is_float ? 0x1p-74 : 0x1p-537,
                      is_float ? 0x1p63 : 0x1p511);
  }
  T power;
  double rest;
};

/// sqrt(log2 e) / width, for the Gram form of the tensor kernel; finite.
template <class T>
T gram_scale_of(double width) {
  return static_cast<T>(
      std::min(std::sqrt(log2_e) / width, static_cast<double>(std::numeric_limits<T>::max())));
}

}  // namespace detail

/// The sum of the squares of `row` - power * y, with one rounding for each difference: the product
/// with a power of two is exact.
template <class T, int D>
__device__ __forceinline__ T scaled_square(const Vector<T, D>& row, T power,
                                           const Vector<T, D>& y) {
  return sum_of_squares<D, T>([&](int k) { return fma(-power, y[k], row[k]); });
}

/// exp(-|x - y|^2 / width^2) b
template <class T, int D, int E = 1>
struct Gaussian {
  using Number = T;
  static constexpr int dimension = D;
  static constexpr int signal = E;
  using Row = Vector<T, D>;
  using Column = PointAndSignal<T, D, E>;

  /// Throws std::invalid_argument unless the width is a positive, finite number.
  explicit Gaussian(double width = 1)
      : Gaussian(
            detail::SplitScale<T>(std::sqrt(log2_e) / detail::require_width("Gaussian", width)),
            width) {}

  __device__ __forceinline__ Row row(const Vector<T, D>& x) const { return scaled(power, x); }
  __device__ __forceinline__ Column column(const Vector<T, D>& y, const Vector<T, E>& b) const {
    return {y, b};
  }
  __device__ __forceinline__ ValueOf<T, E> operator()(const Row& u, const Column& v) const {
    return weighted(exp2_of_minus_product(factor, scaled_square(u, power, v.y)), v.b);
  }

  T power;       ///< a power of two, of both points
  T factor;      ///< log2 e / (width power)^2, of squared distances
  T gram_scale;  ///< sqrt(log2 e) / width

 private:
  Gaussian(const detail::SplitScale<T>& scale, double width)
      : power(scale.power),
        factor(static_cast<T>(scale.rest * scale.rest)),
        gram_scale(detail::gram_scale_of<T>(width)) {}
};

/// exp(-|x - y| / width) b
template <class T, int D, int E = 1>
struct Laplacian {
  static constexpr int special_functions = 2;  ///< for the cost model
  using Row = Vector<T, D>;
  using Column = PointAndSignal<T, D, E>;

  /// Throws std::invalid_argument unless the width is a positive, finite number.
  explicit Laplacian(double width = 1)
      : Laplacian(detail::SplitScale<T>(log2_e / detail::require_width("Laplacian", width))) {}

  __device__ __forceinline__ Row row(const Vector<T, D>& x) const { return scaled(power, x); }
  __device__ __forceinline__ Column column(const Vector<T, D>& y, const Vector<T, E>& b) const {
    return {y, b};
  }
  __device__ __forceinline__ ValueOf<T, E> operator()(const Row& u, const Column& v) const {
    return weighted(exp2_of_minus_product(factor, root_of(scaled_square(u, power, v.y))), v.b);
  }

  T power;   ///< a power of two, of both points
  T factor;  ///< log2 e / (width power), of distances

 private:
  explicit Laplacian(const detail::SplitScale<T>& scale)
      : power(scale.power), factor(static_cast<T>(scale.rest)) {}
};

/// |x - y|^2
template <class T, int D>
struct SquaredDistance {
  using Number = T;
  static constexpr int dimension = D;
  __device__ __forceinline__ T operator()(const Vector<T, D>& x, const Vector<T, D>& y) const {
    return squared_distance(x, y);
  }
};

/// -|x - y|^2 / width^2: what the Gaussian is the exponential of, for LogSumExp.
template <class T, int D>
struct LogGaussian {
  using Number = T;
  static constexpr int dimension = D;
  using Row = Vector<T, D>;
  using Column = Vector<T, D>;

  /// Throws std::invalid_argument unless the width is a positive, finite number.
  explicit LogGaussian(double width = 1)
      : LogGaussian(detail::SplitScale<T>(1 / detail::require_width("LogGaussian", width)), width) {
  }

  __device__ __forceinline__ Row row(const Vector<T, D>& x) const { return scaled(power, x); }
  __device__ __forceinline__ Column column(const Vector<T, D>& y) const { return y; }
  __device__ __forceinline__ T operator()(const Row& u, const Column& v) const {
    return -factor * scaled_square(u, power, v);
  }

  T power;       ///< a power of two, of both points
  T factor;      ///< 1 / (width power)^2, of squared distances
  T gram_scale;  ///< sqrt(log2 e) / width

 private:
  LogGaussian(const detail::SplitScale<T>& scale, double width)
      : power(scale.power),
        factor(static_cast<T>(scale.rest * scale.rest)),
        gram_scale(detail::gram_scale_of<T>(width)) {}
};

/// (x . y) b
template <class T, int D, int E = 1>
struct InnerProduct {
  __device__ __forceinline__ ValueOf<T, E> operator()(const Vector<T, D>& x, const Vector<T, D>& y,
                                                      const Vector<T, E>& b) const {
    return weighted(inner_product(x, y), b);
  }
};

/// -|x - y| b, the kernel of the energy distance. In float, distances below 2^-63 are 0, and beyond
/// 2^64 infinite: their squares leave the range.
template <class T, int D, int E = 1>
struct EnergyDistance {
  __device__ __forceinline__ ValueOf<T, E> operator()(const Vector<T, D>& x, const Vector<T, D>& y,
                                                      const Vector<T, E>& b) const {
    return weighted(-root_of(squared_distance(x, y)), b);
  }
};

}  // namespace warpath::map_reduce
