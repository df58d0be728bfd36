// The sums that kernels of the Gram form take (tensor_sum.cuh), and what a point is to them.
#pragma once

#include <cstdint>

#include "core/vector.cuh"
#include "map_reduce/arithmetic.cuh"
#include "map_reduce/formulas.cuh"
#include "map_reduce/instructions.cuh"
#include "map_reduce/reductions.cuh"
#include "map_reduce/tensor_tile.cuh"

namespace warpath::map_reduce::detail {

/// What is summed over the columns as 2^(-|u - v|^2) w, with u = scale x and v = scale y.
template <class Formula, class Reduction>
struct Exponential {
  static constexpr bool is_possible = false;
};
template <int D, int E>
struct Exponential<Gaussian<float, D, E>, Sum<ValueOf<float, E>, Accuracy::block>> {
  static constexpr bool is_possible = true;
  static constexpr int dimension = D;
  static constexpr int signal = E;
  using State = typename Sum<ValueOf<float, E>, Accuracy::block>::State;

  __device__ __forceinline__ static float scale(const Gaussian<float, D, E>& formula) {
    return formula.gram_scale;
  }
  template <class Arrays>
  __device__ __forceinline__ static Vector<float, E> weight(const Arrays& y, std::int64_t j) {
    const float* const signals = get<1>(y).data;
    // Threads with neighbouring columns read E numbers each: whole vectors are far fewer accesses.
    if (E % 4 == 0 && reinterpret_cast<std::uintptr_t>(signals) % 16 == 0) {
      float numbers[E];
      load_vector(signals + j * E, numbers);
      Vector<float, E> weight;
#pragma unroll
      for (int e = 0; e < E; ++e) weight[e] = numbers[e];
      return weight;
    }
    return get<1>(y)[j];
  }
  /// The state that has factor * sum.
  __device__ __forceinline__ static State state(float factor, const Vector<float, E>& sum) {
    return {weighted(factor, sum), {}};
  }
};
template <int D>
struct Exponential<LogGaussian<float, D>, LogSumExp<float>> {
  static constexpr bool is_possible = true;
  static constexpr int dimension = D;
  static constexpr int signal = 1;
  using State = LogSumExp<float>::State;

  __device__ __forceinline__ static float scale(const LogGaussian<float, D>& formula) {
    return formula.gram_scale;
  }
  template <class Arrays>
  __device__ __forceinline__ static Vector<float, 1> weight(const Arrays&, std::int64_t) {
    return {1};
  }
  __device__ __forceinline__ static State state(float factor, const Vector<float, 1>& sum) {
    if (sum == 0.0f) return LogSumExp<float>().neutral();
    return {0, factor * sum, 0};
  }
};

template <class Problem>
using ExponentialOf = Exponential<typename Problem::Formula, typename Problem::Reduction>;

/// Coordinate k of a point, of which `number` is what the array has: relative to the centre,
/// scaled, and in up to 8 dimensions rounded to what two halves hold (which would take 8 to 12 % of
/// the time in more). The same bits in every kernel: the one computes pairs that the other leaves.
template <int D>
struct Relative {
  float scale;
  const float* centre;

  __device__ __forceinline__ float operator()(float number, int k) const {
    const float u = fmaf(scale, number - centre[k], 0.0f);
    if constexpr (D > 8) return u;
    const TwoHalves halves = split_halves(u);
    return halves.high + halves.low;
  }
};

/// Whether a row or column of that square would make the form lose its accuracy, or is not finite.
template <int D>
__device__ __forceinline__ bool square_is_far(float square) {
  return !(square <= most_square<D>);
}

}  // namespace warpath::map_reduce::detail
