// Several nearest columns of each row (KMin and ArgKMin) in more than 8 dimensions on Hopper, by
// the products of warpgroups: warpgroup_least.cuh says how one product of halves rules columns out,
// and what E bounds. A row notes the columns that may be among the nearest; distances come from the
// differences when all columns have been seen, of the noted ones only:
//
//     split_least_kernel          a block for each tile        y  ->  LeastTile
//
//     warpgroup_lists_kernel      up to 256 rows a block, for each tile of its part:
//        a warpgroup    64 rows, from registers, x 64 columns -> A = |v|^2 - 2 u . v, roughly
//                       columns with A <= the row's limit are noted: warp_note_listed()
//        a warp         now and then drops the noted columns that have become too far, and so finds
//                       lower limits: warp_select_noted()
//                 at the end: the noted columns' distances, sorted: warp_list_by_distance()
//
// K columns have an A of at most the row's end, and so distances of at most E more than that: a
// column beyond the end and 2 E, the limit, is none of the K nearest. Where more columns are alike
// than there is room for, and where the row is far from the centre or not finite, the row is left
// to undecided_rows_kernel. The few columns that are far are listed from the differences.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/vector.cuh"
#include "core/warp.cuh"
#include "map_reduce/arithmetic.cuh"
#include "map_reduce/problem.cuh"
#include "map_reduce/tensor_least.cuh"
#include "map_reduce/undecided_rows.cuh"
#include "map_reduce/warp_lists.cuh"
#include "map_reduce/warpgroup_least.cuh"
#include "map_reduce/warpgroup_points.cuh"

namespace warpath::map_reduce::detail {

/// Columns that a row has room for, of which K are wanted: a multiple of 32.
constexpr int room_for(int K) {
  return divide_up(K + 45, warp_threads) * warp_threads;
}

/// The warps of a block select among what is noted after so many columns that a row has noted about
/// this many since then, all at once: a product waits for the last of its four warps.
constexpr int noted_between_selections(int K) {
  return 14 + K / 10;
}

/// Whether several least distances of a problem can be found so: in more than 8 dimensions, and
/// where lists have room. (One is has_warpgroup_least's.)
template <class Problem>
constexpr bool has_warpgroup_lists = [] {
  if constexpr (LeastDistance<typename Problem::Formula,
                              typename Problem::Reduction>::is_possible &&
                requires { Problem::Reduction::length; }) {
    constexpr int K = Problem::Reduction::length;
    return Problem::Formula::dimension > 8 && K > 1;
  } else {
    return false;
  }
}();

/// Shared memory of warpgroup_lists_kernel.
template <class Problem, int Groups, int Stages>
struct WarpgroupListsStorage {
  static constexpr int dimension = Problem::Formula::dimension;
  using Tile = LeastTile<dimension>;
  static constexpr int threads = 128 * Groups;
  static constexpr int block_rows = warpgroup_rows * Groups;
  static constexpr int wanted = Problem::Reduction::length;
  static constexpr int room = room_for(wanted);
  alignas(16) Tile stages[Stages];
  /// At first noted columns, and A. (Four rows lie in different banks.)
  SortedLists<float, wanted, block_rows, room + 8> lists;
  TileBarriers<Stages> barriers;
  float centre[dimension];
  unsigned counts[block_rows];  ///< of noted columns
  float ends[block_rows];    ///< K noted columns have no greater A; infinite: fewer have been seen
  float errors[block_rows];  ///< 2 E of each row

  /// A row that is undecided notes no column,
  __device__ __forceinline__ void stop_noting(int row) {
    ends[row] = -std::numeric_limits<float>::infinity();
    counts[row] = 0;
  }
  [[nodiscard]] __device__ __forceinline__ bool notes(int row) const {
    return ends[row] > -std::numeric_limits<float>::infinity();
  }
  /// and its list begins so, whatever else is merged with it.
  __device__ __forceinline__ void set_undecided(int row) {
    lists.values[row][0] = undecided_value;
    lists.columns[row][0] = 0;
  }
  [[nodiscard]] __device__ __forceinline__ bool is_undecided(int row) const {
    return lists.values[row][0] == undecided_value;
  }
};

/// The first of these that fits a block's shared memory, with as many rows as can be.
template <class Problem, int Groups, int Stages>
constexpr bool fits_a_block = sizeof(WarpgroupListsStorage<Problem, Groups, Stages>) <= 227 * 1024;
template <class Problem>
using WarpgroupListsStorageOf = std::conditional_t<
    fits_a_block<Problem, 4, 3>, WarpgroupListsStorage<Problem, 4, 3>,
    std::conditional_t<
        fits_a_block<Problem, 4, 2>, WarpgroupListsStorage<Problem, 4, 2>,
        std::conditional_t<
            fits_a_block<Problem, 2, 3>, WarpgroupListsStorage<Problem, 2, 3>,
            std::conditional_t<fits_a_block<Problem, 2, 2>, WarpgroupListsStorage<Problem, 2, 2>,
                               WarpgroupListsStorage<Problem, 1, 2>>>>>;

/// Notes a column of a lane's row, and its A. Returns whether there is room.
template <class Storage>
__device__ __forceinline__ bool note_listed(int row, unsigned place, float value,
                                            ListedColumn column, Storage& shared) {
  if (place >= Storage::room) return false;
  shared.lists.values[row][place] = value;
  shared.lists.columns[row][place] = column;
  return true;
}

/// Notes those of a lane's values in candidates[r], bit 2 e + q for column first_column + 8 e + q,
/// for its rows: those that there is room for are no longer in `candidates`. `are_single`: no lane
/// of the warp has more than one for a row, and it is the least of the lane's. Returns whether no
/// lane has any left.
template <class Storage>
__device__ __forceinline__ bool warp_note_listed(unsigned (&candidates)[2],
                                                 const WarpgroupSums& values,
                                                 const float (&least)[2], bool are_single,
                                                 const int (&rows)[2], ListedColumn first_column,
                                                 Storage& shared) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    if (candidates[r] == 0) continue;
    unsigned place =
        atomicAdd(&shared.counts[rows[r]], static_cast<unsigned>(__popc(candidates[r])));
    if (are_single) {
      const int c = __ffs(static_cast<int>(candidates[r])) - 1;
      const auto column = first_column + static_cast<ListedColumn>(c / 2 * 8 + c % 2);
      if (note_listed(rows[r], place, least[r], column, shared)) candidates[r] = 0;
      continue;
    }
    // (Unrolled: values that are read by index would be in memory.)
#pragma unroll
    for (int c = 0; c < 16; ++c) {
      if ((candidates[r] >> c & 1) == 0) continue;
      const auto column = first_column + static_cast<ListedColumn>(c / 2 * 8 + c % 2);
      if (note_listed(rows[r], place, values[c / 2][2 * r + c % 2], column, shared)) {
        candidates[r] &= ~(1u << c);
      }
      ++place;
    }
  }
  return !__any_sync(full_warp, (candidates[0] | candidates[1]) != 0);
}

/// The least, the greatest, and the sum of the numbers of each eight lanes, in all of them.
__device__ __forceinline__ float eight_min(float v) {
#pragma unroll
  for (int distance = 1; distance < 8; distance *= 2) {
    v = fminf(v, __shfl_xor_sync(full_warp, v, distance));
  }
  return v;
}
__device__ __forceinline__ int eight_sum(int v) {
#pragma unroll
  for (int distance = 1; distance < 8; distance *= 2) {
    v += __shfl_xor_sync(full_warp, v, distance);
  }
  return v;
}

/// Drops what is noted for the warp's rows that have at least `least` columns, more than K, but for
/// what may be among the K nearest. Eight lanes have a row. Rows that have hardly any room then are
/// undecided. Starts and ends with a warp barrier. Not inlined, so that it takes no registers from
/// the loop over tiles.
template <class Storage>
[[gnu::noinline]] __device__ void warp_select_noted(unsigned least, Storage& shared) {
  constexpr int K = Storage::wanted;
  constexpr int columns_of_lane = Storage::room / 8;
  constexpr int most_tries = 14;
  constexpr int least_room = 8;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto& noted = shared.lists;
  const int lane_of_row = lane_index() % 8;
  const int first = warp_index() * list_rows;
  __syncwarp();  // columns, ends and errors are there
#pragma unroll 1
  for (int row = first + lane_index() / 8; row < first + list_rows; row += warp_threads / 8) {
    const unsigned count = min(shared.counts[row], unsigned{Storage::room});
    const bool selects = count >= least;
    if (!__any_sync(full_warp, selects)) continue;
    float values[columns_of_lane];
    ListedColumn columns[columns_of_lane];
    float low = infinity;
    float greatest = -infinity;
#pragma unroll
    for (int c = 0; c < columns_of_lane; ++c) {
      const int place = c * 8 + lane_of_row;
      const bool is_noted = place < static_cast<int>(count);
      values[c] = is_noted ? noted.values[row][place] : infinity;
      columns[c] = is_noted ? noted.columns[row][place] : no_column;
      low = fminf(low, values[c]);
      if (is_noted) greatest = fmaxf(greatest, values[c]);
    }
    const auto count_up_to = [&](float limit) {
      int up_to = 0;
#pragma unroll
      for (const float value : values) up_to += static_cast<int>(value <= limit);
      return up_to;
    };
    // At least K columns have values up to `end`; soon few more, unless many are equal.
    low = eight_min(low);
    float end = fminf(shared.ends[row], -eight_min(-greatest));
    bool is_found = !selects || !(low < end);
    for (int t = 0; t < most_tries && !__all_sync(full_warp, is_found); ++t) {
      const float middle = low / 2 + end / 2;
      const int up_to = eight_sum(count_up_to(middle));
      const bool has_enough = up_to >= K;
      if (is_found) continue;
      (has_enough ? end : low) = middle;
      is_found = has_enough && up_to <= K + K / 16;
    }
    const float limit = end + shared.errors[row];
    const int own = count_up_to(limit);
    int left = own;  // of this lane and those before
#pragma unroll
    for (int distance = 1; distance < 8; distance *= 2) {
      const int before = __shfl_up_sync(full_warp, left, distance, 8);
      if (lane_of_row >= distance) left += before;
    }
    __syncwarp();  // columns, ends and counts have been read
    if (selects) {
      int place = left - own;
#pragma unroll
      for (int c = 0; c < columns_of_lane; ++c) {
        if (!(values[c] <= limit)) continue;
        noted.values[row][place] = values[c];
        noted.columns[row][place] = columns[c];
        ++place;
      }
      if (lane_of_row == 7) {
        shared.ends[row] = end;
        shared.counts[row] = static_cast<unsigned>(left);
        if (left > Storage::room - least_room) shared.stop_noting(row);
      }
    }
    __syncwarp();  // lanes are together again
  }
  __syncwarp();  // columns and counts are the new ones
}

/// The warp's noted columns as lists, by distance. Those rows are undecided that have stopped
/// noting, or where fewer than K distances are finite. Starts and ends with a warp barrier.
template <bool InVectors, class Storage, class Problem>
__device__ __forceinline__ void warp_list_noted(const Problem& problem, std::int64_t first_row,
                                                Storage& shared) {
  constexpr int at_once = 2;
  constexpr int K = Storage::wanted;
  constexpr int steps = Storage::room / warp_threads;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto& lists = shared.lists;
  const int lane = lane_index();
  const int first = warp_index() * list_rows;
  __syncwarp();  // the columns are there
#pragma unroll 1
  for (int row = first; row < first + list_rows; row += at_once) {
    const int rows[at_once] = {row, row + 1};
    const unsigned counts[at_once] = {shared.counts[row], shared.counts[row + 1]};
    const unsigned most = max(counts[0], counts[1]);
#pragma unroll 1
    for (unsigned place = lane; place < most; place += warp_threads) {
      float distances[at_once];
#pragma unroll
      for (int n = 0; n < at_once; ++n) {
        const ListedColumn j = place < counts[n] ? lists.columns[rows[n]][place] : 0;
        const std::int64_t i = min(first_row + rows[n], problem.rows - 1);
        distances[n] = squared_distance_of<InVectors>(problem, i, j);
      }
#pragma unroll
      for (int n = 0; n < at_once; ++n) {
        if (place < counts[n]) lists.values[rows[n]][place] = distances[n];
      }
    }
    __syncwarp();  // the distances are there
    Listed<float> entries[steps][at_once];
#pragma unroll
    for (int s = 0; s < steps; ++s) {
#pragma unroll
      for (int n = 0; n < at_once; ++n) {
        const int place = s * warp_threads + lane;
        entries[s][n] = none_listed<float>();
        if (place >= static_cast<int>(counts[n])) continue;
        const float value = lists.values[rows[n]][place];
        if (value == value) entries[s][n] = {value, lists.columns[rows[n]][place]};
      }
    }
    __syncwarp();  // all have been read
    lists.clear(rows[0]);
    lists.clear(rows[1]);
#pragma unroll
    for (int s = 0; s < steps; ++s) lists.take(rows, entries[s]);
    __syncwarp();  // the lists are there
    if (lane < at_once) {
      const int own = row + lane;
      const bool lacks_some = shared.ends[own] < infinity && !(lists.values[own][K - 1] < infinity);
      if (!shared.notes(own) || lacks_some) shared.set_undecided(own);
    }
  }
  __syncwarp();  // they are marked
}
template <class Storage, class Problem>
[[gnu::noinline]] __device__ void warp_list_by_distance(const Problem& problem,
                                                        std::int64_t first_row, Storage& shared) {
  if (are_in_vectors(problem)) {
    warp_list_noted<true>(problem, first_row, shared);
  } else {
    warp_list_noted<false>(problem, first_row, shared);
  }
}

/// The far columns of the block's part, from the differences, to the warp's lists. Starts and ends
/// with a warp barrier.
template <class Storage, class Problem>
[[gnu::noinline]] __device__ void warp_list_far_columns(const Problem& problem,
                                                        std::int64_t first_row, Range range,
                                                        const typename Storage::Tile* tiles,
                                                        Storage& shared) {
  const int lane = lane_index();
  const int first = warp_index() * list_rows;
  const int own = first + lane % list_rows;  // two lanes have a row
  const std::int64_t i = min(first_row + own, problem.rows - 1);
  const auto tile_count =
      static_cast<int>(divide_up(range.end - range.begin, Storage::Tile::columns));
  warp_for_each_far_column(tiles, tile_count, range.begin, [&](std::int64_t j) {
    const auto column = static_cast<ListedColumn>(j);
    const float distance = squared_distance_of(problem, i, j);
    __syncwarp();  // the lists are there
    const bool is_in = comes_before(Listed<float>{distance, column}, shared.lists.last(own));
    unsigned rest = __ballot_sync(full_warp, is_in) & ((1u << list_rows) - 1);
    for (; rest != 0; rest &= rest - 1) {
      const int row = __ffs(static_cast<int>(rest)) - 1;
      const float value = __shfl_sync(full_warp, distance, row);
      const int rows[1] = {first + row};
      Listed<float> entry[1] = {none_listed<float>()};
      if (lane == 0) entry[0] = {value, column};
      shared.lists.take(rows, entry);
    }
  });
  __syncwarp();  // the lists are there
}

/// `tiles`: all columns, split.
template <class Problem>
__global__ void __launch_bounds__(WarpgroupListsStorageOf<Problem>::threads, 1)
    warpgroup_lists_kernel(const __grid_constant__ Problem problem, Split split,
                           typename Problem::State* partials, unsigned* tickets,
                           const LeastTile<Problem::Formula::dimension>* tiles,
                           UndecidedRows undecided) {
  using Storage = WarpgroupListsStorageOf<Problem>;
  using Tile = typename Storage::Tile;
  constexpr int D = Storage::dimension;
  constexpr int K = Problem::Reduction::length;
  constexpr int block_rows = Storage::block_rows;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (!hopper::is_compiled_for_90a()) return;
  hopper::wait_for_kernel_before();
  auto& shared = dynamic_shared<Storage>();
  const int lane = lane_index();
  const std::int64_t first_row = blockIdx.x % split.row_blocks * block_rows;
  const Range range = range_of(split, blockIdx.x / split.row_blocks, problem.columns);
  const auto tile_count = static_cast<int>(divide_up(range.end - range.begin, Tile::columns));
  const Tile* const own_tiles = tiles + range.begin / Tile::columns;
  TileStream stream(shared.barriers, shared.stages, own_tiles, tile_count);
  if (threadIdx.x < block_rows) shared.counts[threadIdx.x] = 0;
  block_find_middle(problem, shared.centre);
  __syncthreads();  // all is there
  stream.start();
  // A lane has rows lane / 4 and lane / 4 + 8 of its warp.
  const int rows_of_lane[2] = {warp_index() * list_rows + lane / 4,
                               warp_index() * list_rows + lane / 4 + 8};
  LeastRows<D> rows;
  const float scale = tiles[0].scale;
  rows.set([&](int half, int k) {
    const std::int64_t i = min(first_row + rows_of_lane[half], problem.rows - 1);
    return scale * (get<0>(problem.x).data[i * D + k] - shared.centre[k]);
  });

  int far = 0;  // columns
  float reach = 0;
  float lost = 0;
  float limits[2];
  // At first all columns are noted.
  std::int64_t next_selection = Storage::room / warpgroup_columns * warpgroup_columns;
  if (lane % 4 == 0) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      shared.ends[rows_of_lane[r]] = rows.is_near(r) ? infinity : -infinity;
    }
  }
  __syncwarp();  // the ends are there
  const auto set_limits = [&] {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = rows_of_lane[r];
      const float limit = shared.ends[row] + 2 * rows.error(r, reach, lost);
      limits[r] = shared.notes(row) ? fminf(limit, std::numeric_limits<float>::max()) : -infinity;
    }
  };
  const auto select = [&](unsigned least) {
    if (lane % 4 == 0) {
#pragma unroll
      for (int r = 0; r < 2; ++r) shared.errors[rows_of_lane[r]] = 2 * rows.error(r, reach, lost);
    }
    warp_select_noted(least, shared);
    set_limits();
  };
#pragma unroll 1
  for (int n = 0; n < tile_count; ++n) {
    const Tile& tile = stream.wait(n);
    far += tile.far_count;
    reach = fmaxf(reach, tile.reach);
    lost = fmaxf(lost, tile.lost);
    set_limits();
#pragma unroll 1
    for (int first = 0; first < Tile::columns; first += warpgroup_columns) {
      const int column = n * Tile::columns + first;
      if (column >= next_selection) {
        select(K + 1);
        next_selection = column + std::int64_t{column} * noted_between_selections(K) / K;
      }
      WarpgroupSums values;
      float least[2] = {infinity, infinity};
      warpgroup_find_values(rows, tile, first, values, least);
      unsigned left[2] = {0xFFFF, 0xFFFF};  // columns of the lane that have not been noted
      bool are_single = true;
      while (__any_sync(full_warp, least[0] <= limits[0] || least[1] <= limits[1])) {
        unsigned candidates[2] = {0, 0};
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          if (!(least[r] <= limits[r])) continue;
          find_values_up_to(limits[r], values, r, candidates[r]);
          candidates[r] &= left[r];
        }
        const bool has_several = __popc(candidates[0]) > 1 || __popc(candidates[1]) > 1;
        are_single = are_single && !__any_sync(full_warp, has_several);
        const auto first_column = static_cast<ListedColumn>(range.begin + column + lane % 4 * 2);
        if (warp_note_listed(candidates, values, least, are_single, rows_of_lane, first_column,
                             shared)) {
          break;
        }
        left[0] = candidates[0];
        left[1] = candidates[1];
        select((K + Storage::room) / 2);
      }
    }
    stream.release(n);
  }
  select(K + 1);
  warp_list_by_distance(problem, first_row, shared);
  if (are_many_far_columns(far, range.end - range.begin)) {
    if (lane < list_rows) shared.set_undecided(warp_index() * list_rows + lane);
  } else if (far > 0) {
    warp_list_far_columns(problem, first_row, range, own_tiles, shared);
  }
  block_merge_lists<block_rows>(problem, split, partials, tickets, first_row, shared.lists,
                                [&](int row, std::int64_t i) {
                                  __syncwarp();  // the list is there
                                  if (!shared.is_undecided(row)) {
                                    warp_store_list(problem, shared.lists, row, i);
                                  } else if (lane == 0) {
                                    undecided.add(i);
                                  }
                                });
}

}  // namespace warpath::map_reduce::detail
