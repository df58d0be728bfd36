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

/// Goes through part of a segment by rows of 32, and gives each row to store(reference, is_less,
/// is_greater): this lane's reference, and two ballots. One full warp.
template <class Sides, class Store>
__device__ __forceinline__ void warp_for_each_row(const Sides& sides, const std::uint32_t* in,
                                                  Segment part, const typename Sides::Pivot& pivot,
                                                  Store store) {
  // Tuples lie anywhere in memory: the reads of some rows are under way at once.
  constexpr int rows = source_rows_at_once;
  for (std::uint32_t first = part.begin; first < part.end; first += rows * warp_threads) {
    std::uint32_t references[rows];
    bool is_less[rows];
    bool is_greater[rows];
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const std::uint32_t place = first + row * warp_threads + lane_index();
      references[row] = place < part.end ? in[place] : pivot.reference;
    }
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const Side side = sides.side(references[row], pivot);  // beyond the end: the pivot's own
      is_less[row] = side == Side::less;
      is_greater[row] = side == Side::greater;
    }
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      store(references[row], __ballot_sync(full_warp, is_less[row]),
            __ballot_sync(full_warp, is_greater[row]));
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

  for (int array = 0; array < arrays.count; ++array) {
    std::uint32_t* const to = temporary + static_cast<std::int64_t>(array) * level.n;
    std::uint32_t less_end = share.places.begin;
    std::uint32_t greater_begin = share.places.end;
    if (share.places.count() > 0) {
      warp_for_each_row(sides, arrays.in[array], share.places, sides.pivot(node),
                        [&](std::uint32_t reference, unsigned is_less, unsigned is_greater) {
                          if (has_own_bit(is_less)) to[less_end + own_rank(is_less)] = reference;
                          if (has_own_bit(is_greater))
                            to[greater_begin - 1 - own_rank(is_greater)] = reference;
                          less_end += __popc(is_less);
                          greater_begin -= __popc(is_greater);
                        });
    }
    if (lane_index() == 0) {
      counts[array * grid_warps() + grid_warp()] = {less_end - share.places.begin,
                                                    share.places.end - greater_begin};
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
    for (std::uint32_t i = lane_index(); i < own->less; i += warp_threads) {
      less[i] = from[share.places.begin + i];
    }
    for (std::uint32_t i = lane_index(); i < own->greater; i += warp_threads) {
      greater[i] = from[share.places.end - 1 - i];
    }
  }
}

template <class Sides>
__global__ void __launch_bounds__(source_block_threads)
    warp_per_array_kernel(Level level, Sides sides, const std::uint32_t* primary, ArrayList arrays,
                          std::uint32_t* medians) {
  for (std::int64_t i = grid_warp(); i < level.segments(); i += grid_warps()) {
    const auto k = static_cast<std::uint32_t>(i);
    const Segment segment = level.segment(k);
    const std::uint32_t node = node_of(segment, primary);
    if (lane_index() == 0) medians[k] = node;
    if (segment.count() == 0) continue;
    const auto pivot = sides.pivot(node);
    for (int array = 0; array < arrays.count; ++array) {
      std::uint32_t* less = arrays.out[array] + segment.begin;
      std::uint32_t* greater = arrays.out[array] + segment.median() + 1;
      warp_for_each_row(sides, arrays.in[array], segment, pivot,
                        [&](std::uint32_t reference, unsigned is_less, unsigned is_greater) {
                          if (has_own_bit(is_less)) less[own_rank(is_less)] = reference;
                          if (has_own_bit(is_greater)) greater[own_rank(is_greater)] = reference;
                          less += __popc(is_less);
                          greater += __popc(is_greater);
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
    for (int array = 0; array < arrays.count; ++array) {
      std::uint32_t reference = node;
      Side side = Side::pivot;
      if (has_element) {
        reference = arrays.in[array][segment.begin + lane];
        side = sides.side(reference, sides.pivot(node));
      }
      const unsigned is_less = __ballot_sync(full_warp, side == Side::less) & group;
      const unsigned is_greater = __ballot_sync(full_warp, side == Side::greater) & group;
      if (side == Side::less) arrays.out[array][segment.begin + own_rank(is_less)] = reference;
      if (side == Side::greater) {
        arrays.out[array][segment.median() + 1 + own_rank(is_greater)] = reference;
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
