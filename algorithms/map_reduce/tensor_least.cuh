// Least distances on the tensor cores: the Gram form only rules out. For a row u the least of
// |v|^2 - 2 u . v over a group of columns, which a comparison a pair finds, tells whether one of
// them can come closer than what the row has; only then are their distances computed, from the
// differences. So the answer is the one that the other schemes give, however inexact the form is.
#pragma once

#include <cstdint>
#include <limits>

#include "map_reduce/tensor.cuh"

namespace warpath::map_reduce {

/// What a squared distance must stay below, or be equal to, to change a state.
template <class Formula, class Reduction>
struct LeastDistance {
  static constexpr bool is_possible = false;
};
template <int D>
struct LeastDistance<SquaredDistance<float, D>, Min<float>> {
  static constexpr bool is_possible = true;
  __device__ __forceinline__ static float bound(float best) { return best; }
};
template <int D>
struct LeastDistance<SquaredDistance<float, D>, ArgMin<float>> {
  static constexpr bool is_possible = true;
  __device__ __forceinline__ static float bound(const ArgMin<float>::State& best) {
    return best.value;
  }
};

/// Shared memory of tensor_least_kernel.
template <class Shape, class Problem>
struct LeastStorage {
  using Formula = typename Problem::Formula;
  using State = typename Problem::State;
  static constexpr int dimension = Formula::dimension;
  static constexpr int chunks = chunks_of(dimension + 1);  // one coordinate more: |v|^2
  static constexpr int tile = tensor_tile<dimension>;
  union {
    std::uint32_t halves[tile / 8][chunks][warp_threads];  ///< as the lanes of a warp take them
    State states[Shape::column_warps][Shape::block_rows];
  };
  float centre[dimension];
  unsigned farthest_row;        ///< squares, as the bits of a float: their order is that of integers
  unsigned farthest_column[2];  ///< of this tile, and of the next one
};

/// A power of two, s: s r is at least 1/2 and less than 1; 1 for r = 0. Within 2^-60 to 2^60.
__device__ __forceinline__ float power_below_inverse(float r) {
  if (r == 0) return 1;
  return exp2f(-fminf(fmaxf(floorf(log2f(r)) + 1, -60.0f), 60.0f));
}

/// Columns of a group, in eights.
inline constexpr int least_eights = 4;

template <class Shape, class Problem>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    tensor_least_kernel(Problem problem, Split split, typename Problem::State* partials,
                        unsigned* tickets) {
  using Form = LeastDistance<typename Problem::Formula, typename Problem::Reduction>;
  using State = typename Problem::State;
  using Storage = LeastStorage<Shape, Problem>;
  constexpr int D = Storage::dimension;
  constexpr int chunks = Storage::chunks;
  constexpr int lane_rows = 2 * Shape::row_tiles;
  auto& shared = dynamic_shared<Storage>();
  const std::int64_t row_block = blockIdx.x % split.row_blocks;
  const std::int64_t part = blockIdx.x / split.row_blocks;
  const std::int64_t first_row = row_block * Shape::block_rows;
  const auto& x = get<0>(problem.x);
  const auto& y = get<0>(problem.y);
  const int lane = lane_index();
  const int warp_column = warp_index() / Shape::row_warps;
  // A lane has row lane / 4 of each of its warp's row tiles, and row lane / 4 + 8.
  const auto row_of = [&](int r) {
    return warp_index() % Shape::row_warps * Shape::warp_rows + r * 8 + lane / 4;
  };
  // Behind the last row, that one again: it is not stored.
  const auto point_of = [&](int row) {
    return x.data + min(first_row + row, problem.rows - 1) * D;
  };

  if (threadIdx.x == 0) shared.farthest_row = shared.farthest_column[0] = 0;
  block_find_centre(x, first_row, Shape::block_rows, shared.centre);  // and all is zero
  float squares[lane_rows];
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    squares[r] = centred_square(point_of(row_of(r)), shared.centre, 1.0f);
    if (lane % 4 == 0) atomicMax(&shared.farthest_row, __float_as_uint(squares[r]));
  }
  __syncthreads();  // the farthest row is known
  const float row_radius = sqrtf(__uint_as_float(shared.farthest_row));
  const float row_scale = power_below_inverse(row_radius);
  RowHalves<chunks> rows[Shape::row_tiles];
  State states[lane_rows];
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
      const int k = 4 * c + lane % 4;
      const float u = k == D ? 1.0f : centred(point_of(row_of(r)), k, shared.centre, row_scale);
      rows[r / 2].set(c, r % 2, u);
    }
    states[r] = problem.reduction.neutral();
  }

  const Range range = range_of(split, part, problem.columns);
  int turn = 0;
  for (std::int64_t first = range.begin; first < range.end; first += Storage::tile, turn ^= 1) {
    const int width = static_cast<int>(min(std::int64_t{Storage::tile}, range.end - first));
    float farthest = 0;
    for (int t = threadIdx.x; t < width; t += Shape::threads) {
      // A NaN has the bits of a number that is larger than all: the form rules nothing out then.
      const float square = centred_square(y.data + (first + t) * D, shared.centre, 1.0f);
      farthest = square == square ? fmaxf(farthest, square) : INFINITY;
    }
    atomicMax(&shared.farthest_column[turn], __float_as_uint(farthest));
    __syncthreads();  // the farthest column is known, and nobody needs the last tile any more
    const float column_radius = sqrtf(__uint_as_float(shared.farthest_column[turn]));
    if (threadIdx.x == 0) shared.farthest_column[turn ^ 1] = 0;
    const float column_scale = power_below_inverse(column_radius);
    const int eights = (width + 7) / 8;
    for (int t = threadIdx.x; t < (eights + least_eights - 1) / least_eights * least_eights * 8;
         t += Shape::threads) {
      // Behind the last column, that one again: it changes nothing.
      const float* point = y.data + (first + min(t, width - 1)) * D;
      const float square =
          centred_square(point, shared.centre, 1.0f) * (row_scale * column_scale);
#pragma unroll
      for (int c = 0; c < chunks; ++c) {
        std::uint32_t halves[4];
#pragma unroll
        for (int k = 4 * c; k < 4 * c + 4; ++k) {
          halves[k - 4 * c] = hopper::split_halves(
              k == D ? square : centred(point, k, shared.centre, -2 * column_scale));
        }
        store_vector(&shared.halves[t / 8][c][t % 8 * 4], halves);
      }
    }
    // All values are row_scale column_scale times what they would be. Their errors: 2^-22 of the
    // products, and what the sums of each chunk lose; with a wide margin. Where a half cannot hold
    // |v|^2, nothing is ruled out.
    const float both = row_scale * column_scale;
    const float magnitude = row_radius * row_scale + 1 + column_radius * row_scale;
    const float margin = column_radius * row_scale < 30000.0f && column_radius < 1e18f &&
                                 row_radius < 1e18f
                             ? magnitude * (4 + chunks) * 0x1p-20f
                             : INFINITY;
    const auto limit_of = [&](int r) {
      return (Form::bound(states[r]) * (1 + 0x1p-20f) - squares[r]) * both + margin;
    };
    float limits[lane_rows];
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) limits[r] = limit_of(r);
    __syncthreads();  // the tile is there
    for (int group = warp_column * least_eights; group < eights;
         group += Shape::column_warps * least_eights) {
      float least[lane_rows];
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) least[r] = std::numeric_limits<float>::infinity();
#pragma unroll
      for (int eight = 0; eight < least_eights; ++eight) {
        std::uint32_t halves[chunks];
#pragma unroll
        for (int c = 0; c < chunks; ++c) halves[c] = shared.halves[group + eight][c][lane];
#pragma unroll
        for (int m = 0; m < Shape::row_tiles; ++m) {
          float value[4];
          rows[m].multiply(halves, value);
          least[2 * m] = fminf(least[2 * m], fminf(value[0], value[1]));
          least[2 * m + 1] = fminf(least[2 * m + 1], fminf(value[2], value[3]));
        }
      }
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) {
        if (least[r] > limits[r]) continue;
        const auto row = problem.row(min(first_row + row_of(r), problem.rows - 1));
        for (int n = 0; n < 2 * least_eights; ++n) {
          const int t = (group + n / 2) * 8 + lane % 4 * 2 + n % 2;
          if (t >= width) break;
          problem.reduction.add(states[r], problem.value(row, problem.column(first + t)), first + t);
        }
        limits[r] = limit_of(r);
      }
    }
  }

  __syncthreads();  // nobody needs the last tile any more
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    State state = states[r];
#pragma unroll
    for (int distance = 1; distance < 4; distance *= 2) {
      problem.reduction.merge(state, shuffle_xor(state, distance));
    }
    if (lane % 4 == 0) shared.states[warp_column][row_of(r)] = state;
  }
  __syncthreads();  // the states are there
  const auto for_each_row = [&](auto act) {
    for (int row = threadIdx.x; row < Shape::block_rows; row += Shape::threads) {
      if (first_row + row < problem.rows) act(first_row + row, row);
    }
  };
  for_each_row([&](std::int64_t i, int row) {
    State state = shared.states[0][row];
#pragma unroll
    for (int warp = 1; warp < Shape::column_warps; ++warp) {
      problem.reduction.merge(state, shared.states[warp][row]);
    }
    if (split.parts > 1) {
      partials[part * problem.rows + i] = state;
    } else {
      problem.out[i] = problem.reduction.result(state);
    }
  });
  if (split.parts == 1) return;
  if (!is_last_block(&tickets[row_block], static_cast<unsigned>(split.parts))) return;
  for_each_row([&](std::int64_t i, int) {
    problem.out[i] =
        problem.reduction.result(thread_merge_parts(problem, partials, i, split.parts));
  });
}

}  // namespace warpath::map_reduce
