// The source's four partitioners. Each takes all segments of a level, in all of its arrays.
//
//   multi_warp      each segment has an equal number of warps, and each of them a part of it. A
//                   warp writes what is less to the front of its part of a temporary array, and
//                   what is greater to the back, in reverse; a second kernel closes the gaps.
//   warp_per_array  each warp goes through segments, and writes both sides to their places.
//   sub_warp        the same by 16, 8 or 4 lanes.
//   leaf            a thread takes a segment of 1, 2 or 3 elements: a node and its children.
//
// Source: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Partitioning". A warp reads 32
// references and compares their tuples with the pivot; a ballot tells all lanes which of them are
// less, which are greater; the ones below its own bit tell a lane its place.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/divide_up.hpp"
#include "core/warp.cuh"
#include "partitioners/levels.cuh"
#include "partitioners/sides.cuh"
#include "partitioners/tuning.hpp"

namespace warpath::partitioners::detail {

/// This warp's number in the grid, and how many warps the grid has.
__device__ __forceinline__ std::int64_t grid_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * source_block_warps + warp_index();
}
__device__ __forceinline__ std::int64_t grid_warps() {
  return static_cast<std::int64_t>(gridDim.x) * source_block_warps;
}

/// How many elements lie on each side.
struct SideCounts {
  std::uint32_t less;
  std::uint32_t greater;
};

/// Goes through part of a segment by rows of 32, in source_arrays_at_once arrays from `first_array`
/// on, and gives each row to store(i, reference, is_less, is_greater): the i-th of these arrays,
/// this lane's reference, and two ballots. One full warp.
template <class Sides, class Store>
__device__ __forceinline__ void warp_for_each_row(const Sides& sides, const ArrayList& arrays,
                                                  int first_array, Segment part,
                                                  const typename Sides::Pivot& pivot, Store store) {
  // Tuples lie anywhere in memory: the reads of some rows are under way at once.
  constexpr int at_once = source_arrays_at_once;
  constexpr int rows = source_rows_at_once;
  for (std::uint32_t first = part.begin; first < part.end; first += rows * warp_threads) {
    std::uint32_t references[at_once][rows];
    Side side[at_once][rows];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const std::uint32_t* const in = arrays.in[min(first_array + i, arrays.count - 1)];
#pragma unroll
      for (int row = 0; row < rows; ++row) {
        const std::uint32_t place = first + row * warp_threads + lane_index();
        const bool is_there = place < part.end && first_array + i < arrays.count;
        references[i][row] = is_there ? in[place] : pivot.reference;
      }
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
#pragma unroll
      for (int row = 0; row < rows; ++row) {
        side[i][row] = sides.side(references[i][row], pivot);  // beyond the end: the pivot's own
      }
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
#pragma unroll
      for (int row = 0; row < rows; ++row) {
        store(i, references[i][row], __ballot_sync(full_warp, side[i][row] == Side::less),
              __ballot_sync(full_warp, side[i][row] == Side::greater));
      }
    }
  }
}

__device__ __forceinline__ bool has_own_bit(unsigned ballot) {
  return (ballot >> lane_index() & 1) != 0;
}
/// The place of this lane's element among those of a ballot.
__device__ __forceinline__ std::uint32_t own_rank(unsigned ballot) {
  return static_cast<std::uint32_t>(__popc(ballot & lanes_below()));
}

/// What a warp of multi_warp has to do: part number `part` of segment k.
struct WarpShare {
  std::uint32_t k;
  int part;
  Segment segment;
  Segment places;  ///< those of the part: equal numbers of whole rows, but for the last ones

  __device__ WarpShare(Level level, int warps_a_segment)
      : k(static_cast<std::uint32_t>(grid_warp() / warps_a_segment)),
        part(static_cast<int>(grid_warp() % warps_a_segment)) {
    if (!is_there(level)) return;
    segment = level.segment(k);
    const std::int64_t rows = divide_up(segment.count(), warp_threads);
    const auto length = static_cast<std::int64_t>(divide_up(rows, warps_a_segment)) * warp_threads;
    const auto end_of = [&](std::int64_t parts) {
      return segment.begin + static_cast<std::uint32_t>(
                                 min(parts * length, static_cast<std::int64_t>(segment.count())));
    };
    places = {end_of(part), end_of(part + 1)};
  }
  [[nodiscard]] __device__ bool is_there(Level level) const { return k < level.segments(); }
};

/// First pass. temporary: level.n places an array; counts: one a warp of the grid, for each array.
template <class Sides>
__global__ void __launch_bounds__(source_block_threads)
    multi_warp_kernel(Level level, Sides sides, const std::uint32_t* primary, ArrayList arrays,
                      int warps_a_segment, std::uint32_t* temporary, SideCounts* counts,
                      std::uint32_t* medians) {
  const WarpShare share(level, warps_a_segment);
  if (!share.is_there(level)) return;
  const std::uint32_t node = node_of(share.segment, primary);
  if (share.part == 0 && lane_index() == 0) medians[share.k] = node;

  constexpr int at_once = source_arrays_at_once;
  for (int first = 0; first < arrays.count; first += at_once) {
    std::uint32_t less_end[at_once];
    std::uint32_t greater_begin[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      less_end[i] = share.places.begin;
      greater_begin[i] = share.places.end;
    }
    if (share.places.count() > 0) {
      warp_for_each_row(sides, arrays, first, share.places, sides.pivot(node),
                        [&](int i, std::uint32_t reference, unsigned is_less, unsigned is_greater) {
                          std::uint32_t* const to =
                              temporary + static_cast<std::int64_t>(first + i) * level.n;
                          if (has_own_bit(is_less)) to[less_end[i] + own_rank(is_less)] = reference;
                          if (has_own_bit(is_greater)) {
                            to[greater_begin[i] - 1 - own_rank(is_greater)] = reference;
                          }
                          less_end[i] += __popc(is_less);
                          greater_begin[i] -= __popc(is_greater);
                        });
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      if (lane_index() != 0 || first + i >= arrays.count) continue;
      counts[(first + i) * grid_warps() + grid_warp()] = {less_end[i] - share.places.begin,
                                                          share.places.end - greater_begin[i]};
    }
  }
}

/// Copies `count` references from from(0), from(1), ... to `to`. One full warp.
template <class From>
__device__ __forceinline__ void warp_copy(std::uint32_t* to, std::uint32_t count, From from) {
  constexpr int rows = source_rows_at_once;
  for (std::uint32_t first = lane_index(); first < count; first += rows * warp_threads) {
    std::uint32_t references[rows];
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const std::uint32_t i = first + row * warp_threads;
      references[row] = i < count ? from(i) : 0;
    }
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const std::uint32_t i = first + row * warp_threads;
      if (i < count) to[i] = references[row];
    }
  }
}

/// Second pass, with the same grid: each warp sums the counts of the lower warps of its segment,
/// and copies both sides of its part there.
template <int Threads = source_block_threads>
__global__ void __launch_bounds__(Threads)
    close_gaps_kernel(Level level, ArrayList arrays, int warps_a_segment,
                      const std::uint32_t* temporary, const SideCounts* counts) {
  const WarpShare share(level, warps_a_segment);
  if (!share.is_there(level) || share.places.count() == 0) return;

  for (int array = 0; array < arrays.count; ++array) {
    const SideCounts* const own = counts + array * grid_warps() + grid_warp();
    SideCounts lower{0, 0};
    for (int part = lane_index(); part < share.part; part += warp_threads) {
      lower.less += own[part - share.part].less;
      lower.greater += own[part - share.part].greater;
    }
    const std::uint32_t* const from = temporary + static_cast<std::int64_t>(array) * level.n;
    std::uint32_t* const less = arrays.out[array] + share.segment.begin + warp_sum(lower.less);
    std::uint32_t* const greater =
        arrays.out[array] + share.segment.median() + 1 + warp_sum(lower.greater);
    warp_copy(less, own->less, [&](std::uint32_t i) { return from[share.places.begin + i]; });
    warp_copy(greater, own->greater,
              [&](std::uint32_t i) { return from[share.places.end - 1 - i]; });
  }
}

template <class Sides>
__global__ void __launch_bounds__(source_block_threads)
    warp_per_array_kernel(Level level, Sides sides, const std::uint32_t* primary, ArrayList arrays,
                          std::uint32_t* medians) {
  for (std::int64_t number = grid_warp(); number < level.segments(); number += grid_warps()) {
    const auto k = static_cast<std::uint32_t>(number);
    const Segment segment = level.segment(k);
    const std::uint32_t node = node_of(segment, primary);
    if (lane_index() == 0) medians[k] = node;
    if (segment.count() == 0) continue;
    const auto pivot = sides.pivot(node);
    constexpr int at_once = source_arrays_at_once;
    for (int first = 0; first < arrays.count; first += at_once) {
      std::uint32_t less[at_once] = {};
      std::uint32_t greater[at_once] = {};
      warp_for_each_row(sides, arrays, first, segment, pivot,
                        [&](int i, std::uint32_t reference, unsigned is_less, unsigned is_greater) {
                          const bool is_own_less = has_own_bit(is_less);
                          if (is_own_less || has_own_bit(is_greater)) {
                            const std::uint32_t place =
                                is_own_less
                                    ? segment.begin + less[i] + own_rank(is_less)
                                    : segment.median() + 1 + greater[i] + own_rank(is_greater);
                            arrays.out[first + i][place] = reference;
                          }
                          less[i] += __popc(is_less);
                          greater[i] += __popc(is_greater);
                        });
    }
  }
}

/// Segments of at most `Lanes` elements. Each group of so many lanes has a segment of its own, and
/// sees only its own bits of the warp's ballots.
template <int Lanes, class Sides>
__global__ void __launch_bounds__(source_block_threads)
    sub_warp_kernel(Level level, Sides sides, const std::uint32_t* primary, ArrayList arrays,
                    std::uint32_t* medians) {
  constexpr int groups = warp_threads / Lanes;
  const int lane = lane_index() % Lanes;
  const unsigned group = full_warp >> (warp_threads - Lanes) << (lane_index() - lane);
  // The warp goes on as long as its first group has a segment, since all lanes vote.
  for (std::int64_t first = grid_warp() * groups; first < level.segments();
       first += grid_warps() * groups) {
    const auto k = static_cast<std::uint32_t>(first + lane_index() / Lanes);
    const bool has_segment = k < level.segments();
    const Segment segment = has_segment ? level.segment(k) : Segment{};
    const std::uint32_t node = node_of(segment, primary);
    if (has_segment && lane == 0) medians[k] = node;

    const bool has_element = segment.begin + lane < segment.end;
    constexpr int at_once = source_arrays_at_once;
    for (int first_array = 0; first_array < arrays.count; first_array += at_once) {
      // The tuples of some arrays are read at once.
      std::uint32_t references[at_once];
      Side side[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const bool is_there = has_element && first_array + i < arrays.count;
        references[i] = is_there ? arrays.in[first_array + i][segment.begin + lane] : node;
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        side[i] =
            references[i] == node ? Side::pivot : sides.side(references[i], sides.pivot(node));
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const unsigned is_less = __ballot_sync(full_warp, side[i] == Side::less) & group;
        const unsigned is_greater = __ballot_sync(full_warp, side[i] == Side::greater) & group;
        if (side[i] == Side::pivot) continue;
        const std::uint32_t place = side[i] == Side::less
                                        ? segment.begin + own_rank(is_less)
                                        : segment.median() + 1 + own_rank(is_greater);
        arrays.out[first_array + i][place] = references[i];
      }
    }
  }
}

/// Segments of at most 3 elements, which the primary array has in order: a thread stores the node
/// of each, and its children to the median store of the next level, if that is not null.
template <int Threads = loop_threads>
__global__ void __launch_bounds__(Threads)
    leaf_kernel(Level level, const std::uint32_t* primary, std::uint32_t* medians,
                std::uint32_t* next_medians) {
  const std::uint32_t stride = gridDim.x * Threads;
  for (std::uint32_t k = blockIdx.x * Threads + threadIdx.x; k < level.segments(); k += stride) {
    const Segment segment = level.segment(k);
    medians[k] = node_of(segment, primary);
    if (next_medians != nullptr) {
      next_medians[2 * k] = node_of(segment.less_side(), primary);
      next_medians[2 * k + 1] = node_of(segment.greater_side(), primary);
    }
  }
}

}  // namespace warpath::partitioners::detail
