// Columns that a row has noted, of which K are wanted: their A, as warpgroup_least.cuh says, and
// what becomes of them:
//
//     warpgroup_lists_kernel     notes columns, and selects among them -> NotedOfPart, for each row
//                                and part of the columns
//     finish_lists_kernel        16 rows a block:
//        four warps, eight lanes a row      the parts' columns, as far as their A tells
//        eight warps, two rows each         distances from the differences, sorted -> results
//
// K noted columns have an A of at most the row's end, and so distances of at most E more than that:
// a column beyond the end and 2 E, the limit, is none of the K nearest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "map_reduce/problem.cuh"
#include "map_reduce/undecided_rows.cuh"
#include "map_reduce/warp_lists.cuh"
#include "map_reduce/warpgroup_least.cuh"

namespace warpath::map_reduce::detail {

/// Columns that a row has room for while it notes them: a multiple of 32.
constexpr int room_for(int K) {
  return divide_up(K + 45, warp_threads) * warp_threads;
}
/// Columns of a part that a row may have at the end: the others have room for those that A cannot
/// tell from the K-th one.
constexpr int most_noted(int K) {
  return std::min(room_for(K), (K + std::max(16, K / 2) + 7) / 8 * 8);
}

/// What rows have noted, in shared memory, in any order. (Four rows lie in different banks.)
template <int K, int Rows, int Room>
struct NotedColumns {
  static constexpr int wanted = K;
  static constexpr int room = Room;
  float values[Rows][Room + 8];  ///< A
  ListedColumn columns[Rows][Room + 8];
  unsigned counts[Rows];
  float ends[Rows];    ///< K columns have no greater A; infinite: all that were seen are there
  float errors[Rows];  ///< 2 E

  __device__ __forceinline__ void begin(int row, bool notes) {
    counts[row] = 0;
    ends[row] =
        notes ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
    errors[row] = 0;
  }
  /// The row is undecided.
  __device__ __forceinline__ void stop_noting(int row) { begin(row, false); }
  [[nodiscard]] __device__ __forceinline__ bool notes(int row) const {
    return ends[row] > -std::numeric_limits<float>::infinity();
  }
};

/// What a row has noted of a part of the columns, in global memory.
template <int K>
struct alignas(16) NotedOfPart {
  static constexpr int most = most_noted(K);
  static constexpr std::uint32_t undecided = 0xFFFFFFFF;
  float end;
  float error;
  std::uint32_t count;  ///< or `undecided`
  std::int32_t far;     ///< far columns of the part, which are not noted
  float values[most];
  ListedColumn columns[most];
};

/// The least number of each eight lanes, or their sum, in all of them.
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

/// Drops what is noted for `rows` rows from first_row on, a multiple of four, that have at least
/// `least` columns, more than K, but for what may be among the K nearest. Eight lanes have a row.
/// Rows that have hardly any room then note no more. One warp; starts and ends with a warp barrier.
/// Not inlined, so that it takes no registers from the loop over tiles.
template <class Noted>
[[gnu::noinline]] __device__ void warp_select_noted(int first_row, int rows, unsigned least,
                                                    Noted& noted) {
  constexpr int K = Noted::wanted;
  constexpr int columns_of_lane = Noted::room / 8;
  constexpr int most_tries = 14;
  constexpr int least_room = 8;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const int lane_of_row = lane_index() % 8;
  __syncwarp();  // columns, ends and errors are there
#pragma unroll 1
  for (int row = first_row + lane_index() / 8; row < first_row + rows; row += warp_threads / 8) {
    const unsigned count = min(noted.counts[row], unsigned{Noted::room});
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
    float end = fminf(noted.ends[row], -eight_min(-greatest));
    bool is_found = !selects || !(low < end);
    for (int t = 0; t < most_tries && !__all_sync(full_warp, is_found); ++t) {
      const float middle = low / 2 + end / 2;
      const int up_to = eight_sum(count_up_to(middle));
      const bool has_enough = up_to >= K;
      if (is_found) continue;
      (has_enough ? end : low) = middle;
      is_found = has_enough && up_to <= K + K / 16;
    }
    const float limit = end + noted.errors[row];
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
        noted.ends[row] = end;
        noted.counts[row] = static_cast<unsigned>(left);
        if (left > Noted::room - least_room) noted.stop_noting(row);
      }
    }
    __syncwarp();  // lanes are together again
  }
  __syncwarp();  // columns and counts are the new ones
}

/// One warp: what its row `row` has noted.
template <int K, class Noted>
__device__ __forceinline__ void warp_store_noted(const Noted& noted, int row, int far,
                                                 NotedOfPart<K>& of_part) {
  const unsigned count = noted.counts[row];
  const bool is_decided = noted.notes(row) && count <= NotedOfPart<K>::most;
  if (lane_index() == 0) {
    of_part.end = noted.ends[row];
    of_part.error = noted.errors[row];
    of_part.count = is_decided ? count : NotedOfPart<K>::undecided;
    of_part.far = far;
  }
  if (!is_decided) return;
  for (unsigned place = lane_index(); place < count; place += warp_threads) {
    of_part.values[place] = noted.values[row][place];
    of_part.columns[place] = noted.columns[row][place];
  }
}

/// Shared memory of finish_lists_kernel.
template <class Problem>
struct FinishStorage {
  static constexpr int K = Problem::Reduction::length;
  static constexpr int warps = 8;
  static constexpr int threads = warps * warp_threads;
  static constexpr int block_rows = 2 * warps;
  static constexpr int room = room_for(K) + most_noted(K);
  NotedColumns<K, block_rows, room> noted;
  SortedLists<float, K, block_rows> lists;
  int far;  ///< columns of all parts
};

/// The columns of all parts, four rows of the block from first_row on: eight lanes a row, number
/// `i`. Ends with a warp barrier.
template <int K, class Storage>
__device__ __forceinline__ void warp_gather_noted(const NotedOfPart<K>* parts, std::int64_t rows,
                                                  std::int64_t part_count, int first_row,
                                                  std::int64_t i, Storage& shared) {
  using OfPart = NotedOfPart<K>;
  auto& noted = shared.noted;
  const int lane_of_row = lane_index() % 8;
  const int row = first_row + lane_index() / 8;
  const unsigned before_lane = (1u << lane_of_row) - 1;
  if (lane_of_row == 0) noted.begin(row, true);
  int far = 0;
#pragma unroll 1
  for (std::int64_t part = 0; part < part_count; ++part) {
    const OfPart& of_part = parts[part * rows + i];
    float values[OfPart::most / 8];
    ListedColumn columns[OfPart::most / 8];
#pragma unroll
    for (int c = 0; c < OfPart::most / 8; ++c) {
      values[c] = of_part.values[c * 8 + lane_of_row];
      columns[c] = of_part.columns[c * 8 + lane_of_row];
    }
    const std::uint32_t count = of_part.count;
    far += of_part.far;
    __syncwarp();  // what the row has is there
    if (lane_of_row == 0) {
      if (count == OfPart::undecided) {
        noted.stop_noting(row);
      } else {
        noted.ends[row] = fminf(noted.ends[row], of_part.end);
        noted.errors[row] = fmaxf(noted.errors[row], of_part.error);
      }
    }
    __syncwarp();  // the end is there
    if (__any_sync(full_warp, noted.counts[row] + OfPart::most > Storage::room)) {
      warp_select_noted(first_row, 4, K + 1, noted);
      const bool has_room = noted.counts[row] + OfPart::most <= Storage::room;
      __syncwarp();  // the count has been read
      if (lane_of_row == 0 && !has_room) noted.stop_noting(row);
      __syncwarp();  // the row is the new one
    }
    const float limit = noted.notes(row) ? noted.ends[row] + noted.errors[row]
                                         : -std::numeric_limits<float>::infinity();
    unsigned place = noted.counts[row];
#pragma unroll
    for (int c = 0; c < OfPart::most / 8; ++c) {
      const bool is_noted = c * 8 + lane_of_row < static_cast<int>(count) && values[c] <= limit;
      const unsigned of_row = __ballot_sync(full_warp, is_noted) >> (lane_index() & 24) & 0xFF;
      if (is_noted) {
        noted.values[row][place + __popc(of_row & before_lane)] = values[c];
        noted.columns[row][place + __popc(of_row & before_lane)] = columns[c];
      }
      place += __popc(of_row);
    }
    __syncwarp();  // the count has been read
    if (lane_of_row == 0) noted.counts[row] = place;
  }
  warp_select_noted(first_row, 4, K + 1, noted);
  if (threadIdx.x == 0) shared.far = far;  // the same for all rows
}

/// Two noted rows as lists, by distance: `rows` in the block, numbers i. Starts and ends with a
/// warp barrier.
template <bool InVectors, class Problem>
__device__ __forceinline__ void warp_list_noted(const Problem& problem, const int (&rows)[2],
                                                const std::int64_t (&i)[2],
                                                FinishStorage<Problem>& shared) {
  auto& noted = shared.noted;
  const int lane = lane_index();
  const unsigned counts[2] = {noted.counts[rows[0]], noted.counts[rows[1]]};
  const unsigned most = max(counts[0], counts[1]);
  shared.lists.clear(rows[0]);
  shared.lists.clear(rows[1]);
#pragma unroll 1
  for (unsigned first = 0; first < most; first += warp_threads) {
    const unsigned place = first + lane;
    ListedColumn columns[2];
    float distances[2];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      columns[n] = place < counts[n] ? noted.columns[rows[n]][place] : 0;
      distances[n] = squared_distance_of<InVectors>(problem, i[n], columns[n]);
    }
    Listed<float> entries[2];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const bool is_there = place < counts[n] && distances[n] == distances[n];
      entries[n] = none_listed<float>();
      if (is_there) entries[n] = {distances[n], columns[n]};
    }
    shared.lists.take(rows, entries);
  }
  __syncwarp();  // the lists are there
}

/// Adds the far columns of `tiles` to two lists. Starts and ends with a warp barrier.
template <class Problem>
__device__ __forceinline__ void warp_list_far_columns(
    const Problem& problem, const LeastTile<Problem::Formula::dimension>* tiles,
    const int (&rows)[2], const std::int64_t (&i)[2], FinishStorage<Problem>& shared) {
  using Tile = LeastTile<Problem::Formula::dimension>;
  const int own = lane_index() % 2;
  const auto tile_count = static_cast<int>(divide_up(problem.columns, Tile::columns));
  warp_for_each_far_column(tiles, tile_count, 0, [&](std::int64_t j) {
    const float distance = squared_distance_of(problem, i[own], j);
    const auto column = static_cast<ListedColumn>(j);
    __syncwarp();  // the lists are there
    const bool is_in = comes_before(Listed<float>{distance, column}, shared.lists.last(rows[own]));
    if (!__any_sync(full_warp, is_in)) return;
    Listed<float> entries[2];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const float value = __shfl_sync(full_warp, distance, n);
      entries[n] = none_listed<float>();
      if (lane_index() == 0 && value == value) entries[n] = {value, column};
    }
    shared.lists.take(rows, entries);
  });
  __syncwarp();  // the lists are there
}

/// `parts`: of all rows and parts. `tiles`: all columns, split.
template <class Problem>
__global__ void __launch_bounds__(FinishStorage<Problem>::threads, 2)
    finish_lists_kernel(const __grid_constant__ Problem problem,
                        const NotedOfPart<Problem::Reduction::length>* parts,
                        std::int64_t part_count,
                        const LeastTile<Problem::Formula::dimension>* tiles,
                        UndecidedRows undecided) {
  using Storage = FinishStorage<Problem>;
  constexpr int K = Storage::K;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  hopper::wait_for_kernel_before();
  auto& shared = dynamic_shared<Storage>();
  const int lane = lane_index();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * Storage::block_rows;
  const auto number_of = [&](int row) { return min(first + row, problem.rows - 1); };
  if (const int row = warp_index() * 4; row < Storage::block_rows) {
    warp_gather_noted(parts, problem.rows, part_count, row, number_of(row + lane / 8), shared);
  }
  __syncthreads();  // all rows have their columns
  const int rows[2] = {2 * warp_index(), 2 * warp_index() + 1};
  const std::int64_t i[2] = {number_of(rows[0]), number_of(rows[1])};
  if (are_in_vectors(problem)) {
    warp_list_noted<true>(problem, rows, i, shared);
  } else {
    warp_list_noted<false>(problem, rows, i, shared);
  }
  const bool has_many_far = are_many_far_columns(shared.far, problem.columns);
  if (shared.far > 0 && !has_many_far) warp_list_far_columns(problem, tiles, rows, i, shared);
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    if (first + rows[n] >= problem.rows) continue;
    // Some columns are not noted, and may be as far as the K-th one, at an infinite distance.
    const bool lacks_some =
        shared.noted.ends[rows[n]] < infinity && !(shared.lists.values[rows[n]][K - 1] < infinity);
    if (shared.noted.notes(rows[n]) && !lacks_some && !has_many_far) {
      warp_store_list(problem, shared.lists, rows[n], i[n]);
    } else if (lane == 0) {
      undecided.add(i[n]);
    }
  }
}

}  // namespace warpath::map_reduce::detail
