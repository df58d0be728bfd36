// Sums of exponentials times signals of several numbers, as a second matrix product on the tensor
// cores, in float. P(i, j) is the exponential of a pair and w(j, e) number e of a column's signal,
// times what the exponential leaves to the column:
//
//     P: 16 rows x 16 columns   *   w: 16 columns x 8 numbers   ->   sums: 16 rows x 8 numbers
//
// Where the first product leaves two eights of P, a lane has rows g and g + 8 at columns 2 t and
// 2 t + 1 of each. That is what the second takes from it as left operand: P stays in the registers.
// Source of this: T. Dao, D. Y. Fu, S. Ermon, A. Rudra, C. Re, "FlashAttention", NeurIPS 2022,
// where P is rounded to one half.
//
// Accuracy: both operands are two halves (split_halves()), so that a product is off by 2^-22.
// Halves have a short range. P, at least 2^(-2 s) and at most 2^(2 s) for squares of up to s, is
// multiplied by the power of two that brings it just below 2^16; and w, for each number of the
// signal and each tile, by the one that brings the largest in the tile to 2^14: smaller ones lose
// what is below 2^-40 of it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/divide_up.hpp"
#include "core/vector.cuh"
#include "core/warp.cuh"
#include "map_reduce/arithmetic.cuh"
#include "map_reduce/arrays.cuh"
#include "map_reduce/instructions.cuh"
#include "map_reduce/tensor_sums.cuh"
#include "map_reduce/tensor_tile.cuh"

namespace warpath::map_reduce::detail {

/// Whether the sums are a second product. (Measured, D = 3: three numbers cost as much as
/// multiply-adds, four 0.9 times as much, sixteen 0.4 times. In more dimensions P passes the range
/// of a half.)
template <int D, int E>
inline constexpr bool multiplies_signals = D <= 16 && E >= 4;

/// The powers of two that bring a tile's numbers to halves and their sums back, by the bits of the
/// largest magnitude.
struct SignalScale {
  float to_halves;
  float back;
};
__device__ __forceinline__ SignalScale signal_scale(unsigned most) {
  const unsigned exponent = min(127 + 14 + 127 - (most >> 23), 253u);  // as floats have it
  return {__uint_as_float(exponent << 23), __uint_as_float((254 - exponent) << 23)};
}

/// The sums of a warp's rows in its lanes' registers, and what they take in shared memory.
template <class Shape, int D, int E>
struct MultipliedSignals {
  static constexpr int tile = tensor_tile<D>;
  static constexpr int numbers = divide_up(E, 8) * 8;  ///< of the product
  static constexpr int row_tiles = Shape::row_tiles;
  /// What P is multiplied by.
  static constexpr float p_scale = D <= 8 ? 0x1p8f : 0x1p5f;
  static_assert(D <= 8 ? 2 * most_square<D> <= 7.95f : 2 * most_square<D> <= 10);

  /// A tile of w. Lane 4 g + t takes numbers g of a group, at columns 2 t, 2 t + 1, 2 t + 8 and 2 t
  /// + 9 of a sixteen: two registers of high halves, two of low.
  struct Weights {
    alignas(16) std::uint32_t halves[tile / 16][numbers / 8][warp_threads][4];
  };
  /// Bits of the largest magnitude of each number, of two tiles in turn. All 0 before the first.
  struct Scales {
    unsigned most[2][E];
  };

  LaneTotals<row_tiles, numbers / 4> totals;
  int turn;

  /// Before the first tile. A barrier must follow.
  __device__ __forceinline__ void start(Scales& scales) {
    totals.set_zero();
    turn = 1;
    clear_next(scales);
  }

  /// Looks at the signals of a thread's columns. A barrier must follow before store().
  template <int Columns>
  __device__ __forceinline__ void find_scales(const Vector<float, E> (&signals)[Columns],
                                              Scales& scales) {
    turn ^= 1;
#pragma unroll
    for (int e = 0; e < E; ++e) {
      unsigned most = 0;
#pragma unroll
      for (int n = 0; n < Columns; ++n) {
        most = max(most, __float_as_uint(signals[n][e]) & 0x7FFFFFFFu);
      }
      most = __reduce_max_sync(full_warp, most);
      if (lane_index() == 0) atomicMax(&scales.most[turn][e], most);
    }
  }

  /// Stores factor * signal as the weights of column t; the warp has 32 neighbouring columns.
  /// Returns whether all numbers of the tile are finite: otherwise the tile is of no use.
  __device__ __forceinline__ bool store(int t, float factor, const Vector<float, E>& signal,
                                        const Scales& scales, Weights& weights) const {
    bool are_finite = true;
    const bool is_odd = t % 2 != 0;
    // An even column stores the high halves of two columns, an odd one the low ones.
    const int lane_of_pair = t % 8 / 2;
    const int part = t % 16 / 8 + (is_odd ? 2 : 0);
#pragma unroll
    for (int e = 0; e < numbers; ++e) {
      float number = 0;
      if (e < E) {
        const unsigned most = scales.most[turn][e];
        are_finite = are_finite && most < 0x7F800000u;
        number = signal[e] * signal_scale(most).to_halves * factor;
      }
      const std::uint32_t own = split_halves(number).bits;
      const std::uint32_t other = __shfl_xor_sync(full_warp, own, 1);
      weights.halves[t / 16][e / 8][e % 8 * 4 + lane_of_pair][part] =
          is_odd ? __byte_perm(other, own, 0x7632) : __byte_perm(own, other, 0x5410);
    }
    return are_finite;
  }
  /// After the barrier that ends a tile's find_scales(): makes room for those of the next tile.
  __device__ __forceinline__ void clear_next(Scales& scales) const {
    for (int e = threadIdx.x; e < E; e += Shape::threads) scales.most[turn ^ 1][e] = 0;
  }

  /// Adds the sums of a tile of `width` columns, by groups of 32. The rows are 2 u.
  template <class Rows, class Tile>
  __device__ __forceinline__ void add_tile(const Rows (&rows)[row_tiles], const Tile& columns,
                                           const Weights& weights, const Scales& scales,
                                           int width) {
    float sums[row_tiles][numbers / 8][4] = {};
#pragma unroll 1
    for (int group = warp_index() / Shape::row_warps; 32 * group < width;
         group += Shape::column_warps) {
      std::uint32_t high[2][row_tiles][4];
      std::uint32_t low[2][row_tiles][4];
#pragma unroll
      for (int eight = 0; eight < 4; ++eight) {
        float exponents[row_tiles][4] = {};
        columns.multiply(rows, 4 * group + eight, exponents);
#pragma unroll
        for (int m = 0; m < row_tiles; ++m) {
          set_exponentials(exponents[m], eight % 2, high[eight / 2][m], low[eight / 2][m]);
        }
      }
#pragma unroll
      for (int n = 0; n < numbers / 8; ++n) {
        std::uint32_t w[2][4];
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          load_vector(weights.halves[2 * group + k][n][lane_index()], w[k]);
        }
        const std::uint32_t high_weights[2][2] = {{w[0][0], w[0][1]}, {w[1][0], w[1][1]}};
        const std::uint32_t low_weights[2][2] = {{w[0][2], w[0][3]}, {w[1][2], w[1][3]}};
        // The tensor cores truncate their sums, where other units round them. Therefore the small
        // products come first, and a sum that starts anew adds 32 columns only.
#pragma unroll
        for (int m = 0; m < row_tiles; ++m) {
          float of_group[4] = {};
          multiply_add(low[0][m], high_weights[0], of_group, true);
          multiply_add(low[1][m], high_weights[1], of_group, false);
          multiply_add(high[0][m], low_weights[0], of_group, false);
          multiply_add(high[1][m], low_weights[1], of_group, false);
          multiply_add(high[0][m], high_weights[0], of_group, false);
          multiply_add(high[1][m], high_weights[1], of_group, false);
#pragma unroll
          for (int q = 0; q < 4; ++q) sums[m][n][q] += of_group[q];
        }
      }
    }
    add_to_totals(sums, scales);
  }

  /// sums[warp column][row][number]: what the warp has of each row, divided by lanes_of_row.
  template <class Sums>
  __device__ __forceinline__ void store_sums(Sums& sums) const {
    const int first = warp_index() % Shape::row_warps * Shape::warp_rows;
#pragma unroll
    for (int m = 0; m < row_tiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = first + m * 16 + half * 8 + lane_index() / 4;
#pragma unroll
        for (int i = 0; i < numbers / 4; ++i) {
          if (number_of(i) >= E) continue;
          sums[warp_index() / Shape::row_warps][row][number_of(i)] =
              totals.sums.of[m][half][i] * (1 / lanes_of_row);
        }
      }
    }
  }

 private:
  /// The number of the signal that this lane's sum i of a row belongs to.
  __device__ __forceinline__ static int number_of(int i) {
    return i / 2 * 8 + lane_index() % 4 * 2 + i % 2;
  }

  /// P of one eight of a sixteen's columns, as left operand.
  __device__ __forceinline__ static void set_exponentials(const float (&exponents)[4], int half,
                                                          std::uint32_t (&high)[4],
                                                          std::uint32_t (&low)[4]) {
#pragma unroll
    for (int of_row = 0; of_row < 2; ++of_row) {
      float p[2];
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const float exponent = exponents[2 * of_row + c];
        // The special function unit and the FMA units share the work.
        const bool is_by_polynomial = half + of_row + c == 0;
        p[c] = p_scale * (is_by_polynomial ? exp2_by_polynomial(exponent) : exp2_of(exponent));
      }
      const std::uint32_t pair = pair_of_halves(p[0], p[1]);
      high[2 * half + of_row] = pair;
      low[2 * half + of_row] =
          pair_of_halves(p[0] - half_value(pair & 0xFFFF), p[1] - half_value(pair >> 16));
    }
  }

  __device__ __forceinline__ void add_to_totals(const float (&sums)[row_tiles][numbers / 8][4],
                                                const Scales& scales) {
    LaneSums<row_tiles, numbers / 4> scaled_back;
#pragma unroll
    for (int i = 0; i < numbers / 4; ++i) {
      const int e = min(number_of(i), E - 1);
      const float back = signal_scale(scales.most[turn][e]).back;
#pragma unroll
      for (int m = 0; m < row_tiles; ++m) {
#pragma unroll
        for (int of_row = 0; of_row < 2; ++of_row) {
          const float sum = sums[m][i / 2][2 * of_row + i % 2];
          scaled_back.of[m][of_row][i] = sum * (1 / p_scale) * back;
        }
      }
    }
    totals.add(scaled_back);
  }
};

}  // namespace warpath::map_reduce::detail
