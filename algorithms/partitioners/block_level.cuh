// `side_bits` where a block can hold the sides of whole segments: its shared memory has them
// (side_tables.cuh), and nothing outside the block's own places is read or waited for.
//
//   block_segments_kernel   a block for each segment, which it goes through tile by tile
//   block_ranges_kernel     a block for a range of segments, which is one tile: a segment of a
//                           higher level and what has become of it
//
// All arrays have the same tuples in a range. The primary array tells their sides by their places;
// then the block partitions its part of each other array, with ranks from ballots and a sum over
// its warps.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/launch.cuh"
#include "core/warp.cuh"
#include "partitioners/level_places.cuh"
#include "partitioners/levels.cuh"
#include "partitioners/side_tables.cuh"
#include "partitioners/sides.cuh"
#include "partitioners/tuning.hpp"
#include "partitioners/warp_sides.cuh"

namespace warpath::partitioners::detail {

/// What a block has in shared memory before its tables.
template <class Shape>
struct alignas(16) BlockLevelStorage {
  std::uint32_t warp_counts[2][Shape::warps];  ///< of two arrays or tiles in turn

  [[nodiscard]] __device__ std::uint32_t* tables() {
    return reinterpret_cast<std::uint32_t*>(this + 1);
  }
};

/// The side of the reference at a place of an array, by comparison.
template <class Sides>
__device__ __forceinline__ std::uint32_t compare_at(Level level, const Sides& sides,
                                                    const std::uint32_t* primary,
                                                    const std::uint32_t* in, std::uint32_t place) {
  LevelPlace at = root_of(level);
  at.descend(level, place);
  const Side side = sides.side(in[place], sides.pivot(primary[at.segment.median()]));
  return side == Side::less ? side_less : side_greater;
}

/// Finds the sides of a warp's rows. A reference that equals pivot_of(row) has none; compare(row)
/// is asked for what the tables do not tell.
template <int Rows, class PivotOf, class Compare>
__device__ __forceinline__ WarpSides<Rows> look_up_rows(const SideTables& tables,
                                                        const std::uint32_t (&references)[Rows],
                                                        PivotOf pivot_of, Compare compare) {
  WarpSides<Rows> sides;
  unsigned unknown = 0;
#pragma unroll
  for (int row = 0; row < Rows; ++row) {
    std::uint32_t side = tables.find(references[row]);
    if (references[row] == pivot_of(row)) side = no_side;
    sides.set(row, side);
    if (side == both_sides) unknown |= 1u << row;
  }
  // Not unrolled, since it is rare: its code and registers count once.
#pragma unroll 1
  for (; unknown != 0; unknown &= unknown - 1) {
    const int row = __ffs(static_cast<int>(unknown)) - 1;
    sides.keep(row, compare(row));
  }
  return sides;
}

/// Notes the sides of a segment's tuples, by their places in the primary array. The whole block.
template <class Shape>
__device__ __forceinline__ void block_note_segment(const SideTables& tables, Segment segment,
                                                   const std::uint32_t* primary,
                                                   std::uint32_t node) {
  tables.block_clear();
  __syncthreads();  // the tables are empty
  const std::uint32_t own = warp_index() * Shape::warp_items + lane_index();
#pragma unroll 1
  for (int step = 0; step < 2; ++step) {
    for (std::uint32_t tile = segment.begin; tile < segment.end; tile += Shape::tile_items) {
      std::uint32_t references[Shape::rows];
      load_rows(references, primary, tile + own, segment.end, node);
#pragma unroll
      for (int row = 0; row < Shape::rows; ++row) {
        if (references[row] == node) continue;
        const bool is_less = tile + own + row * warp_threads < segment.median();
        const std::uint32_t side = is_less ? side_less : side_greater;
        if (step == 0) {
          tables.note(references[row], side);
        } else {
          tables.note_again(references[row], side);
        }
      }
    }
    __syncthreads();  // all sides are noted, in one table or in both
  }
}

/// A block for each segment, and dynamic shared memory for BlockLevelStorage and the tables.
template <class Sides, class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    block_segments_kernel(Level level, Sides sides, const std::uint32_t* primary, ArrayList arrays,
                          std::uint32_t* medians, SideTableSize size) {
  auto& shared = dynamic_shared<BlockLevelStorage<Shape>>();
  const SideTables tables(shared.tables(), size);
  const Segment segment = level.segment(blockIdx.x);
  const std::uint32_t node = node_of(segment, primary);
  if (threadIdx.x == 0) medians[blockIdx.x] = node;
  if (segment.count() == 0) return;
  block_note_segment<Shape>(tables, segment, primary, node);

  const std::uint32_t own = warp_index() * Shape::warp_items + lane_index();
  int turn = 0;
  for (int array = 0; array < arrays.count; ++array) {
    const std::uint32_t* const in = arrays.in[array];
    std::uint32_t* less = arrays.out[array] + segment.begin;
    std::uint32_t* greater = arrays.out[array] + segment.median() + 1;
    std::uint32_t next[Shape::rows];
    load_rows(next, in, segment.begin + own, segment.end, node);
    for (std::uint32_t tile = segment.begin; tile < segment.end; tile += Shape::tile_items) {
      std::uint32_t references[Shape::rows];
#pragma unroll
      for (int row = 0; row < Shape::rows; ++row) references[row] = next[row];
      load_rows(next, in, tile + Shape::tile_items + own, segment.end, node);

      const auto found = look_up_rows(
          tables, references, [&](int) { return node; },
          [&](int row) {
            return compare_at(level, sides, primary, in, tile + own + row * warp_threads);
          });
      const BlockCounts counts = block_counts<Shape>(found.counts(), shared.warp_counts[turn]);
      found.for_each(
          counts.before, [](int) { return 0u; },
          [&](int row, bool is_less, std::uint32_t rank) {
            (is_less ? less : greater)[rank] = references[row];
          });
      less += less_of(counts.all);
      greater += greater_of(counts.all);
      turn = 1 - turn;
    }
  }
}

/// What a place of a range is. Places are counted from the range's first one.
struct RangePlace {
  std::uint32_t side;  ///< of the primary array's element; no_side: the pivot, or none
  bool is_pivot;
  bool has_element;
  /// Where the segment's sides begin, less what segments before it have on them: added to counts of
  /// the range, this gives the places of elements.
  std::uint32_t bases;
};

/// The segments of a range, each with the gap after it: 2^depth shares of the range's places and
/// the gap after them, equal but for rounding up or down.
class RangeSegments {
 public:
  __device__ __forceinline__ RangeSegments(std::uint32_t count, int depth)
      : depth_(depth), count_(count), least_((count + 1) >> depth) {}

  /// A node on the way down from the range to its segments.
  struct Share {
    std::uint32_t begin;
    std::uint32_t length;
    std::uint32_t number;  ///< of the nodes of its depth

    /// Goes to the half that has `place`.
    __device__ __forceinline__ void descend(std::uint32_t place) {
      const std::uint32_t half = length / 2;
      const bool is_greater = place >= begin + half;
      begin += is_greater ? half : 0;
      length = is_greater ? length - half : half;
      number = 2 * number + (is_greater ? 1 : 0);
    }
  };
  /// The shares of a warp's rows: `first`, the first row's place of this lane, lies in the warp's
  /// places from first_of_warp on.
  template <int Rows>
  __device__ __forceinline__ void find(Share (&shares)[Rows], std::uint32_t first_of_warp,
                                       std::uint32_t first) const {
    // The same in all lanes, as long as one node has all of the warp's places.
    Share node{0, count_ + 1, 0};
    int depth = 0;
    for (; depth < depth_; ++depth) {
      const std::uint32_t greater = node.begin + node.length / 2;
      if (first_of_warp < greater && first_of_warp + Rows * warp_threads > greater) break;
      node.descend(first_of_warp);
    }
#pragma unroll
    for (int row = 0; row < Rows; ++row) shares[row] = node;
    for (; depth < depth_; ++depth) {
#pragma unroll
      for (int row = 0; row < Rows; ++row) shares[row].descend(first + row * warp_threads);
    }
  }
  /// What a place is that a segment's share has.
  [[nodiscard]] __device__ __forceinline__ RangePlace place(const Share& share,
                                                            std::uint32_t place) const {
    const std::uint32_t greater_begin = share.begin + share.length / 2;
    const bool has_element = place + 1 < share.begin + share.length && place < count_;
    const bool is_pivot = has_element && place + 1 == greater_begin;
    const std::uint32_t side = place < greater_begin ? side_less : side_greater;
    const std::uint32_t larger = share.begin - share.number * least_;  // shares before this one
    return {has_element && !is_pivot ? side : no_side, is_pivot, has_element,
            (share.begin << 16 | greater_begin) - share.number * counts_of(least_) -
                larger * (counts_of(least_ + 1) - counts_of(least_))};
  }

 private:
  /// What a share has on each side.
  __device__ __forceinline__ static std::uint32_t counts_of(std::uint32_t length) {
    const auto count = static_cast<int>(length);
    return count < 2 ? 0 : side_counts(count / 2 - 1, (count + 1) / 2 - 1);
  }

  int depth_;
  std::uint32_t count_;
  std::uint32_t least_;
};

/// A block for each segment of level `range_level`, which have at most Shape::tile_items elements;
/// dynamic shared memory for BlockLevelStorage, the tables, and a word for each segment of a range.
template <class Sides, class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    block_ranges_kernel(Level level, int range_level, Sides sides, const std::uint32_t* primary,
                        ArrayList arrays, std::uint32_t* medians, SideTableSize size) {
  static_assert(Shape::tile_items < 1 << 16, "places of a range are halves of a word");
  auto& shared = dynamic_shared<BlockLevelStorage<Shape>>();
  const SideTables tables(shared.tables(), size);
  std::uint32_t* const nodes = shared.tables() + size.words();
  const Segment range = Level{level.n, range_level}.segment(blockIdx.x);
  const RangeSegments segments(range.count(), level.number - range_level);
  const std::uint32_t count = std::uint32_t{1} << (level.number - range_level);

  const std::uint32_t first_of_warp = warp_index() * Shape::warp_items;
  const std::uint32_t own = first_of_warp + lane_index();
  tables.block_clear();
  for (std::uint32_t i = threadIdx.x; i < count; i += Shape::threads) nodes[i] = no_node;
  __syncthreads();  // the tables are empty

  std::uint32_t references[Shape::rows];
  std::uint32_t pivots[Shape::rows];  // of each row's segment: first its number, then its node
  std::uint32_t bases[Shape::rows];
  WarpSides<Shape::rows> sides_of_primary;
  unsigned elements = 0;  // a bit for each row: whether its place is no gap
  RangeSegments::Share shares[Shape::rows];
  segments.find(shares, first_of_warp, own);
#pragma unroll
  for (int row = 0; row < Shape::rows; ++row) {
    const std::uint32_t place = own + row * warp_threads;
    const RangePlace at = segments.place(shares[row], place);
    references[row] = at.has_element ? primary[range.begin + place] : no_node;
    elements |= (at.has_element ? 1u : 0u) << row;
    sides_of_primary.set(row, at.side);
    bases[row] = at.bases;
    pivots[row] = shares[row].number;
    if (at.is_pivot) nodes[pivots[row]] = references[row];
  }
#pragma unroll
  for (int row = 0; row < Shape::rows; ++row) {
    const std::uint32_t side = sides_of_primary.get(row);
    if (side != no_side) tables.note(references[row], side);
  }
  const auto load = [&](std::uint32_t(&rows)[Shape::rows], const std::uint32_t* array) {
    const std::uint32_t* const from = array + range.begin + own;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      rows[row] = (elements >> row & 1) != 0 ? from[row * warp_threads] : no_node;
    }
  };
  std::uint32_t next[Shape::rows];
  load(next, arrays.in[0]);
  __syncthreads();  // the nodes are there, and all sides in the first table
#pragma unroll
  for (int row = 0; row < Shape::rows; ++row) {
    const std::uint32_t side = sides_of_primary.get(row);
    if (side != no_side) tables.note_again(references[row], side);
    pivots[row] = (elements >> row & 1) != 0 ? nodes[pivots[row]] : no_node;
  }
  for (std::uint32_t i = threadIdx.x; i < count; i += Shape::threads) {
    medians[(blockIdx.x << (level.number - range_level)) + i] = nodes[i];
  }
  __syncthreads();  // all sides are noted

  for (int array = 0; array < arrays.count; ++array) {
    std::uint32_t* const out = arrays.out[array] + range.begin;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) references[row] = next[row];
    if (array + 1 < arrays.count) load(next, arrays.in[array + 1]);
    const auto found = look_up_rows(
        tables, references, [&](int row) { return pivots[row]; },
        [&](int row) {
          return compare_at(level, sides, primary, arrays.in[array],
                            range.begin + own + row * warp_threads);
        });
    const BlockCounts counts = block_counts<Shape>(found.counts(), shared.warp_counts[array % 2]);
    found.for_each(
        counts.before, [&](int row) { return bases[row]; },
        [&](int row, bool, std::uint32_t place) { out[place] = references[row]; });
  }
}

}  // namespace warpath::partitioners::detail
