// Sums of exponentials by the Gram form on the tensor cores, in float. With u = scale x and
// v = scale y, relative to the centre of the block's rows,
//
//   2^-|u - v|^2  =  2^-|u|^2      *  2^(2 u . v)         *  2^-|v|^2
//                    at the end:      a matrix product       into the weights:
//                    state()          on tensor cores        once for each column of a tile
//
// so that what is left of a pair is an exponential, and a multiply-add with the column's weight
// w 2^-|v|^2. (Signals of several numbers: tensor_signals.cuh.)
//
// How the form stays accurate: it subtracts squares that the distance does not have. Rows and
// columns that lie too far from the centre for the accuracy, or are not finite, are taken out of
// the products and left to far_points_kernel, which computes them from the differences; so are
// tiles that have many such columns, or whose signals are all tiny, and all of the part of a block
// that has many such rows, or finds a sum that is not finite (an overflow, or a signal that is not
// finite): every scheme then gives the same. (In a kernel of their own differences take no
// registers from the products, and have those that they need.)
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/vector.cuh"
#include "map_reduce/exponential.cuh"
#include "map_reduce/far_points.cuh"
#include "map_reduce/formulas.cuh"
#include "map_reduce/reductions.cuh"
#include "map_reduce/tensor_signals.cuh"
#include "map_reduce/tensor_sums.cuh"
#include "map_reduce/tensor_tile.cuh"
#include "map_reduce/tuned.cuh"

namespace warpath::map_reduce::detail {

/// The sums of a warp's rows in its lanes' registers, by multiply-adds: each lane has sums of all
/// numbers of the signal, over its own columns. MultipliedSignals has the same members.
template <class Shape, int D, int E>
struct AddedSignals {
  static constexpr int tile = tensor_tile<D>;
  /// Long signals would take too many registers while the tile before is worked on.
  static constexpr bool is_fetched_ahead = E <= 16;
  struct Source {};  ///< the signals are taken as they are
  struct Weights {
    float of[E][tile];
  };

  using Totals = LaneTotals<Shape::row_tiles, E>;
  static constexpr int own_columns = divide_up(tile, Shape::threads);
  Vector<float, E> own[own_columns];  ///< of columns threadIdx.x, + threads...

  __device__ __forceinline__ void start(Totals& totals) { totals.set_zero(); }

  /// Whether a lane's power q of row tile m is computed by FMA units instead of the special
  /// function unit, so that they share the work: one of four, half of those of each row. (Which
  /// ones steers the compiler's schedule: up to 5 % of the time; measured.)
  static constexpr bool takes_polynomial(int m, int q) {
    return (m + q / 2) % 2 == 0 && q % 2 == (Shape::row_tiles == 4 ? 0 : 1);
  }

  /// Loads the signals of the thread's columns, of `width` from `first` on; those beyond are 0.
  template <class Form, class Arrays>
  __device__ __forceinline__ void fetch(const Arrays& y, const Source*, std::int64_t first,
                                        int width, Weights&) {
#pragma unroll
    for (int n = 0; n < own_columns; ++n) {
      const int t = static_cast<int>(threadIdx.x) + n * Shape::threads;
      own[n] = Vector<float, E>{};
      if (t < width) own[n] = Form::weight(y, first + t);
    }
  }
  /// Stores the weights of column t, the thread's n-th, of which `square` is |v|^2.
  __device__ __forceinline__ void store(int n, int t, float square, Weights& weights) const {
    const Vector<float, E> weight = scaled(exp2_of(-square), own[n]);
#pragma unroll
    for (int e = 0; e < E; ++e) weights.of[e][t] = weight[e];
  }
  /// The largest magnitude of the thread's signals.
  __device__ __forceinline__ float most() const {
    float result = 0;
#pragma unroll
    for (int n = 0; n < own_columns; ++n) {
#pragma unroll
      for (int e = 0; e < E; ++e) result = fmaxf(result, fabsf(own[n][e]));
    }
    return result;
  }
  __device__ __forceinline__ void wait() {}
  /// Column t of the tile, which lies at the centre, no longer counts.
  template <class Tile>
  __device__ __forceinline__ static void take_out(int t, Tile&, Weights& weights) {
#pragma unroll
    for (int e = 0; e < E; ++e) weights.of[e][t] = 0;
  }

  /// Adds 2^(2 u . v) w of the warp's rows and its eights of a tile's columns (TensorShape). The
  /// rows are 2 u, the columns v. A lane adds up to 64 terms one by one; where they are equal, and
  /// all additions round in the same direction, that is off by 1.3e-6 at most.
  template <class Rows, class Tile>
  __device__ __forceinline__ void add_tile(const Rows (&rows)[Shape::row_tiles],
                                           const Tile& columns, const Weights& weights, int width,
                                           Totals& totals) {
    LaneSums<Shape::row_tiles, E> sums;
    sums.set_zero();
    const int lane = lane_index();
    const int eights = (width + 7) / 8;
    // (Measured: more of the wide tiles' products at a time would not fit into the registers.)
#pragma unroll(D <= 8 ? 8 : 2)
    for (int eight = warp_index() / Shape::row_warps; eight < eights;
         eight += Shape::column_warps) {
      float factors[E][2];
#pragma unroll
      for (int e = 0; e < E; ++e) {
        load_vector(&weights.of[e][eight * 8 + lane % 4 * 2], factors[e]);
      }
      float exponents[Shape::row_tiles][4] = {};
      columns.multiply(rows, eight, exponents);
#pragma unroll
      for (int m = 0; m < Shape::row_tiles; ++m) {
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          const float power = takes_polynomial(m, q) ? exp2_by_polynomial(exponents[m][q])
                                                     : exp2_of(exponents[m][q]);
#pragma unroll
          for (int e = 0; e < E; ++e) {
            sums.of[m][q / 2][e] = fmaf(power, factors[e][q % 2], sums.of[m][q / 2][e]);
          }
        }
      }
    }
    totals.add(sums);
  }

  __device__ __forceinline__ void finish(Totals&) const {}

  /// sums[warp column][row][number]: what the warps' lanes have of each row, added in a fixed order
  /// and divided by lanes_of_row.
  template <class Sums>
  __device__ __forceinline__ static void store_sums(const Totals& totals, Sums& sums) {
    static_assert(4 * Shape::column_warps <= lanes_of_row);
    const int first = warp_index() % Shape::row_warps * Shape::warp_rows;
#pragma unroll
    for (int m = 0; m < Shape::row_tiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int e = 0; e < E; ++e) {
          float sum = totals.sums.of[m][half][e] * (1 / lanes_of_row);
          sum += __shfl_xor_sync(full_warp, sum, 1);
          sum += __shfl_xor_sync(full_warp, sum, 2);
          if (lane_index() % 4 == 0) {
            const int row = first + m * 16 + half * 8 + lane_index() / 4;
            sums[warp_index() / Shape::row_warps][row][e] = sum;
          }
        }
      }
    }
  }
};

template <class Shape, int D, int E>
using SignalsOf = std::conditional_t<multiplies_signals<D, E>, MultipliedSignals<Shape, D, E>,
                                     AddedSignals<Shape, D, E>>;

/// Shared memory of tensor_sum_kernel.
template <class Shape, int D, int E>
struct TensorStorage {
  using Signals = SignalsOf<Shape, D, E>;
  static constexpr int tile = Signals::tile;
  struct Gram {
    GramTile<D, tile> columns;
    typename Signals::Weights weights;
  };
  union {
    Gram gram;
    float sums[Shape::column_warps][Shape::block_rows][E];
  };
  FarPoints<D, Shape::block_rows> far;
};

template <class Shape, class Problem>
using TensorStorageOf =
    TensorStorage<Shape, ExponentialOf<Problem>::dimension, ExponentialOf<Problem>::signal>;
template <class Shape, class Problem>
using FarPointsOf = FarPoints<ExponentialOf<Problem>::dimension, Shape::block_rows>;
/// What signal_source points to: a SignalTile, or an empty type where it is null.
template <class Shape, class Problem>
using SignalSourceOf = typename TensorStorageOf<Shape, Problem>::Signals::Source;

/// signal_source: the split signals of all columns, if they are multiplied (tensor_signals.cuh).
template <class Shape, class Problem>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    tensor_sum_kernel(const __grid_constant__ Problem problem, Split split,
                      typename Problem::State* partials, unsigned* tickets,
                      const SignalSourceOf<Shape, Problem>* signal_source,
                      FarPointsOf<Shape, Problem>* far_points) {
  using Form = ExponentialOf<Problem>;
  using State = typename Problem::State;
  constexpr int D = Form::dimension;
  constexpr int E = Form::signal;
  using Storage = TensorStorageOf<Shape, Problem>;
  hopper::wait_for_kernel_before();  // run_tensor_sum() lets this one start early
  auto& shared = dynamic_shared<Storage>();
  const std::int64_t row_block = blockIdx.x % split.row_blocks;
  const std::int64_t part = blockIdx.x / split.row_blocks;
  const std::int64_t first_row = row_block * Shape::block_rows;
  const auto& x = get<0>(problem.x);
  const auto& y = get<0>(problem.y);
  const Relative<D> relative{Form::scale(problem.formula), shared.far.centre};
  // Beyond the last row, the last row once more: it is not stored.
  const auto row_index = [&](int row) { return min(first_row + row, problem.rows - 1); };
  const auto square_of_row = [&](int row) {
    return relative_square<D>(x.data + row_index(row) * D, relative);
  };

  using Tile = decltype(shared.gram.columns);
  const Range range = range_of(split, part, problem.columns);
  const auto width_at = [&](std::int64_t first) {
    return static_cast<int>(
        max(std::int64_t{0}, min(std::int64_t{Storage::tile}, range.end - first)));
  };
  Fetched<D, Tile, Shape::threads> fetched;
  typename Storage::Signals signals;
  const auto fetch_signals = [&](std::int64_t first) {
    signals.template fetch<Form>(problem.y, signal_source, first, width_at(first),
                                 shared.gram.weights);
  };
  const auto fetch = [&](std::int64_t first) {
    fetched.fetch(y.data + first * D, width_at(first));
    if constexpr (Storage::Signals::is_fetched_ahead) fetch_signals(first);
  };
  fetch(range.begin);

  typename Storage::Signals::Totals totals;
  signals.start(totals);
  block_find_mean(x, first_row, Shape::block_rows, shared.far.centre);
  typename Tile::Rows rows[Shape::row_tiles];
  const int warp_row = warp_index() % Shape::row_warps * Shape::warp_rows;
#pragma unroll
  for (int r = 0; r < 2 * Shape::row_tiles; ++r) {
    const float* point = x.data + row_index(warp_row + r * 8 + lane_index() / 4) * D;
    rows[r / 2].set(r % 2, [&](int k) {
      const float u = relative(point[k], k);
      return 2 * fmaf(u, truncated_fraction(D), u);
    });
  }
  bool has_far_row = false;
  for (int row = static_cast<int>(threadIdx.x); row < Shape::block_rows; row += Shape::threads) {
    const bool is_far = first_row + row < problem.rows && square_is_far<D>(square_of_row(row));
    const unsigned of_warp = __ballot_sync(full_warp, is_far);
    if (lane_index() == 0) shared.far.rows[row / warp_threads] = of_warp;
    has_far_row = has_far_row || is_far;
  }
  if (threadIdx.x == 0) {
    shared.far.has_any = 0;
    shared.far.leave_from(range.end);
  }
  if (__syncthreads_or(has_far_row)) {
    if (!block_leave_rows(shared.far, problem.rows - first_row)) {
      block_leave_all(shared.far, range.begin);
      block_copy(shared.far, far_points[blockIdx.x]);
      signals.wait();
      return;
    }
    // In the products they lie at the centre.
#pragma unroll
    for (int r = 0; r < 2 * Shape::row_tiles; ++r) {
      const auto last =
          static_cast<int>(min(problem.rows - 1 - first_row, std::int64_t{Shape::block_rows - 1}));
      if (shared.far.has_row(min(warp_row + r * 8 + lane_index() / 4, last))) {
        rows[r / 2].set(r % 2, [](int) { return 0.0f; });
      }
    }
  }

  for (std::int64_t first = range.begin; first < range.end; first += Storage::tile) {
    const int width = width_at(first);
    if constexpr (!Storage::Signals::is_fetched_ahead) fetch_signals(first);
    __syncthreads();  // all threads are done with the last tile
    fetched.store(relative, width, shared.gram.columns);
    bool has_far = false;
#pragma unroll
    for (int n = 0; n < divide_up(Storage::tile, Shape::threads); ++n) {
      const int t = static_cast<int>(threadIdx.x) + n * Shape::threads;
      if (Storage::tile % Shape::threads != 0 && t >= Storage::tile) break;
      const float square = shared.gram.columns.squares[0][t];
      has_far = has_far || square_is_far<D>(square);
      signals.store(n, t, square, shared.gram.weights);
    }
    // (In fewer dimensions 2^-|v|^2 is not small enough for that.)
    bool has_small_signals = false;
    if constexpr (D > 32) has_small_signals = block_has_small_signals(signals.most());
    signals.wait();
    bool is_left = __syncthreads_or(has_far || has_small_signals);
    if (is_left && !has_small_signals) {
      is_left = !block_leave_columns<D, Shape::threads, typename Storage::Signals>(shared.gram,
                                                                                   shared.far);
    }
    fetch(first + Storage::tile);
    if (!is_left) {
      signals.add_tile(rows, shared.gram.columns, shared.gram.weights, width, totals);
    } else if (block_leave_tile(shared.far, first)) {
      signals.wait();  // what is fetched goes where the sums will be
      break;
    }
  }
  signals.finish(totals);
  // A sum that is not finite has overflowed, or has a term that is not finite: from the
  // differences.
  if (__syncthreads_or(!totals.are_finite())) {
    block_leave_all(shared.far, range.begin);
    block_copy(shared.far, far_points[blockIdx.x]);
    return;
  }

  // (All threads are done with the last tile.)
  signals.store_sums(totals, shared.sums);
  __syncthreads();  // the sums are there
  // A thread has rows threadIdx.x, + threads, ...
  constexpr int R = (Shape::block_rows + Shape::threads - 1) / Shape::threads;
  State states[R];
#pragma unroll
  for (int r = 0; r < R; ++r) states[r] = problem.reduction.neutral();
  const auto for_each_row = [&](auto act) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int row = static_cast<int>(threadIdx.x) + r * Shape::threads;
      if (row < Shape::block_rows && first_row + row < problem.rows) {
        act(first_row + row, row, states[r]);
      }
    }
  };
  for_each_row([&](std::int64_t, int row, State& state) {
    Vector<float, E> sum{};
#pragma unroll
    for (int warp = 0; warp < Shape::column_warps; ++warp) {
#pragma unroll
      for (int e = 0; e < E; ++e) sum[e] += shared.sums[warp][row][e];
    }
    const float factor = lanes_of_row * exp2_of(-square_of_row(row));
    problem.reduction.merge(state, Form::state(factor, sum));
  });
  if (shared.far.has_any != 0) {
    block_copy(shared.far, far_points[blockIdx.x]);
    for_each_row(
        [&](std::int64_t i, int, State& state) { partials[part * problem.rows + i] = state; });
    return;
  }
  if (threadIdx.x == 0) far_points[blockIdx.x].has_any = 0;
  const std::int64_t end_row = min(first_row + Shape::block_rows, problem.rows);
  block_finish_rows(problem, split, first_row, end_row, partials, tickets, [&](auto act) {
    for_each_row([&](std::int64_t i, int, State& state) { act(i, state); });
  });
}

}  // namespace warpath::map_reduce::detail
