// Sums over tiles of columns from the differences, for rows of a tensor kernel's block: where the
// Gram form would not be accurate. The tensor kernels of sums leave them to a kernel of their own
// (far_points.cuh), those of warpgroups compute them at the end.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "map_reduce/problem.cuh"
#include "map_reduce/tuned.cuh"

namespace warpath::map_reduce::detail {

/// Up to BlockRows rows in the registers of a block of Threads threads, of which a multiprocessor
/// has Blocks. A thread has several rows, for which it loads a column once, and groups of threads
/// share the columns of a tile. Adapts: of fewer rows there are more groups (2 to 9 % slower where
/// there are all rows).
template <int Threads, int BlockRows, int Blocks, bool Adapts, class Problem>
class FarRows {
 public:
  using State = typename Problem::State;
  static constexpr int threads = Threads;
  static constexpr int block_rows = BlockRows;
  static constexpr int blocks = Blocks;
  /// Rows of which a thread gets the states in the end: threadIdx.x, + threads, ...
  static constexpr int end_rows = divide_up(BlockRows, Threads);
  /// Rows that a thread has: as many as fill three eighths of its registers.
  static constexpr int rows = [] {
    constexpr std::size_t bytes = sizeof(RowOf<Problem>) + sizeof(State);
    constexpr std::size_t most_bytes = std::min(255, 65536 / (Threads * Blocks)) * 4 * 3 / 8;
    int count = 1;
    while (count < end_rows ||
           (2 * count * bytes <= most_bytes && BlockRows % (2 * count * warp_threads) == 0)) {
      count *= 2;
    }
    return count;
  }();

  /// Whether several groups can have states of a row: states that block_for_each_state() needs.
  static constexpr bool has_groups = Adapts || Threads * rows > BlockRows;
  static constexpr int shared_states = has_groups ? BlockRows : 1;

  __device__ __forceinline__ FarRows(const Problem& problem, std::int64_t first_row)
      : count_(static_cast<int>(min(std::int64_t{BlockRows}, problem.rows - first_row))),
        group_threads_(Adapts ? divide_up(count_, rows * warp_threads) * warp_threads
                              : BlockRows / rows) {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      rows_[r] = problem.row(first_row + min(row_of(r), count_ - 1));
      states_[r] = problem.reduction.neutral();
    }
  }

  /// Adds `width` columns, of a sum that does not ask which they are. No thread waits.
  __device__ __forceinline__ void add(const Problem& problem,
                                      const Staged<ColumnOf<Problem>>* columns, int width) {
    // Threads that are too few for a group have no columns.
    const int share = divide_up(width, 16 * groups()) * 16;
    const int from = min(group() * share, width);
    thread_reduce_tile<rows>(problem, rows_, states_, columns + group() * share, 0,
                             min(share, width - from));
  }

  /// act(r, state) for what each group has of row threadIdx.x + r threads. The whole block, with
  /// `memory` that nobody uses; ends with a barrier.
  template <class Act>
  __device__ __forceinline__ void block_for_each_state(State (&memory)[shared_states],
                                                       Act act) const {
    if constexpr (has_groups) {
      for (int g = 0; g < groups(); ++g) {
        if (g == group()) {
#pragma unroll
          for (int r = 0; r < rows; ++r) memory[row_of(r)] = states_[r];
        }
        __syncthreads();  // the group's states are there
#pragma unroll
        for (int r = 0; r < end_rows; ++r) {
          const int row = static_cast<int>(threadIdx.x) + r * Threads;
          if (row < count_) act(r, memory[row]);
        }
        __syncthreads();  // and have been read
      }
    } else {
#pragma unroll
      for (int r = 0; r < rows; ++r) act(r, states_[r]);
    }
  }

 private:
  static_assert(BlockRows % (rows * warp_threads) == 0);
  __device__ __forceinline__ int row_of(int r) const {
    return static_cast<int>(threadIdx.x) % group_threads_ + r * group_threads_;
  }
  __device__ __forceinline__ int groups() const {
    return Threads / group_threads_;
  }
  __device__ __forceinline__ int group() const {
    return static_cast<int>(threadIdx.x) / group_threads_;
  }
  int count_;  ///< of the block's rows that there are
  int group_threads_;
  RowOf<Problem> rows_[rows];
  State states_[rows];
};

/// Loads `width` columns, number t of which is column_at(t). The whole block; ends with a barrier.
template <int Threads, int Tile, class Problem, class ColumnAt>
__device__ __forceinline__ void block_load_columns(const Problem& problem,
                                                   Staged<ColumnOf<Problem>> (&columns)[Tile],
                                                   int width, ColumnAt column_at) {
#pragma unroll
  for (int n = 0; n < divide_up(Tile, Threads); ++n) {
    const int t = static_cast<int>(threadIdx.x) + n * Threads;
    if (t < width) columns[t].column = problem.column(column_at(t));
  }
  __syncthreads();  // the columns are there
}

/// Adds to `rows` the tiles that next_tile() gives, an empty one last; none has more than Tile
/// columns, for which there is room in `columns`. The whole block; ends with a barrier. (Columns
/// that were fetched a tile ahead took 2 to 4 % more time, and a loop over them that is not
/// unrolled 1 to 7 %.)
template <int Tile, class Problem, class Rows, class NextTile>
__device__ __forceinline__ void block_add_far_tiles(const Problem& problem, Rows& rows,
                                                    Staged<ColumnOf<Problem>> (&columns)[Tile],
                                                    NextTile next_tile) {
  for (Range tile = next_tile(); tile.begin < tile.end; tile = next_tile()) {
    const auto width = static_cast<int>(tile.end - tile.begin);
    block_load_columns<Rows::threads>(problem, columns, width,
                                      [&](int t) { return tile.begin + t; });
    rows.add(problem, columns, width);
    __syncthreads();  // all threads are done with the columns
  }
}

}  // namespace warpath::map_reduce::detail
