// The tuned schemes: several rows a thread, so that a column read from shared memory serves all of
// them; columns split over blocks where there are too few rows to fill the GPU; and, for few rows,
// threads over the columns. Partial results are merged in a fixed order by the last block that
// needs them: the same inputs give the same bits.
#pragma once

#include <cstdint>

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

/// Columns Batch q to Batch q + Batch - 1, prepared.
template <int Batch, class Problem, class... Arrays>
__device__ __forceinline__ void load_columns(const Problem& problem, const Pack<Arrays...>& arrays,
                                             std::int64_t q, ColumnOf<Problem> (&columns)[Batch]) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    const auto batches = pack_of(load_batch<Batch>(get<I>(arrays), q)...);
#pragma unroll
    for (int t = 0; t < Batch; ++t) {
      columns[t] = problem.prepared(pack_of(get<I>(batches).of[t]...));
    }
  }
  (std::make_integer_sequence<int, sizeof...(Arrays)>());
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

/// The states of one thread's R rows over columns in batches.
template <int R, class Problem>
struct ThreadRows {
  using Reduction = typename Problem::Reduction;
  static constexpr bool has_groups = TakesAnyColumns<Reduction>;
  struct NoGroup {};
  template <class T>
  struct GroupOf {
    using type = NoGroup;
  };
  template <TakesAnyColumns T>
  struct GroupOf<T> {
    using type = typename T::Group;
  };

  RowOf<Problem> rows[R];
  typename Problem::State states[R];
  typename GroupOf<Reduction>::type groups[R];

  /// Row r is row i of the problem.
  __device__ __forceinline__ void start(const Problem& problem, int r, std::int64_t i) {
    rows[r] = problem.row(i);
    states[r] = problem.reduction.neutral();
    if constexpr (has_groups) groups[r] = problem.reduction.open(states[r]);
  }
  /// Batch more columns, the first of which is column `first`.
  template <int Batch>
  __device__ __forceinline__ void reduce(const Problem& problem,
                                         const ColumnOf<Problem> (&columns)[Batch],
                                         std::int64_t first) {
    const Reduction& reduction = problem.reduction;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const auto value = [&](int t) { return problem.value(rows[r], columns[t]); };
      if constexpr (has_groups) {
#pragma unroll
        for (int t = 0; t < Batch; ++t) reduction.take(groups[r], value(t));
      } else if constexpr (TakesGroups<Reduction>) {
        auto group = reduction.open(states[r]);
#pragma unroll
        for (int t = 0; t < Batch; ++t) reduction.take(group, value(t));
        reduction.close(states[r], group, first, Batch,
                        AgainOfBatch<Batch, Problem>{problem, rows[r], columns});
      } else {
#pragma unroll
        for (int t = 0; t < Batch; ++t) reduction.add(states[r], value(t), first + t);
      }
    }
  }
  __device__ __forceinline__ void finish(const Problem& problem) {
    if constexpr (has_groups) {
#pragma unroll
      for (int r = 0; r < R; ++r) problem.reduction.close(states[r], groups[r], 0, 0, NoGroup());
    }
  }
};

/// The warps of a block, shared out over R rows: W of them to a row, or one to several rows.
template <int R, int Warps>
struct WarpsOfRows {
  static constexpr int W = Warps > R ? Warps / R : 1;
  static_assert(Warps % R == 0 || R % Warps == 0);

  /// act(r) for each of this warp's rows.
  template <class Act>
  __device__ __forceinline__ static void for_each_row(Act act) {
    for (int r = warp_index() / W; r < R; r += Warps / W) act(r);
  }
  /// Whether this thread stores what is found of its warp's rows.
  __device__ __forceinline__ static bool is_first() {
    return threadIdx.x % (W * warp_threads) == 0;
  }
};

/// The states of a row, of `parts` parts, merged by the W warps that it has, in all lanes of the
/// first of them. of_warp: a state for each warp of the block.
template <int W, class Reduction, class State>
__device__ __forceinline__ State warps_merge_parts(const Reduction& reduction,
                                                   const State* of_parts, std::int64_t parts,
                                                   State* of_warp) {
  const int warp = warp_index() % W;
  State state = reduction.neutral();
#pragma unroll 4
  for (std::int64_t p = warp * warp_threads + lane_index(); p < parts; p += W * warp_threads) {
    reduction.merge(state, of_parts[p]);
  }
  state = warp_merge(reduction, state);
  if constexpr (W > 1) {
    if (lane_index() == 0) of_warp[warp_index()] = state;
    __syncthreads();  // the warps' states are there
    state = lane_index() < W ? of_warp[warp_index() - warp + lane_index()] : reduction.neutral();
    state = warp_merge(reduction, state);
  }
  return state;
}

/// R rows a block, in all of its threads, which share the columns of the block's part: thread k has
/// batches k, k + threads, ... of it.
template <class Shape, int Batch, class Problem>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    columns_kernel(Problem problem, Split split, typename Problem::State* partials,
                   unsigned* tickets) {
  using State = typename Problem::State;
  constexpr int R = Shape::rows;
  constexpr int warps = Shape::threads / warp_threads;
  auto* of_warp = &dynamic_shared<State>();  // [R][warps]
  const std::int64_t row_block = blockIdx.x % split.row_blocks;
  const std::int64_t part = blockIdx.x / split.row_blocks;
  ThreadRows<R, Problem> mine;
#pragma unroll
  for (int r = 0; r < R; ++r) mine.start(problem, r, min(row_block * R + r, problem.rows - 1));
  const Range range = range_of(split, part, problem.columns);
  const std::int64_t full_batches = range.end / Batch;
#pragma unroll(R == 1 ? 4 : 1)
  for (std::int64_t q = range.begin / Batch + threadIdx.x; q < full_batches; q += Shape::threads) {
    ColumnOf<Problem> columns[Batch];
    load_columns<Batch>(problem, problem.y, q, columns);
    mine.reduce(problem, columns, q * Batch);
  }
  for (std::int64_t j = full_batches * Batch + threadIdx.x; j < range.end; j += Shape::threads) {
    const ColumnOf<Problem> column[1] = {problem.column(j)};
    mine.reduce(problem, column, j);
  }
  mine.finish(problem);
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const State state = warp_merge(problem.reduction, mine.states[r]);
    if (lane_index() == 0) of_warp[r * warps + warp_index()] = state;
  }
  __syncthreads();  // the warps' states are there

  using Rows = WarpsOfRows<R, warps>;
  State* of_parts = nullptr;  // [R][parts]
  if (split.parts > 1) of_parts = partials + row_block * R * split.parts;
  const auto store = [&](int r, const State& state) {
    const std::int64_t i = row_block * R + r;
    if (Rows::is_first() && i < problem.rows) problem.out[i] = problem.reduction.result(state);
  };
  Rows::for_each_row([&](int r) {
    State state =
        lane_index() < warps ? of_warp[r * warps + lane_index()] : problem.reduction.neutral();
    state = warp_merge(problem.reduction, state);
    if (split.parts == 1) {
      store(r, state);
    } else if (Rows::is_first()) {
      of_parts[r * split.parts + part] = state;
    }
  });
  if (split.parts == 1) return;
  if (!is_last_block(&tickets[row_block], static_cast<unsigned>(split.parts))) return;
  Rows::for_each_row([&](int r) {
    store(r, warps_merge_parts<Rows::W>(problem.reduction, &of_parts[r * split.parts], split.parts,
                                        of_warp));
  });
}

}  // namespace warpath::map_reduce
