// What is reduced over: arrays of vectors. A formula gets one element of each x-array (row i) and
// one of each y-array (column j).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "core/preconditions.cuh"
#include "core/span.hpp"

namespace warpath::map_reduce {

inline constexpr int max_dimension = 128;

/// D numbers: a point, a signal, a label. With D = 1 it is read as the number that it holds.
template <class T, int D>
struct Vector {
  static_assert(1 <= D && D <= max_dimension, "vectors have 1 to 128 dimensions");
  static constexpr int dimension = D;
  T numbers[D];
  __host__ __device__ T& operator[](int k) { return numbers[k]; }
  __host__ __device__ const T& operator[](int k) const { return numbers[k]; }
  __host__ __device__ operator T() const  // NOLINT(google-explicit-constructor)
      requires(D == 1) {
    return numbers[0];
  }
};

/// `count` vectors of D numbers each in device memory, one after the other.
template <class T, int D>
struct Array {
  static constexpr int dimension = D;
  const T* data = nullptr;
  std::int64_t count = 0;
  __device__ __forceinline__ Vector<T, D> operator[](std::int64_t i) const {
    Vector<T, D> element;
#pragma unroll
    for (int k = 0; k < D; ++k) element[k] = data[i * D + k];
    return element;
  }
};

/// Device memory as an array of vectors. Throws std::invalid_argument, with `name`, where the
/// memory is no whole number of them.
template <int D, class T>
Array<std::remove_const_t<T>, D> vectors(DeviceSpan<T> numbers, const std::string& name = "array") {
  if (numbers.count % D != 0) {
    throw std::invalid_argument(name + " has " + std::to_string(numbers.count) +
                                " numbers: expected a multiple of its dimension, " +
                                std::to_string(D));
  }
  return {numbers.data, numbers.count / D};
}

/// A tuple that kernels can have as a parameter, and shared memory as an element.
template <class... Ts>
struct Pack {};
template <class First, class... Rest>
struct Pack<First, Rest...> {
  First first;
  Pack<Rest...> rest;
};
template <class Last>
struct Pack<Last> {
  Last first;
};

template <int I, class... Ts>
__host__ __device__ __forceinline__ const auto& get(const Pack<Ts...>& pack) {
  if constexpr (I == 0) {
    return pack.first;
  } else {
    return get<I - 1>(pack.rest);
  }
}

template <class Last>
__host__ __device__ __forceinline__ Pack<Last> pack_of(const Last& last) {
  return {last};
}
template <class First, class... Rest>
__host__ __device__ __forceinline__ Pack<First, Rest...> pack_of(const First& first,
                                                                 const Rest&... rest) {
  return {first, pack_of(rest...)};
}

/// Element i of each array.
template <class... T, int... D>
__device__ __forceinline__ Pack<Vector<T, D>...> elements(const Pack<Array<T, D>...>& arrays,
                                                          std::int64_t i) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return pack_of(get<I>(arrays)[i]...);
  }
  (std::make_integer_sequence<int, sizeof...(T)>());
}

/// f(elements of a..., elements of b...).
template <class F, class... A, class... B>
__device__ __forceinline__ auto apply(const F& f, const Pack<A...>& a, const Pack<B...>& b) {
  return [&]<int... I, int... J>(std::integer_sequence<int, I...>,
                                 std::integer_sequence<int, J...>) {
    return f(get<I>(a)..., get<J>(b)...);
  }
  (std::make_integer_sequence<int, sizeof...(A)>(),
   std::make_integer_sequence<int, sizeof...(B)>());
}

/// The arrays that one index runs over; all have `count` elements.
template <class... Arrays>
struct Indexed {
  static_assert(sizeof...(Arrays) > 0, "an index runs over at least one array");
  Pack<Arrays...> arrays;
  std::int64_t count;
};

/// Throws std::invalid_argument where the first array's length is negative, or another array is not
/// as long as the first.
template <class First, class... Rest>
Indexed<First, Rest...> indexed(const std::string& name, First first, Rest... rest) {
  require_in_range("the number of elements of " + name + " array 1", first.count, 0,
                   std::numeric_limits<std::int64_t>::max() / max_dimension);
  int place = 1;
  (require_count(name + " array " + std::to_string(++place), rest.count, name + " array 1",
                 first.count),
   ...);
  return {pack_of(first, rest...), first.count};
}
/// The x-arrays, one element for each row i, and the y-arrays, one for each column j.
template <class... Arrays>
auto over_i(Arrays... arrays) {
  return indexed("x", arrays...);
}
template <class... Arrays>
auto over_j(Arrays... arrays) {
  return indexed("y", arrays...);
}

}  // namespace warpath::map_reduce
