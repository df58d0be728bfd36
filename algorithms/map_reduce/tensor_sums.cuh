// Sums in the registers of a warp's lanes, as the tensor kernels of sums keep them.
#pragma once

#include <cuda_runtime.h>

#include "map_reduce/reductions.cuh"

namespace warpath::map_reduce::detail {

/// The sums over the columns of a lane: of row g of each of the warp's row tiles, then of row g
/// + 8.
template <int RowTiles, int E>
struct LaneSums {
  float of[RowTiles][2][E];
  __device__ __forceinline__ void set_zero() {
    for_each([](float& sum) { sum = 0; }, *this);
  }
  /// act(number of each...).
  template <class Act, class... Sums>
  __device__ __forceinline__ static void for_each(Act act, Sums&... sums) {
#pragma unroll
    for (int m = 0; m < RowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int e = 0; e < E; ++e) act(sums.of[m][half][e]...);
      }
    }
  }
};

/// The sums of all tiles, compensated (Kahan). Nothing guards the compensation against an overflow:
/// the sum is a NaN then, and the kernel computes it another way.
template <int RowTiles, int E>
struct LaneTotals {
  LaneSums<RowTiles, E> sums;
  LaneSums<RowTiles, E> excess;
  __device__ __forceinline__ void set_zero() {
    sums.set_zero();
    excess.set_zero();
  }
  __device__ __forceinline__ bool are_finite() const {
    bool result = true;
    LaneSums<RowTiles, E>::for_each([&](const float& sum) { result = result && isfinite(sum); },
                                    sums);
    return result;
  }
  __device__ __forceinline__ void add(const LaneSums<RowTiles, E>& more) {
    LaneSums<RowTiles, E>::for_each(
        [](float& sum, float& of_excess, const float& value) {
          using detail::plus;
          const float term = plus(value, -of_excess);
          const float next = plus(sum, term);
          of_excess = plus(plus(next, -sum), -term);
          sum = next;
        },
        sums, excess, more);
  }
};

/// Where a tile has no larger signal, but one that is not 0, weights w 2^-|v|^2 may pass below the
/// normal numbers. What they lose there is no small part of a row that has nothing but near
/// columns of the tile.
inline constexpr float least_signal = 0x1p-70f;
/// Whether that is so. `most`: the largest magnitude among the thread's signals. The whole block.
__device__ __forceinline__ bool block_has_small_signals(float most) {
  return !__syncthreads_or(most >= least_signal) && __syncthreads_or(most > 0);
}

/// A row's sum comes from four lanes of each of up to two warps: their sums are divided by as many
/// before they are added, so that finite ones have a finite sum.
inline constexpr float lanes_of_row = 8;

}  // namespace warpath::map_reduce::detail
