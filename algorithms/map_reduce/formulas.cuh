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

#include <cmath>
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

/// exp(-|x - y|^2 / width^2) b. A row is scaled once; a difference scales the column: that is one
/// instruction, as the difference alone would be.
template <class T, int D, int E = 1>
struct Gaussian {
  using Number = T;
  static constexpr int dimension = D;
  static constexpr int signal = E;
  using Row = Vector<T, D>;
  using Column = PointAndSignal<T, D, E>;

  explicit Gaussian(double width = 1) : scale(static_cast<T>(std::sqrt(log2_e) / width)) {}

  __device__ __forceinline__ Row row(const Vector<T, D>& x) const { return scaled(scale, x); }
  __device__ __forceinline__ Column column(const Vector<T, D>& y, const Vector<T, E>& b) const {
    return {y, b};
  }
  __device__ __forceinline__ ValueOf<T, E> operator()(const Row& u, const Column& v) const {
    const T square = sum_of_squares<D, T>([&](int k) { return fma(-scale, v.y[k], u[k]); });
    return weighted(exp2_of(-square), v.b);
  }

  T scale;  ///< sqrt(log2 e) / width
};

/// exp(-|x - y| / width) b
template <class T, int D, int E = 1>
struct Laplacian {
  using Row = Vector<T, D>;
  using Column = PointAndSignal<T, D, E>;

  explicit Laplacian(double width = 1) : scale(static_cast<T>(log2_e / width)) {}

  __device__ __forceinline__ Row row(const Vector<T, D>& x) const { return scaled(scale, x); }
  __device__ __forceinline__ Column column(const Vector<T, D>& y, const Vector<T, E>& b) const {
    return {scaled(scale, y), b};
  }
  __device__ __forceinline__ ValueOf<T, E> operator()(const Row& u, const Column& v) const {
    return weighted(exp2_of(-root_of(squared_distance(u, v.y))), v.b);
  }

  T scale;  ///< log2 e / width
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

  explicit LogGaussian(double width = 1) : scale(static_cast<T>(1 / width)) {}

  __device__ __forceinline__ Row row(const Vector<T, D>& x) const { return scaled(scale, x); }
  __device__ __forceinline__ Column column(const Vector<T, D>& y) const { return scaled(scale, y); }
  __device__ __forceinline__ T operator()(const Row& u, const Column& v) const {
    return -squared_distance(u, v);
  }

  T scale;  ///< 1 / width
};

/// (x . y) b
template <class T, int D, int E = 1>
struct InnerProduct {
  __device__ __forceinline__ ValueOf<T, E> operator()(const Vector<T, D>& x, const Vector<T, D>& y,
                                                      const Vector<T, E>& b) const {
    return weighted(inner_product(x, y), b);
  }
};

/// -|x - y| b, the kernel of the energy distance
template <class T, int D, int E = 1>
struct EnergyDistance {
  __device__ __forceinline__ ValueOf<T, E> operator()(const Vector<T, D>& x, const Vector<T, D>& y,
                                                      const Vector<T, E>& b) const {
    return weighted(-root_of(squared_distance(x, y)), b);
  }
};

}  // namespace warpath::map_reduce
