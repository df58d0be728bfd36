// The tuned variants: several rows a thread, so that a column read from shared memory serves all of
// them; columns split over blocks where there are too few rows to fill the GPU; and, for few rows,
// threads over the columns. Partial results are merged in a fixed order by the last block that
// needs them: the same inputs give the same bits.
#pragma once

#include <cstdint>

#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/vector.cuh"
#include "map_reduce/problem.cuh"
#include "map_reduce/tuning.hpp"

namespace warpath::map_reduce {

/// The columns of a part: [begin, end).
struct Range {
  std::int64_t begin;
  std::int64_t end;
};
__device__ __forceinline__ Range range_of(const Split& split, std::int64_t part,
                                          std::int64_t columns) {
  const std::int64_t begin = part * split.span;
  return {begin, min(columns, begin + split.span)};
}

/// A thread has rows first, first + threads, ... of its block.
template <class Shape, class Problem>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    rows_kernel(Problem problem, Split split, typename Problem::State* partials,
                unsigned* tickets) {
  constexpr int R = Shape::rows_per_thread;
  constexpr int tile_columns = columns_of_tile(sizeof(Staged<ColumnOf<Problem>>));
  hopper::wait_for_kernel_before();  // launch_parts() lets this one start early
  auto* tile = &dynamic_shared<Staged<ColumnOf<Problem>>>();  // tile_columns
  const std::int64_t row_block = blockIdx.x % split.row_blocks;
  const std::int64_t part = blockIdx.x / split.row_blocks;
  const std::int64_t first_row = row_block * Shape::block_rows + threadIdx.x;
  RowOf<Problem> rows[R];
  typename Problem::State states[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    // Behind the last row, that one again: it is not stored.
    rows[r] = problem.row(min(first_row + r * Shape::threads, problem.rows - 1));
    states[r] = problem.reduction.neutral();
  }
  const Range range = range_of(split, part, problem.columns);
  for (std::int64_t first = range.begin; first < range.end; first += tile_columns) {
    const int width = static_cast<int>(min(std::int64_t{tile_columns}, range.end - first));
    __syncthreads();  // nobody needs the last tile any more
    for (int t = threadIdx.x; t < width; t += Shape::threads) {
      tile[t].column = problem.column(first + t);
    }
    __syncthreads();  // the columns are there
    thread_reduce_tile<R>(problem, rows, states, tile, first, width);
  }
  block_finish_rows(problem, split, partials, tickets, [&](auto act) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const std::int64_t i = first_row + r * Shape::threads;
      if (i < problem.rows) act(i, states[r]);
    }
  });
}

// ---------------------------------------------------------------- few rows

/// Neighbouring elements of an array.
template <class Element, int Batch>
struct BatchOf {
  Element of[Batch];
};

/// Elements Batch q to Batch q + Batch - 1, in the widest loads. The array is aligned to 16 bytes.
template <int Batch, class T, int D>
__device__ __forceinline__ auto load_batch(const Array<T, D>& array, std::int64_t q) {
  T numbers[Batch * D];
  load_vector(array.data + q * (Batch * D), numbers);
  BatchOf<Vector<T, D>, Batch> batch;
#pragma unroll
  for (int t = 0; t < Batch; ++t) {
#pragma unroll
    for (int k = 0; k < D; ++k) batch.of[t][k] = numbers[t * D + k];
  }
  return batch;
}

/// Columns Batch q to Batch q + Batch - 1, prepared; arrays that are not aligned have Batch = 1.
template <int Batch, class Problem, class... Arrays>
__device__ __forceinline__ void load_columns(const Problem& problem, const Pack<Arrays...>& arrays,
                                             std::int64_t q, ColumnOf<Problem> (&columns)[Batch]) {
  if constexpr (Batch == 1) {
    columns[0] = problem.column(q);
  } else {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      const auto batches = pack_of(load_batch<Batch>(get<I>(arrays), q)...);
#pragma unroll
      for (int t = 0; t < Batch; ++t) {
        columns[t] = problem.prepared(pack_of(get<I>(batches).of[t]...));
      }
    }
    (std::make_integer_sequence<int, sizeof...(Arrays)>());
  }
}

/// The value of a pair of a row and a column in registers, computed again.
template <int Batch, class Problem>
struct AgainOfBatch {
  const Problem& problem;
  const RowOf<Problem>& row;
  const ColumnOf<Problem> (&columns)[Batch];
  __device__ __forceinline__ auto operator()(int t) const {
    ColumnOf<Problem> column = columns[0];
#pragma unroll
    for (int u = 1; u < Batch; ++u) {
      if (t == u) column = columns[u];  // so that the array can stay in registers
    }
    return problem.value(row, column);
  }
};

/// Whether a thread may have one group for all of its columns (reductions.cuh).
template <class Reduction>
concept TakesAnyColumns = Reduction::takes_any_columns;

/// What the threads of columns_kernel have of a row, and merge: a state; or a group, which is
/// shorter, until all columns are in it.
template <class Problem, bool is_group = TakesAnyColumns<typename Problem::Reduction>>
struct ShareTraits {
  using Type = typename Problem::State;
  __device__ __forceinline__ static Type neutral(const Problem& problem) {
    return problem.reduction.neutral();
  }
  __device__ __forceinline__ static const Type& state(const Problem&, const Type& share) {
    return share;
  }
};
template <class Problem>
struct ShareTraits<Problem, true> {
  using Type = typename Problem::Reduction::Group;
  __device__ __forceinline__ static Type neutral(const Problem& problem) {
    return problem.reduction.open(problem.reduction.neutral());
  }
  __device__ __forceinline__ static typename Problem::State state(const Problem& problem,
                                                                  const Type& share) {
    typename Problem::State state = problem.reduction.neutral();
    problem.reduction.close(state, share, 0, 0, [](int) {});
    return state;
  }
};
template <class Problem>
using ShareOf = typename ShareTraits<Problem>::Type;

/// One thread's share of Batch more columns, the first of which is column `first`.
template <int Batch, class Problem>
__device__ __forceinline__ void thread_reduce_batch(const Problem& problem,
                                                    const RowOf<Problem>& row,
                                                    ShareOf<Problem>& share,
                                                    const ColumnOf<Problem> (&columns)[Batch],
                                                    std::int64_t first) {
  using Reduction = typename Problem::Reduction;
  const Reduction& reduction = problem.reduction;
  const auto value = [&](int t) { return problem.value(row, columns[t]); };
  if constexpr (TakesAnyColumns<Reduction>) {
#pragma unroll
    for (int t = 0; t < Batch; ++t) reduction.take(share, value(t));
  } else if constexpr (TakesGroups<Reduction>) {
    auto group = reduction.open(share);
#pragma unroll
    for (int t = 0; t < Batch; ++t) reduction.take(group, value(t));
    reduction.close(share, group, first, Batch,
                    AgainOfBatch<Batch, Problem>{problem, row, columns});
  } else {
#pragma unroll
    for (int t = 0; t < Batch; ++t) reduction.add(share, value(t), first + t);
  }
}

/// Each thread has R rows, the same as all threads of its group, and the group's threads share the
/// columns of the block's part in batches. The groups of a block have other rows and the same
/// columns: the first to load them brings them into the L1 cache for all. partials: [rows][parts].
///
/// A part is `span` columns, one behind the other, so that a thread's next loads have constant
/// offsets; where all of a thread's columns are one group, the plan makes parts short enough for it
/// (most_span). With one row what counts is memory: there the parts take turns, one round of
/// batches each, and the blocks together read what lies together.
template <class Shape, int Batch, class Problem>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    columns_kernel(Problem problem, Split split, ShareOf<Problem>* partials, unsigned* tickets) {
  using Share = ShareOf<Problem>;
  constexpr int R = Shape::rows_per_thread;
  constexpr int group_threads = Shape::group_threads;
  constexpr int group_warps = group_threads / warp_threads;
  auto* of_warp = &dynamic_shared<Share>();  // [block_rows][group_warps]
  hopper::wait_for_kernel_before();          // launch_parts() lets this one start early
  const auto& reduction = problem.reduction;
  const std::int64_t part = blockIdx.x / split.row_blocks;
  const std::int64_t first_row = blockIdx.x % split.row_blocks * Shape::block_rows;
  const int group = static_cast<int>(threadIdx.x) / group_threads;
  // Behind the last row, that one again: it is not stored.
  const auto row_index = [&](int row) { return min(first_row + row, problem.rows - 1); };
  RowOf<Problem> rows[R];
  Share shares[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    rows[r] = problem.row(row_index(group * R + r));
    shares[r] = ShareTraits<Problem>::neutral(problem);
  }
  constexpr bool take_turns = Shape::block_rows == 1;
  const Range columns_of_part =
      take_turns ? Range{0, problem.columns} : range_of(split, part, problem.columns);
  const int thread = static_cast<int>(threadIdx.x) % group_threads;
  const std::int64_t batches = columns_of_part.end / Batch;
  const std::int64_t first = columns_of_part.begin / Batch + thread;
  const std::int64_t step = take_turns ? split.parts * group_threads : group_threads;
#pragma unroll 4
  for (std::int64_t q = first + (take_turns ? part * group_threads : 0); q < batches; q += step) {
    ColumnOf<Problem> columns[Batch];
    load_columns<Batch>(problem, problem.y, q, columns);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      thread_reduce_batch<Batch>(problem, rows[r], shares[r], columns, q * Batch);
    }
  }
  // The columns behind the last full batch.
  const std::int64_t j = problem.columns / Batch * Batch + thread;
  if (Batch > 1 && part == split.parts - 1 && j < problem.columns) {
    const ColumnOf<Problem> column[1] = {problem.column(j)};
#pragma unroll
    for (int r = 0; r < R; ++r) thread_reduce_batch<1>(problem, rows[r], shares[r], column, j);
  }
  const Share of_lanes = warp_merge(reduction, shares);
  constexpr int row_lanes = warp_threads / R;
  if (lane_index() % row_lanes == 0) {
    const int row = group * R + lane_index() / row_lanes;
    of_warp[row * group_warps + warp_index() % group_warps] = of_lanes;
  }
  __syncthreads();  // the warps' shares are there

  // From here on a row has row_threads threads to merge what there is of it.
  constexpr int row_threads = Shape::threads / Shape::block_rows;
  constexpr int merging_lanes = row_threads < warp_threads ? row_threads : warp_threads;
  static_assert(group_warps <= merging_lanes);
  const int row = static_cast<int>(threadIdx.x) / row_threads;
  const int k = static_cast<int>(threadIdx.x) % row_threads;
  const bool is_stored = k == 0 && first_row + row < problem.rows;
  const auto store = [&](const Share& share) {
    problem.out[row_index(row)] = reduction.result(ShareTraits<Problem>::state(problem, share));
  };
  Share share = ShareTraits<Problem>::neutral(problem);
  if (k < group_warps) share = of_warp[row * group_warps + k];
  share = lanes_merge<merging_lanes>(reduction, share);
  if (split.parts == 1) {
    if (is_stored) store(share);
    return;
  }
  Share* of_parts = partials + row_index(row) * split.parts;
  if (is_stored) of_parts[part] = share;
  if (!is_last_block(&tickets[first_row / Shape::block_rows], static_cast<unsigned>(split.parts))) {
    return;
  }
  share = ShareTraits<Problem>::neutral(problem);
#pragma unroll 8
  for (std::int64_t p = k; p < split.parts; p += row_threads) reduction.merge(share, of_parts[p]);
  share = lanes_merge<merging_lanes>(reduction, share);
  if constexpr (row_threads > warp_threads) {
    if (lane_index() == 0) of_warp[warp_index()] = share;
    __syncthreads();  // the warps' shares are there
    share = ShareTraits<Problem>::neutral(problem);
    constexpr int row_warps = row_threads / warp_threads;
    if (k < row_warps) share = of_warp[row * row_warps + k];
    share = lanes_merge<row_warps>(reduction, share);
  }
  if (is_stored) store(share);
}

}  // namespace warpath::map_reduce
