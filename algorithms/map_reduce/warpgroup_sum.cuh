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
#include "map_reduce/warpgroup_points.cuh"

namespace warpath::map_reduce::detail {

/// Whether the sums of a form can be computed so.
template <class Form>
constexpr bool has_warpgroup_sum = [] {
  if constexpr (Form::is_possible)
    return Form::dimension > 8 && Form::signal == 1;
  else
    return false;
}();

/// A tile of columns as split_columns_kernel leaves it in global memory. Columns beyond the last
/// one, and all of a tile that is far, lie at the centre and weigh nothing.
template <int D>
struct SplitTile {
  static constexpr int columns = D <= 16 ? 256 : D <= 32 ? 128 : 64;
  WidePoints<D, columns> points;  ///< v
  float weights[columns];         ///< w 2^-|v|^2
  alignas(16) int is_far;         ///< whether the form is not accurate for one of them
};

/// One block for each tile of the columns; dynamic shared memory: one SplitterStorage.
template <class Problem>
__global__ void split_columns_kernel(const __grid_constant__ Problem problem,
                                     SplitTile<ExponentialOf<Problem>::dimension>* tiles) {
  using Form = ExponentialOf<Problem>;
  constexpr int D = Form::dimension;
  using Tile = SplitTile<D>;
  hopper::wait_for_kernel_before();
  auto& shared = dynamic_shared<SplitterStorage<D, Tile::columns>>();
  Tile& tile = tiles[blockIdx.x];
  block_find_centre_of_all(problem, shared.centre);
  const ColumnSplitter<Problem, Tile::columns> columns(problem, shared,
                                                       Form::scale(problem.formula));
  bool is_far = columns.block_find_squares(most_square<D>);
  float most = 0;
  columns.for_each_column([&](int, std::int64_t j, float) {
    most = fmaxf(most, fabsf(Form::weight(problem.y, j)[0]));
  });
  is_far = block_has_small_signals(most) || is_far;
  for (int t = threadIdx.x; t < Tile::columns; t += blockDim.x) tile.weights[t] = 0;
  if (!is_far) {
    columns.for_each_column([&](int t, std::int64_t j, float square) {
      tile.weights[t] = exp2_of(-square) * Form::weight(problem.y, j)[0];
    });
  }
  columns.for_each_chunk(decltype(tile.points)::chunks, [&](int t, int c, const float(&v)[4]) {
    const float nothing[4] = {};
    tile.points.set_column(t, c, is_far ? nothing : v);
  });
  if (threadIdx.x == 0) tile.is_far = is_far;
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
  WidePoints<D, block_rows> rows;  ///< 2 u
  union {
    float squares_of_chunks[chunks_of(D)][block_rows + 1];  ///< before the first tile
    alignas(16) Tile stages[stages_of_tiles];
    /// Of tiles that are computed from the differences.
    Staged<Column> columns[far_columns<Tile, stages_of_tiles, Column>];
  };
  TileBarriers<stages_of_tiles> barriers;
  float centre[D];
  float squares[block_rows];  ///< |u|^2
  float sums[block_rows];
  State states[block_rows];  ///< of what is computed from the differences
};
template <class Problem>
using WarpgroupStorageOf =
    WarpgroupStorage<ExponentialOf<Problem>::dimension, ColumnOf<Problem>, typename Problem::State>;

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
  constexpr int block_rows = Storage::block_rows;
  if (!hopper::is_compiled_for_90a()) return;
  hopper::wait_for_kernel_before();
  auto& shared = dynamic_shared<Storage>();
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = lane_index();
  const std::int64_t first_row = blockIdx.x % split.row_blocks * block_rows;
  const Range range = range_of(split, blockIdx.x / split.row_blocks, problem.columns);
  const auto tile_count = static_cast<int>(divide_up(range.end - range.begin, Tile::columns));
  const SplitTile<D>* const own_tiles = tiles + range.begin / Tile::columns;
  TileStream stream(shared.barriers, shared.stages, own_tiles, tile_count);
  block_find_centre_of_all(problem, shared.centre);  // ends with a barrier
  bool all_are_far = block_split_rows<block_rows>(problem, first_row, shared.centre, shared.rows,
                                                  shared.squares_of_chunks, shared.squares);

  LaneTotals<1, 1> totals;
  totals.set_zero();
  if (!all_are_far) {
    stream.start();
    const int group_row = warp_index() / 4 * warpgroup_rows;
#pragma unroll 1
    for (int n = 0; n < tile_count; ++n) {
      const Tile& tile = stream.wait(n);
      // A lane adds up to 64 terms of a row one by one.
      LaneSums<1, 1> sums;
      sums.set_zero();
#pragma unroll 1
      for (int first = 0; first < Tile::columns; first += warpgroup_columns) {
        WarpgroupSums exponents;
        multiply_points(shared.rows, group_row, tile.points, first, exponents);
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
      stream.release(n);
    }
  }
  // A sum that is not finite has overflowed, or has a term that is not finite: from the
  // differences.
  if (__syncthreads_or(!totals.are_finite())) all_are_far = true;
  State state = problem.reduction.neutral();
  block_reduce_far_tiles<block_rows>(problem, split, own_tiles, all_are_far, shared.columns,
                                     shared.states, state);

#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float sum = totals.sums.of[0][half][0] * (1 / lanes_of_row);
    sum += __shfl_xor_sync(full_warp, sum, 1);
    sum += __shfl_xor_sync(full_warp, sum, 2);
    if (lane % 4 == 0) shared.sums[warp_index() * 16 + half * 8 + lane / 4] = sum;
  }
  __syncthreads();  // the sums are there
  const bool has_row = thread < block_rows && first_row + thread < problem.rows;
  // (The square of a row that is far may be anything.)
  if (has_row && !all_are_far) {
    Vector<float, 1> sum{};
    sum[0] = shared.sums[thread];
    problem.reduction.merge(state,
                            Form::state(lanes_of_row * exp2_of(-shared.squares[thread]), sum));
  }
  const std::int64_t end_row = min(first_row + block_rows, problem.rows);
  block_finish_rows(problem, split, first_row, end_row, partials, tickets, [&](auto act) {
    if (has_row) act(first_row + thread, state);
  });
}

}  // namespace warpath::map_reduce::detail
