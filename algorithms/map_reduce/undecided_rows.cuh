// Rows whose nearest columns a product of halves cannot tell apart, from the differences:
//
//     warpgroup_least_kernel, warpgroup_lists_kernel    undecided rows  ->  UndecidedRows
//
//     undecided_rows_kernel    64 of those rows a block, of all columns or a part of them:
//        a warp     8 rows x 128 columns, four a lane  ->  squared distances
//                   those that are less than the row's last one  ->  its list, or its state
//
// All blocks share whatever rows there are, and end at once where there are none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/vector.cuh"
#include "core/warp.cuh"
#include "map_reduce/problem.cuh"
#include "map_reduce/tensor_least.cuh"
#include "map_reduce/tuned.cuh"
#include "map_reduce/warp_lists.cuh"

namespace warpath::map_reduce::detail {

/// The rows that are left to undecided_rows_kernel, in any order.
struct UndecidedRows {
  unsigned long long* count;
  unsigned long long* rows;

  __device__ __forceinline__ void add(std::int64_t i) const {
    rows[atomicAdd(count, 1ULL)] = static_cast<unsigned long long>(i);
  }
};
/// Numbers of 8 bytes in the workspace, for so many rows.
constexpr std::int64_t undecided_numbers(std::int64_t rows) {
  return rows + 1;
}
inline UndecidedRows undecided_rows_in(unsigned long long* numbers) {
  return {numbers, numbers + 1};
}

/// Stands for a row's least distance where the row is undecided: less than all distances, so that
/// it is the least one of merged parts, too.
inline constexpr float undecided_value = -1;

/// Threads, rows and columns of a block of undecided_rows_kernel.
struct UndecidedShape {
  static constexpr int warps = 8;
  static constexpr int threads = warps * warp_threads;
  static constexpr int warp_rows = 8;
  static constexpr int block_rows = warps * warp_rows;
  static constexpr int lane_columns = 4;
  static constexpr int columns_of_tile = lane_columns * warp_threads;
  static constexpr int step = 16;  ///< coordinates that are added up before others are

  /// Of the block: row r of the calling warp. (Few rows are those of as many warps.)
  __device__ __forceinline__ static int row_of(int r) { return r * warps + warp_index(); }
};

/// The squared distances of a warp's rows and of four columns a lane: lane, lane + 32, ...; NaN
/// beyond the last column.
using WarpDistances = float[UndecidedShape::warp_rows][UndecidedShape::lane_columns];

/// Whether a row's result is a list of columns, be it of one.
template <class Problem>
constexpr bool has_list = requires {
  Problem::Reduction::length;
};

/// The nearest columns so far of a block's rows: their lists, if the reduction has lists.
template <class Problem, bool HasLists = has_list<Problem>>
struct NearestOfRows {
  static constexpr int rows = UndecidedShape::block_rows;
  /// Columns of a part, at least: what merging its lists takes is little beside finding them.
  static constexpr int least_span = 16 * Problem::Reduction::length;
  SortedLists<float, Problem::Reduction::length, rows> lists;

  /// One warp; a warp barrier must follow.
  __device__ __forceinline__ void clear(const Problem& /*problem*/, int row) { lists.clear(row); }

  /// Columns from `first` on, after those before, to what the warp's rows below `end_row` have.
  /// Starts and ends with a warp barrier.
  __device__ __forceinline__ void warp_take(const Problem& /*problem*/, std::int64_t first,
                                            int end_row, const WarpDistances& distances) {
    using Shape = UndecidedShape;
    const auto entry_of = [&](float distance, int c) -> Listed<float> {
      const auto j = static_cast<ListedColumn>(first + c * warp_threads + lane_index());
      return distance == distance ? Listed<float>{distance, j} : none_listed<float>();
    };
    unsigned rest = 0;  // rows that get some
#pragma unroll
    for (int r = 0; r < Shape::warp_rows; ++r) {
      if (Shape::row_of(r) >= end_row) break;
      const Listed<float> last = lists.last(Shape::row_of(r));
      bool gets_some = false;
#pragma unroll
      for (int c = 0; c < Shape::lane_columns; ++c) {
        gets_some = gets_some || comes_before(entry_of(distances[r][c], c), last);
      }
      if (__any_sync(full_warp, gets_some)) rest |= 1u << r;
    }
    if (rest == 0) return;
    float of_rows[Shape::warp_rows][Shape::lane_columns];  // read by index: in local memory
#pragma unroll
    for (int r = 0; r < Shape::warp_rows; ++r) {
#pragma unroll
      for (int c = 0; c < Shape::lane_columns; ++c) of_rows[r][c] = distances[r][c];
    }
    while (rest != 0) {  // two rows at once
      const int next = __ffs(static_cast<int>(rest)) - 1;
      rest &= rest - 1;
      const bool has_other = rest != 0;
      const int other = has_other ? __ffs(static_cast<int>(rest)) - 1 : next;
      rest &= rest - 1;
      const int two[2] = {Shape::row_of(next), Shape::row_of(other)};
#pragma unroll 1
      for (int c = 0; c < Shape::lane_columns; ++c) {
        Listed<float> entries[2] = {entry_of(of_rows[next][c], c), none_listed<float>()};
        if (has_other) entries[1] = entry_of(of_rows[other][c], c);
        lists.take(two, entries);
      }
    }
  }

  /// Ends block `block` of `split`, which has rows from first_row on of `undecided`;
  /// number_of(row): that of the block's row `row` among all.
  template <class NumberOf>
  __device__ __forceinline__ void block_finish(const Problem& undecided, const Problem& all,
                                               const Split& split,
                                               typename Problem::State* partials, unsigned* tickets,
                                               std::int64_t first_row, std::int64_t block,
                                               NumberOf number_of) {
    block_merge_lists<rows>(
        undecided, split, partials, tickets, first_row, lists,
        [&](int row, std::int64_t) { warp_store_list(all, lists, row, number_of(row)); }, block);
  }
};

/// Whether a row's least distance is infinite, and of no column yet.
__device__ __forceinline__ bool lacks_column(float /*least*/) {
  return false;
}
__device__ __forceinline__ bool lacks_column(const ArgMin<float>::State& least) {
  return least.j < 0;
}

/// Of one column a row: the states.
template <class Problem>
struct NearestOfRows<Problem, false> {
  using State = typename Problem::State;
  using Least = LeastDistance<typename Problem::Formula, typename Problem::Reduction>;
  static constexpr int rows = UndecidedShape::block_rows;
  static constexpr int least_span = 1;
  State states[rows];

  __device__ __forceinline__ void clear(const Problem& problem, int row) {
    if (lane_index() == 0) states[row] = problem.reduction.neutral();
  }

  __device__ __forceinline__ void warp_take(const Problem& problem, std::int64_t first, int end_row,
                                            const WarpDistances& distances) {
    using Shape = UndecidedShape;
    __syncwarp();  // the states are there
#pragma unroll
    for (int r = 0; r < Shape::warp_rows; ++r) {
      const int row = Shape::row_of(r);
      if (row >= end_row) break;
      float least = distances[r][0];
#pragma unroll
      for (int c = 1; c < Shape::lane_columns; ++c) least = fminf(least, distances[r][c]);
      // (Of numbers that are not negative the order is that of their bits; NaNs come last.)
      const float least_of_warp =
          __uint_as_float(__reduce_min_sync(full_warp, __float_as_uint(least)));
      const State before = states[row];
      const bool is_nearer = least_of_warp < Least::bound(before);
      if (!is_nearer && !(lacks_column(before) && least_of_warp == least_of_warp)) continue;
      std::int64_t j = -1;
#pragma unroll
      for (int c = Shape::lane_columns - 1; c >= 0; --c) {
        const unsigned lanes = __ballot_sync(full_warp, distances[r][c] == least_of_warp);
        if (lanes != 0) j = first + c * warp_threads + __ffs(static_cast<int>(lanes)) - 1;
      }
      __syncwarp();  // the state has been read
      if (lane_index() == 0) problem.reduction.add(states[row], least_of_warp, j);
    }
    __syncwarp();  // the states are the new ones
  }

  template <class NumberOf>
  __device__ __forceinline__ void block_finish(const Problem& undecided, const Problem& all,
                                               const Split& split, State* partials,
                                               unsigned* tickets, std::int64_t first_row,
                                               std::int64_t block, NumberOf number_of) {
    const auto row = static_cast<int>(threadIdx.x);
    const bool has_row = row < rows && first_row + row < undecided.rows;
    __syncthreads();  // the states are there
    State state = states[row % rows];
    block_merge_states(
        undecided, split, partials, tickets,
        [&](auto act) {
          if (has_row) act(first_row + row, state);
        },
        [&](std::int64_t, const State& nearest) {
          all.out[number_of(row)] = all.reduction.result(nearest);
        },
        block);
  }
};

/// Shared memory of undecided_rows_kernel.
template <class Problem>
struct UndecidedStorage : UndecidedShape {
  static constexpr int dimension = Problem::Formula::dimension;
  struct alignas(16) Point {
    float coordinates[step + 4];  ///< (lanes read from different banks)
  };
  Point rows[block_rows];
  Point columns[columns_of_tile];
  NearestOfRows<Problem> nearest;
  std::int64_t numbers[block_rows];  ///< which rows they are
};

/// What `blocks` blocks take of the workspace: states of rows that have several parts, and tickets.
/// There are up to 2 `blocks` parts of row blocks.
constexpr std::int64_t undecided_states(std::int64_t rows, std::int64_t blocks) {
  return std::min(rows, std::int64_t{UndecidedShape::block_rows}) * 2 * blocks;
}
constexpr std::int64_t undecided_tickets(std::int64_t blocks) {
  return 4 * blocks;
}

/// Numbers of a step's coordinates on their way to shared memory.
template <class Problem>
struct StepInFlight {
  using Storage = UndecidedStorage<Problem>;
  static constexpr int D = Storage::dimension;
  static constexpr int points_at_once = Storage::threads / Storage::step;
  static constexpr int row_loads = Storage::block_rows / points_at_once;
  static constexpr int column_loads = Storage::columns_of_tile / points_at_once;
  float rows[row_loads];
  float columns[column_loads];

  /// Coordinates from first_k on of the block's rows, and of the columns from `first` on; 0 beyond
  /// the last ones.
  __device__ __forceinline__ void load(const Problem& problem, const Storage& shared,
                                       std::int64_t first, std::int64_t end, int first_k) {
    const int k = first_k + static_cast<int>(threadIdx.x) % Storage::step;
    const int point = static_cast<int>(threadIdx.x) / Storage::step;
    const float* const x = get<0>(problem.x).data + k;
    const float* const y = get<0>(problem.y).data + (first + point) * D + k;
#pragma unroll
    for (int n = 0; n < row_loads; ++n) {
      rows[n] = k < D ? x[shared.numbers[n * points_at_once + point] * D] : 0.0f;
    }
#pragma unroll
    for (int n = 0; n < column_loads; ++n) {
      const bool is_there = k < D && first + n * points_at_once + point < end;
      columns[n] = is_there ? y[n * points_at_once * D] : 0.0f;
    }
  }
  __device__ __forceinline__ void store(Storage& shared) const {
    const int place = static_cast<int>(threadIdx.x) % Storage::step;
    const int point = static_cast<int>(threadIdx.x) / Storage::step;
#pragma unroll
    for (int n = 0; n < row_loads; ++n) {
      shared.rows[n * points_at_once + point].coordinates[place] = rows[n];
    }
#pragma unroll
    for (int n = 0; n < column_loads; ++n) {
      shared.columns[n * points_at_once + point].coordinates[place] = columns[n];
    }
  }
};

/// Adds what the coordinates from first_k on have, a step of them: as SquaredDistance adds it up.
template <class Storage>
__device__ __forceinline__ void warp_add_step(const Storage& shared, int first_k,
                                              WarpDistances& sums) {
  constexpr int D = Storage::dimension;
  const bool is_first = first_k == 0;
  const bool is_one = D % Storage::step == 1 && first_k == D - 1;  // added in one rounding
  float parts[Storage::warp_rows][Storage::lane_columns];
#pragma unroll
  for (int r = 0; r < Storage::warp_rows; ++r) {
#pragma unroll
    for (int c = 0; c < Storage::lane_columns; ++c) parts[r][c] = is_one ? sums[r][c] : 0.0f;
  }
#pragma unroll
  for (int first = 0; first < Storage::step; first += 4) {
    if (first_k + first >= D) break;
    float v[Storage::lane_columns][4];
#pragma unroll
    for (int c = 0; c < Storage::lane_columns; ++c) {
      load_vector(&shared.columns[c * warp_threads + lane_index()].coordinates[first], v[c]);
    }
#pragma unroll
    for (int r = 0; r < Storage::warp_rows; ++r) {
      float u[4];
      load_vector(&shared.rows[Storage::row_of(r)].coordinates[first], u);
#pragma unroll
      for (int c = 0; c < Storage::lane_columns; ++c) {
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          const float difference = u[q] - v[c][q];
          parts[r][c] = fmaf(difference, difference, parts[r][c]);
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < Storage::warp_rows; ++r) {
#pragma unroll
    for (int c = 0; c < Storage::lane_columns; ++c) {
      sums[r][c] = is_first || is_one ? parts[r][c] : sums[r][c] + parts[r][c];
    }
  }
}

/// Block `block` of `split`, of `count` rows. The whole block.
template <class Problem>
__device__ __forceinline__ void block_find_undecided(
    const Problem& problem, const unsigned long long* rows, std::int64_t count, const Split& split,
    std::int64_t block, typename Problem::State* partials, unsigned* tickets,
    UndecidedStorage<Problem>& shared) {
  using Storage = UndecidedStorage<Problem>;
  constexpr int D = Storage::dimension;
  constexpr int step = Storage::step;
  constexpr int columns_of_tile = Storage::columns_of_tile;
  const Range range = range_of(split, block / split.row_blocks, problem.columns);
  const std::int64_t first_row = block % split.row_blocks * Storage::block_rows;
  __syncthreads();  // the rows before have been stored
  if (threadIdx.x < Storage::block_rows) {
    const std::int64_t place = min(first_row + threadIdx.x, count - 1);
    shared.numbers[threadIdx.x] = static_cast<std::int64_t>(rows[place]);
  }
  for (int r = 0; r < Storage::warp_rows; ++r) {
    shared.nearest.clear(problem, Storage::row_of(r));
  }
  __syncthreads();  // the numbers are there

  const auto end_row = static_cast<int>(min(std::int64_t{Storage::block_rows}, count - first_row));
  StepInFlight<Problem> next;
  next.load(problem, shared, range.begin, range.end, 0);
  for (std::int64_t first = range.begin; first < range.end; first += columns_of_tile) {
    WarpDistances distances;
#pragma unroll 1
    for (int k = 0; k < D; k += step) {
      __syncthreads();  // the coordinates before have been read
      next.store(shared);
      __syncthreads();  // the coordinates are there
      if (k + step < D) {
        next.load(problem, shared, first, range.end, k + step);
      } else {
        next.load(problem, shared, first + columns_of_tile, range.end, 0);
      }
      warp_add_step(shared, k, distances);
    }
    const auto width = static_cast<int>(min(std::int64_t{columns_of_tile}, range.end - first));
#pragma unroll
    for (int c = 0; c < Storage::lane_columns; ++c) {
      if (c * warp_threads + lane_index() < width) continue;
#pragma unroll
      for (auto& of_row : distances) of_row[c] = std::numeric_limits<float>::quiet_NaN();
    }
    shared.nearest.warp_take(problem, first, end_row, distances);
  }
  Problem undecided = problem;
  undecided.rows = count;
  shared.nearest.block_finish(undecided, problem, split, partials, tickets, first_row, block,
                              [&](int row) { return shared.numbers[row]; });
}

/// `partials`, `tickets`: of undecided_states() and undecided_tickets() for this grid. As many row
/// blocks as all blocks can have alike go to them whole, the rest in parts.
template <class Problem>
__global__ void __launch_bounds__(UndecidedShape::threads, 2)
    undecided_rows_kernel(const __grid_constant__ Problem problem, UndecidedRows undecided,
                          typename Problem::State* partials, unsigned* tickets) {
  using Storage = UndecidedStorage<Problem>;
  constexpr std::int64_t block_rows = Storage::block_rows;
  constexpr std::int64_t tile = Storage::columns_of_tile;
  hopper::wait_for_kernel_before();
  const auto count = static_cast<std::int64_t>(*undecided.count);
  if (count == 0) return;
  auto& shared = dynamic_shared<Storage>();
  const std::int64_t blocks = gridDim.x;
  const std::int64_t row_blocks = divide_up(count, block_rows);
  const Split whole{row_blocks / blocks * blocks, 1, problem.columns};
  const std::int64_t whole_rows = min(whole.row_blocks * block_rows, count);
  Split rest{row_blocks - whole.row_blocks, 0, 0};
  if (rest.row_blocks > 0) {
    const std::int64_t span = max(divide_up(problem.columns, 2 * blocks / rest.row_blocks),
                                  std::int64_t{decltype(Storage::nearest)::least_span});
    rest.span = divide_up(span, tile) * tile;
    rest.parts = divide_up(problem.columns, rest.span);
  }
  for (std::int64_t block = blockIdx.x; block < whole.row_blocks + rest.row_blocks * rest.parts;
       block += blocks) {
    const bool is_whole = block < whole.row_blocks;
    block_find_undecided(problem, undecided.rows + (is_whole ? 0 : whole_rows),
                         is_whole ? whole_rows : count - whole_rows, is_whole ? whole : rest,
                         is_whole ? block : block - whole.row_blocks, partials, tickets, shared);
  }
}

}  // namespace warpath::map_reduce::detail
