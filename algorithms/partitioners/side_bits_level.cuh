// `side_bits` where segments are large: a bit vector of all tuples in global memory, which the L2
// cache holds, tells on which side of its segment's pivot each tuple lies. The primary array tells
// it by places alone, without any comparison; the other arrays look the bits up.
//
// The pass over these is that of look_back_level.cuh, one word of a look-back for both sides. But a
// tile is of one segment, so that nothing has to be found for each place.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/block_look_back.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/look_back.cuh"
#include "core/warp.cuh"
#include "partitioners/level_places.cuh"
#include "partitioners/levels.cuh"
#include "partitioners/sides.cuh"
#include "partitioners/tuning.hpp"
#include "partitioners/warp_sides.cuh"

namespace warpath::partitioners::detail {

/// Sets the bit of every tuple that is greater than its segment's pivot; all bits are 0 before. Any
/// grid of blocks of loop_threads threads.
template <int Threads = loop_threads>
__global__ void __launch_bounds__(Threads)
    note_sides_kernel(Level level, const std::uint32_t* primary, std::uint32_t* greater_bits) {
  constexpr std::uint32_t items = note_rows * warp_threads;  // of a warp at once
  const std::int64_t stride =
      static_cast<std::int64_t>(gridDim.x) * (Threads / warp_threads) * items;
  const std::int64_t warp =
      static_cast<std::int64_t>(blockIdx.x) * (Threads / warp_threads) + warp_index();
  for (std::int64_t i = warp * items; i < level.n; i += stride) {
    const auto first = static_cast<std::uint32_t>(i);
    LevelPlace of_warp = root_of(level);
    of_warp.descend(level, first, min(first + items, level.n) - 1);
    std::uint32_t references[note_rows];
#pragma unroll
    for (int row = 0; row < note_rows; ++row) {
      const std::uint32_t place = first + row * warp_threads + lane_index();
      references[row] = no_node;
      if (place >= level.n) continue;
      LevelPlace at = of_warp;
      at.descend(level, place);
      if (at.has(place) && place > at.segment.median()) references[row] = primary[place];
    }
#pragma unroll
    for (int row = 0; row < note_rows; ++row) {
      const std::uint32_t reference = references[row];
      if (reference == no_node) continue;
      atomicOr(greater_bits + reference / 32, 1u << reference % 32);
    }
  }
}

/// Tiles of a segment, and of an array.
__host__ __device__ __forceinline__ std::int64_t tiles_of_segment(Level level) {
  return divide_up(level.largest_segment(), SegmentTileShape::tile_items);
}
__host__ __device__ __forceinline__ std::int64_t segment_tiles_of_array(Level level) {
  return tiles_of_segment(level) << level.number;
}

/// A tile: a part of one segment of one array.
struct SegmentTile {
  int array;
  std::uint32_t k;
  Segment segment;
  std::uint32_t begin;  ///< its first place, which may lie beyond the segment

  __device__ __forceinline__ SegmentTile(Level level, std::int64_t tile)
      : array(static_cast<int>(tile / segment_tiles_of_array(level))) {
    const std::int64_t in_array = tile % segment_tiles_of_array(level);
    k = static_cast<std::uint32_t>(in_array / tiles_of_segment(level));
    segment = level.segment(k);
    begin = segment.begin + static_cast<std::uint32_t>(in_array % tiles_of_segment(level)) *
                                SegmentTileShape::tile_items;
  }
  /// The tile's places that the segment has.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t count() const {
    constexpr std::uint32_t most = SegmentTileShape::tile_items;
    return begin < segment.end ? min(segment.end - begin, most) : 0;
  }
  /// What all segments before this one count, and all arrays before this one.
  [[nodiscard]] __device__ __forceinline__ std::int64_t units_before(Level level) const {
    const std::uint32_t least = ((level.n + 1) >> level.number) - 1;
    const std::uint32_t larger = segment.begin - k * (least + 1);
    return static_cast<std::int64_t>(array) * units_of_subtree(level.n, level.number) +
           static_cast<std::int64_t>(k - larger) * units_of_segment(least) +
           static_cast<std::int64_t>(larger) * units_of_segment(least + 1);
  }
};

struct SegmentTileStorage {
  BlockTile tile;
  std::uint32_t warp_counts[SegmentTileShape::warps];
};

/// Any grid, with sizeof(SegmentTileStorage) bytes of shared memory; look_back is for
/// arrays.count * segment_tiles_of_array(level) tiles, at least 1. *total: memory for what all
/// count.
template <class Shape = SegmentTileShape>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    segment_tiles_kernel(Level level, LookUpSides sides, const std::uint32_t* primary,
                         ArrayList arrays, LookBack look_back, std::int64_t* total,
                         std::uint32_t* medians) {
  auto& shared = dynamic_shared<SegmentTileStorage>();
  grid_store_medians(level, primary, medians);

  do {
    const TileTicket ticket = block_draw(look_back, shared.tile);
    if (ticket.tile < 0) break;

    const SegmentTile tile(level, ticket.tile);
    const auto pivot = sides.pivot(node_of(tile.segment, primary));
    std::uint32_t references[Shape::rows];
    load_rows(references, arrays.in[tile.array],
              tile.begin + warp_index() * Shape::warp_items + lane_index(), tile.segment.end,
              pivot.reference);
    WarpSides<Shape::rows> found;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      const Side side = sides.side(references[row], pivot);
      found.set(row, side == Side::less      ? side_less
                     : side == Side::greater ? side_greater
                                             : no_side);
    }
    const BlockCounts counts = block_counts<Shape>(found.counts(), shared.warp_counts);

    const auto tile_units = [&] {
      const std::uint32_t less = less_of(counts.all);
      const std::uint32_t pivots = tile.count() - less - greater_of(counts.all);
      return less * units_of_less + pivots * units_of_pivot;
    };
    const std::int64_t before = block_place(look_back, ticket, tile_units, shared.tile, total);
    const auto in_segment = static_cast<std::uint32_t>(before - tile.units_before(level));
    const std::uint32_t less = in_segment / units_of_less;
    const std::uint32_t pivots = in_segment % units_of_less;
    std::uint32_t* const less_out = arrays.out[tile.array] + tile.segment.begin + less;
    std::uint32_t* const greater_out = arrays.out[tile.array] + tile.segment.median() + 1 +
                                       (tile.begin - tile.segment.begin - less - pivots);
    found.for_each(
        counts.before, [](int) { return 0u; },
        [&](int row, bool is_less, std::uint32_t rank) {
          (is_less ? less_out : greater_out)[rank] = references[row];
        });
    __syncthreads();  // the ticket and the counts are read
  } while (!look_back.draws_once());
}

}  // namespace warpath::partitioners::detail
