// Least distances on the tensor cores: the Gram form only rules out. For a row u it gives a lower
// bound of |v|^2 - 2 u . v for every column v; only where that does not exceed what the row has is
// the distance computed, from the differences. So the answer is the one that the other variants
// give, however inexact the form is.
#pragma once

#include <cstdint>
#include <limits>

#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "map_reduce/formulas.cuh"
#include "map_reduce/reductions.cuh"
#include "map_reduce/tensor_tile.cuh"
#include "map_reduce/tuned.cuh"
#include "map_reduce/warp_lists.cuh"

namespace warpath::map_reduce::detail {

/// What a squared distance must stay below, or be equal to, to change a state: bound(). A lane has
/// but every fourth pair of columns; quad_bound() is what follows from the states of all four lanes
/// of a row.
template <class Formula, class Reduction>
struct LeastDistance {
  static constexpr bool is_possible = false;
};

__device__ __forceinline__ float quad_min(float value) {
  value = fminf(value, __shfl_xor_sync(full_warp, value, 1));
  return fminf(value, __shfl_xor_sync(full_warp, value, 2));
}
__device__ __forceinline__ float quad_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(full_warp, value, 1));
  return fmaxf(value, __shfl_xor_sync(full_warp, value, 2));
}

template <int D>
struct LeastDistance<SquaredDistance<float, D>, Min<float>> {
  static constexpr bool is_possible = true;
  __device__ __forceinline__ static float bound(float best) { return best; }
  __device__ __forceinline__ static float quad_bound(float best) { return quad_min(best); }
};
template <int D>
struct LeastDistance<SquaredDistance<float, D>, ArgMin<float>> {
  static constexpr bool is_possible = true;
  using State = ArgMin<float>::State;
  __device__ __forceinline__ static float bound(const State& best) { return best.value; }
  __device__ __forceinline__ static float quad_bound(const State& best) {
    return quad_min(best.value);
  }
};
/// Where each lane has K / 4 values below a bound, the row has K.
template <class KLeast, int K>
struct LeastDistanceOfK {
  static constexpr bool is_possible = true;
  using State = typename KLeast::State;
  __device__ __forceinline__ static float bound(const State& best) { return best.values[K - 1]; }
  __device__ __forceinline__ static float quad_bound(const State& best) {
    return fminf(quad_min(best.values[K - 1]), quad_max(best.values[(K + 3) / 4 - 1]));
  }
};
template <int D, int K>
struct LeastDistance<SquaredDistance<float, D>, KMin<float, K>>
    : LeastDistanceOfK<KMin<float, K>, K> {};
template <int D, int K>
struct LeastDistance<SquaredDistance<float, D>, ArgKMin<float, K>>
    : LeastDistanceOfK<ArgKMin<float, K>, K> {};

/// Shared memory of tensor_least_kernel.
template <class Shape, class Problem>
struct LeastStorage {
  using State = typename Problem::State;
  static constexpr int dimension = Problem::Formula::dimension;
  /// One coordinate more, after the last one: the bound of |v|^2. Wide tiles fill it to four.
  static constexpr bool is_narrow = dimension < 8;
  /// Warps with candidates keep the others waiting at the end of a tile: fewer tiles, fewer ends.
  static constexpr int tile = is_narrow ? 2 * Shape::threads : tensor_tile<dimension>;
  static constexpr int bound_place = is_narrow ? dimension : chunks_of(dimension) * 4;
  using Tile = GramTile<bound_place + 1, tile>;
  union {
    Tile columns;
    State states[Shape::column_warps][Shape::block_rows];
  };
  float centre[dimension];
  unsigned farthest;  ///< a square, as the bits of a float: their order is that of integers
};

/// A power of two, s, with 1/2 <= s r < 1, of 2^-60 to 2^60.
__device__ __forceinline__ float power_below_inverse(float r) {
  return exp2f(-fminf(fmaxf(floorf(log2f(r)) + 1, -60.0f), 60.0f));
}

/// In scaled coordinates, |u| <= 1. Columns farther away are always looked at: their squares pass
/// the range of halves.
inline constexpr float farthest_column = 128;
/// Sentinels beyond every scaled value, finite in binary16.
inline constexpr float beyond_all = 60000;

/// How far |v|^2 - 2 u . v may be from its value in Gram form, with |u| <= 1: what the halves lose
/// of coordinates, what the sums of each chunk lose, and what centring them has lost; and how far
/// the distance from differences may be from the true one.
__device__ __forceinline__ float gram_error(float square, int chunks) {
  const float most_reach_square = 2 * (1 + square);  // (1 + |v|)^2 at most
  return static_cast<float>(chunks + 4) * 0x1p-21f * most_reach_square;
}

/// Eights of columns whose products a warp has at once, before it compares them: as many as there
/// are registers for.
template <class Shape, class State>
inline constexpr int least_eights = Shape::row_tiles == 1 && sizeof(State) <= 128 ? 8 : 4;
inline constexpr int listed_eights = 4;  ///< of tensor_lists_kernel

/// Values are compared as integers, whose order is that of floats that are not negative. So this is
/// added to them: with |u| <= 1, |v|^2 - 2 u . v >= -1. (One that is negative nevertheless is less
/// than any limit, and looked at.) Of integers an instruction finds the least of three.
inline constexpr float value_offset = 1;

/// The limit of values, in their order, of a row whose distances must be less than `distance`, or
/// equal to it. Two kinds of rows have none, and all of their columns are looked at: those that are
/// not finite, and those of which |u| > 1 makes it negative, as power_below_inverse() allows.
__device__ __forceinline__ int limit_of_values(float distance, float row_square, float scale) {
  const float limit =
      (distance * (1 + 0x1p-20f) - row_square) * (scale * scale) + (value_offset + 0x1p-20f);
  return isfinite(row_square) && limit > 0 ? __float_as_int(limit)
                                           : std::numeric_limits<int>::max();
}
/// The least of the values of a row that a lane has, an even number.
template <int Count, class ValueOf>
__device__ __forceinline__ int least_value(ValueOf value_of) {
  static_assert(Count % 2 == 0);
  int least = value_of(0);
#pragma unroll
  for (int n = 1; n + 1 < Count; n += 2) {
    least = min_of_three(least, value_of(n), value_of(n + 1));
  }
  return min(least, value_of(Count - 1));
}
/// Bit n: value n is not greater than the limit.
template <int Count, class ValueOf>
__device__ __forceinline__ unsigned candidates_of(ValueOf value_of, int limit) {
  unsigned candidates = 0;
#pragma unroll
  for (int n = 0; n < Count; ++n) {
    if (value_of(n) <= limit) candidates |= 1u << n;
  }
  return candidates;
}

/// The coordinate after the last one of each column: a lower bound of its square.
template <class Storage>
__device__ __forceinline__ void block_store_bounds(int width, Storage& shared) {
  constexpr int D = Storage::dimension;
  using Tile = typename Storage::Tile;
  Tile& tile = shared.columns;
  for (int t = threadIdx.x; t < Tile::tile; t += blockDim.x) {
    const float square = tile.squares[0][t];
    const bool is_far = !(square <= farthest_column * farthest_column);
    float bound = value_offset + (square - gram_error(square, chunks_of(D + 1)));
    if (is_far) bound = -beyond_all;
    if (t >= width) bound = beyond_all;
    if (is_far) {  // the products must be finite
      for (int c = 0; c < chunks_of(D); ++c) tile.set(t, c, {0, 0, 0, 0});
    }
    tile.set_one(t, Storage::bound_place, bound);
  }
}

template <class Shape, class Problem>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    tensor_least_kernel(Problem problem, Split split, typename Problem::State* partials,
                        unsigned* tickets) {
  using Least = LeastDistance<typename Problem::Formula, typename Problem::Reduction>;
  using State = typename Problem::State;
  using Storage = LeastStorage<Shape, Problem>;
  constexpr int D = Storage::dimension;
  constexpr int lane_rows = 2 * Shape::row_tiles;
  constexpr int eights = least_eights<Shape, State>;
  constexpr int lane_columns = 2 * eights;
  auto& shared = dynamic_shared<Storage>();
  hopper::wait_for_kernel_before();  // launch_parts() lets this one start early
  const std::int64_t row_block = blockIdx.x % split.row_blocks;
  const std::int64_t part = blockIdx.x / split.row_blocks;
  const std::int64_t first_row = row_block * Shape::block_rows;
  const Range range = range_of(split, part, problem.columns);
  const auto& x = get<0>(problem.x);
  const auto& y = get<0>(problem.y);
  const int lane = lane_index();
  const int warp_column = warp_index() / Shape::row_warps;
  // A lane has row lane / 4 of each of its warp's row tiles, and row lane / 4 + 8.
  const auto row_of = [&](int r) {
    return warp_index() % Shape::row_warps * Shape::warp_rows + r * 8 + lane / 4;
  };
  // Beyond the last row, the last row once more: it is not stored.
  const auto index_of = [&](int row) { return min(first_row + row, problem.rows - 1); };

  const auto width_at = [&](std::int64_t first) {
    return static_cast<int>(
        max(std::int64_t{0}, min(std::int64_t{Storage::tile}, range.end - first)));
  };
  Fetched<D, typename Storage::Tile, Shape::threads> fetched;
  fetched.fetch(y.data + range.begin * D, width_at(range.begin));

  // The scale: rows, and some columns, are at most 1 away from the centre.
  if (threadIdx.x == 0) shared.farthest = 0;
  block_find_centre(x, first_row, Shape::block_rows, shared.centre);  // and all is zero
  const auto centred = [&](float number, int k) { return number - shared.centre[k]; };
  float squares[lane_rows];
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    squares[r] = relative_square<D>(x.data + index_of(row_of(r)) * D, centred);
    if (isfinite(squares[r])) atomicMax(&shared.farthest, __float_as_uint(squares[r]));
  }
  const std::int64_t sampled =
      range.begin + (range.end - range.begin) * threadIdx.x / Shape::threads;
  const float column_square = relative_square<D>(y.data + sampled * D, centred);
  if (isfinite(column_square)) atomicMax(&shared.farthest, __float_as_uint(column_square));
  __syncthreads();  // the farthest is known
  const float scale = power_below_inverse(sqrtf(__uint_as_float(shared.farthest)));
  typename Storage::Tile::Rows rows[Shape::row_tiles];
  State states[lane_rows];
  float quad_bounds[lane_rows];
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    const float* point = x.data + index_of(row_of(r)) * D;
    rows[r / 2].set(r % 2, [&](int k) {
      if (k == Storage::bound_place) return 1.0f;
      return k < D ? -2 * (scale * centred(point[k], k)) : 0.0f;
    });
    states[r] = problem.reduction.neutral();
    quad_bounds[r] = std::numeric_limits<float>::infinity();
  }
  const auto limit_of = [&](int r) {
    return limit_of_values(fminf(Least::bound(states[r]), quad_bounds[r]), squares[r], scale);
  };

  int limits[lane_rows];
  bool has_changed = true;  ///< a state since limits were found
  for (std::int64_t first = range.begin; first < range.end; first += Storage::tile) {
    const int width = width_at(first);
    __syncthreads();  // all threads are done with the last tile
    fetched.store([&](float number, int k) { return scale * centred(number, k); }, width,
                  shared.columns);
    block_store_bounds(width, shared);
    if (__any_sync(full_warp, has_changed)) {
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) {
        quad_bounds[r] = Least::quad_bound(states[r]);
        limits[r] = limit_of(r);
      }
      has_changed = false;
    }
    __syncthreads();  // the tile is there
    fetched.fetch(y.data + (first + Storage::tile) * D, width_at(first + Storage::tile));
    for (int first_eight = warp_column * eights; first_eight * 8 < width;
         first_eight += Shape::column_warps * eights) {
      float values[eights][Shape::row_tiles][4] = {};
#pragma unroll
      for (int eight = 0; eight < eights; ++eight) {
        shared.columns.multiply(rows, first_eight + eight, values[eight]);
      }
      const auto value_of = [&](int r, int n) {
        return __float_as_int(values[n / 2][r / 2][r % 2 * 2 + n % 2]);
      };
      int least[lane_rows];
      bool has_candidates = false;
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) {
        least[r] = least_value<lane_columns>([&](int n) { return value_of(r, n); });
        has_candidates = has_candidates || least[r] <= limits[r];
      }
      if (!has_candidates) continue;  // (One branch for all rows: most often none has any.)
      has_changed = true;
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) {
        if (least[r] > limits[r]) continue;
        unsigned candidates =
            candidates_of<lane_columns>([&](int n) { return value_of(r, n); }, limits[r]);
        const auto row = problem.row(index_of(row_of(r)));
        for (; candidates != 0; candidates &= candidates - 1) {
          const int n = __ffs(static_cast<int>(candidates)) - 1;
          const int t = (first_eight + n / 2) * 8 + lane % 4 * 2 + n % 2;
          if (t >= width) break;
          problem.reduction.add(states[r], problem.value(row, problem.column(first + t)),
                                first + t);
        }
        limits[r] = limit_of(r);
      }
    }
  }

  __syncthreads();  // all threads are done with the last tile
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
  // A thread has rows threadIdx.x, + threads, ...
  constexpr int own_rows = (Shape::block_rows + Shape::threads - 1) / Shape::threads;
  State own[own_rows];
  const auto for_each_row = [&](auto act) {
#pragma unroll
    for (int r = 0; r < own_rows; ++r) {
      const int row = static_cast<int>(threadIdx.x) + r * Shape::threads;
      if (row < Shape::block_rows && first_row + row < problem.rows) act(row, own[r]);
    }
  };
  for_each_row([&](int row, State& state) {
    state = shared.states[0][row];
#pragma unroll
    for (int warp = 1; warp < Shape::column_warps; ++warp) {
      problem.reduction.merge(state, shared.states[warp][row]);
    }
  });
  const std::int64_t end_row = min(first_row + Shape::block_rows, problem.rows);
  block_finish_rows(problem, split, first_row, end_row, partials, tickets, [&](auto act) {
    for_each_row([&](int row, State& state) { act(first_row + row, state); });
  });
}

/// The same for reductions that keep lists (warp_lists.cuh): columns that are not ruled out wait
/// for their row's list.
template <class Problem>
struct LeastListStorage {
  static constexpr int dimension = Problem::Formula::dimension;
  static constexpr int tile = tensor_tile<dimension>;
  static constexpr bool is_narrow = dimension < 8;
  static constexpr int bound_place = is_narrow ? dimension : chunks_of(dimension) * 4;
  using Tile = GramTile<bound_place + 1, tile>;
  Tile columns;
  RowLists<float, Problem::Reduction::length, ListShapeOf<float>::block_rows> lists;
  float centre[dimension];
  unsigned farthest;
};

template <class Problem>
__global__ void __launch_bounds__(ListShapeOf<float>::threads, ListShapeOf<float>::blocks)
    tensor_lists_kernel(Problem problem, Split split, typename Problem::State* partials,
                        unsigned* tickets) {
  using Storage = LeastListStorage<Problem>;
  constexpr int D = Storage::dimension;
  using Shape = ListShapeOf<float>;
  constexpr int threads = Shape::threads;
  auto& shared = dynamic_shared<Storage>();
  hopper::wait_for_kernel_before();  // launch_parts() lets this one start early
  const std::int64_t row_block = blockIdx.x % split.row_blocks;
  const Range range = range_of(split, blockIdx.x / split.row_blocks, problem.columns);
  const std::int64_t first_row = row_block * Shape::block_rows;
  const auto& x = get<0>(problem.x);
  const auto& y = get<0>(problem.y);
  const int lane = lane_index();
  WarpLists<Problem, decltype(shared.lists)> warp{problem, shared.lists, warp_index() * list_rows,
                                                  first_row};
  const auto width_at = [&](std::int64_t first) {
    return static_cast<int>(
        max(std::int64_t{0}, min(std::int64_t{Storage::tile}, range.end - first)));
  };
  Fetched<D, typename Storage::Tile, threads> fetched;
  fetched.fetch(y.data + range.begin * D, width_at(range.begin));
  if (threadIdx.x == 0) shared.farthest = 0;
  block_find_centre(x, first_row, Shape::block_rows, shared.centre);  // and all is zero
  const auto centred = [&](float number, int k) { return number - shared.centre[k]; };
  float squares[lane_list_rows];
#pragma unroll
  for (int r = 0; r < lane_list_rows; ++r) {
    squares[r] = relative_square<D>(x.data + warp.index_of(warp.row_of(r, lane)) * D, centred);
    if (isfinite(squares[r])) atomicMax(&shared.farthest, __float_as_uint(squares[r]));
  }
  const std::int64_t sampled = range.begin + (range.end - range.begin) * threadIdx.x / threads;
  const float column_square = relative_square<D>(y.data + sampled * D, centred);
  if (isfinite(column_square)) atomicMax(&shared.farthest, __float_as_uint(column_square));
  __syncthreads();  // the farthest is known
  const float scale = power_below_inverse(sqrtf(__uint_as_float(shared.farthest)));
  typename Storage::Tile::Rows rows[1];
  int limits[lane_list_rows];
#pragma unroll
  for (int r = 0; r < lane_list_rows; ++r) {
    const float* point = x.data + warp.index_of(warp.row_of(r, lane)) * D;
    rows[0].set(r, [&](int k) {
      if (k == Storage::bound_place) return 1.0f;
      return k < D ? -2 * (scale * centred(point[k], k)) : 0.0f;
    });
    limits[r] = std::numeric_limits<int>::max();
  }
  for (int row = 0; row < list_rows; ++row) shared.lists.clear(warp.warp_row + row);

  for (std::int64_t first = range.begin; first < range.end; first += Storage::tile) {
    const int width = width_at(first);
    __syncthreads();  // all threads are done with the last tile
    fetched.store([&](float number, int k) { return scale * centred(number, k); }, width,
                  shared.columns);
    block_store_bounds(width, shared);
    __syncthreads();  // the tile is there
    fetched.fetch(y.data + (first + Storage::tile) * D, width_at(first + Storage::tile));
    for (int first_eight = 0; first_eight * 8 < width; first_eight += listed_eights) {
      float values[listed_eights][1][4] = {};
#pragma unroll
      for (int eight = 0; eight < listed_eights; ++eight) {
        shared.columns.multiply(rows, first_eight + eight, values[eight]);
      }
      const auto column_of = [&](int n) {
        return (first_eight + n / 2) * 8 + lane % 4 * 2 + n % 2;
      };
      unsigned candidates[lane_list_rows] = {};
#pragma unroll
      for (int r = 0; r < lane_list_rows; ++r) {
        const auto value_of = [&](int n) {
          return __float_as_int(values[n / 2][0][r * 2 + n % 2]);
        };
        if (least_value<2 * listed_eights>(value_of) > limits[r]) continue;
        candidates[r] = candidates_of<2 * listed_eights>(value_of, limits[r]);
#pragma unroll
        for (int n = 0; n < 2 * listed_eights; ++n) {
          if (column_of(n) >= width) candidates[r] &= ~(1u << n);
        }
      }
      if (warp.note(candidates,
                    [&](int n) { return static_cast<ListedColumn>(first + column_of(n)); })) {
#pragma unroll
        for (int r = 0; r < lane_list_rows; ++r) {
          limits[r] =
              limit_of_values(shared.lists.last(warp.row_of(r, lane)).value, squares[r], scale);
        }
      }
    }
  }
  warp.take_all();
  block_finish_lists<Shape::block_rows>(problem, split, partials, tickets, first_row, shared.lists);
}

}  // namespace warpath::map_reduce::detail
