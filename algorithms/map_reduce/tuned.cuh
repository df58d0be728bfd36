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

namespace warpath::map_reduce::detail {

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
  const std::int64_t block_row = row_block * Shape::block_rows;
  const std::int64_t first_row = block_row + threadIdx.x;
  RowOf<Problem> rows[R];
  typename Problem::State states[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    // Beyond the last row, the last row once more: it is not stored.
    rows[r] = problem.row(min(first_row + r * Shape::threads, problem.rows - 1));
    states[r] = problem.reduction.neutral();
  }
  const Range range = range_of(split, part, problem.columns);
  for (std::int64_t first = range.begin; first < range.end; first += tile_columns) {
    const int width = static_cast<int>(min(std::int64_t{tile_columns}, range.end - first));
    __syncthreads();  // all threads are done with the last tile
    for (int t = threadIdx.x; t < width; t += Shape::threads) {
      tile[t].column = problem.column(first + t);
    }
    __syncthreads();  // the columns are there
    thread_reduce_tile<R>(problem, rows, states, tile, first, width);
  }
  const std::int64_t block_end = min(block_row + Shape::block_rows, problem.rows);
  block_finish_rows(problem, split, block_row, block_end, partials, tickets, [&](auto act) {
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

/// Columns Batch q to Batch q + Batch - 1, prepared; of arrays that are not aligned to 16 bytes
/// one, number by number.
template <int Batch, bool Aligned, class Problem, class... Arrays>
__device__ __forceinline__ void load_columns(const Problem& problem, const Pack<Arrays...>& arrays,
                                             std::int64_t q, ColumnOf<Problem> (&columns)[Batch]) {
  if constexpr (!Aligned) {
    static_assert(Batch == 1);
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

/// What the threads and blocks of columns_kernel exchange of a row: a share, where the reduction
/// has shares, or a state.
template <class Problem, bool has_shares = HasShares<typename Problem::Reduction>>
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
  using Type = typename Problem::Reduction::Share;
  __device__ __forceinline__ static Type neutral(const Problem&) { return {}; }
  __device__ __forceinline__ static typename Problem::State state(const Problem& problem,
                                                                  const Type& share) {
    typename Problem::State state = problem.reduction.neutral();
    problem.reduction.add(state, share);
    return state;
  }
};
template <class Problem>
using ShareOf = typename ShareTraits<Problem>::Type;

/// One thread takes Batches batches of columns, q, q + step, ..., for its R rows: one group where
/// the reduction has shares, else a group a batch.
template <int Batches, int Batch, bool Aligned, int R, class Problem>
__device__ __forceinline__ void thread_reduce_batches(const Problem& problem,
                                                      const RowOf<Problem> (&rows)[R],
                                                      ShareOf<Problem> (&shares)[R], std::int64_t q,
                                                      std::int64_t step) {
  using Reduction = typename Problem::Reduction;
  const Reduction& reduction = problem.reduction;
  if constexpr (HasShares<Reduction>) {
    typename Reduction::Group groups[R];
#pragma unroll
    for (int r = 0; r < R; ++r) groups[r] = reduction.open(reduction.neutral());
#pragma unroll 4
    for (int n = 0; n < Batches; ++n) {
      ColumnOf<Problem> columns[Batch];
      load_columns<Batch, Aligned>(problem, problem.y, q + n * step, columns);
#pragma unroll
      for (int r = 0; r < R; ++r) {
#pragma unroll
        for (int t = 0; t < Batch; ++t) {
          reduction.take(groups[r], problem.value(rows[r], columns[t]));
        }
      }
    }
#pragma unroll
    for (int r = 0; r < R; ++r) reduction.close(shares[r], groups[r]);
  } else {
#pragma unroll 4
    for (int n = 0; n < Batches; ++n) {
      const std::int64_t first = (q + n * step) * Batch;
      ColumnOf<Problem> columns[Batch];
      load_columns<Batch, Aligned>(problem, problem.y, q + n * step, columns);
#pragma unroll
      for (int r = 0; r < R; ++r) {
        if constexpr (TakesGroups<Reduction>) {
          auto group = reduction.open(shares[r]);
#pragma unroll
          for (int t = 0; t < Batch; ++t) {
            reduction.take(group, problem.value(rows[r], columns[t]));
          }
          reduction.close(shares[r], group, first, Batch,
                          AgainOfBatch<Batch, Problem>{problem, rows[r], columns});
        } else {
#pragma unroll
          for (int t = 0; t < Batch; ++t) {
            reduction.add(shares[r], problem.value(rows[r], columns[t]), first + t);
          }
        }
      }
    }
  }
}

/// What one thread has of a row once it has merged parts k, k + step, ... of those that the blocks
/// left; loads are in flight 8 at a time. Shares are added up 8 at a time, and those sums with
/// their errors: there may be ten thousands of parts.
template <class Problem>
__device__ __forceinline__ ShareOf<Problem> thread_merge_shares(const Problem& problem,
                                                                const ShareOf<Problem>* parts,
                                                                std::int64_t k, std::int64_t step,
                                                                std::int64_t count) {
  using Share = ShareOf<Problem>;
  const auto& reduction = problem.reduction;
  if constexpr (HasShares<typename Problem::Reduction>) {
    constexpr int few = 8;
    typename Problem::State state = reduction.neutral();
    for (; k + (few - 1) * step < count; k += few * step) {
      Share share{};
#pragma unroll
      for (int n = 0; n < few; ++n) reduction.merge(share, parts[k + n * step]);
      reduction.add(state, share);
    }
    Share share{};
    for (; k < count; k += step) reduction.merge(share, parts[k]);
    reduction.add(state, share);
    return reduction.share(state);
  } else {
    Share share = reduction.neutral();
#pragma unroll 8
    for (; k < count; k += step) reduction.merge(share, parts[k]);
    return share;
  }
}

/// Ends a block whose threads have shares of R rows each, the same rows in all threads of a team:
/// merges those, and in the row block's last block the parts. of_warp: [block_rows][warps of a
/// team], in shared memory. partials: [rows][parts].
template <class Shape, int R, class Problem>
__device__ __forceinline__ void block_finish_shares(const Problem& problem, const Split& split,
                                                    ShareOf<Problem> (&shares)[R],
                                                    ShareOf<Problem>* partials, unsigned* tickets,
                                                    ShareOf<Problem>* of_warp) {
  using Share = ShareOf<Problem>;
  constexpr int team_warps = Shape::team_threads / warp_threads;
  const auto& reduction = problem.reduction;
  const std::int64_t part = blockIdx.x / split.row_blocks;
  const std::int64_t first_row = blockIdx.x % split.row_blocks * Shape::block_rows;
  const int team = static_cast<int>(threadIdx.x) / Shape::team_threads;
  const auto row_index = [&](int row) { return min(first_row + row, problem.rows - 1); };
  const Share of_lanes = warp_merge(reduction, shares);
  constexpr int row_lanes = warp_threads / R;
  if (lane_index() % row_lanes == 0) {
    const int row = team * R + lane_index() / row_lanes;
    of_warp[row * team_warps + warp_index() % team_warps] = of_lanes;
  }
  __syncthreads();  // the warps' shares are there

  // From here on a row has row_threads threads to merge what there is of it.
  constexpr int row_threads = Shape::threads / Shape::block_rows;
  constexpr int merging_lanes = row_threads < warp_threads ? row_threads : warp_threads;
  static_assert(team_warps <= merging_lanes);
  const int row = static_cast<int>(threadIdx.x) / row_threads;
  const int k = static_cast<int>(threadIdx.x) % row_threads;
  const bool is_stored = k == 0 && first_row + row < problem.rows;
  const auto store = [&](const Share& share) {
    problem.out[row_index(row)] = reduction.result(ShareTraits<Problem>::state(problem, share));
  };
  Share share = ShareTraits<Problem>::neutral(problem);
  if (k < team_warps) share = of_warp[row * team_warps + k];
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
  share = thread_merge_shares(problem, of_parts, k, row_threads, split.parts);
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

/// Each thread has R rows, the same as all threads of its team, and the team's threads share the
/// columns of the block's part in batches. The teams of a block have other rows and the same
/// columns: the first to load them brings them into the L1 cache for all.
///
/// A part is `span` consecutive columns, so that a thread's next loads have constant offsets; where
/// all of a thread's columns are one share, the plan makes parts short enough for it (most_span).
/// With one row what counts is memory: there the parts take turns, one round of batches each, and
/// the blocks together read consecutive memory.
///
/// How many columns a thread loads at once was measured (batch_of), and not profiled.
template <class Shape, int Batch, bool Aligned, class Problem>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    columns_kernel(Problem problem, Split split, ShareOf<Problem>* partials, unsigned* tickets) {
  using Share = ShareOf<Problem>;
  constexpr int R = Shape::rows_per_thread;
  constexpr int team_threads = Shape::team_threads;
  auto* of_warp = &dynamic_shared<Share>();  // [block_rows][team_warps]
  hopper::wait_for_kernel_before();          // launch_parts() lets this one start early
  const std::int64_t part = blockIdx.x / split.row_blocks;
  const std::int64_t first_row = blockIdx.x % split.row_blocks * Shape::block_rows;
  const int team = static_cast<int>(threadIdx.x) / team_threads;
  // Beyond the last row, the last row once more: it is not stored.
  const auto row_index = [&](int row) { return min(first_row + row, problem.rows - 1); };
  RowOf<Problem> rows[R];
  Share shares[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    rows[r] = problem.row(row_index(team * R + r));
    shares[r] = ShareTraits<Problem>::neutral(problem);
  }
  constexpr bool take_turns = Shape::block_rows == 1;
  const Range columns_of_part =
      take_turns ? Range{0, problem.columns} : range_of(split, part, problem.columns);
  const int thread = static_cast<int>(threadIdx.x) % team_threads;
  const std::int64_t batches = columns_of_part.end / Batch;
  const std::int64_t first = columns_of_part.begin / Batch + thread;
  const std::int64_t step = take_turns ? split.parts * team_threads : team_threads;
  // Batches of a group of 16 columns; or, without shares, so many that their loads overlap.
  constexpr int batches_at_once = HasShares<typename Problem::Reduction> ? 16 / Batch : 4;
  std::int64_t q = first + (take_turns ? part * team_threads : 0);
  for (; q + (batches_at_once - 1) * step < batches; q += batches_at_once * step) {
    thread_reduce_batches<batches_at_once, Batch, Aligned>(problem, rows, shares, q, step);
  }
  for (; q + step < batches; q += 2 * step) {  // two loads at once
    thread_reduce_batches<2, Batch, Aligned>(problem, rows, shares, q, step);
  }
  if (q < batches) thread_reduce_batches<1, Batch, Aligned>(problem, rows, shares, q, step);
  // The columns after the last full batch.
  const std::int64_t j = problem.columns / Batch * Batch + thread;
  if (Batch > 1 && part == split.parts - 1 && j < problem.columns) {
    thread_reduce_batches<1, 1, false>(problem, rows, shares, j, 0);
  }
  block_finish_shares<Shape>(problem, split, shares, partials, tickets, of_warp);
}

}  // namespace warpath::map_reduce::detail
