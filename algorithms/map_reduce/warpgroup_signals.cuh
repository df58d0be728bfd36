// Sums of exponentials times signals of several numbers on Hopper: both matrix products of
// tensor_signals.cuh as those of warpgroups. In up to 16 dimensions P(i, j) = 2^(2 u . v - |v|^2),
//
//     rows * columns: 64 x 64, operands in shared memory        -> 2 u . v - |v|^2 in registers
//     P * b: 64 rows x 64 columns * 64 columns x E numbers      -> sums in registers
//            P from registers, b from shared memory
//
// where |v|^2 is a further coordinate of the columns, and rows have -1. In more dimensions P is
// 2^(2 u . v), and b has the factor 2^-|v|^2 (warpgroup_sum.cuh). warpgroup_signal_parts.cuh says
// in which parts P and b are multiplied. A preceding kernel splits columns and signals once a call;
// they come by bulk copies, as in warpgroup_sum.cuh, which also says what is computed from the
// differences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/vector.cuh"
#include "core/warp.cuh"
#include "map_reduce/problem.cuh"
#include "map_reduce/tensor_signals.cuh"
#include "map_reduce/tensor_sum.cuh"
#include "map_reduce/tensor_sums.cuh"
#include "map_reduce/tuned.cuh"
#include "map_reduce/warpgroup_points.cuh"
#include "map_reduce/warpgroup_signal_parts.cuh"

namespace warpath::map_reduce::detail {

/// Whether the sums of a form can be computed so. Longer signals would not leave registers; fewer
/// numbers are as fast as multiply-adds in few dimensions.
template <class Form>
constexpr bool has_warpgroup_signals = [] {
  if constexpr (Form::is_possible)
    return Form::signal >= (Form::dimension <= 8 ? 4 : 2) && Form::signal <= 64;
  else
    return false;
}();

/// A tile of columns and their signals as split_columns_and_signals_kernel leaves it in global
/// memory. A tile that is far has signals of 0.
template <int D, int E>
struct SplitColumnsTile {
  static constexpr bool has_squares = D <= 16;  ///< |v|^2 as a coordinate
  static constexpr int columns = has_squares ? 128 : 64;
  static constexpr int numbers = E <= 8 ? 8 : E <= 16 ? 16 : E <= 32 ? 32 : 64;  ///< of a product
  template <int Count>
  using PointsOf = std::conditional_t<D <= 8, NarrowPoints<D + 1, Count>,
                                      WidePoints<has_squares ? D + 1 : D, Count>>;
  using Parts = std::conditional_t<has_squares, Halves<D>, Tf32>;
  using Signals = typename Parts::template Signals<columns, numbers>;
  PointsOf<columns> points;  ///< v, and |v|^2
  Signals signals;           ///< b, scaled, or 2^-|v|^2 b
  float back[numbers];       ///< what a sum is multiplied by
  alignas(16) int is_far;
};

template <int D, int E>
struct SplitColumnsAndSignalsStorage {
  SplitterStorage<D, SplitColumnsTile<D, E>::columns> splitter;
  SignalsStorage<SplitColumnsTile<D, E>::columns, E> signals;
};

/// One block for each tile; dynamic shared memory: one SplitColumnsAndSignalsStorage.
template <class Problem>
__global__ void split_columns_and_signals_kernel(
    const __grid_constant__ Problem problem,
    SplitColumnsTile<ExponentialOf<Problem>::dimension, ExponentialOf<Problem>::signal>* tiles) {
  using Form = ExponentialOf<Problem>;
  constexpr int D = Form::dimension;
  constexpr int E = Form::signal;
  using Tile = SplitColumnsTile<D, E>;
  hopper::wait_for_kernel_before();
  auto& shared = dynamic_shared<SplitColumnsAndSignalsStorage<D, E>>();
  Tile& tile = tiles[blockIdx.x];
  const auto thread = static_cast<int>(threadIdx.x);
  const auto threads = static_cast<int>(blockDim.x);
  block_find_centre_of_all(problem, shared.splitter.centre);
  const ColumnSplitter<Problem, Tile::columns> columns(problem, shared.splitter,
                                                       Form::scale(problem.formula));
  const bool is_far = columns.block_find_squares(most_square<D>);
  columns.for_each_chunk(decltype(tile.points)::chunks, [&](int t, int c, const float(&v)[4]) {
    float set[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      set[q] = is_far ? 0.0f : Tile::has_squares && 4 * c + q == D ? columns.square_of(t) : v[q];
    }
    tile.points.set_column(t, c, set);
  });

  auto& signals = shared.signals;
  const int wanted = is_far ? 0 : columns.width();
  block_load_signals(get<1>(problem.y).data + columns.first() * E, wanted * E, signals);
  for (int e = thread; e < Tile::numbers; e += threads) {
    const unsigned exponent = e < E ? 254 - exponent_to_halves(signals.most[e]) : 127;
    tile.back[e] = __uint_as_float(exponent << 23) * Tile::Parts::back;
  }
  tile.signals.block_set([&](int t, int e) {
    if (e >= E || t >= wanted) return 0.0f;
    const float scale = __uint_as_float(exponent_to_halves(signals.most[e]) << 23);
    const float number = scale * signals.numbers[t][e];
    return Tile::has_squares ? number : exp2_of(-columns.square_of(t)) * number;
  });
  if (thread == 0) tile.is_far = is_far;
}

/// Shared memory of warpgroup_signals_kernel.
template <int D, int E, class Column, class State>
struct WarpgroupSignalsStorage {
  using Tile = SplitColumnsTile<D, E>;
  /// As many as there are registers and room for.
  static constexpr int groups = D > 64 ? 2 : D > 16 && E > 32 ? 3 : 4;
  static constexpr int stages_of_tiles = D > 32 ? 2 : 3;
  static constexpr int threads = 128 * groups;
  static constexpr int block_rows = warpgroup_rows * groups;
  typename Tile::template PointsOf<block_rows> rows;  ///< 2 u, and -1
  union {
    float squares_of_chunks[chunks_of(D)][block_rows + 1];  ///< before the first tile
    alignas(16) Tile stages[stages_of_tiles];
    /// Of tiles that are computed from the differences.
    Staged<Column> columns[far_columns<Tile, stages_of_tiles, Column>];
    State states[block_rows];  ///< of those columns
    struct {
      float sums[block_rows][E | 1];  ///< an odd stride: another bank a row
      float excesses[block_rows][E | 1];
    };
  };
  TileBarriers<stages_of_tiles> barriers;
  float centre[D];
  float squares[block_rows];  ///< |u|^2
};

template <class Problem>
using WarpgroupSignalsStorageOf =
    WarpgroupSignalsStorage<ExponentialOf<Problem>::dimension, ExponentialOf<Problem>::signal,
                            ColumnOf<Problem>, typename Problem::State>;

/// Adds the products of P and the signals of 64 columns, `step` steps after the tile's first, to
/// the lanes' share. The small products come first; a sum that starts anew adds 64 columns only,
/// since the tensor cores truncate their sums (tensor_signals.cuh).
template <class Tile, int Count>
__device__ __forceinline__ void add_products(const typename Tile::Parts::Powers& p,
                                             const Tile& tile, int step,
                                             LaneSums<1, Count>& share) {
  constexpr int eights = Tile::numbers / 8;
  // Where rows come from registers, eight products with 32 numbers take less time than twelve with
  // 16: both halves of up to 32 are multiplied at once, and so two low halves are, too.
  constexpr bool takes_both = 2 * Tile::numbers <= 64;
  float sums[takes_both ? 2 * eights : eights][4];
  const auto multiply = [&](const auto& rows, auto operand_of, bool is_first) {
#pragma unroll
    for (int k = 0; k < warpgroup_columns / Tile::Signals::step_columns; ++k) {
      Tile::Parts::multiply(rows[k], operand_of(step + k), sums, is_first && k == 0);
    }
  };
  const auto high_of = [&](int k) { return tile.signals.high_of(k); };
  warpgroup_begin();
  multiply(p.low, high_of, true);
  if constexpr (!takes_both)
    multiply(
        p.high, [&](int k) { return tile.signals.low_of(k); }, false);
  multiply(p.high, high_of, false);
  warpgroup_end(sums);
#pragma unroll
  for (int e = 0; e < eights; ++e) {
    float back[2];
    load_vector(&tile.back[8 * e + lane_index() % 4 * 2], back);
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      if constexpr (takes_both) sums[e][q] += sums[eights + e][q];
      float& sum = share.of[0][q / 2][2 * e + q % 2];
      sum = fmaf(sums[e][q], back[q % 2], sum);
    }
  }
}

/// Not inlined, so that the totals are in memory, and take no registers from the loop over tiles.
template <int Count>
[[gnu::noinline]] __device__ void add_share(LaneSums<1, Count> share,
                                            LaneTotals<1, Count>& totals) {
  totals.add(share);
}

/// `tiles`: all columns, split.
template <class Problem>
__global__ void __launch_bounds__(WarpgroupSignalsStorageOf<Problem>::threads, 1)
    warpgroup_signals_kernel(const __grid_constant__ Problem problem, Split split,
                             typename Problem::State* partials, unsigned* tickets,
                             const typename WarpgroupSignalsStorageOf<Problem>::Tile* tiles) {
  using Form = ExponentialOf<Problem>;
  using State = typename Problem::State;
  constexpr int E = Form::signal;
  using Storage = WarpgroupSignalsStorageOf<Problem>;
  using Tile = typename Storage::Tile;
  constexpr int block_rows = Storage::block_rows;
  constexpr int share_tiles = 1024 / Tile::columns;
  if (!hopper::is_compiled_for_90a()) return;
  hopper::wait_for_kernel_before();
  auto& shared = dynamic_shared<Storage>();
  const auto thread = static_cast<int>(threadIdx.x);
  const std::int64_t first_row = blockIdx.x % split.row_blocks * block_rows;
  const Range range = range_of(split, blockIdx.x / split.row_blocks, problem.columns);
  const auto tile_count = static_cast<int>(divide_up(range.end - range.begin, Tile::columns));
  const Tile* const own_tiles = tiles + range.begin / Tile::columns;
  TileStream stream(shared.barriers, shared.stages, own_tiles, tile_count);
  block_find_centre_of_all(problem, shared.centre);  // ends with a barrier
  bool all_are_far = block_split_rows<block_rows>(problem, first_row, shared.centre, shared.rows,
                                                  shared.squares_of_chunks, shared.squares);

  LaneTotals<1, Tile::numbers / 4> totals;
  totals.set_zero();
  if (!all_are_far) {
    stream.start();
    LaneSums<1, Tile::numbers / 4> share;
    share.set_zero();
    const int group_row = warp_index() / 4 * warpgroup_rows;
#pragma unroll 1
    for (int n = 0; n < tile_count; ++n) {
      const Tile& tile = stream.wait(n);
#pragma unroll 1
      for (int first = 0; first < Tile::columns; first += warpgroup_columns) {
        typename Tile::Parts::Powers p;
        {
          WarpgroupSums exponents;
          multiply_points(shared.rows, group_row, tile.points, first, exponents);
          p.set(exponents);
        }
        add_products(p, tile, first / Tile::Signals::step_columns, share);
      }
      stream.release(n);
      // A share is the sum of 16 products of 64 columns, added one by one.
      if (n % share_tiles == share_tiles - 1) {
        add_share(share, totals);
        share.set_zero();
      }
    }
    add_share(share, totals);
  }
  // A sum that is not finite has overflowed, or has a term that is not finite: from the
  // differences.
  if (__syncthreads_or(!totals.are_finite())) all_are_far = true;
  State far_state = problem.reduction.neutral();
  const bool has_far_tiles = block_reduce_far_tiles<block_rows>(
      problem, split, own_tiles, all_are_far, shared.columns, shared.states, far_state);

  // The stages, or far states, are done with.
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = warp_index() * 16 + half * 8 + lane_index() / 4;
    // (The square of a row that is far may be anything.)
    const float factor = exp2_of(-shared.squares[row]);
#pragma unroll
    for (int i = 0; i < Tile::numbers / 4; ++i) {
      const int e = i / 2 * 8 + lane_index() % 4 * 2 + i % 2;
      if (e < E) {
        shared.sums[row][e] = all_are_far ? 0 : factor * totals.sums.of[0][half][i];
        shared.excesses[row][e] = 0;
      }
    }
  }
  __syncthreads();  // the sums are there
  if (has_far_tiles) {
    if (thread < block_rows) {
      State state;
#pragma unroll
      for (int e = 0; e < E; ++e) {
        state.sum[e] = shared.sums[thread][e];
        state.excess[e] = 0;
      }
      problem.reduction.merge(state, far_state);
#pragma unroll
      for (int e = 0; e < E; ++e) {
        shared.sums[thread][e] = state.sum[e];
        shared.excesses[thread][e] = state.excess[e];
      }
    }
    __syncthreads();  // and those of far tiles added
  }
  const std::int64_t end_row = min(first_row + block_rows, problem.rows);
  block_finish_numbers(problem, split, first_row, end_row, partials, tickets,
                       [&](int row, int e, auto& numbers) {
                         constexpr int count = sizeof numbers.sums / sizeof(float);
#pragma unroll
                         for (int q = 0; q < count; ++q) {
                           numbers.sums[q] = shared.sums[row][e + q];
                           numbers.excesses[q] = shared.excesses[row][e + q];
                         }
                       });
}

}  // namespace warpath::map_reduce::detail
