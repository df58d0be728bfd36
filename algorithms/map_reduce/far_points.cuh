// Points that lie too far from the centre of a block's rows for the Gram form, or are not finite:
// tensor_sum_kernel leaves their pairs, and far_points_kernel computes them from the differences.
//
//                    columns of the block's part
//             tile     tile     tile     tile     rest
//           +--------+--------+--------+--------+--------
//     rows  |   :    |        |########|  :    :|########    : and .  few far columns, far rows:
//           |   :    |        |########|  :    :|########             the rest of the tile is near
//     row   |........|........|........|.......:|........    #        tiles with many far columns
//           |   :    |        |########|  :    :|########
//
// A cloud has few points far out: each costs a row, or a column, of the differences, and not the
// tile, or the whole part, that it lies in.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "map_reduce/exponential.cuh"
#include "map_reduce/far_tiles.cuh"
#include "map_reduce/problem.cuh"
#include "map_reduce/tensor_tile.cuh"
#include "map_reduce/tuned.cuh"

namespace warpath::map_reduce::detail {

/// What a block has left of its rows and its part of the columns.
template <int D, int BlockRows>
struct FarPoints {
  static constexpr int dimension = D;
  static constexpr int block_rows = BlockRows;
  static constexpr int most_tiles = 6;
  /// A block with more far rows is far. (Blocks of fewer rows gain less than a pass over the
  /// columns takes: 128 rows and a million columns 0.072 ms where all is far, and 0.078 with 1 % of
  /// them.)
  static constexpr int most_rows = BlockRows >= 256 ? BlockRows / 8 : 0;
  /// A tile with more far columns is far.
  static constexpr int most_columns_of(int tile) { return tile / 8; }

  int has_any;                     ///< the other members are there then
  std::int64_t rest;               ///< all columns from here on are left
  std::int64_t tiles[most_tiles];  ///< and tiles, by their first columns
  int tile_count;
  int has_columns;                ///< whether far columns of the other tiles are left
  int row_count;                  ///< rows of which all columns are left
  unsigned rows[BlockRows / 32];  ///< which these are, a bit each
  float centre[D];                ///< of the block's rows

  __device__ __forceinline__ void leave_from(std::int64_t begin) {
    rest = begin;
    tile_count = 0;
    has_columns = 0;
    row_count = 0;
  }
  [[nodiscard]] __device__ __forceinline__ bool has_columns_before(std::int64_t end) const {
    return tile_count > 0 || has_columns != 0 || rest < end;
  }
  [[nodiscard]] __device__ __forceinline__ bool has_row(int row) const {
    return (rows[row / 32] >> (row % 32) & 1) != 0;
  }
};

/// Leaves those of a block's `rows` rows of which the bits are set, if they are few; returns
/// whether that is done. The whole block.
template <class Far>
__device__ __forceinline__ bool block_leave_rows(Far& far, std::int64_t rows) {
  int count = 0;
#pragma unroll
  for (const unsigned word : far.rows) count += __popc(word);
  if (count > Far::most_rows || count > rows / 8) return false;
  if (threadIdx.x == 0) {
    far.has_any = 1;
    far.row_count = count;
  }
  return true;
}

/// Leaves all rows and columns, the first of which is `begin`. The whole block; ends with a
/// barrier.
template <class Far>
__device__ __forceinline__ void block_leave_all(Far& far, std::int64_t begin) {
  __syncthreads();  // all threads have read it
  if (threadIdx.x < Far::block_rows / 32) far.rows[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    far.has_any = 1;
    far.leave_from(begin);
  }
  __syncthreads();  // it is all
}

/// Leaves a tile, or all from it on where there is no room for more. The whole block. Returns
/// whether it is all.
template <class Far>
__device__ __forceinline__ bool block_leave_tile(Far& far, std::int64_t first) {
  const int count = far.tile_count;
  __syncthreads();  // all threads have read it
  if (threadIdx.x == 0) {
    far.has_any = 1;
    if (count < Far::most_tiles) {
      far.tiles[count] = first;
    } else {
      far.rest = first;
    }
    far.tile_count = min(count + 1, Far::most_tiles);
  }
  return count == Far::most_tiles;
}

/// Leaves the far columns of a tile, if they are few, and takes them out of its products. The whole
/// block, all of whose threads see the tile. Returns whether that is done; a barrier ends it then.
template <int D, int Threads, class Signals, class Gram, class Far>
__device__ __forceinline__ bool block_leave_columns(Gram& gram, Far& far) {
  constexpr int tile = Signals::tile;
  constexpr int own_columns = divide_up(tile, Threads);
  const auto is_far = [&](int t) {
    return t < tile && square_is_far<D>(gram.columns.squares[0][t]);
  };
  int count = 0;
#pragma unroll
  for (int n = 0; n < own_columns; ++n) {
    count += __syncthreads_count(is_far(static_cast<int>(threadIdx.x) + n * Threads));
  }
  if (count > Far::most_columns_of(tile)) return false;
#pragma unroll
  for (int n = 0; n < own_columns; ++n) {
    const int t = static_cast<int>(threadIdx.x) + n * Threads;
    if (!is_far(t)) continue;
    constexpr float centre[4] = {};
#pragma unroll
    for (int c = 0; c < chunks_of(D); ++c) gram.columns.set(t, c, centre);
    Signals::take_out(t, gram.columns, gram.weights);
  }
  if (threadIdx.x == 0) far.has_any = far.has_columns = 1;
  __syncthreads();  // they are out
  return true;
}

/// Copies what a block has left, to or from shared memory. The whole block.
template <class Far>
__device__ __forceinline__ void block_copy(const Far& from, Far& to) {
  static_assert(sizeof(Far) % sizeof(unsigned) == 0);
  const auto* const words = reinterpret_cast<const unsigned*>(&from);
  for (unsigned w = threadIdx.x; w < sizeof(Far) / sizeof(unsigned); w += blockDim.x) {
    reinterpret_cast<unsigned*>(&to)[w] = words[w];
  }
}

/// Some rows of a block in the registers of its Threads threads: R rows a thread, as many lanes of
/// each warp as these take, and so many groups of lanes that share the columns of a tile.
template <int Threads, int R, class Problem>
class FewRows {
 public:
  using State = typename Problem::State;
  static constexpr int threads = Threads;

  /// `count` of them, up to 32 R, number n of which is row row_at(n).
  template <class RowAt>
  __device__ __forceinline__ FewRows(const Problem& problem, int count, RowAt row_at)
      : count_(count), lanes_(least_lanes) {
    while (lanes_ * R < count) lanes_ *= 2;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      rows_[r] = problem.row(row_at(min(own_row(r), count - 1)));
      states_[r] = problem.reduction.neutral();
    }
  }

  /// Adds `width` columns. No thread waits.
  __device__ __forceinline__ void add(const Problem& problem,
                                      const Staged<ColumnOf<Problem>>* columns, int width) {
    const int share = divide_up(width, 16 * groups()) * 16;
    const int from = min(static_cast<int>(threadIdx.x) / lanes_ * share, width);
    thread_reduce_tile<R>(problem, rows_, states_, columns + from, 0, min(share, width - from));
  }
  /// Stores the rows' states. The whole block; ends with a barrier.
  template <int Rows>
  __device__ __forceinline__ void block_store(const Problem& problem, State (&states)[Rows]) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      for (int distance = warp_threads / 2; distance >= lanes_; distance /= 2) {
        problem.reduction.merge(states_[r], shuffle_xor(states_[r], distance));
      }
    }
    for (int warp = 0; warp < Threads / warp_threads; ++warp) {
      if (warp == warp_index() && lane_index() < lanes_) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
          if (own_row(r) >= count_) continue;
          State& state = states[own_row(r)];
          if (warp == 0) {
            state = states_[r];
          } else {
            problem.reduction.merge(state, states_[r]);
          }
        }
      }
      __syncthreads();  // the warp's states are in it
    }
  }

 private:
  __device__ __forceinline__ int own_row(int r) const {
    return lane_index() % lanes_ * R + r;
  }
  __device__ __forceinline__ int groups() const {
    return Threads / lanes_;
  }
  /// With 1024 columns a group has a whole sixteen then.
  static constexpr int least_lanes = 4;
  int count_;
  int lanes_;
  RowOf<Problem> rows_[R];
  State states_[R];
};

/// Shared memory of far_points_kernel.
template <class Rows, class Far, int LeftTile, class Problem>
struct FarStorage {
  using State = typename Problem::State;
  static constexpr int warps = Rows::threads / warp_threads;
  /// A thread's far rows: as many as leave room for a column in its registers, but a warp has all.
  static constexpr int far_rows =
      std::max(sizeof(RowOf<Problem>) + sizeof(State) <= 64 ? 4 : 1, Far::most_rows / warp_threads);
  static constexpr int tile =
      std::clamp<int>(24 * 1024 / sizeof(Staged<ColumnOf<Problem>>), 32, 1024);
  /// Columns of a thread that are looked at, to find those that are far.
  static constexpr int scanned = 8;
  static constexpr int most_found =
      (divide_up(scanned * Rows::threads, LeftTile) + 1) * Far::most_columns_of(LeftTile);
  /// Columns that have been found wait for others until they are so many.
  static constexpr int enough = 64;
  union {
    Staged<ColumnOf<Problem>> columns[tile];
    State states[Rows::shared_states];
    State states_of_far_rows[std::max(1, Far::most_rows)];
  };
  std::int64_t found[enough + most_found];  ///< columns that are far
  int found_by_warp[warps];
  int rows[std::max(1, Far::most_rows)];  ///< of the block, which are far
  Far far;
};

/// The far rows' sums over a block's part of the columns, into `partials` of the part. The whole
/// block; ends with a barrier. (This function and the next one take 2 % less time inlined.)
template <int Threads, class Problem, class Far, class Storage>
__device__ __forceinline__ void block_reduce_far_rows(const Problem& problem, const Range& range,
                                                      std::int64_t first_row, const Far& far,
                                                      Storage& shared,
                                                      typename Problem::State* partials) {
  const auto thread = static_cast<int>(threadIdx.x);
  for (int row = thread; row < Far::block_rows; row += Threads) {
    if (!far.has_row(row)) continue;
    int before = __popc(far.rows[row / 32] & lanes_below());
    for (int word = 0; word < row / 32; ++word) before += __popc(far.rows[word]);
    shared.rows[before] = row;
  }
  __syncthreads();  // the rows are known
  FewRows<Threads, Storage::far_rows, Problem> rows(
      problem, far.row_count, [&](int n) { return first_row + shared.rows[n]; });
  std::int64_t first = range.begin;
  block_add_far_tiles(problem, rows, shared.columns, [&] {
    const Range tile{first, min(first + Storage::tile, range.end)};
    first = tile.end;
    return tile;
  });
  rows.block_store(problem, shared.states_of_far_rows);
  for (int n = thread; n < far.row_count; n += Threads) {
    partials[first_row + shared.rows[n]] = shared.states_of_far_rows[n];
  }
  __syncthreads();  // the rows' states are there, and have been read
}

/// Columns of a block's part that are far, but for those of tiles that are left.
struct FarColumns {
  int count;          ///< so many are in shared.found,
  std::int64_t next;  ///< and this is the first one that has not been looked at
};
/// Looks from column `first` on until it has found enough, or has seen all before `end`. The whole
/// block; ends with a barrier.
template <int Threads, int LeftTile, class Problem, class Far, class Storage>
__device__ __forceinline__ FarColumns block_find_far_columns(const Problem& problem,
                                                             std::int64_t first, std::int64_t end,
                                                             const Far& far, Storage& shared) {
  using Form = ExponentialOf<Problem>;
  constexpr int D = Form::dimension;
  constexpr int step = Storage::scanned * Threads;
  const auto thread = static_cast<int>(threadIdx.x);
  const auto& y = get<0>(problem.y);
  const Relative<D> relative{Form::scale(problem.formula), far.centre};
  const auto is_left = [&](std::int64_t j) {
    for (int n = 0; n < far.tile_count; ++n) {
      if (j >= far.tiles[n] && j < far.tiles[n] + LeftTile) return true;
    }
    return false;
  };
  int found = 0;
  for (; first < end && found <= Storage::enough; first += step) {
    unsigned own = 0;
#pragma unroll
    for (int n = 0; n < Storage::scanned; ++n) {
      const std::int64_t j = first + thread + n * Threads;
      if (j >= end) continue;
      const bool is_far = square_is_far<D>(relative_square<D>(y.data + j * D, relative));
      if (is_far && !is_left(j)) own |= 1u << n;
    }
    const int count = __popc(own);
    const int up_to_this = warp_inclusive_sum(count);
    if (lane_index() == warp_threads - 1) shared.found_by_warp[warp_index()] = up_to_this;
    __syncthreads();  // the warps' counts are there
    int to = found + up_to_this - count;
#pragma unroll
    for (int warp = 0; warp < Storage::warps; ++warp) {
      if (warp < warp_index()) to += shared.found_by_warp[warp];
      found += shared.found_by_warp[warp];
    }
    for (; own != 0; own &= own - 1) {
      shared.found[to++] = first + thread + (__ffs(own) - 1) * Threads;
    }
    __syncthreads();  // the columns are there, and the counts have been read
  }
  return {found, first};
}

/// Adds to `rows` what is left of the columns of a block's part. The whole block.
template <int LeftTile, class Problem, class Rows, class Far, class Storage>
__device__ __forceinline__ void block_add_left_columns(const Problem& problem, const Range& range,
                                                       const Far& far, Storage& shared,
                                                       Rows& rows) {
  int tiles = 0;  // that have been taken
  Range left{};   // of a tile, or of the rest
  const std::int64_t end = min(far.rest, range.end);
  FarColumns found{0, far.has_columns != 0 ? range.begin : end};
  int taken = 0;  // of those found
  while (true) {
    while (left.begin >= left.end && tiles <= far.tile_count) {
      const bool is_tile = tiles < far.tile_count;
      left.begin = is_tile ? far.tiles[tiles] : far.rest;
      left.end = is_tile ? min(left.begin + LeftTile, range.end) : range.end;
      ++tiles;
    }
    const bool is_found = left.begin >= left.end;
    if (is_found && taken == found.count) {
      if (found.next >= end) break;
      found =
          block_find_far_columns<Rows::threads, LeftTile>(problem, found.next, end, far, shared);
      taken = 0;
      continue;
    }
    const auto width = static_cast<int>(
        min(std::int64_t{Storage::tile}, is_found ? found.count - taken : left.end - left.begin));
    if (is_found) {
      block_load_columns<Rows::threads>(problem, shared.columns, width,
                                        [&](int t) { return shared.found[taken + t]; });
      taken += width;
    } else {
      block_load_columns<Rows::threads>(problem, shared.columns, width,
                                        [&](int t) { return left.begin + t; });
      left.begin += width;
    }
    rows.add(problem, shared.columns, width);
    __syncthreads();  // all threads are done with the columns
  }
}

/// What a kernel of the same grid has left, in tiles of LeftTile columns: where that is all of a
/// block's part, `partials` has nothing of it, else the states of the other pairs. A block that has
/// nothing left ends at once.
template <class Rows, int LeftTile, class Problem, class Far>
__global__ void __launch_bounds__(Rows::threads, Rows::blocks)
    far_points_kernel(const __grid_constant__ Problem problem, Split split,
                      typename Problem::State* partials, unsigned* tickets, const Far* far_points) {
  using State = typename Problem::State;
  hopper::wait_for_kernel_before();  // what is far is known
  const Far& left = far_points[blockIdx.x];
  const std::int64_t first_row = blockIdx.x % split.row_blocks * Rows::block_rows;
  const std::int64_t part = blockIdx.x / split.row_blocks;
  const Range range = range_of(split, part, problem.columns);
  if (left.has_any == 0) return;
  auto& shared = dynamic_shared<FarStorage<Rows, Far, LeftTile, Problem>>();
  block_copy(left, shared.far);
  __syncthreads();  // it is there
  const Far& far = shared.far;
  State* const partials_of_part = partials + part * problem.rows;
  if constexpr (Far::most_rows > 0) {
    if (far.row_count > 0) {
      block_reduce_far_rows<Rows::threads>(problem, range, first_row, far, shared,
                                           partials_of_part);
    }
  }

  State states[Rows::end_rows];
  const auto for_each_row = [&](auto act) {
#pragma unroll
    for (int r = 0; r < Rows::end_rows; ++r) {
      const int row = static_cast<int>(threadIdx.x) + r * Rows::threads;
      if (row < Rows::block_rows && first_row + row < problem.rows) act(first_row + row, states[r]);
    }
  };
  const auto load_states = [&] {
    const bool has_partials = far.rest > range.begin;
    for_each_row([&](std::int64_t i, State& state) {
      state = has_partials ? partials_of_part[i] : problem.reduction.neutral();
    });
  };
  if (far.has_columns_before(range.end)) {
    Rows rows(problem, first_row);
    block_add_left_columns<LeftTile>(problem, range, far, shared, rows);
    load_states();
    rows.block_for_each_state(shared.states, [&](int r, const State& state) {
      const int row = static_cast<int>(threadIdx.x) + r * Rows::threads;
      if (!far.has_row(row)) problem.reduction.merge(states[r], state);  // it has all columns
    });
  } else {
    load_states();
  }
  const std::int64_t end_row = min(first_row + Rows::block_rows, problem.rows);
  block_finish_rows(problem, split, first_row, end_row, partials, tickets, for_each_row);
}

}  // namespace warpath::map_reduce::detail
