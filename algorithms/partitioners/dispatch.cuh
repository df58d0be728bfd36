// From a level to its kernels: which partitioner or variant, which grid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "partitioners/arguments.cuh"
#include "partitioners/block_level.cuh"
#include "partitioners/levels.cuh"
#include "partitioners/look_back_level.cuh"
#include "partitioners/selection.hpp"
#include "partitioners/side_bits_level.cuh"
#include "partitioners/side_tables.cuh"
#include "partitioners/sides.cuh"
#include "partitioners/source_partitioners.cuh"
#include "partitioners/tuning.hpp"
#include "partitioners/variant.hpp"

namespace warpath::partitioners::detail {

/// A level's primary array and what is partitioned about its medians, in device memory.
struct LevelArguments {
  Level level;
  const std::uint32_t* primary;
  ArrayList arrays;
  std::uint32_t* medians;
  std::uint32_t* next_medians;  ///< null if this is the last level
};

inline unsigned source_blocks(int warps) {
  return static_cast<unsigned>(divide_up(warps, source_block_warps));
}

/// The grid of a kernel that loops over `count` places: at most 4096 blocks.
inline LaunchShape loop_over(std::int64_t count, cudaStream_t stream) {
  const std::int64_t blocks = std::clamp<std::int64_t>(divide_up(count, loop_threads), 1, 4096);
  return {static_cast<unsigned>(blocks), loop_threads, 0, stream};
}

/// Stores the nodes of the level, and of the next one if asked to.
inline void run_leaf(const LevelArguments& a, std::uint32_t* next_medians, cudaStream_t stream) {
  launch(loop_over(a.level.segments(), stream), leaf_kernel<>, a.level, a.primary, a.medians,
         next_medians);
}

/// Notes in `greater_bits`, of a bit a tuple, which tuples are greater than their segment's pivot.
inline void run_note_sides(const LevelArguments& a, std::int64_t tuple_count,
                           std::uint32_t* greater_bits, cudaStream_t stream) {
  const auto words = static_cast<std::size_t>(divide_up(tuple_count, 32));
  WARPATH_CUDA_CHECK(cudaMemsetAsync(greater_bits, 0, words * sizeof(std::uint32_t), stream));
  launch(loop_over(a.level.n, stream), note_sides_kernel<>, a.level, a.primary, greater_bits);
}

template <class Sides>
void run_multi_warp(const LevelArguments& a, const Sides& sides, int warps,
                    std::uint32_t* temporary, SideCounts* counts, cudaStream_t stream) {
  const int warps_a_segment = warps / static_cast<int>(a.level.segments());
  const unsigned blocks = source_blocks(warps);
  launch({blocks, source_block_threads, 0, stream}, multi_warp_kernel<Sides>, a.level, sides,
         a.primary, a.arrays, warps_a_segment, temporary, counts, a.medians);
  launch({blocks, source_block_threads, 0, stream}, close_gaps_kernel<>, a.level, a.arrays,
         warps_a_segment, temporary, counts);
}

template <class Sides>
void run_sub_warp(const LevelArguments& a, const Sides& sides, int warps, cudaStream_t stream) {
  const std::uint32_t largest = a.level.largest_segment();
  const auto kernel = largest <= 4   ? sub_warp_kernel<4, Sides>
                      : largest <= 8 ? sub_warp_kernel<8, Sides>
                                     : sub_warp_kernel<16, Sides>;
  launch({source_blocks(warps), source_block_threads, 0, stream}, kernel, a.level, sides, a.primary,
         a.arrays, a.medians);
}

/// One of the first three. temporary, counts: of multi_warp.
template <class Sides>
void run_partitioner(const LevelArguments& a, const Sides& sides, const Options& options,
                     std::uint32_t* temporary, SideCounts* counts, cudaStream_t stream) {
  const Partitioner partitioner = partitioner_of(a.level, options);
  if (partitioner == Partitioner::multi_warp) {
    run_multi_warp(a, sides, options.warps, temporary, counts, stream);
  } else if (partitioner == Partitioner::sub_warp) {
    run_sub_warp(a, sides, options.warps, stream);
  } else {
    launch({source_blocks(options.warps), source_block_threads, 0, stream},
           warp_per_array_kernel<Sides>, a.level, sides, a.primary, a.arrays, a.medians);
  }
}

template <class Sides>
void run_source(const LevelArguments& a, const Sides& sides, std::int64_t tuple_count,
                const Options& options, Workspace& workspace, cudaStream_t stream) {
  const bool has_parts = partitioner_of(a.level, options) == Partitioner::multi_warp;
  const std::int64_t arrays = has_parts ? a.arrays.count : 0;
  const auto [temporary, counts, greater_bits] =
      workspace.take<std::uint32_t, SideCounts, std::uint32_t>(
          stream, arrays * a.level.n, arrays * source_blocks(options.warps) * source_block_warps,
          options.notes_sides ? divide_up(tuple_count, 32) : 0);
  if (options.notes_sides) {
    run_note_sides(a, tuple_count, greater_bits, stream);
    run_partitioner(a, LookUpSides{greater_bits}, options, temporary, counts, stream);
  } else {
    run_partitioner(a, sides, options, temporary, counts, stream);
  }
}

template <class Sides>
void run_look_back(const LevelArguments& a, const Sides& sides, Workspace& workspace,
                   cudaStream_t stream) {
  const auto kernel = look_back_level_kernel<Sides>;
  const std::int64_t tiles = a.arrays.count * tiles_of_array(a.level);
  const std::int64_t resident = resident_blocks(kernel, LevelShape::threads, sizeof(LevelStorage));
  const auto [total] = workspace.take<std::int64_t>(stream, 1);
  launch({static_cast<unsigned>(std::min(tiles, resident)), LevelShape::threads,
          sizeof(LevelStorage), stream},
         kernel, a.level, sides, a.primary, a.arrays, workspace.look_back(stream, tiles), total,
         a.medians);
}

inline void run_segment_tiles(const LevelArguments& a, std::int64_t tuple_count,
                              Workspace& workspace, cudaStream_t stream) {
  const auto kernel = segment_tiles_kernel<>;
  const auto [total, greater_bits] =
      workspace.take<std::int64_t, std::uint32_t>(stream, 1, divide_up(tuple_count, 32));
  run_note_sides(a, tuple_count, greater_bits, stream);
  const std::int64_t tiles = a.arrays.count * segment_tiles_of_array(a.level);
  const std::int64_t resident =
      resident_blocks(kernel, SegmentTileShape::threads, sizeof(SegmentTileStorage));
  launch({static_cast<unsigned>(std::min(tiles, resident)), SegmentTileShape::threads,
          sizeof(SegmentTileStorage), stream},
         kernel, a.level, LookUpSides{greater_bits}, a.primary, a.arrays,
         workspace.look_back(stream, tiles), total, a.medians);
}

/// The most bytes that a block's tables can have.
template <class Shape>
std::size_t most_table_bytes() {
  return std::min(Shape::block_bytes, device_shared_bytes()) - sizeof(BlockLevelStorage<Shape>);
}

/// A block a segment.
template <class Shape, class Sides>
void run_block_segments(const LevelArguments& a, const Sides& sides, cudaStream_t stream) {
  const SideTableSize size =
      side_table_size(a.level.largest_segment(), Shape::cells, most_table_bytes<Shape>());
  launch({a.level.segments(), Shape::threads,
          sizeof(BlockLevelStorage<Shape>) + size.words() * sizeof(std::uint32_t), stream},
         block_segments_kernel<Sides, Shape>, a.level, sides, a.primary, a.arrays, a.medians, size);
}

/// A block a range of segments: the largest ranges that one tile holds. Segments have at most
/// Shape::tile_items elements.
template <class Shape, class Sides>
void run_block_ranges(const LevelArguments& a, const Sides& sides, cudaStream_t stream) {
  Level ranges{a.level.n, 0};
  while (ranges.largest_segment() > Shape::tile_items) ++ranges.number;
  const std::size_t nodes = (std::size_t{1} << (a.level.number - ranges.number)) * 4;
  const SideTableSize size =
      side_table_size(ranges.largest_segment(), Shape::cells, most_table_bytes<Shape>() - nodes);
  launch({ranges.segments(), Shape::threads,
          sizeof(BlockLevelStorage<Shape>) + size.words() * sizeof(std::uint32_t) + nodes, stream},
         block_ranges_kernel<Sides, Shape>, a.level, ranges.number, sides, a.primary, a.arrays,
         a.medians, size);
}

/// Where `side_bits` holds the sides of a level's tuples.
enum class SideStore {
  bits,            ///< in global memory, for all segments
  large_segments,  ///< in shared memory, of a segment a block, and a block a multiprocessor
  segments,        ///< the same, but several blocks a multiprocessor
  ranges           ///< in shared memory, of several segments a block
};

/// The choice by the size of segments: the smaller they are, the less a block has to hold.
inline SideStore side_store_of(Level level) {
  const std::uint32_t largest = level.largest_segment();
  if (largest <= most_of_range_store) return SideStore::ranges;
  // A segment has one block, and all multiprocessors shall have some.
  const auto processors = static_cast<std::uint32_t>(device_processors());
  if (level.segments() < processors - processors / 4) return SideStore::bits;
  if (largest <= most_of_segment_store) return SideStore::segments;
  return largest <= most_tuples_of_tables(most_table_bytes<LargeSegmentShape>())
             ? SideStore::large_segments
             : SideStore::bits;
}

template <class Sides>
void run_side_bits(const LevelArguments& a, const Sides& sides, std::int64_t tuple_count,
                   Workspace& workspace, cudaStream_t stream) {
  switch (side_store_of(a.level)) {
    case SideStore::bits:
      return run_segment_tiles(a, tuple_count, workspace, stream);
    case SideStore::large_segments:
      return run_block_segments<LargeSegmentShape>(a, sides, stream);
    case SideStore::segments:
      return run_block_segments<SegmentShape>(a, sides, stream);
    case SideStore::ranges:
      return run_block_ranges<RangeShape>(a, sides, stream);
  }
}

/// Partitions a level by the variant that `options` name. Where there is nothing to partition, all
/// that is left of any variant is the level's nodes.
template <class Coordinate>
void run_level(const LevelArguments& a, const TupleOrder<Coordinate>& order,
               std::int64_t tuple_count, const Options& options, Workspace& workspace,
               cudaStream_t stream) {
  const CompareSides<Coordinate> sides{order};
  if (partitioner_of(a.level, options) == Partitioner::leaf) {
    run_leaf(a, a.next_medians, stream);
  } else if (a.arrays.count == 0 || a.level.n == 0) {
    run_leaf(a, nullptr, stream);
  } else if (options.variant == Variant::source) {
    run_source(a, sides, tuple_count, options, workspace, stream);
  } else if (options.variant == Variant::look_back) {
    run_look_back(a, sides, workspace, stream);
  } else {
    run_side_bits(a, sides, tuple_count, workspace, stream);
  }
}

}  // namespace warpath::partitioners::detail
