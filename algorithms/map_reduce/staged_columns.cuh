// Few rows by many columns of more numbers than a thread loads at once: tiles of columns on their
// way through shared memory, so that memory is read in whole lines by asynchronous copies, while
// the formula gets whole columns.
//
//   device memory   | tile n + 2 | tile n + 1 |          copies that are under way
//                          v            v
//   shared memory   [ stage 2 ]   [ stage 1 ]   [ stage 0: tile n ]
//                                                  column t: thread t, all rows of the block
//
// A column of whole 16-byte lines has one line of padding, and the number of its lines is odd with
// it: eight threads that read a line each of their own columns then find them in different banks.
#pragma once

#include <cstdint>
#include <cstring>
#include <numeric>

#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "map_reduce/instructions.cuh"
#include "map_reduce/problem.cuh"
#include "map_reduce/tuned.cuh"

namespace warpath::map_reduce::detail {

/// How the elements of an array lie in a stage of `Tile` columns.
template <class T, int D, int Tile>
struct StagedArray {
  static constexpr int bytes = static_cast<int>(sizeof(T)) * D;
  static constexpr int line = 16;
  static constexpr bool is_padded = bytes % line == 0 && bytes / line % 2 == 0;
  static constexpr int stride = bytes + (is_padded ? line : 0);
  static constexpr int lines = Tile * bytes / line;  ///< that are copied
  static_assert(Tile * bytes % line == 0);
  alignas(line) char numbers[Tile * stride];

  /// Starts copies of `width` elements of the array from `first` on. All threads of the block.
  template <int Threads>
  __device__ __forceinline__ void copy(const Array<T, D>& array, std::int64_t first, int width) {
    if (reinterpret_cast<std::uintptr_t>(array.data) % line != 0) {
      copy_numbers<Threads>(array, first, width);
      return;
    }
    const char* from = reinterpret_cast<const char*>(array.data + first * D);
    const int all = width * bytes;
#pragma unroll
    for (int n = 0; n < divide_up(lines, Threads); ++n) {
      const int l = n * Threads + static_cast<int>(threadIdx.x);
      if ((l + 1) * line <= all) {
        const int place = is_padded ? l * line + l / (bytes / line) * line : l * line;
        copy_async(numbers + place, from + l * line);
      }
    }
    // The array's end, in the middle of a line, in units of which lines and numbers are multiples:
    // nothing beyond it is read. (Apart from the loop, whose copies wait for nothing so: 4 rows in
    // 128 dimensions 0.188 ms, and not 0.288.)
    if constexpr (bytes % line != 0) {
      constexpr int unit = std::gcd(line, static_cast<int>(sizeof(T)));
      const int k = all / line * line + static_cast<int>(threadIdx.x) * unit;
      if (k < all) memcpy(numbers + k, from + k, unit);
    }
  }
  /// The same of an array that begins within a line.
  template <int Threads>
  __device__ __forceinline__ void copy_numbers(const Array<T, D>& array, std::int64_t first,
                                               int width) {
    for (int n = threadIdx.x; n < width * D; n += Threads) {
      const T number = array.data[first * D + n];
      memcpy(numbers + n / D * stride + n % D * sizeof(T), &number, sizeof number);
    }
  }
  /// Element t.
  [[nodiscard]] __device__ __forceinline__ Vector<T, D> operator[](int t) const {
    Vector<T, D> element;
    load_vector(reinterpret_cast<const T*>(numbers + t * stride), element.numbers);
    return element;
  }
};

/// A stage: a tile of columns.
template <class YArrays, int Tile>
struct Stage;
template <class... T, int... D, int Tile>
struct Stage<Pack<Array<T, D>...>, Tile> {
  Pack<StagedArray<T, D, Tile>...> arrays;

  template <int Threads>
  __device__ __forceinline__ void copy(const Pack<Array<T, D>...>& from, std::int64_t first,
                                       int width) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (const_cast<StagedArray<T, D, Tile>&>(get<I>(arrays))
           .template copy<Threads>(get<I>(from), first, width),
       ...);
    }
    (std::make_integer_sequence<int, sizeof...(T)>());
  }
  __device__ __forceinline__ Pack<Vector<T, D>...> operator[](int t) const {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return pack_of(get<I>(arrays)[t]...);
    }
    (std::make_integer_sequence<int, sizeof...(T)>());
  }
};

template <class Shape, class Problem>
struct StagedStorage {
  Stage<decltype(Problem::y), Shape::tile> stages[Shape::stages];
  Staged<RowOf<Problem>> rows[Shape::block_rows];
  ShareOf<Problem> of_warp[Shape::block_rows * Shape::team_threads / warp_threads];
};

template <class Shape, class Problem>
__global__ void __launch_bounds__(Shape::threads, 1)
    staged_columns_kernel(Problem problem, Split split, ShareOf<Problem>* partials,
                          unsigned* tickets) {
  using Share = ShareOf<Problem>;
  using Reduction = typename Problem::Reduction;
  constexpr int R = Shape::rows_per_thread;
  constexpr int C = Shape::thread_columns;
  constexpr int tile = Shape::tile;
  constexpr int stages = Shape::stages;
  auto& shared = dynamic_shared<StagedStorage<Shape, Problem>>();
  hopper::wait_for_kernel_before();  // launch_parts() lets this one start early
  const Reduction& reduction = problem.reduction;
  const std::int64_t part = blockIdx.x / split.row_blocks;
  const std::int64_t first_row = blockIdx.x % split.row_blocks * Shape::block_rows;
  const int team = static_cast<int>(threadIdx.x) / Shape::team_threads;
  const int t = static_cast<int>(threadIdx.x) % Shape::team_threads;
  const Range range = range_of(split, part, problem.columns);
  const auto width_of = [&](int n) {
    const std::int64_t rest = range.end - range.begin - n * std::int64_t{tile};
    return static_cast<int>(max(std::int64_t{0}, min(std::int64_t{tile}, rest)));
  };
  const auto copy = [&](int n) {
    shared.stages[n % stages].template copy<Shape::threads>(
        problem.y, range.begin + n * std::int64_t{tile}, width_of(n));
    copies_commit();
  };
  for (int n = 0; n < stages - 1; ++n) copy(n);
  for (int row = threadIdx.x; row < Shape::block_rows; row += Shape::threads) {
    // Beyond the last row, the last row once more: it is not stored.
    shared.rows[row].column = problem.row(min(first_row + row, problem.rows - 1));
  }
  Share shares[R];
#pragma unroll
  for (int r = 0; r < R; ++r) shares[r] = ShareTraits<Problem>::neutral(problem);
  const int tiles = static_cast<int>(divide_up(range.end - range.begin, std::int64_t{tile}));
  // act(r, column, value of the pair) for the thread's rows and columns of tile n.
  const auto for_each_pair = [&](int n, auto act) {
    copies_wait<stages - 2>();
    __syncthreads();  // tile n is there, and all threads are done with the one before it
    copy(n + stages - 1);
    const auto& stage = shared.stages[n % stages];
    const int width = width_of(n);
    const auto with_columns = [&]<int Count>() {
      ColumnOf<Problem> columns[Count];
#pragma unroll
      for (int c = 0; c < Count; ++c) {
        columns[c] = problem.prepared(stage[t + c * Shape::team_threads]);
      }
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const RowOf<Problem>& row = shared.rows[team * R + r].column;
#pragma unroll
        for (int c = 0; c < Count; ++c) {
          act(r, t + c * Shape::team_threads, problem.value(row, columns[c]));
        }
      }
    };
    if (t + (C - 1) * Shape::team_threads < width) {
      with_columns.template operator()<C>();
    } else if (t < width) {
      static_assert(C <= 2);
      with_columns.template operator()<1>();
    }
  };
  if constexpr (HasShares<Reduction>) {
    constexpr int full = Reduction::group_columns / C;  // tiles of a group
    for (int first = 0; first < tiles; first += full) {
      typename Reduction::Group groups[R];
#pragma unroll
      for (int r = 0; r < R; ++r) groups[r] = reduction.open(reduction.neutral());
#pragma unroll 1
      for (int n = first; n < min(tiles, first + full); ++n) {
        for_each_pair(n, [&](int r, int, const auto& value) { reduction.take(groups[r], value); });
      }
#pragma unroll
      for (int r = 0; r < R; ++r) reduction.close(shares[r], groups[r]);
    }
  } else {
#pragma unroll 1
    for (int n = 0; n < tiles; ++n) {
      const std::int64_t first = range.begin + n * std::int64_t{tile};
      for_each_pair(n, [&](int r, int column, const auto& value) {
        if constexpr (TakesGroups<Reduction>) {
          auto group = reduction.open(shares[r]);
          reduction.take(group, value);
          reduction.close(shares[r], group, first + column, 1, [&](int) { return value; });
        } else {
          reduction.add(shares[r], value, first + column);
        }
      });
    }
  }
  block_finish_shares<Shape>(problem, split, shares, partials, tickets, shared.of_warp);
}

}  // namespace warpath::map_reduce::detail
