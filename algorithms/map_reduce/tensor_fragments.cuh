// Rows and columns as operands of the tensor cores' matrix product, in float.
//
// How a product of floats comes from halves: x = h + l, two halves (11 bits each), but for 2^-23 of
// it or 2^-25, and with y = h' + l', x y = h h' + h l' + l h' + l l'. An instruction adds up 16
// products. Narrow points (up to 8 coordinates) put (h, h, l, l) . (h', l', h', l') of a coordinate
// into a lane's four of the 16, so that three coordinates take one instruction: all four products,
// which is exactly the product of the rounded coordinates. Wide ones take three instructions for 16
// coordinates, one for each of the first three products, and leave out l l', up to 2^-22 of x y.
//
//        one instruction:  16 rows x 16 products  *  16 products x 8 columns
//
//                 columns (an "eight")
//                  0 1 2 3 4 5 6 7                lane 4 g + t holds
//        rows 0    . . . . . . . .                 of the rows     g and g + 8
//             .    . . . . . . . .                 of the columns  g
//            15    . . . . . . . .                 of the products rows g and g + 8,
//                                                                  columns 2 t and 2 t + 1
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/vector.cuh"
#include "core/warp.cuh"
#include "map_reduce/instructions.cuh"

namespace warpath::map_reduce::detail {

/// Chunks of four coordinates.
constexpr int chunks_of(int coordinates) {
  return (coordinates + 3) / 4;
}

/// Whether multiply() adds up all steps of 16 coordinates inside the tensor cores (WideTile).
constexpr bool adds_steps_inside(int coordinates) {
  return coordinates > 32 && coordinates <= 64;
}
/// By how much the tensor cores make a step's sum of products too small, as a fraction of it.
inline constexpr float truncated_by_step = 0x1p-24f;
/// By how much multiply() makes the product of a point with one near it too small, as a fraction of
/// the product: the tensor cores truncate all of its terms in the same direction. The mean over
/// random points of all sizes: rows that are larger by as much take the mean away, and leave the
/// deviations. (A float that is scaled by 1 + 2^-24 is rounded up, to one unit more, and so grows
/// by 1.4 times 2^-24 on average. Up to 8 coordinates the fraction is smaller than that.)
constexpr float truncated_fraction(int coordinates) {
  if (coordinates <= 8) return 0;
  return adds_steps_inside(coordinates) ? 3.2f * 0x1p-24f : truncated_by_step;
}

/// A warp's 16 rows, as its lanes hold them: lane 4 g + t has rows g and g + 8, and with them
/// coordinates t, t + 4, ... of narrow points, 4 t to 4 t + 3 of each 16 of wide ones.
template <int Coordinates>
struct NarrowRows {
  std::uint32_t a[chunks_of(Coordinates)][4];

  /// Row g, or (half 1) g + 8: coordinate_of(k) for k < Coordinates.
  template <class CoordinateOf>
  __device__ __forceinline__ void set(int half, CoordinateOf coordinate_of) {
#pragma unroll
    for (int c = 0; c < chunks_of(Coordinates); ++c) {
      const int k = 4 * c + lane_index() % 4;
      const std::uint32_t halves = split_halves(k < Coordinates ? coordinate_of(k) : 0.0f).bits;
      a[c][half] = __byte_perm(halves, halves, 0x1010);
      a[c][half + 2] = __byte_perm(halves, halves, 0x3232);
    }
  }
};
template <int Coordinates>
struct WideRows {
  static constexpr int steps = (Coordinates + 15) / 16;
  std::uint32_t high[steps][4];
  std::uint32_t low[steps][4];

  template <class CoordinateOf>
  __device__ __forceinline__ void set(int half, CoordinateOf coordinate_of) {
#pragma unroll
    for (int c = 0; c < steps; ++c) {
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        const int k = 16 * c + lane_index() % 4 * 4 + pair * 2;
        const std::uint32_t first = split_halves(k < Coordinates ? coordinate_of(k) : 0.0f).bits;
        const std::uint32_t second =
            split_halves(k + 1 < Coordinates ? coordinate_of(k + 1) : 0.0f).bits;
        high[c][half + 2 * pair] = __byte_perm(first, second, 0x5410);
        low[c][half + 2 * pair] = __byte_perm(first, second, 0x7632);
      }
    }
  }
};

/// sum += a b for a warp's 16 rows and 8 columns; the sum is 0 before the first.
__device__ __forceinline__ void multiply_add(const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2], float (&sum)[4],
                                             bool is_first) {
  const float before[4] = {sum[0], sum[1], sum[2], sum[3]};
  const float zero[4] = {0, 0, 0, 0};
  multiply_16x16x8(a, b, is_first ? zero : before, sum);
}

/// A tile of columns, as the lanes of a warp take them. squares[0] is the square of each column
/// once the tile is complete; until then squares[c] is the part of chunk c.
template <int Coordinates, int Tile>
struct NarrowTile {
  using Rows = NarrowRows<Coordinates>;
  static constexpr int tile = Tile;
  static constexpr int chunks = chunks_of(Coordinates);  ///< that are stored
  std::uint32_t halves[Tile / 8][chunks_of(Coordinates)][warp_threads][2];
  float squares[chunks_of(Coordinates)][Tile];

  __device__ __forceinline__ void set_one(int t, int k, float v) {
    const std::uint32_t half = split_halves(v).bits;
    const std::uint32_t both[2] = {half, half};
    store_vector(halves[t / 8][k / 4][t % 8 * 4 + k % 4], both);
  }
  /// Coordinates 4 c to 4 c + 3 of column t.
  __device__ __forceinline__ void set(int t, int c, const float (&v)[4]) {
#pragma unroll
    for (int k = 0; k < 4; ++k) set_one(t, 4 * c + k, v[k]);
  }
  /// The products of the warp's rows with columns 8 eight to 8 eight + 7.
  template <int RowTiles>
  __device__ __forceinline__ void multiply(const Rows (&rows)[RowTiles], int eight,
                                           float (&products)[RowTiles][4]) const {
#pragma unroll
    for (int c = 0; c < chunks_of(Coordinates); ++c) {
      std::uint32_t b[2];
      load_vector(halves[eight][c][lane_index()], b);
#pragma unroll
      for (int m = 0; m < RowTiles; ++m) multiply_add(rows[m].a[c], b, products[m], c == 0);
    }
  }
};
template <int Coordinates, int Tile>
struct WideTile {
  using Rows = WideRows<Coordinates>;
  static constexpr int tile = Tile;
  static constexpr int chunks = 4 * Rows::steps;
  std::uint32_t halves[Tile / 8][Rows::steps][warp_threads][4];  ///< two of high, two of low
  float squares[chunks_of(Coordinates)][Tile];

  /// Coordinate k, a multiple of four, followed by zeros.
  __device__ __forceinline__ void set_one(int t, int k, float v) { set(t, k / 4, {v, 0, 0, 0}); }
  __device__ __forceinline__ void set(int t, int c, const float (&v)[4]) {
    std::uint32_t split[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) split[k] = split_halves(v[k]).bits;
    const std::uint32_t pairs[4] = {
        __byte_perm(split[0], split[1], 0x5410), __byte_perm(split[2], split[3], 0x5410),
        __byte_perm(split[0], split[1], 0x7632), __byte_perm(split[2], split[3], 0x7632)};
    store_vector(halves[t / 8][c / 4][t % 8 * 4 + c % 4], pairs);
  }
  /// The tensor cores truncate their sums, where other units round them. Therefore the two small
  /// products of a step of 16 coordinates are added up first, and steps outside of the tensor
  /// cores: a sum is truncated once a step, at the size of the step. One and two steps take hardly
  /// more time so. Three and four would take a third to a half more: there the small products of
  /// all steps come first, and the large ones follow inside (truncated_fraction() is larger then).
  /// More steps than four would lose too much accuracy inside.
  template <int RowTiles>
  __device__ __forceinline__ void multiply(const Rows (&rows)[RowTiles], int eight,
                                           float (&products)[RowTiles][4]) const {
    using Sums = float[RowTiles][4];
    const auto multiply_small = [&](int step, Sums& sums, bool is_first) {
      std::uint32_t both[4];
      load_vector(halves[eight][step][lane_index()], both);
      const std::uint32_t high[2] = {both[0], both[1]};
      const std::uint32_t low[2] = {both[2], both[3]};
#pragma unroll
      for (int m = 0; m < RowTiles; ++m) multiply_add(rows[m].low[step], high, sums[m], is_first);
#pragma unroll
      for (int m = 0; m < RowTiles; ++m) multiply_add(rows[m].high[step], low, sums[m], false);
    };
    const auto multiply_large = [&](int step, Sums& sums) {
      std::uint32_t high[2];
      load_vector(halves[eight][step][lane_index()], high);
#pragma unroll
      for (int m = 0; m < RowTiles; ++m) multiply_add(rows[m].high[step], high, sums[m], false);
    };
    if constexpr (!adds_steps_inside(Coordinates)) {
#pragma unroll
      for (int c = 0; c < Rows::steps; ++c) {
        Sums sums;
        multiply_small(c, sums, true);
        multiply_large(c, sums);
#pragma unroll
        for (int m = 0; m < RowTiles; ++m) {
#pragma unroll
          for (int q = 0; q < 4; ++q) {
            products[m][q] = c == 0 ? sums[m][q] : products[m][q] + sums[m][q];
          }
        }
      }
    } else {
#pragma unroll
      for (int c = 0; c < Rows::steps; ++c) multiply_small(c, products, c == 0);
#pragma unroll
      for (int c = 0; c < Rows::steps; ++c) multiply_large(c, products);
    }
  }
};
template <int Coordinates, int Tile>
using GramTile = std::conditional_t<Coordinates <= 8, NarrowTile<Coordinates, Tile>,
                                    WideTile<Coordinates, Tile>>;

}  // namespace warpath::map_reduce::detail
