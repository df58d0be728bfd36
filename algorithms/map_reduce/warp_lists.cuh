// The K least values of a row, for K too large for a thread's registers (KMin and ArgKMin): a warp
// keeps the lists of its 16 rows in shared memory, sorted, and looks at columns 32 at a time.
//
//   lanes 4 g to 4 g + 3 compare values of rows g and g + 8 with the greatest one of the row's list
//                   |
//                   |  few pass: note()
//                   v
//   waiting columns of a row, up to 64      -- more than 32: take() -->   list of the row, sorted
//                                           the warp computes the 32 values, one a lane, sorts
//                                           them, and merges them with the list
//
// What a list has comes from columns before those that are compared, so that an equal value does
// not pass; the order of the list is that of (value, column), so that it does not depend on the
// order of the columns within 32.
#pragma once

#include <cstdint>
#include <limits>

#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "map_reduce/cost_model.hpp"
#include "map_reduce/problem.cuh"
#include "map_reduce/reductions.cuh"
#include "map_reduce/tuned.cuh"

namespace warpath::map_reduce::detail {

/// Columns as lists have them. No column comes after all others.
using ListedColumn = std::uint32_t;
inline constexpr ListedColumn no_column = std::numeric_limits<ListedColumn>::max();
static_assert(no_column == most_listed_columns);

/// Whether the tuned kernels of a reduction keep lists.
template <class Reduction>
concept KeepsLists = requires {
  requires Reduction::is_long;
};

template <class T>
struct Listed {
  T value;
  ListedColumn j;
};
template <class T>
__device__ __forceinline__ Listed<T> none_listed() {
  return {std::numeric_limits<T>::infinity(), no_column};
}
/// (Bits, and below selections: branches within a sort take several times as long as the rest.)
template <class T>
__device__ __forceinline__ bool comes_before(const Listed<T>& a, const Listed<T>& b) {
  const int is_less = static_cast<int>(a.value < b.value);
  const int is_equal = static_cast<int>(a.value == b.value) & static_cast<int>(a.j < b.j);
  return (is_less | is_equal) != 0;
}
template <class T>
__device__ __forceinline__ Listed<T> select(bool which, const Listed<T>& a, const Listed<T>& b) {
  return {which ? a.value : b.value, which ? a.j : b.j};
}
template <class T>
__device__ __forceinline__ Listed<T> shuffle_xor(const Listed<T>& mine, int distance) {
  return {__shfl_xor_sync(full_warp, mine.value, distance),
          __shfl_xor_sync(full_warp, mine.j, distance)};
}

/// Of two lanes, one keeps the first and the other one the last of their entries.
template <class T>
__device__ __forceinline__ void lanes_exchange(Listed<T>& mine, int distance, bool keeps_first) {
  const Listed<T> other = shuffle_xor(mine, distance);
  mine = select(comes_before(other, mine) == keeps_first, other, mine);
}

/// Sorts Count times one entry a lane (bitonic); steps of several sorts overlap.
template <int Count, class T>
__device__ __forceinline__ void warp_sort(Listed<T> (&mine)[Count]) {
#pragma unroll
  for (int size = 2; size <= warp_threads; size *= 2) {
#pragma unroll
    for (int distance = size / 2; distance > 0; distance /= 2) {
      const bool is_ascending = (lane_index() & size) == 0;
      const bool is_lower = (lane_index() & distance) == 0;
#pragma unroll
      for (int n = 0; n < Count; ++n) lanes_exchange(mine[n], distance, is_lower == is_ascending);
    }
  }
}

/// A list of 32 Steps entries, a power of two, of which lane l has 32 s + l: the first ones of it
/// and of 32 further entries, one a lane, both in order (bitonic). Count times.
template <int Count, int Steps, class T>
__device__ __forceinline__ void warp_merge_lists(Listed<T> (&lists)[Count][Steps],
                                                 const Listed<T> (&entries)[Count]) {
#pragma unroll
  for (int n = 0; n < Count; ++n) {
    const Listed<T> reversed = shuffle_xor(entries[n], warp_threads - 1);
    Listed<T>& last = lists[n][Steps - 1];
    last = select(comes_before(reversed, last), reversed, last);
#pragma unroll
    for (int half = Steps / 2; half > 0; half /= 2) {
#pragma unroll
      for (int s = 0; s < Steps; ++s) {
        if ((s & half) == 0) {
          const Listed<T> a = lists[n][s];
          const Listed<T> b = lists[n][s + half];
          const bool swaps = comes_before(b, a);
          lists[n][s] = select(swaps, b, a);
          lists[n][s + half] = select(swaps, a, b);
        }
      }
    }
  }
#pragma unroll
  for (int distance = warp_threads / 2; distance > 0; distance /= 2) {
#pragma unroll
    for (int n = 0; n < Count; ++n) {
#pragma unroll
      for (int s = 0; s < Steps; ++s) {
        lanes_exchange(lists[n][s], distance, (lane_index() & distance) == 0);
      }
    }
  }
}

/// The lists of a block's rows, in shared memory.
template <class T, int K, int Rows>
struct SortedLists {
  static constexpr int steps = K <= 32 ? 1 : K <= 64 ? 2 : 4;  ///< entries of a lane
  T values[Rows][K];
  ListedColumn columns[Rows][K];

  /// One warp; a warp barrier must follow.
  __device__ __forceinline__ void clear(int row) {
    for (int place = lane_index(); place < K; place += warp_threads) {
      values[row][place] = std::numeric_limits<T>::infinity();
      columns[row][place] = no_column;
    }
  }
  [[nodiscard]] __device__ __forceinline__ Listed<T> last(int row) const {
    return {values[row][K - 1], columns[row][K - 1]};
  }

  /// Up to 32 entries into the list of each of Count rows, one a lane, none_listed() where a lane
  /// has none; a row may be named again if it has none then. False where none of them is among the
  /// first K. Called by one warp; starts and ends with a warp barrier.
  template <int Count>
  __device__ __forceinline__ bool take(const int (&rows)[Count], Listed<T> (&entries)[Count],
                                       bool are_sorted = false) {
    __syncwarp();  // the lists are there
    bool changes[Count];
    bool any_changes = false;
#pragma unroll
    for (int n = 0; n < Count; ++n) {
      const bool is_in = comes_before(entries[n], last(rows[n]));
      entries[n] = select(is_in, entries[n], none_listed<T>());
      changes[n] = __any_sync(full_warp, is_in) != 0;
      any_changes = any_changes || changes[n];
    }
    if (!any_changes) return false;
    Listed<T> lists[Count][steps];
#pragma unroll
    for (int n = 0; n < Count; ++n) {
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        const int place = s * warp_threads + lane_index();
        lists[n][s] = none_listed<T>();
        if (place < K) lists[n][s] = {values[rows[n]][place], columns[rows[n]][place]};
      }
    }
    if (!are_sorted) warp_sort(entries);
    warp_merge_lists(lists, entries);
    __syncwarp();  // all lanes have read the lists
#pragma unroll
    for (int n = 0; n < Count; ++n) {
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        const int place = s * warp_threads + lane_index();
        if (changes[n] && place < K) {
          values[rows[n]][place] = lists[n][s].value;
          columns[rows[n]][place] = lists[n][s].j;
        }
      }
    }
    __syncwarp();  // the lists are there
    return true;
  }
};

/// The same and the columns that wait for them.
template <class T, int K, int Rows>
struct RowLists : SortedLists<T, K, Rows> {
  static constexpr int most_waiting = 2 * warp_threads;
  ListedColumn waiting[Rows][most_waiting];
};

/// Rows of a warp, and how they lie in its lanes: lane 4 g + t has rows g and g + 8.
inline constexpr int list_rows = 16;
inline constexpr int lane_list_rows = 2;
/// Columns of a group, and how many of those are a lane's.
inline constexpr int group_columns_of_lists = 32;
inline constexpr int lane_group_columns = 8;

/// The lists of a warp's rows, and how many columns wait for each.
template <class Problem, class Lists>
struct WarpLists {
  using T = std::remove_reference_t<decltype(Lists::values[0][0])>;
  const Problem& problem;
  Lists& lists;
  int warp_row;            ///< the warp's first row in the block
  std::int64_t first_row;  ///< the block's
  unsigned counts = 0;     ///< for the lane's row g, and for its row g + 8 in the upper 16 bits

  /// Of the block: row r of the lane `lane`.
  [[nodiscard]] __device__ __forceinline__ int row_of(int r, int lane) const {
    return warp_row + r * 8 + lane / 4;
  }
  /// Beyond the last row, the last row once more: it is not stored.
  [[nodiscard]] __device__ __forceinline__ std::int64_t index_of(int row) const {
    return min(first_row + row, problem.rows - 1);
  }

  /// The last `takes` of `waits` waiting columns of two rows, up to 32 each, into their lists.
  __device__ __forceinline__ void take_waiting(const int (&rows)[2], const int (&waits)[2],
                                               const int (&takes)[2]) {
    __syncwarp();  // the columns are there
    Listed<T> entries[2];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      entries[n] = none_listed<T>();
      if (lane_index() < takes[n]) {
        const ListedColumn j = lists.waiting[rows[n]][waits[n] - takes[n] + lane_index()];
        const T value = problem.value(problem.row(index_of(rows[n])), problem.column(j));
        if (value == value) entries[n] = {value, j};
      }
    }
    lists.take(rows, entries);
  }

  /// Of the lane's columns column_of(0) to column_of(7), those in candidates[r] wait for its row r.
  /// Where more than 32 do, they are taken, and with them those of another row, which takes hardly
  /// more time. True where lists may have changed. All lanes of the warp.
  template <class ColumnOf>
  __device__ __forceinline__ bool note(const unsigned (&candidates)[2], ColumnOf column_of) {
    if (!__any_sync(full_warp, (candidates[0] | candidates[1]) != 0)) return false;
    const unsigned mine = static_cast<unsigned>(__popc(candidates[0])) |
                          static_cast<unsigned>(__popc(candidates[1])) << 16;
    unsigned upto = mine;  // of the rows' lanes up to this one
#pragma unroll
    for (int distance = 1; distance < 4; distance *= 2) {
      const unsigned below = __shfl_up_sync(full_warp, upto, distance, 4);
      if (lane_index() % 4 >= distance) upto += below;
    }
    const unsigned places = counts + upto - mine;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      ListedColumn* next = &lists.waiting[row_of(r, lane_index())][places >> 16 * r & 0xFFFF];
      for (unsigned rest = candidates[r]; rest != 0; rest &= rest - 1) {
        *next++ = column_of(__ffs(static_cast<int>(rest)) - 1);
      }
    }
    counts += __shfl_sync(full_warp, upto, 3, 4);

    // Lane 4 g votes for row g, lane 4 g + 1 for row g + 8.
    const int r_of_vote = lane_index() % 4;
    const unsigned my_count = r_of_vote < 2 ? counts >> 16 * r_of_vote & 0xFFFF : 0;
    unsigned full = __ballot_sync(full_warp, my_count > warp_threads);
    if (full == 0) return false;
    unsigned others = __ballot_sync(full_warp, my_count >= warp_threads / 2) & ~full;
    const auto next_of = [](unsigned& votes) {
      const int lane = __ffs(static_cast<int>(votes)) - 1;
      votes &= votes - 1;
      return lane;
    };
    while (full != 0) {
      int lanes[2];
      lanes[0] = lanes[1] = next_of(full);
      const bool has_other = (full | others) != 0;
      if (full != 0) {
        lanes[1] = next_of(full);
      } else if (others != 0) {
        lanes[1] = next_of(others);
      }
      int rows[2];
      int waits[2];
      int takes[2];
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        rows[n] = row_of(lanes[n] % 4, lanes[n]);
        waits[n] = static_cast<int>(__shfl_sync(full_warp, my_count, lanes[n]));
        takes[n] = n == 1 && !has_other ? 0 : min(waits[n], warp_threads);
        if (lane_index() / 4 == lanes[n] / 4) {
          counts -= static_cast<unsigned>(takes[n]) << 16 * (lanes[n] % 4);
        }
      }
      take_waiting(rows, waits, takes);
    }
    return true;
  }
  /// All that wait.
  __device__ __forceinline__ void take_all() {
#pragma unroll 1
    for (int lane = 0; lane < warp_threads; lane += 4) {
      const unsigned both = __shfl_sync(full_warp, counts, lane);
      const int rows[2] = {row_of(0, lane), row_of(1, lane)};
      const int waits[2] = {static_cast<int>(both & 0xFFFF), static_cast<int>(both >> 16)};
      take_waiting(rows, waits, waits);
    }
  }
};

/// act(place, value, column) for the first K entries of a row's list, column -1 for none: one a
/// lane. One warp; starts with a warp barrier.
template <int K, class Lists, class Act>
__device__ __forceinline__ void warp_for_each_entry(const Lists& lists, int row, Act act) {
  __syncwarp();  // the list is there
  for (int place = lane_index(); place < K; place += warp_threads) {
    const ListedColumn j = lists.columns[row][place];
    act(place, lists.values[row][place], j == no_column ? -1 : std::int64_t{j});
  }
}

/// A row's list as result of row i. One warp; starts with a warp barrier.
template <class Problem, class Lists>
__device__ __forceinline__ void warp_store_list(const Problem& problem, const Lists& lists, int row,
                                                std::int64_t i) {
  using Reduction = typename Problem::Reduction;
  warp_for_each_entry<Reduction::length>(lists, row, [&](int place, auto value, std::int64_t j) {
    problem.out[i][place] = Reduction::number(value, j);
  });
}

/// Ends a block that has the lists of its rows over one part of the columns: block_merge_parts()
/// with a warp for each row. finish_row(row, i) stores the result of the block's row `row`.
template <int Rows, class Problem, class Lists, class FinishRow>
__device__ __forceinline__ void block_merge_lists(const Problem& problem, const Split& split,
                                                  typename Problem::State* partials,
                                                  unsigned* tickets, std::int64_t first_row,
                                                  Lists& lists, FinishRow finish_row,
                                                  std::int64_t block = blockIdx.x) {
  using T = std::remove_reference_t<decltype(Lists::values[0][0])>;
  constexpr int K = Problem::Reduction::length;
  constexpr int at_once = K < warp_threads ? warp_threads / K : 1;  // lists that are merged
  const auto for_each_row = [&](auto act) {
    for (int row = warp_index(); row < Rows && first_row + row < problem.rows;
         row += static_cast<int>(blockDim.x) / warp_threads) {
      act(row, first_row + row);
    }
  };
  __syncthreads();  // the lists are there
  block_merge_parts(
      split, tickets,
      [&](std::int64_t of_part) {
        for_each_row([&](int row, std::int64_t i) {
          auto& state = partials[of_part * problem.rows + i];
          warp_for_each_entry<K>(lists, row, [&](int place, T value, std::int64_t j) {
            state.values[place] = value;
            state.j[place] = j;
          });
        });
      },
      [&](std::int64_t first, std::int64_t step, std::int64_t count) {
        for_each_row([&](int row, std::int64_t i) {
          __syncwarp();  // the list was read
          lists.clear(row);
          for (std::int64_t n = 0; n < count; n += at_once) {
            for (int begin = 0; begin < K; begin += warp_threads) {
              const int which = at_once > 1 ? lane_index() / K : 0;
              const int place = begin + lane_index() - which * K;
              Listed<T> entry[1] = {none_listed<T>()};
              if (which < at_once && n + which < count && place < K) {
                const auto& state = partials[(first + (n + which) * step) * problem.rows + i];
                const std::int64_t j = state.j[place];
                if (j >= 0) entry[0] = {state.values[place], static_cast<ListedColumn>(j)};
              }
              const int rows[1] = {row};
              if (!lists.take(rows, entry, /*are_sorted=*/at_once == 1)) break;
            }
          }
        });
      },
      [&] { for_each_row(finish_row); }, block);
}
/// The same with lists that are the rows' results.
template <int Rows, class Problem, class Lists>
__device__ __forceinline__ void block_finish_lists(const Problem& problem, const Split& split,
                                                   typename Problem::State* partials,
                                                   unsigned* tickets, std::int64_t first_row,
                                                   Lists& lists) {
  block_merge_lists<Rows>(
      problem, split, partials, tickets, first_row, lists,
      [&](int row, std::int64_t i) { warp_store_list(problem, lists, row, i); });
}

/// Threads and rows of a block of the kernels with lists: a warp has 16 rows.
template <int Warps>
struct ListShape {
  static constexpr int warps = Warps;
  static constexpr int blocks = 3;
  static constexpr int threads = warps * warp_threads;
  static constexpr int block_rows = warps * list_rows;
};
/// Of lists of T: 99 KiB of shared memory are enough for those of 128 doubles, too.
template <class T>
using ListShapeOf = ListShape<(sizeof(T) <= 4 ? 4 : 2)>;

/// Columns of a tile in shared memory beside the lists.
constexpr int columns_of_list_tile(std::size_t bytes) {
  const int most = static_cast<int>(12 * 1024 / bytes) / 32 * 32;
  return most < 32 ? 32 : most > 256 ? 256 : most;
}

template <class Problem>
struct ListStorage {
  using T = typename Problem::Reduction::Number;
  using Column = Staged<ColumnOf<Problem>>;
  static constexpr int tile = columns_of_list_tile(sizeof(Column));
  Column columns[tile];
  using Shape = ListShapeOf<T>;
  RowLists<T, Problem::Reduction::length, Shape::block_rows> lists;
};

/// Values from the formula: a lane has two rows, and every fourth column.
template <class Problem>
__global__ void __launch_bounds__(ListStorage<Problem>::Shape::threads,
                                  ListStorage<Problem>::Shape::blocks)
    list_rows_kernel(Problem problem, Split split, typename Problem::State* partials,
                     unsigned* tickets) {
  using Storage = ListStorage<Problem>;
  using Shape = typename Storage::Shape;
  using T = typename Storage::T;
  auto& shared = dynamic_shared<Storage>();
  hopper::wait_for_kernel_before();  // launch_parts() lets this one start early
  const std::int64_t row_block = blockIdx.x % split.row_blocks;
  const Range range = range_of(split, blockIdx.x / split.row_blocks, problem.columns);
  const std::int64_t first_row = row_block * Shape::block_rows;
  WarpLists<Problem, decltype(shared.lists)> warp{problem, shared.lists, warp_index() * list_rows,
                                                  first_row};
  RowOf<Problem> rows[lane_list_rows];
  Listed<T> lasts[lane_list_rows];
#pragma unroll
  for (int r = 0; r < lane_list_rows; ++r) {
    rows[r] = problem.row(warp.index_of(warp.row_of(r, lane_index())));
    lasts[r] = none_listed<T>();
  }
  for (int row = 0; row < list_rows; ++row) shared.lists.clear(warp.warp_row + row);
  for (std::int64_t first = range.begin; first < range.end; first += Storage::tile) {
    const int width = static_cast<int>(min(std::int64_t{Storage::tile}, range.end - first));
    __syncthreads();  // all threads are done with the last tile
    for (int t = threadIdx.x; t < width; t += Shape::threads) {
      shared.columns[t].column = problem.column(first + t);
    }
    __syncthreads();  // the columns are there
    for (int group = 0; group < width; group += group_columns_of_lists) {
      const auto column_of = [&](int n) { return group + n * 4 + lane_index() % 4; };
      T values[lane_list_rows][lane_group_columns];
#pragma unroll
      for (int n = 0; n < lane_group_columns; ++n) {
        const ColumnOf<Problem> column = shared.columns[min(column_of(n), width - 1)].column;
#pragma unroll
        for (int r = 0; r < lane_list_rows; ++r) values[r][n] = problem.value(rows[r], column);
      }
      unsigned candidates[lane_list_rows] = {};
#pragma unroll
      for (int r = 0; r < lane_list_rows; ++r) {
        T least = values[r][0];
#pragma unroll
        for (int n = 1; n < lane_group_columns; ++n) least = fmin(least, values[r][n]);
        // Where the list has room, an infinite value, too.
        const bool has_room = lasts[r].j == no_column;
        if (!(least < lasts[r].value) && !has_room) continue;
#pragma unroll
        for (int n = 0; n < lane_group_columns; ++n) {
          const bool is_in =
              values[r][n] < lasts[r].value || (has_room && values[r][n] == lasts[r].value);
          if (is_in && column_of(n) < width) candidates[r] |= 1u << n;
        }
      }
      if (warp.note(candidates,
                    [&](int n) { return static_cast<ListedColumn>(first + column_of(n)); })) {
#pragma unroll
        for (int r = 0; r < lane_list_rows; ++r) {
          lasts[r] = shared.lists.last(warp.row_of(r, lane_index()));
        }
      }
    }
  }
  warp.take_all();
  block_finish_lists<Shape::block_rows>(problem, split, partials, tickets, first_row, shared.lists);
}

}  // namespace warpath::map_reduce::detail
