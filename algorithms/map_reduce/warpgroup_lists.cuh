// Several nearest columns of each row (KMin and ArgKMin) in more than 8 dimensions on Hopper, by
// the products of warpgroups: warpgroup_least.cuh says how one product of halves rules columns out,
// and what E bounds. A row lists more columns than are wanted, the nearest ones by A; distances
// come from the differences when all columns have been seen, of the listed ones only:
//
//     split_least_kernel          a block for each tile        y  ->  LeastTile
//
//     warpgroup_lists_kernel      up to 256 rows a block, for each tile of its part:
//        a warpgroup    64 rows, from registers, x 64 columns -> A = |v|^2 - 2 u . v, roughly
//                       columns with A <= the row's limit are noted: warp_note_listed()
//        a warp         up to 32 noted columns -> the row's list, by A: warp_list_noted()
//                 at the end: the listed columns' distances: warp_list_by_distance()
//
// The K-th distance of a row is at most E more than the K-th A of its list, so that no column
// beyond that A + 2 E is among the K nearest. This is the limit, or what is just below the last A
// of the list where that is less. At the end all columns up to the former must be in the list:
// where more are alike, and where the row is far from the centre or not finite, the row is left to
// undecided_rows_kernel. The few tiles that are far are listed from the differences,
// warp_list_far_tiles().
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

/// Entries of a row's list, of which K are wanted: the others have room for columns that A cannot
/// tell from the K-th one. (An estimate: 3 % of K, of 20,000 uniform points in 128 dimensions.)
constexpr int listed_for(int K) {
  return std::min(128, K + std::max(16, K / 2));
}

/// The warps of a block list what is noted after so many columns that a row has noted about this
/// many since then, all at once: a product waits for the last of its four warps. (One by one, when
/// a row has no room left, the 10 nearest of 20,000 columns took 1.4 times as long.)
inline constexpr int noted_between_listings = 14;

/// Whether several least distances of a problem can be found so: in more than 8 dimensions, and
/// where lists have room. (One is has_warpgroup_least's.)
template <class Problem>
constexpr bool has_warpgroup_lists = [] {
  if constexpr (LeastDistance<typename Problem::Formula,
                              typename Problem::Reduction>::is_possible &&
                requires { Problem::Reduction::length; }) {
    constexpr int K = Problem::Reduction::length;
    return Problem::Formula::dimension > 8 && K > 1 && listed_for(K) >= K + K / 8;
  } else {
    return false;
  }
}();

/// What a warp has for its 16 rows: columns that wait for their list and, when none do any more, 16
/// coordinates of its rows and of 32 columns, or what distances they have.
struct ListScratch {
  static constexpr int most_noted = warp_threads;
  static constexpr int step = 16;
  union {
    std::uint32_t noted[list_rows][most_noted][2];  ///< A, as bits, and the column
    struct {
      alignas(16) float rows[list_rows][step];
      alignas(16) float columns[warp_threads][step + 4];  ///< (lanes read from different banks)
    };
    float distances[list_rows][warp_threads];
  };
};

/// Shared memory of warpgroup_lists_kernel.
template <class Problem, int Groups, int Stages>
struct WarpgroupListsStorage {
  static constexpr int dimension = Problem::Formula::dimension;
  using Tile = LeastTile<dimension>;
  static constexpr int threads = 128 * Groups;
  static constexpr int block_rows = warpgroup_rows * Groups;
  static constexpr int listed = listed_for(Problem::Reduction::length);
  alignas(16) Tile stages[Stages];
  ListScratch scratch[threads / warp_threads];
  SortedLists<float, listed, block_rows> lists;
  TileBarriers<Stages> barriers;
  float centre[dimension];
  unsigned counts[block_rows];  ///< of noted columns
  float errors[block_rows];     ///< 2 E of each row; then its limit

  /// A row that is undecided has a list that begins so, whatever else is merged with it.
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

/// The next lower number, for a finite or infinite one.
__device__ __forceinline__ float just_below(float v) {
  const int bits = __float_as_int(v);
  return __int_as_float(v > 0 ? bits - 1 : v < 0 ? bits + 1 : static_cast<int>(0x80000001));
}

/// Notes a column of a lane's row, and its A. Returns whether there is room.
template <class Storage>
__device__ __forceinline__ bool note_listed(int row, unsigned place, float value, int column,
                                            Storage& shared) {
  if (place >= ListScratch::most_noted) return false;
  const std::uint32_t entry[2] = {__float_as_uint(value), static_cast<std::uint32_t>(column)};
  store_vector(shared.scratch[row / list_rows].noted[row % list_rows][place], entry);
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
                                                 const int (&rows)[2], int first_column,
                                                 Storage& shared) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    if (candidates[r] == 0) continue;
    unsigned place =
        atomicAdd(&shared.counts[rows[r]], static_cast<unsigned>(__popc(candidates[r])));
    if (are_single) {
      const int c = __ffs(static_cast<int>(candidates[r])) - 1;
      const int column = first_column + c / 2 * 8 + c % 2;
      if (note_listed(rows[r], place, least[r], column, shared)) candidates[r] = 0;
      continue;
    }
    // (Unrolled: values that are read by index would be in memory.)
#pragma unroll
    for (int c = 0; c < 16; ++c) {
      if ((candidates[r] >> c & 1) == 0) continue;
      const int column = first_column + c / 2 * 8 + c % 2;
      if (note_listed(rows[r], place, values[c / 2][2 * r + c % 2], column, shared)) {
        candidates[r] &= ~(1u << c);
      }
      ++place;
    }
  }
  return !__any_sync(full_warp, (candidates[0] | candidates[1]) != 0);
}

/// What is noted for the warp's rows that have at least `least` columns (1 or more), into their
/// lists, two rows at once. Starts and ends with a warp barrier. Not inlined, so that it takes no
/// registers from the loop over tiles.
template <class Storage>
[[gnu::noinline]] __device__ void warp_list_noted(std::int64_t first_column, unsigned least,
                                                  Storage& shared) {
  constexpr unsigned most = ListScratch::most_noted;
  constexpr int at_once = 2;
  __syncwarp();  // the columns are there
  const int lane = lane_index();
  const int first = warp_index() * list_rows;
  const unsigned count = lane < list_rows ? min(shared.counts[first + lane], most) : 0;
  unsigned rest = __ballot_sync(full_warp, count >= least);
  while (rest != 0) {
    int rows[at_once];
    Listed<float> entries[at_once];
#pragma unroll
    for (int n = 0; n < at_once; ++n) {
      const bool is_row = rest != 0;
      const int row = is_row ? __ffs(static_cast<int>(rest)) - 1 : rows[0] - first;
      if (is_row) rest &= rest - 1;
      rows[n] = first + row;
      entries[n] = none_listed<float>();
      const auto waiting = static_cast<int>(__shfl_sync(full_warp, count, row));
      if (is_row && lane < waiting) {
        std::uint32_t noted[2];
        load_vector(shared.scratch[warp_index()].noted[row][lane], noted);
        entries[n] = {__uint_as_float(noted[0]),
                      static_cast<ListedColumn>(first_column + noted[1])};
      }
    }
    shared.lists.take(rows, entries);
  }
  if (count >= least) shared.counts[first + lane] = 0;
  __syncwarp();  // there are none
}

/// The warp's lists by distance instead of A. Those rows are undecided that may lack columns: more
/// are alike than a list has room for, or fewer than K have a finite distance. Starts and ends with
/// a warp barrier.
template <class Storage, class Problem>
[[gnu::noinline]] __device__ void warp_list_by_distance(const Problem& problem,
                                                        std::int64_t first_row, Storage& shared) {
  constexpr int K = Problem::Reduction::length;
  constexpr int listed = Storage::listed;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto& lists = shared.lists;
  const int lane = lane_index();
  const int first = warp_index() * list_rows;
  __syncwarp();  // lists and errors are there
  const int own = first + lane % list_rows;
  const float limit =
      fminf(lists.values[own][K - 1] + shared.errors[own], std::numeric_limits<float>::max());
  unsigned lacking = __ballot_sync(full_warp, !(lists.values[own][listed - 1] > limit));
  __syncwarp();  // the errors have been read
  if (lane < list_rows) shared.errors[own] = limit;
  __syncwarp();  // the limits are there
#pragma unroll 1
  for (int item = lane; item < list_rows * listed; item += warp_threads) {
    const int row = first + item / listed;
    float& value = lists.values[row][item % listed];
    ListedColumn& j = lists.columns[row][item % listed];
    if (value <= shared.errors[row]) {
      value = squared_distance_of(problem, min(first_row + row, problem.rows - 1), j);
    } else {
      value = infinity;
      j = no_column;
    }
  }
#pragma unroll 1
  for (int row = first; row < first + list_rows; ++row) {
    __syncwarp();  // the distances are there
    const int rows[1] = {row};
    Listed<float> entries[lists.steps][1];
#pragma unroll
    for (int s = 0; s < lists.steps; ++s) {
      const int place = s * warp_threads + lane;
      entries[s][0] = none_listed<float>();
      if (place < listed) entries[s][0] = {lists.values[row][place], lists.columns[row][place]};
    }
    __syncwarp();  // all have been read
    lists.clear(row);
#pragma unroll
    for (int s = 0; s < lists.steps; ++s) lists.take(rows, entries[s]);
    __syncwarp();  // the list is there
    if (!(lists.values[row][K - 1] < infinity)) lacking |= 1u << (row - first);
  }
  __syncwarp();  // the lists were read
  if (lane < list_rows && (lacking >> lane & 1) != 0) shared.set_undecided(first + lane);
  __syncwarp();  // they are marked
}

/// The squared distances of the warp's rows and of up to 32 columns, one a lane, from the
/// differences, into its scratch: added up as SquaredDistance adds them up. Ends with a warp
/// barrier.
template <class Storage, class Problem>
__device__ __forceinline__ void warp_find_distances(const Problem& problem, std::int64_t first_row,
                                                    std::int64_t first_column, int width,
                                                    ListScratch& scratch) {
  constexpr int D = Storage::dimension;
  constexpr int step = ListScratch::step;
  const float* const x = get<0>(problem.x).data;
  const float* const y = get<0>(problem.y).data;
  const int lane = lane_index();
  float sums[list_rows] = {};
#pragma unroll 1
  for (int first_k = 0; first_k < D; first_k += step) {
    const bool is_one = D % step == 1 && first_k == D - 1;  // added in one rounding
    __syncwarp();                                           // what lies there has been read
    for (int item = lane; item < list_rows * step; item += warp_threads) {
      const int k = first_k + item % step;
      const std::int64_t i = min(first_row + item / step, problem.rows - 1);
      scratch.rows[item / step][item % step] = k < D ? x[i * D + k] : 0.0f;
    }
    for (int item = lane; item < warp_threads * step; item += warp_threads) {
      const int k = first_k + item % step;
      const int t = item / step;
      scratch.columns[t][item % step] = k < D && t < width ? y[(first_column + t) * D + k] : 0.0f;
    }
    __syncwarp();  // the coordinates are there
    float v[4][4];
#pragma unroll
    for (int c = 0; c < 4; ++c) load_vector(&scratch.columns[lane][4 * c], v[c]);
#pragma unroll
    for (int row = 0; row < list_rows; ++row) {
      float part = is_one ? sums[row] : 0.0f;
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        float u[4];
        load_vector(&scratch.rows[row][4 * c], u);
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          const float difference = u[q] - v[c][q];
          part = fmaf(difference, difference, part);
        }
      }
      sums[row] = first_k == 0 || is_one ? part : sums[row] + part;
    }
  }
  __syncwarp();  // the coordinates have been read
#pragma unroll
  for (int row = 0; row < list_rows; ++row) scratch.distances[row][lane] = sums[row];
  __syncwarp();  // the distances are there
}

/// Adds the columns of tiles that are far to the warp's lists, from the differences. Starts and
/// ends with a warp barrier.
template <class Storage, class Problem>
[[gnu::noinline]] __device__ void warp_list_far_tiles(const Problem& problem,
                                                      std::int64_t first_row, Range range,
                                                      const typename Storage::Tile* tiles,
                                                      Storage& shared) {
  using Tile = typename Storage::Tile;
  const int lane = lane_index();
  const int first = warp_index() * list_rows;
  ListScratch& scratch = shared.scratch[warp_index()];
  for (std::int64_t j = range.begin; j < range.end; j += warp_threads) {
    if (tiles[(j - range.begin) / Tile::columns].is_far == 0) continue;
    const auto width = static_cast<int>(min(std::int64_t{warp_threads}, range.end - j));
    warp_find_distances<Storage>(problem, first_row + first, j, width, scratch);
#pragma unroll 1
    for (int row = 0; row < list_rows; ++row) {
      const float distance = scratch.distances[row][lane];
      const int rows[1] = {first + row};
      Listed<float> entry[1] = {none_listed<float>()};
      if (lane < width && distance == distance) {
        entry[0] = {distance, static_cast<ListedColumn>(j + lane)};
      }
      shared.lists.take(rows, entry);
    }
    __syncwarp();  // the distances have been read
  }
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
  constexpr float most = std::numeric_limits<float>::max();
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
  for (int row = 0; row < list_rows; ++row) shared.lists.clear(warp_index() * list_rows + row);
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

  int far_tiles = 0;
  float reach = 0;
  float lost = 0;
  float limits[2];
  std::int64_t next_listing = warpgroup_columns;
  // A row that is far has none: no column is listed.
  const auto set_limits = [&] {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float(&values)[Storage::listed] = shared.lists.values[rows_of_lane[r]];
      const float end = values[K - 1] + 2 * rows.error(r, reach, lost);
      limits[r] = rows.is_near(r) ? fminf(fminf(end, just_below(values[Storage::listed - 1])), most)
                                  : std::numeric_limits<float>::quiet_NaN();
    }
  };
#pragma unroll 1
  for (int n = 0; n < tile_count; ++n) {
    const Tile& tile = stream.wait(n);
    if (tile.is_far != 0) ++far_tiles;
    reach = fmaxf(reach, tile.reach);
    lost = fmaxf(lost, tile.lost);
    set_limits();
#pragma unroll 1
    for (int first = 0; first < Tile::columns; first += warpgroup_columns) {
      const int column = n * Tile::columns + first;
      if (column >= next_listing) {
        warp_list_noted(range.begin, 1, shared);
        set_limits();
        next_listing = column + std::int64_t{column} * noted_between_listings / K;
      }
      WarpgroupSums values;
      float least[2] = {most, most};
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
        const int first_column = column + lane % 4 * 2;
        if (warp_note_listed(candidates, values, least, are_single, rows_of_lane, first_column,
                             shared)) {
          break;
        }
        left[0] = candidates[0];
        left[1] = candidates[1];
        warp_list_noted(range.begin, ListScratch::most_noted / 2, shared);
        set_limits();
      }
    }
    stream.release(n);
  }
  warp_list_noted(range.begin, 1, shared);
  if (lane % 4 == 0) {
#pragma unroll
    for (int r = 0; r < 2; ++r) shared.errors[rows_of_lane[r]] = 2 * rows.error(r, reach, lost);
  }
  warp_list_by_distance(problem, first_row, shared);
  if (are_many_far_tiles(far_tiles, tile_count)) {
    if (lane < list_rows) shared.set_undecided(warp_index() * list_rows + lane);
  } else if (far_tiles > 0) {
    warp_list_far_tiles(problem, first_row, range, own_tiles, shared);
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
