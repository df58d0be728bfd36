// A tile of columns on its way from global memory into the form that the tensor cores take, and the
// centre that rows and columns are taken relative to.
//
// Coordinates are centred first, as they are, and then scaled: the centre is near the points, so
// that their differences from it are as exact as the points are, however far from the origin they
// lie. Squares are those of the centred and scaled coordinates: the error of the scale, or of a
// coordinate, is then one of the points, and not one of the much smaller distance. Up to 8
// dimensions tensor_sum.cuh rounds coordinates to what two halves hold, so that squares and
// products are of the same numbers: K(x, x) of points at the limit would be off by 3.3e-6
// otherwise.
#pragma once

#include <cstdint>

#include "core/divide_up.hpp"
#include "core/warp.cuh"
#include "map_reduce/arrays.cuh"
#include "map_reduce/tensor_fragments.cuh"

namespace warpath::map_reduce::detail {

/// Columns of a tile of a tensor kernel.
template <int D>
inline constexpr int tensor_tile = D <= 8    ? 256
                                   : D <= 32 ? 128
                                             : 64;

/// The largest square of a row or column that the form takes: half the exponent of K(u, u), 2 u .
/// u, and so the bound of what rounding and truncation make of it (README, "Accuracy"). In higher
/// dimensions the points that matter lie farther from the centre: uniform in a cube of the width's
/// edge, D / 8.3 on average.
template <int D>
inline constexpr float most_square = D <= 6    ? 3.95f
                                     : D <= 8  ? 3.4f
                                     : D <= 16 ? 5
                                     : D <= 32 ? 7.9f
                                     : D <= 64 ? 13
                                               : 23;

/// A centre for `block_rows` rows: the mean of 16 of them. Only finite coordinates count, so that
/// the centre is finite.
template <class T, int D>
__device__ __forceinline__ void block_find_centre(const Array<T, D>& x, std::int64_t first_row,
                                                  std::int64_t block_rows, float (&centre)[D]) {
  constexpr int sampled = 16;
  const std::int64_t rows = min(block_rows, x.count - first_row);
  for (int k = threadIdx.x; k < D; k += blockDim.x) {
    float sum = 0;
    float count = 0;
#pragma unroll
    for (int s = 0; s < sampled; ++s) {
      const std::int64_t i = first_row + s * rows / sampled;
      const float coordinate = x.data[i * D + k];
      if (isfinite(coordinate)) {
        sum += coordinate * (1.0f / sampled);  // the sum of finite numbers stays finite
        count += 1.0f / sampled;
      }
    }
    centre[k] = count == 1 || count == 0 ? sum : sum / count;
  }
  __syncthreads();  // the centre is there
}

/// The same from 64 rows, by four lanes for each coordinate: fewer rows lie far from it.
template <class T, int D>
__device__ __forceinline__ void block_find_mean(const Array<T, D>& x, std::int64_t first_row,
                                                std::int64_t block_rows, float (&centre)[D]) {
  constexpr int lanes = 4;
  constexpr int sampled = 16 * lanes;
  constexpr int at_once = warp_threads / lanes;
  const std::int64_t rows = min(block_rows, x.count - first_row);
  for (int first = warp_index() * at_once; first < D;
       first += static_cast<int>(blockDim.x) / lanes) {
    const int k = first + lane_index() / lanes;
    float sum = 0;
    float count = 0;
#pragma unroll
    for (int s = 0; s < sampled / lanes; ++s) {
      const std::int64_t i = first_row + (s * lanes + lane_index() % lanes) * rows / sampled;
      const float coordinate = x.data[i * D + min(k, D - 1)];
      if (isfinite(coordinate)) {
        sum += coordinate * (1.0f / sampled);
        count += 1.0f / sampled;
      }
    }
#pragma unroll
    for (int distance = 1; distance < lanes; distance *= 2) {
      sum += __shfl_xor_sync(full_warp, sum, distance);
      count += __shfl_xor_sync(full_warp, count, distance);
    }
    if (k < D && lane_index() % lanes == 0)
      centre[k] = count == 1 || count == 0 ? sum : sum / count;
  }
  __syncthreads();  // the centre is there
}

__device__ __forceinline__ float square_of_chunk(const float (&u)[4]) {
  return fmaf(u[3], u[3], fmaf(u[2], u[2], fmaf(u[1], u[1], u[0] * u[0])));
}
/// The sum of square_of(c) for all chunks of D coordinates, by fours (sum_of_squares()).
template <int D, class SquareOf>
__device__ __forceinline__ float sum_of_chunks(SquareOf square_of) {
  float sum = 0;
  for (int first = 0; first < chunks_of(D); first += 4) {
    float part = 0;
#pragma unroll
    for (int c = first; c < first + 4; ++c) {
      if (c < chunks_of(D)) part += square_of(c);
    }
    sum += part;
  }
  return sum;
}
/// The square of a point whose coordinates are relative(number, k), added up as the columns'
/// squares are.
template <int D, class Relative>
__device__ __forceinline__ float relative_square(const float* point, Relative relative) {
  return sum_of_chunks<D>([&](int c) {
    float u[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int coordinate = 4 * c + k;
      u[k] = D % 4 == 0 || coordinate < D ? relative(point[coordinate], coordinate) : 0.0f;
    }
    return square_of_chunk(u);
  });
}

/// The columns of a tile on their way from global to shared memory, in the registers of `Threads`
/// threads: those of the next tile are fetched before this one is worked on.
template <int D, class Tile, int Threads>
struct Fetched {
  static constexpr int items = divide_up(Tile::tile * Tile::chunks, Threads);
  float v[items][4];

  /// Chunks of `width` columns from y on.
  __device__ __forceinline__ void fetch(const float* y, int width) {
    for_each_item([&](int i, int t, int c) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const bool is_there = t < width && 4 * c + k < D;
        v[i][k] = is_there ? y[t * D + 4 * c + k] : 0.0f;
      }
    });
  }
  /// Stores the columns, coordinate k as relative(number, k), and in squares[0] the square of that
  /// for each. The columns beyond `width` are at the centre: all zeros. All threads are done with
  /// the last tile, and a barrier must follow; but a thread may go on at once with its columns
  /// threadIdx.x, + Threads, ...
  template <class Relative>
  __device__ __forceinline__ void store(Relative relative, int width, Tile& tile) const {
    for_each_item([&](int i, int t, int c) {
      float u[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int coordinate = 4 * c + k;
        u[k] = coordinate < D && t < width ? relative(v[i][k], coordinate) : 0.0f;
      }
      if (4 * c < D) tile.squares[c][t] = square_of_chunk(u);
      tile.set(t, c, u);
    });
    if constexpr (Tile::chunks > 1) {
      __syncthreads();  // the parts of the squares are there
      for (int t = threadIdx.x; t < Tile::tile; t += Threads) {
        tile.squares[0][t] = sum_of_chunks<D>([&](int c) { return tile.squares[c][t]; });
      }
    }
  }

 private:
  template <class Act>
  __device__ __forceinline__ static void for_each_item(Act act) {
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const int item = i * Threads + static_cast<int>(threadIdx.x);
      if (Tile::tile * Tile::chunks % Threads == 0 || item < Tile::tile * Tile::chunks) {
        act(i, item % Tile::tile, item / Tile::tile);
      }
    }
  }
};

}  // namespace warpath::map_reduce::detail
