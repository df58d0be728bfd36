// Sums of exponentials by the Gram form, as in tensor_sum.cuh, in more than 8 dimensions on Hopper:
// a preceding kernel brings all columns into the form that tensor cores take, once a call, and the
// blocks of the sums multiply them from shared memory, as the products of warpgroups.
//
//     split_columns_kernel          a block for each tile        y, b  ->  SplitTile
//
//     warpgroup_sum_kernel          256 rows a block, for each tile of its part:
//        thread 0       bulk loads -> stages in shared memory
//        a warpgroup    64 rows x 64 columns at a time: products of 16 coordinates, one after the
//                       other, whose sums are added outside of the tensor cores; exponentials;
//                       multiply-adds with the columns' weights w 2^-|v|^2
//
// No barrier of the block holds the warps together: a stage is loaded again once all warps have
// arrived at its barrier. Points are taken relative to one centre for the whole call, where
// tensor_sum.cuh has one for each block of rows: so columns are the same for all blocks. A tile
// with a column that lies too far from it, or is not finite, or whose signals are all tiny, is
// computed from the differences, and so is all of a block's part if one of its rows is far or not
// finite, or one of its sums is not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/vector.cuh"
#include "core/warp.cuh"
#include "map_reduce/problem.cuh"
#include "map_reduce/tensor_fragments.cuh"
#include "map_reduce/tensor_sum.cuh"
#include "map_reduce/tensor_sums.cuh"
#include "map_reduce/tensor_tile.cuh"
#include "map_reduce/tuned.cuh"
#include "map_reduce/warpgroup.cuh"

namespace warpath::map_reduce::detail {

/// Whether the sums of a form can be computed so.
template <class Form>
constexpr bool has_warpgroup_sum = [] {
  if constexpr (Form::is_possible)
    return Form::dimension > 8 && Form::signal == 1;
  else
    return false;
}();

/// Points as operands: two halves of each coordinate, and for each eight coordinates one line of
/// all points. The lines are 16 bytes longer than the points are, so that a thread that has four
/// coordinates of a point writes to other banks than those that have the next ones.
template <int D, int Points>
struct SplitPoints {
  static constexpr int steps = divide_up(D, 16);  ///< of 16 coordinates, the last filled up by 0
  static constexpr int chunks = 4 * steps;        ///< of four coordinates
  static constexpr int stride = 4 * Points + 4;
  alignas(16) std::uint32_t high[2 * steps][stride];
  alignas(16) std::uint32_t low[2 * steps][stride];

  /// Coordinates 4 c to 4 c + 3 of a point.
  __device__ __forceinline__ void set(int point, int c, const float (&v)[4]) {
    std::uint32_t split[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) split[k] = split_halves(v[k]).bits;
    const std::uint32_t highs[2] = {__byte_perm(split[0], split[1], 0x5410),
                                    __byte_perm(split[2], split[3], 0x5410)};
    const std::uint32_t lows[2] = {__byte_perm(split[0], split[1], 0x7632),
                                   __byte_perm(split[2], split[3], 0x7632)};
    store_vector(&high[c / 2][4 * point + c % 2 * 2], highs);
    store_vector(&low[c / 2][4 * point + c % 2 * 2], lows);
  }
  /// A step's coordinates of 64 points from `first` on.
  __device__ __forceinline__ WarpgroupOperand high_of(int step, int first) const {
    return {&high[2 * step][4 * first], stride};
  }
  __device__ __forceinline__ WarpgroupOperand low_of(int step, int first) const {
    return {&low[2 * step][4 * first], stride};
  }
};

/// A tile of columns as split_columns_kernel leaves it in global memory. Columns beyond the last
/// one, and all of a tile that is far, lie at the centre and weigh nothing.
template <int D>
struct SplitTile {
  static constexpr int columns = D <= 16 ? 256 : D <= 32 ? 128 : 64;
  SplitPoints<D, columns> points;  ///< v
  float weights[columns];          ///< w 2^-|v|^2
  alignas(16) int is_far;          ///< whether the form is not accurate for one of them
};

/// One centre for all rows of a call.
template <class Problem, int D>
__device__ __forceinline__ void block_find_centre_of_all(const Problem& problem,
                                                         float (&centre)[D]) {
  block_find_centre(get<0>(problem.x), 0, problem.rows, centre);
}

template <int D>
struct SplitColumnsStorage {
  float centre[D];
  float squares[chunks_of(D)][SplitTile<D>::columns + 1];
};

/// One block for each tile of the columns; dynamic shared memory: one SplitColumnsStorage.
template <class Problem>
__global__ void split_columns_kernel(const __grid_constant__ Problem problem,
                                     SplitTile<ExponentialOf<Problem>::dimension>* tiles) {
  using Form = ExponentialOf<Problem>;
  constexpr int D = Form::dimension;
  using Tile = SplitTile<D>;
  hopper::wait_for_kernel_before();
  auto& shared = dynamic_shared<SplitColumnsStorage<D>>();
  const auto& y = get<0>(problem.y);
  const float scale = Form::scale(problem.formula);
  Tile& tile = tiles[blockIdx.x];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * Tile::columns;
  const auto width = static_cast<int>(min(std::int64_t{Tile::columns}, problem.columns - first));
  const auto thread = static_cast<int>(threadIdx.x);
  const auto threads = static_cast<int>(blockDim.x);
  block_find_centre_of_all(problem, shared.centre);

  constexpr int chunks = decltype(tile.points)::chunks;
  // act(t, c, v): coordinates 4 c to 4 c + 3 of column t.
  const auto for_each_chunk = [&](auto act) {
    for (int item = thread; item < Tile::columns * chunks; item += threads) {
      const int t = item / chunks;
      const int c = item % chunks;
      float v[4];
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const int k = 4 * c + q;
        v[q] = k < D && t < width ? scale * (y.data[(first + t) * D + k] - shared.centre[k]) : 0.0f;
      }
      act(t, c, v);
    }
  };
  for_each_chunk([&](int t, int c, const float(&v)[4]) {
    if (4 * c < D) shared.squares[c][t] = square_of_chunk(v);
  });
  __syncthreads();  // the chunks of the squares are there
  const auto square_of = [&](int t) {
    return sum_of_chunks<D>([&](int c) { return shared.squares[c][t]; });
  };
  bool is_far = false;
  for (int t = thread; t < width; t += threads) is_far |= !(square_of(t) <= most_square<D>);
  float most = 0;
  for (int t = thread; t < width; t += threads) {
    most = fmaxf(most, fabsf(Form::weight(problem.y, first + t)[0]));
  }
  const bool has_small_signals = block_has_small_signals(most);
  is_far = __syncthreads_or(is_far || has_small_signals);
  const int wanted = is_far ? 0 : width;
  for (int t = thread; t < Tile::columns; t += threads) {
    tile.weights[t] =
        t < wanted ? exp2_of(-square_of(t)) * Form::weight(problem.y, first + t)[0] : 0.0f;
  }
  for_each_chunk([&](int t, int c, const float(&v)[4]) {
    const float nothing[4] = {};
    tile.points.set(t, c, is_far ? nothing : v);
  });
  if (thread == 0) tile.is_far = is_far;
}

/// Shared memory of warpgroup_sum_kernel.
template <int D, class Column, class State>
struct WarpgroupStorage {
  using Tile = SplitTile<D>;
  static constexpr int groups = 4;
  static constexpr int threads = 128 * groups;
  static constexpr int block_rows = warpgroup_rows * groups;
  /// As many as there is room for, with 64 dimensions and more.
  static constexpr int stages_of_tiles = D > 32 && D <= 64 ? 4 : 2;
  SplitPoints<D, block_rows> rows;  ///< 2 u
  union {
    float squares_of_chunks[chunks_of(D)][block_rows + 1];  ///< before the first tile
    alignas(16) Tile stages[stages_of_tiles];
    Staged<Column> columns[Tile::columns];  ///< of a tile that is computed from the differences
  };
  hopper::TransactionBarrier full[stages_of_tiles];   ///< the stage's tile is there
  hopper::TransactionBarrier empty[stages_of_tiles];  ///< all warps are done with it
  float centre[D];
  float squares[block_rows];  ///< |u|^2
  float sums[block_rows];
  State states[threads];  ///< of what is computed from the differences
};
template <class Problem>
using WarpgroupStorageOf =
    WarpgroupStorage<ExponentialOf<Problem>::dimension, ColumnOf<Problem>, typename Problem::State>;

/// Tile n of the block's part from the differences, into shared.states: threads t and t +
/// block_rows have row t, and half of the columns each. Not inlined, so that it takes no registers
/// from the loop over the other tiles.
template <class Problem>
[[gnu::noinline]] __device__ void block_reduce_split_far_tile(const Problem& problem,
                                                              const Split& split, std::int64_t n,
                                                              WarpgroupStorageOf<Problem>& shared) {
  using Storage = WarpgroupStorageOf<Problem>;
  constexpr int tile_columns = Storage::Tile::columns;
  constexpr int half = tile_columns / (Storage::threads / Storage::block_rows);
  const Range range = range_of(split, blockIdx.x / split.row_blocks, problem.columns);
  const std::int64_t first = range.begin + n * tile_columns;
  const auto width = static_cast<int>(min(std::int64_t{tile_columns}, range.end - first));
  __syncthreads();  // all threads are done with what lay there
  block_load_far_tile(problem, first, width, shared.columns);
  const auto thread = static_cast<int>(threadIdx.x);
  const int begin = thread / Storage::block_rows * half;
  if (begin >= width) return;
  const std::int64_t i =
      blockIdx.x % split.row_blocks * Storage::block_rows + thread % Storage::block_rows;
  const RowOf<Problem> row[1] = {problem.row(min(i, problem.rows - 1))};
  typename Problem::State state[1] = {shared.states[thread]};
  thread_reduce_tile<1>(problem, row, state, shared.columns + begin, first + begin,
                        min(half, width - begin));
  shared.states[thread] = state[0];
}

/// The products of 64 rows and 64 columns, both operands in shared memory. A step of 16 coordinates
/// is the product of the high halves and two small ones, which are added first; steps are added
/// outside of the tensor cores (WideTile).
template <int D, int Rows, int Columns>
__device__ __forceinline__ void warpgroup_multiply_points(const SplitPoints<D, Rows>& rows,
                                                          int first_row,
                                                          const SplitPoints<D, Columns>& columns,
                                                          int first_column,
                                                          WarpgroupSums& products) {
  const auto multiply_step = [&](int step, WarpgroupSums& sums) {
    const WarpgroupOperand row = rows.high_of(step, first_row);
    const WarpgroupOperand column = columns.high_of(step, first_column);
    warpgroup_begin();
    warpgroup_multiply(rows.low_of(step, first_row), column, sums, true);
    warpgroup_multiply(row, columns.low_of(step, first_column), sums, false);
    warpgroup_multiply(row, column, sums, false);
    warpgroup_end(sums);
  };
  multiply_step(0, products);
#pragma unroll
  for (int step = 1; step < SplitPoints<D, Rows>::steps; ++step) {
    WarpgroupSums sums;
    multiply_step(step, sums);
#pragma unroll
    for (int e = 0; e < warpgroup_columns / 8; ++e) {
#pragma unroll
      for (int q = 0; q < 4; ++q) products[e][q] += sums[e][q];
    }
  }
}

/// `tiles`: all columns, split.
template <class Problem>
__global__ void __launch_bounds__(WarpgroupStorageOf<Problem>::threads, 1)
    warpgroup_sum_kernel(const __grid_constant__ Problem problem, Split split,
                         typename Problem::State* partials, unsigned* tickets,
                         const SplitTile<ExponentialOf<Problem>::dimension>* tiles) {
  using Form = ExponentialOf<Problem>;
  using State = typename Problem::State;
  constexpr int D = Form::dimension;
  using Storage = WarpgroupStorageOf<Problem>;
  using Tile = typename Storage::Tile;
  constexpr int stages = Storage::stages_of_tiles;
  constexpr int block_rows = Storage::block_rows;
  if (!hopper::is_compiled_for_90a()) return;
  hopper::wait_for_kernel_before();
  auto& shared = dynamic_shared<Storage>();
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = lane_index();
  const std::int64_t first_row = blockIdx.x % split.row_blocks * block_rows;
  const Range range = range_of(split, blockIdx.x / split.row_blocks, problem.columns);
  const auto tile_count = static_cast<int>(divide_up(range.end - range.begin, Tile::columns));
  const auto& x = get<0>(problem.x);
  const float scale = Form::scale(problem.formula);
  // Beyond the last row, the last row once more: it is not stored.
  const auto row_index = [&](int row) { return min(first_row + row, problem.rows - 1); };

  if (thread == 0) {
    for (int s = 0; s < stages; ++s) {
      hopper::init(shared.full[s], 1);
      hopper::init(shared.empty[s], Storage::threads / warp_threads);
    }
  }
  block_find_centre_of_all(problem, shared.centre);  // ends with a barrier
  const SplitTile<D>* const own_tiles = tiles + range.begin / Tile::columns;
  const auto load = [&](int n) {
    const int s = n % stages;
    hopper::arrive_expect(shared.full[s], sizeof(Tile));
    hopper::bulk_load(&shared.stages[s], own_tiles + n, sizeof(Tile), shared.full[s]);
  };
  constexpr int chunks = decltype(shared.rows)::chunks;
  for (int item = thread; item < block_rows * chunks; item += Storage::threads) {
    const int row = item / chunks;
    const int c = item % chunks;
    const float* const point = x.data + row_index(row) * D;
    float u[4];
    float twice[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const int k = 4 * c + q;
      u[q] = k < D ? scale * (point[k] - shared.centre[k]) : 0.0f;
      twice[q] = 2 * fmaf(u[q], truncated_by_step, u[q]);
    }
    shared.rows.set(row, c, twice);
    if (4 * c < D) shared.squares_of_chunks[c][row] = square_of_chunk(u);
  }
  __syncthreads();  // the chunks of the squares are there
  bool is_row_far = false;
  if (thread < block_rows) {
    const float square =
        sum_of_chunks<D>([&](int c) { return shared.squares_of_chunks[c][thread]; });
    shared.squares[thread] = square;
    is_row_far = !(square <= most_square<D>);
  }
  shared.states[thread] = problem.reduction.neutral();
  hopper::fence_for_bulk();
  bool all_are_far = __syncthreads_or(is_row_far);  // and the rows are there

  LaneTotals<1, 1> totals;
  totals.set_zero();
  if (!all_are_far) {
    if (thread == 0) {
      for (int n = 0; n < stages && n < tile_count; ++n) load(n);
    }
    const int group_row = warp_index() / 4 * warpgroup_rows;
#pragma unroll 1
    for (int n = 0; n < tile_count; ++n) {
      const int s = n % stages;
      if (thread == 0 && n > 0 && n - 1 + stages < tile_count) {
        hopper::wait(shared.empty[(n - 1) % stages], (n - 1) / stages % 2);
        load(n - 1 + stages);
      }
      hopper::wait(shared.full[s], n / stages % 2);
      __syncwarp();  // a product takes whole warps
      const Tile& tile = shared.stages[s];
      // A lane adds up to 64 terms of a row one by one.
      LaneSums<1, 1> sums;
      sums.set_zero();
#pragma unroll 1
      for (int first = 0; first < Tile::columns; first += warpgroup_columns) {
        WarpgroupSums exponents;
        warpgroup_multiply_points(shared.rows, group_row, tile.points, first, exponents);
#pragma unroll
        for (int e = 0; e < warpgroup_columns / 8; ++e) {
          float weights[2];
          load_vector(&tile.weights[first + 8 * e + lane % 4 * 2], weights);
#pragma unroll
          for (int q = 0; q < 4; ++q) {
            // The special function unit and the FMA units share the work.
            const float power =
                q == 0 ? exp2_by_polynomial(exponents[e][q]) : exp2_of(exponents[e][q]);
            sums.of[0][q / 2][0] = fmaf(power, weights[q % 2], sums.of[0][q / 2][0]);
          }
        }
      }
      totals.add(sums);
      // (Without the fence a warp now and then had weights of the tile that is loaded next.)
      hopper::fence_for_bulk();
      __syncwarp();
      if (lane == 0) hopper::arrive(shared.empty[s]);
    }
  }
  // A sum that is not finite has overflowed, or has a term that is not finite: from the
  // differences.
  if (__syncthreads_or(!totals.are_finite())) all_are_far = true;
  bool has_far_tiles = false;
  for (int n = thread; n < tile_count; n += Storage::threads) has_far_tiles |= own_tiles[n].is_far;
  if (__syncthreads_or(all_are_far || has_far_tiles)) {
    for (int n = 0; n < tile_count; ++n) {
      if (all_are_far || own_tiles[n].is_far) {
        block_reduce_split_far_tile(problem, split, n, shared);
      }
    }
  }

#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float sum = totals.sums.of[0][half][0] * (1 / lanes_of_row);
    sum += __shfl_xor_sync(full_warp, sum, 1);
    sum += __shfl_xor_sync(full_warp, sum, 2);
    if (lane % 4 == 0) shared.sums[warp_index() * 16 + half * 8 + lane / 4] = sum;
  }
  __syncthreads();  // the sums, and the states, are there
  const bool has_row = thread < block_rows && first_row + thread < problem.rows;
  State state = shared.states[thread];
  if (has_row) {
    problem.reduction.merge(state, shared.states[thread + block_rows]);
    // (The square of a row that is far may be anything.)
    if (!all_are_far) {
      Vector<float, 1> sum{};
      sum[0] = shared.sums[thread];
      problem.reduction.merge(state,
                              Form::state(lanes_of_row * exp2_of(-shared.squares[thread]), sum));
    }
  }
  const std::int64_t end_row = min(first_row + block_rows, problem.rows);
  block_finish_rows(problem, split, first_row, end_row, partials, tickets, [&](auto act) {
    if (has_row) act(first_row + thread, state);
  });
}

}  // namespace warpath::map_reduce::detail
