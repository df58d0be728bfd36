// Tiles of columns from the differences, for rows of a tensor kernel's block: those of which the
// Gram form would not be accurate. The tensor kernels of sums (tensor_sum.cuh) leave them to a
// kernel of their own, those of warpgroups compute them at the end.
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

  /// Adds columns first to first + width - 1, which lie in `columns`. No thread waits.
  __device__ __forceinline__ void add(const Problem& problem,
                                      const Staged<ColumnOf<Problem>>* columns, std::int64_t first,
                                      int width) {
    // Threads that are too few for a group have no columns.
    const int share = divide_up(width, 16 * groups()) * 16;
    const int from = min(group() * share, width);
    thread_reduce_tile<rows>(problem, rows_, states_, columns + group() * share, first + from,
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

/// Adds to `rows` the tiles that next_tile() gives, an empty one last; none has more than Tile
/// columns, for which there is room in `columns`. The whole block; ends with a barrier. (Columns
/// that were fetched a tile ahead took 2 to 4 % more time, and a loop over them that is not
/// unrolled 1 to 7 %.)
template <int Tile, class Problem, class Rows, class NextTile>
__device__ __forceinline__ void block_add_far_tiles(const Problem& problem, Rows& rows,
                                                    Staged<ColumnOf<Problem>> (&columns)[Tile],
                                                    NextTile next_tile) {
  Range tile = next_tile();
  while (tile.begin < tile.end) {
    const auto width = static_cast<int>(tile.end - tile.begin);
#pragma unroll
    for (int n = 0; n < divide_up(Tile, Rows::threads); ++n) {
      const int t = static_cast<int>(threadIdx.x) + n * Rows::threads;
      if (tile.begin + t < tile.end) columns[t].column = problem.column(tile.begin + t);
    }
    __syncthreads();  // the columns are there
    const Range here = tile;
    tile = next_tile();
    rows.add(problem, columns, here.begin, width);
    __syncthreads();  // all threads are done with them
  }
}

/// Which columns of a block's part far_tiles_kernel computes: some tiles, by their first columns,
/// and all from `rest` on.
struct FarTiles {
  static constexpr int most = 6;
  std::int64_t rest;
  std::int64_t tiles[most];
  int count;
};

/// Notes a tile, or all from it on where there is no room for more. The whole block. Returns
/// whether it is all.
__device__ __forceinline__ bool block_note_far(FarTiles& far, std::int64_t first) {
  const int count = far.count;
  __syncthreads();  // all threads have read it
  if (threadIdx.x == 0) {
    if (count < FarTiles::most) {
      far.tiles[count] = first;
    } else {
      far.rest = first;
    }
    far.count = min(count + 1, FarTiles::most);
  }
  return count == FarTiles::most;
}

/// Shared memory of far_tiles_kernel.
template <class Rows, class Problem>
struct FarStorage {
  static constexpr int tile =
      std::clamp<int>(24 * 1024 / sizeof(Staged<ColumnOf<Problem>>), 32, 256);
  union {
    Staged<ColumnOf<Problem>> columns[tile];
    typename Problem::State states[Rows::shared_states];
  };
};

/// What a kernel of the same grid has left, in tiles of NotedTile columns. Where that is all of a
/// block's part, `partials` has nothing of it, else the states of the other columns. A block that
/// has nothing left ends at once.
template <class Rows, int NotedTile, class Problem>
__global__ void __launch_bounds__(Rows::threads, Rows::blocks)
    far_tiles_kernel(const __grid_constant__ Problem problem, Split split,
                     typename Problem::State* partials, unsigned* tickets,
                     const FarTiles* far_tiles) {
  using State = typename Problem::State;
  using Storage = FarStorage<Rows, Problem>;
  hopper::wait_for_kernel_before();  // what is far is known
  const FarTiles& far = far_tiles[blockIdx.x];
  const std::int64_t first_row = blockIdx.x % split.row_blocks * Rows::block_rows;
  const std::int64_t part = blockIdx.x / split.row_blocks;
  const Range range = range_of(split, part, problem.columns);
  if (far.count == 0 && far.rest >= range.end) return;
  auto& shared = dynamic_shared<Storage>();
  Rows rows(problem, first_row);
  int noted = 0;
  Range left{};
  block_add_far_tiles(problem, rows, shared.columns, [&] {
    while (left.begin >= left.end && noted <= far.count) {
      const bool is_tile = noted < far.count;
      left.begin = is_tile ? far.tiles[noted] : far.rest;
      left.end = is_tile ? min(left.begin + NotedTile, range.end) : range.end;
      ++noted;
    }
    const Range tile{left.begin, min(left.begin + Storage::tile, left.end)};
    left.begin = tile.end;
    return tile;
  });

  State states[Rows::end_rows];
  const auto for_each_row = [&](auto act) {
#pragma unroll
    for (int r = 0; r < Rows::end_rows; ++r) {
      const int row = static_cast<int>(threadIdx.x) + r * Rows::threads;
      if (row < Rows::block_rows && first_row + row < problem.rows) act(first_row + row, states[r]);
    }
  };
  const bool has_partials = far.count > 0 || far.rest > range.begin;
  for_each_row([&](std::int64_t i, State& state) {
    state = has_partials ? partials[part * problem.rows + i] : problem.reduction.neutral();
  });
  rows.block_for_each_state(
      shared.states, [&](int r, const State& state) { problem.reduction.merge(states[r], state); });
  const std::int64_t end_row = min(first_row + Rows::block_rows, problem.rows);
  block_finish_rows(problem, split, first_row, end_row, partials, tickets, for_each_row);
}

}  // namespace warpath::map_reduce::detail
