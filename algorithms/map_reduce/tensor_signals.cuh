// Sums of exponentials times signals of several numbers, as a second matrix product on the tensor
// cores, in float. With P(i, j) = 2^(2 u . v - |v|^2) (tensor_sum.cuh) and b(j, e) number e of a
// column's signal,
//
//     P: 16 rows x 16 columns   *   b: 16 columns x 8 numbers   ->   sums: 16 rows x 8 numbers
//
// Where the first product leaves two eights of 2 u . v, a lane has rows g and g + 8 at columns 2 t
// and 2 t + 1 of each. That is what the second takes from it as left operand: P stays in the
// registers. Source of this: T. Dao, D. Y. Fu, S. Ermon, A. Rudra, C. Re, "FlashAttention", NeurIPS
// 2022, where P is rounded to one half.
//
// The signals are the same for all rows: a preceding kernel brings them into the form of the right
// operand once, and the blocks copy the next tile of that while they work on one.
//
// Accuracy: both operands are two halves (split_halves()), so that a product is off by 2^-22 of it,
// or by 2^-25 of the other factor.
// Halves have a short range. P, at least 2^(-3 s) and at most 2^s for squares of up to s, is
// multiplied by the power of two that brings it just below 2^16; and b, for each number of the
// signal and each tile, by the one that brings the largest in the tile to 2^14: smaller ones lose
// what is below 2^-40 of it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
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

/// Columns of a tile. Long signals leave less room in shared memory.
template <int D, int E>
inline constexpr int signal_tile = E <= 32 ? tensor_tile<D> : std::min(128, tensor_tile<D>);

/// What P is multiplied by.
template <int D>
inline constexpr float p_scale = D <= 8 ? 0x1p12f : 0x1p10f;
static_assert(most_square<8> + 12 <= 15.95f && most_square<1> + 12 <= 15.95f);
static_assert(most_square<16> + 10 <= 15.95f);

/// The signals of a tile of columns as right operands, in global memory and in shared memory.
template <int D, int E>
struct SignalTile {
  static constexpr int columns = signal_tile<D, E>;
  static constexpr int numbers = divide_up(E, 8) * 8;  ///< of the product
  /// Lane 4 g + t takes number g of an eight, at columns 2 t, 2 t + 1, 2 t + 8 and 2 t + 9 of a
  /// sixteen: two registers of high halves, two of low.
  alignas(16) std::uint32_t halves[columns / 16][numbers / 8][warp_threads][4];
  /// What a sum is multiplied by.
  float back[numbers];
};

/// The exponent, as floats have it, of the power of two that brings a magnitude to 2^14, of which
/// `bits` are the bits. (Where a number is not finite, none of its sums will be, whatever the
/// power.)
__device__ __forceinline__ unsigned exponent_to_halves(unsigned bits) {
  return min(127 + 14 + 127 - (bits >> 23), 253u);
}

/// The signals of a tile of columns, and the largest magnitude of each number.
template <int Columns, int E>
struct SignalsStorage {
  /// Eight numbers of four columns lie in 32 banks.
  static constexpr int stride = (E + 23) / 32 * 32 + 8;
  float numbers[Columns][stride];
  unsigned most[E];  ///< its bits
};
template <int D, int E>
using SplitSignalsStorage = SignalsStorage<SignalTile<D, E>::columns, E>;

/// Loads the `count` numbers that there are of a tile's signals; 0 beyond. Ends with a barrier.
template <int Columns, int E>
__device__ __forceinline__ void block_load_signals(const float* signals, int count,
                                                   SignalsStorage<Columns, E>& shared) {
  constexpr int batch = 8;  // numbers of a thread whose loads are in flight
  constexpr int quarters = 4;
  static_assert(Columns % (4 * quarters) == 0);
  const auto thread = static_cast<int>(threadIdx.x);
  const auto threads = static_cast<int>(blockDim.x);
  for (int e = thread; e < E; e += threads) shared.most[e] = 0;
  for (int first = thread; first < Columns * E; first += batch * threads) {
    float loaded[batch];
#pragma unroll
    for (int q = 0; q < batch; ++q) {
      const int i = first + q * threads;
      loaded[q] = i < count ? signals[i] : 0.0f;
    }
#pragma unroll
    for (int q = 0; q < batch; ++q) {
      const int i = first + q * threads;
      if (i < Columns * E) shared.numbers[i / E][i % E] = loaded[q];
    }
  }
  __syncthreads();  // the numbers are there
  // A warp looks at eight numbers of a quarter of the columns, four columns at a time.
  for (int item = warp_index(); item < divide_up(E, 8) * quarters; item += threads / warp_threads) {
    const int e = item / quarters * 8 + lane_index() / 4;
    unsigned most = 0;
    if (e < E) {
      for (int t = lane_index() % 4; t < Columns / quarters; t += 4) {
        const float number = shared.numbers[item % quarters * (Columns / quarters) + t][e];
        most = max(most, __float_as_uint(number) & 0x7FFFFFFFu);
      }
      atomicMax(&shared.most[e], most);
    }
  }
  __syncthreads();  // the largest are known
}

/// One block for each tile of `signals`; dynamic shared memory: one SplitSignalsStorage.
template <int D, int E>
__global__ void split_signals_kernel(Array<float, E> signals, SignalTile<D, E>* tiles) {
  using Tile = SignalTile<D, E>;
  hopper::wait_for_kernel_before();
  auto& shared = dynamic_shared<SplitSignalsStorage<D, E>>();
  const auto thread = static_cast<int>(threadIdx.x);
  const auto threads = static_cast<int>(blockDim.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * Tile::columns;
  const auto width = static_cast<int>(min(std::int64_t{Tile::columns}, signals.count - first));
  block_load_signals(signals.data + first * E, width * E, shared);

  Tile& tile = tiles[blockIdx.x];
  for (int e = thread; e < Tile::numbers; e += threads) {
    const unsigned exponent = e < E ? 254 - exponent_to_halves(shared.most[e]) : 127;
    tile.back[e] = __uint_as_float(exponent << 23) * (1 / p_scale<D>);
  }
  constexpr int lines = Tile::columns / 16 * (Tile::numbers / 8) * warp_threads;
  for (int line = thread; line < lines; line += threads) {
    const int lane = line % warp_threads;
    const int eight = line / warp_threads % (Tile::numbers / 8);
    const int sixteen = line / warp_threads / (Tile::numbers / 8);
    const int e = eight * 8 + lane / 4;
    std::uint32_t halves[4] = {};
    if (e < E) {
      const float scale = __uint_as_float(exponent_to_halves(shared.most[e]) << 23);
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        const int column = sixteen * 16 + pair * 8 + lane % 4 * 2;
        const std::uint32_t even = split_halves(scale * shared.numbers[column][e]).bits;
        const std::uint32_t odd = split_halves(scale * shared.numbers[column + 1][e]).bits;
        halves[pair] = __byte_perm(even, odd, 0x5410);
        halves[pair + 2] = __byte_perm(even, odd, 0x7632);
      }
    }
    store_vector(tile.halves[sixteen][eight][lane], halves);
  }
}

/// The sums of a warp's rows in its lanes' registers, and what they take in shared memory.
template <class Shape, int D, int E>
struct MultipliedSignals {
  using Source = SignalTile<D, E>;
  static constexpr int tile = Source::columns;
  static constexpr int numbers = Source::numbers;
  static constexpr int row_tiles = Shape::row_tiles;
  static constexpr bool is_fetched_ahead = true;

  /// The tile that is worked on, and the next one on its way.
  struct Weights {
    Source stages[2];
  };

  /// Of all shares but the last one. In memory (add_share), as an object of its own: what lies
  /// beside an object that a call is given by its address would lie in memory, too.
  using Totals = LaneTotals<row_tiles, numbers / 4>;
  /// A share is the sum of 32 groups of 32 columns, added one by one.
  static constexpr int share_tiles = std::max(1, 1024 / tile);

  LaneSums<row_tiles, numbers / 4> share;
  int tiles_of_share = 0;
  int fetching = 0;  ///< the stage of the tile that was asked for last
  int here = 0;      ///< and of the one that is worked on

  __device__ __forceinline__ void start(Totals& totals) {
    totals.set_zero();
    share.set_zero();
  }

  /// Starts copies of the tile that begins at column `first`, if it has columns. All threads are
  /// done with the tile before the last one.
  template <class Form, class Arrays>
  __device__ __forceinline__ void fetch(const Arrays&, const Source* tiles, std::int64_t first,
                                        int width, Weights& weights) {
    constexpr int line_bytes = 16;
    static_assert(sizeof(Source) % line_bytes == 0);
    fetching ^= 1;
    if (width > 0) {
      const auto* const from = reinterpret_cast<const char*>(tiles + first / tile);
      auto* const to = reinterpret_cast<char*>(&weights.stages[fetching]);
      for (std::size_t i = threadIdx.x * line_bytes; i < sizeof(Source);
           i += Shape::threads * line_bytes) {
        copy_async(to + i, from + i);
      }
    }
    copies_commit();
  }
  __device__ __forceinline__ void store(int, int, float, Weights&) const {}
  /// What was asked for is there, after a barrier.
  __device__ __forceinline__ void wait() {
    copies_wait<0>();
    here = fetching;
  }

  /// Column t of the tile, which lies at the centre, no longer counts: P is 0 as a half.
  template <class Tile>
  __device__ __forceinline__ static void take_out(int t, Tile& columns, Weights&) {
    columns.squares[0][t] = 120;  // exp2_by_polynomial() takes it
  }

  /// Adds the sums of a tile of `width` columns, by groups of 32. The rows are 2 u.
  template <class Rows, class Tile>
  __device__ __forceinline__ void add_tile(const Rows (&rows)[row_tiles], const Tile& columns,
                                           const Weights& weights, int width, Totals& totals) {
    const Source& signals = weights.stages[here];
#pragma unroll 1
    for (int group = warp_index() / Shape::row_warps; 32 * group < width;
         group += Shape::column_warps) {
      std::uint32_t high[2][row_tiles][4];
      std::uint32_t low[2][row_tiles][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int eight = 4 * group + i;
        float squares[2];
        load_vector(&columns.squares[0][eight * 8 + lane_index() % 4 * 2], squares);
        float products[row_tiles][4] = {};
        columns.multiply(rows, eight, products);
#pragma unroll
        for (int m = 0; m < row_tiles; ++m) {
          set_exponentials(products[m], squares, i % 2, high[i / 2][m], low[i / 2][m]);
        }
      }
      add_products(high, low, signals, group);
    }
    if (++tiles_of_share == share_tiles) {
      tiles_of_share = 0;
      add_share(share, totals);
      share.set_zero();
    }
  }

  /// After the last tile.
  __device__ __forceinline__ void finish(Totals& totals) const {
    add_share(share, totals);
  }

  /// sums[warp column][row][number]: what the warp has of each row, divided by lanes_of_row.
  template <class Sums>
  __device__ __forceinline__ static void store_sums(const Totals& totals, Sums& sums) {
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
  __device__ __forceinline__ static void set_exponentials(const float (&products)[4],
                                                          const float (&squares)[2], int half,
                                                          std::uint32_t (&high)[4],
                                                          std::uint32_t (&low)[4]) {
#pragma unroll
    for (int of_row = 0; of_row < 2; ++of_row) {
      float p[2];
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const float exponent = products[2 * of_row + c] - squares[c];
        // The special function unit and the FMA units share the work.
        const bool is_by_polynomial = half + of_row + c == 0;
        p[c] = p_scale<D> * (is_by_polynomial ? exp2_by_polynomial(exponent) : exp2_of(exponent));
      }
      const std::uint32_t pair = pair_of_halves(p[0], p[1]);
      high[2 * half + of_row] = pair;
      low[2 * half + of_row] =
          pair_of_halves(p[0] - half_value(pair & 0xFFFF), p[1] - half_value(pair >> 16));
    }
  }

  /// Adds the products of P, as high and low halves, with the signals of a group of 32 columns.
  __device__ __forceinline__ void add_products(const std::uint32_t (&high)[2][row_tiles][4],
                                               const std::uint32_t (&low)[2][row_tiles][4],
                                               const Source& signals, int group) {
    constexpr int eights = numbers / 8;
    // Chains of products that are under way at once: one waits for the product before.
    constexpr int at_once = std::min(eights, 4 / row_tiles);
#pragma unroll
    for (int first = 0; first < eights; first += at_once) {
      std::uint32_t right[at_once][2][4];
      float sums[at_once][row_tiles][4] = {};
      const auto for_each_eight = [&](auto act) {
#pragma unroll
        for (int n = 0; n < at_once; ++n) {
          if (first + n < eights) act(n);
        }
      };
      for_each_eight([&](int n) {
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          load_vector(signals.halves[2 * group + k][first + n][lane_index()], right[n][k]);
        }
      });
      const auto multiply = [&](const std::uint32_t(&left)[2][row_tiles][4], int part,
                                bool is_first) {
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          for_each_eight([&](int n) {
            const std::uint32_t operand[2] = {right[n][k][part], right[n][k][part + 1]};
#pragma unroll
            for (int m = 0; m < row_tiles; ++m) {
              multiply_add(left[k][m], operand, sums[n][m], is_first && k == 0);
            }
          });
        }
      };
      // The tensor cores truncate their sums, where other units round them. Therefore the small
      // products come first, and a sum that starts anew adds 32 columns only.
      multiply(low, 0, true);
      multiply(high, 2, false);
      multiply(high, 0, false);
      for_each_eight([&](int n) {
        float back[2];
        load_vector(&signals.back[number_of(2 * (first + n))], back);
#pragma unroll
        for (int m = 0; m < row_tiles; ++m) {
#pragma unroll
          for (int q = 0; q < 4; ++q) {
            float& sum = share.of[m][q / 2][2 * (first + n) + q % 2];
            sum = fmaf(sums[n][m][q], back[q % 2], sum);
          }
        }
      });
    }
  }

  /// Not inlined, so that the totals are in memory, and take no registers from the loop over tiles.
  [[gnu::noinline]] __device__ static void add_share(LaneSums<row_tiles, numbers / 4> share,
                                                     Totals& totals) {
    totals.add(share);
  }
};

}  // namespace warpath::map_reduce::detail
