// From a level to its kernels: which partitioner or variant, which grid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "partitioners/arguments.cuh"
#include "partitioners/levels.cuh"
#include "partitioners/look_back_level.cuh"
#include "partitioners/selection.hpp"
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

template <class Sides>
void run_multi_warp(const LevelArguments& a, const Sides& sides, int warps, Workspace& workspace,
                    cudaStream_t stream) {
  const int warps_a_segment = warps / static_cast<int>(a.level.segments());
  const unsigned blocks = source_blocks(warps);
  const std::int64_t places = static_cast<std::int64_t>(a.arrays.count) * a.level.n;
  const auto [temporary, counts] = workspace.take<std::uint32_t, SideCounts>(
      stream, places, std::int64_t{a.arrays.count} * blocks * source_block_warps);
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

template <class Sides>
void run_source(const LevelArguments& a, const Sides& sides, const Options& options,
                Workspace& workspace, cudaStream_t stream) {
  const Partitioner partitioner = partitioner_of(a.level, options);
  if (partitioner == Partitioner::multi_warp) {
    run_multi_warp(a, sides, options.warps, workspace, stream);
  } else if (partitioner == Partitioner::sub_warp) {
    run_sub_warp(a, sides, options.warps, stream);
  } else {
    launch({source_blocks(options.warps), source_block_threads, 0, stream},
           warp_per_array_kernel<Sides>, a.level, sides, a.primary, a.arrays, a.medians);
  }
}

template <class Sides>
void run_look_back(const LevelArguments& a, const Sides& sides, std::int64_t* total,
                   Workspace& workspace, cudaStream_t stream) {
  const auto kernel = look_back_level_kernel<Sides>;
  const std::int64_t tiles = a.arrays.count * tiles_of_array(a.level);
  const std::int64_t resident = resident_blocks(kernel, LevelShape::threads, sizeof(LevelStorage));
  launch({static_cast<unsigned>(std::min(tiles, resident)), LevelShape::threads,
          sizeof(LevelStorage), stream},
         kernel, a.level, sides, a.primary, a.arrays, workspace.look_back(stream, tiles), total,
         a.medians);
}

inline void run_side_bits(const LevelArguments& a, std::int64_t tuple_count, Workspace& workspace,
                          cudaStream_t stream) {
  const std::int64_t words = divide_up(tuple_count, 32);
  const auto [total, greater_bits] = workspace.take<std::int64_t, std::uint32_t>(stream, 1, words);
  WARPATH_CUDA_CHECK(cudaMemsetAsync(
      greater_bits, 0, static_cast<std::size_t>(words) * sizeof(std::uint32_t), stream));
  launch(loop_over(a.level.n, stream), note_sides_kernel<>, a.level, a.primary, greater_bits);
  run_look_back(a, LookUpSides{greater_bits}, total, workspace, stream);
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
    run_source(a, sides, options, workspace, stream);
  } else if (options.variant == Variant::look_back) {
    const auto [total] = workspace.take<std::int64_t>(stream, 1);
    run_look_back(a, sides, total, workspace, stream);
  } else {
    run_side_bits(a, tuple_count, workspace, stream);
  }
}

}  // namespace warpath::partitioners::detail
