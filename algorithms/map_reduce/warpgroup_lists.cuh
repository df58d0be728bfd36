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
//     finish_lists_kernel         noted_columns.cuh
//
// Where more columns are alike than there is room for, and where a row is far from the centre or
// not finite, the row is left to undecided_rows_kernel.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "map_reduce/noted_columns.cuh"
#include "map_reduce/problem.cuh"
#include "map_reduce/tensor_least.cuh"
#include "map_reduce/warp_lists.cuh"
#include "map_reduce/warpgroup_least.cuh"
#include "map_reduce/warpgroup_points.cuh"

namespace warpath::map_reduce::detail {

/// The warps of a block select among what is noted after so many columns that a row has noted about
/// this many since then, all at once: a product waits for the last of its four warps.
constexpr int noted_between_selections(int K) {
  return 14 + K / 10;
}

/// Whether several least distances of a problem can be found so: in more than 8 dimensions. (One is
/// has_warpgroup_least's.)
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
  using Found = NotedOfPart<Problem::Reduction::length>;  ///< of a row, in a part of the columns
  static constexpr int room = room_for(Problem::Reduction::length);
  alignas(16) Tile stages[Stages];
  NotedColumns<Problem::Reduction::length, block_rows, room> noted;
  TileBarriers<Stages> barriers;
  float centre[dimension];
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
  shared.noted.values[row][place] = value;
  shared.noted.columns[row][place] = column;
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
        atomicAdd(&shared.noted.counts[rows[r]], static_cast<unsigned>(__popc(candidates[r])));
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

/// `parts`: of all rows and parts. `tiles`: all columns, split.
template <class Problem>
__global__ void __launch_bounds__(WarpgroupListsStorageOf<Problem>::threads, 1)
    warpgroup_lists_kernel(const __grid_constant__ Problem problem, Split split,
                           NotedOfPart<Problem::Reduction::length>* parts,
                           const LeastTile<Problem::Formula::dimension>* tiles) {
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
  const std::int64_t part = blockIdx.x / split.row_blocks;
  const Range range = range_of(split, part, problem.columns);
  const auto tile_count = static_cast<int>(divide_up(range.end - range.begin, Tile::columns));
  const Tile* const own_tiles = tiles + range.begin / Tile::columns;
  TileStream stream(shared.barriers, shared.stages, own_tiles, tile_count);
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
    for (int r = 0; r < 2; ++r) shared.noted.begin(rows_of_lane[r], rows.is_near(r));
  }
  __syncwarp();  // the rows are there
  const auto set_limits = [&] {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = rows_of_lane[r];
      const float limit = shared.noted.ends[row] + 2 * rows.error(r, reach, lost);
      limits[r] =
          shared.noted.notes(row) ? fminf(limit, std::numeric_limits<float>::max()) : -infinity;
    }
  };
  const auto select = [&](unsigned least) {
    if (lane % 4 == 0) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        shared.noted.errors[rows_of_lane[r]] = 2 * rows.error(r, reach, lost);
      }
    }
    warp_select_noted(warp_index() * list_rows, list_rows, least, shared.noted);
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
  for (int row = warp_index() * list_rows; row < (warp_index() + 1) * list_rows; ++row) {
    const std::int64_t i = first_row + row;
    if (i >= problem.rows) break;
    warp_store_noted(shared.noted, row, far, parts[part * problem.rows + i]);
  }
}

}  // namespace warpath::map_reduce::detail
