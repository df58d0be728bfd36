// What a kernel that begins with block_load_balancing_search is launched with.
//
// Source: S. Baxter, "Modern GPU 1.1", NVIDIA Research 2013, https://moderngpu.github.io/ ,
// "Load-Balancing Search", MergePathPartitions.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "load_balancing_search/block_load_balancing_search.cuh"

namespace warpath::load_balancing_search {

namespace detail {

/// A thread for each tile and one more: how many objects come before it.
template <class Offset>
__global__ void partition_kernel(Work<Offset> work, std::int64_t tile_steps, std::int64_t tiles,
                                 std::int64_t* partitions) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (tile <= tiles) partitions[tile] = work.objects_before(min(tile * tile_steps, work.steps()));
}

/// A grid of one block a tile. Throws std::invalid_argument where no grid is large enough.
inline unsigned tile_blocks(std::int64_t steps, int tile_steps) {
  const std::int64_t tiles = divide_up(steps, tile_steps);
  if (tiles > std::numeric_limits<int>::max()) {
    throw std::invalid_argument(
        std::to_string(steps) + " work items and objects: at most " +
        std::to_string(std::numeric_limits<int>::max() * static_cast<std::int64_t>(tile_steps)) +
        " fit one call");
  }
  return static_cast<unsigned>(tiles);
}

}  // namespace detail

/// Tiles of equal work: a block for each, and how many objects come before it.
struct Tiles {
  unsigned blocks;
  const std::int64_t* partitions;  ///< blocks + 1 numbers, in the workspace
};

/// Cuts the merge path of a call into tiles of Shape::tile_steps, in the order of `stream`. Takes 8
/// bytes a tile, and 8, of the workspace. Throws std::invalid_argument for more tiles than a grid
/// can have.
template <class Shape, class Offset>
Tiles partition_tiles(const Work<Offset>& work, Workspace& workspace, cudaStream_t stream) {
  const unsigned tiles = detail::tile_blocks(work.steps(), Shape::tile_steps);
  const auto [partitions] =
      workspace.take<std::int64_t>(stream, static_cast<std::int64_t>(tiles) + 1);
  launch({tiles / 128 + 1, 128, 0, stream}, detail::partition_kernel<Offset>, work,
         Shape::tile_steps, tiles, partitions);
  return {tiles, partitions};
}

}  // namespace warpath::load_balancing_search
