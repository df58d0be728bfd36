// The kernels of the other variants and of the interval operations, and the choice among them. The
// host functions of load_balancing_search.cuh and intervals.cuh end here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/buffer.cuh"
#include "core/launch.cuh"
#include "load_balancing_search/block_load_balancing_search.cuh"
#include "load_balancing_search/output_aligned.cuh"
#include "load_balancing_search/tuning.hpp"
#include "load_balancing_search/variant.hpp"

namespace warpath::load_balancing_search {

/// A thread for each tile and one more: how many objects come before it.
template <class Offset>
__global__ void partition_kernel(Work<Offset> work, std::int64_t tile_steps, std::int64_t tiles,
                                 std::int64_t* partitions) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (tile <= tiles) partitions[tile] = work.objects_before(min(tile * tile_steps, work.steps()));
}

/// `merge_path`, the source: one block a tile.
template <class Shape, class Offset, class Index>
__global__ void __launch_bounds__(Shape::threads)
    merge_path_kernel(Work<Offset> work, const std::int64_t* partitions, Index* out) {
  auto& shared = dynamic_shared<BlockSearchStorage<Offset, Shape>>();
  const TileRange range =
      block_load_balancing_search(work, blockIdx.x, partitions, /*load_preceding=*/false, shared);
  for (int item = static_cast<int>(threadIdx.x); item < range.items(); item += Shape::threads) {
    out[range.a0 + item] = static_cast<Index>(work_item_object(shared, range, item));
  }
}

/// `upper_bound`: any grid.
template <class Offset, class Index>
__global__ void upper_bound_kernel(Work<Offset> work, Index* out) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       item < work.items; item += stride) {
    std::int64_t low = 0;
    std::int64_t high = work.objects;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (item < static_cast<std::int64_t>(work.scan[middle])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    out[item] = static_cast<Index>(low - 1);
  }
}

/// A grid of one block a tile. Throws std::invalid_argument where no grid is large enough.
inline unsigned tile_blocks(std::int64_t steps, int tile_steps) {
  const std::int64_t tiles = (steps + tile_steps - 1) / tile_steps;
  if (tiles > std::numeric_limits<int>::max()) {
    throw std::invalid_argument(
        std::to_string(steps) + " work items and objects: at most " +
        std::to_string(std::numeric_limits<int>::max() * static_cast<std::int64_t>(tile_steps)) +
        " fit one call");
  }
  return static_cast<unsigned>(tiles);
}

/// The partitions of a call, in the workspace: 8 bytes a tile, and 8.
template <class Shape, class Offset>
const std::int64_t* partition(const Work<Offset>& work, Workspace& workspace, cudaStream_t stream) {
  const std::int64_t tiles = tile_blocks(work.steps(), Shape::tile_steps);
  const auto [partitions] = workspace.take<std::int64_t>(stream, tiles + 1);
  launch({static_cast<unsigned>(tiles / 128 + 1), 128, 0, stream}, partition_kernel<Offset>, work,
         Shape::tile_steps, tiles, partitions);
  return partitions;
}

template <class Shape, class Offset, class Index>
void run_merge_path(const Work<Offset>& work, Index* out, Workspace& workspace,
                    cudaStream_t stream) {
  const unsigned tiles = tile_blocks(work.steps(), Shape::tile_steps);
  const std::int64_t* partitions = partition<Shape>(work, workspace, stream);
  launch({tiles, Shape::threads, sizeof(BlockSearchStorage<Offset, Shape>), stream},
         merge_path_kernel<Shape, Offset, Index>, work, partitions, out);
}

template <class Offset, class Index>
void run_merge_path(const Work<Offset>& work, Index* out, int items_per_thread,
                    Workspace& workspace, cudaStream_t stream) {
  const auto with = [&]<int ItemsPerThread>() {
    run_merge_path<MergePathShape<128, ItemsPerThread>>(work, out, workspace, stream);
  };
  switch (items_per_thread) {
    case 3:
      return with.template operator()<3>();
    case 7:
      return with.template operator()<7>();
    case 11:
      return with.template operator()<11>();
    case 15:
      return with.template operator()<15>();
    case 23:
      return with.template operator()<23>();
    default:
      throw std::invalid_argument("items_per_thread is " + std::to_string(items_per_thread) +
                                  ": expected 3, 7, 11, 15 or 23");
  }
}

/// `share_steps`: at most Shape::max_share_steps.
template <class Shape, class Offset, class Index>
void run_output_aligned(const Work<Offset>& work, Index* out, int share_steps,
                        cudaStream_t stream) {
  launch({tile_blocks(work.steps(), share_steps), Shape::threads,
          sizeof(OutputAlignedStorage<Shape, Offset>), stream},
         output_aligned_kernel<Shape, Offset, Index>, work, share_steps, out);
}

template <class Offset, class Index>
void run_output_aligned(const Work<Offset>& work, Index* out, cudaStream_t stream) {
  using Shape = OutputAlignedTuning;
  const double steps = static_cast<double>(work.steps());
  const double wanted = Shape::share_items * (steps / static_cast<double>(work.items));
  // Where there is less work than that for each block which the device holds, all get as much.
  const double of_each =
      steps / resident_blocks(output_aligned_kernel<Shape, Offset, Index>, Shape::threads,
                              sizeof(OutputAlignedStorage<Shape, Offset>));
  const double share_steps = std::clamp<double>(std::ceil(std::min(wanted, of_each)),
                                                Shape::min_share_steps, Shape::max_share_steps);
  run_output_aligned<Shape>(work, out, static_cast<int>(share_steps), stream);
}

template <class Offset, class Index>
void run_upper_bound(const Work<Offset>& work, Index* out, cudaStream_t stream) {
  constexpr int threads = 256;
  const std::int64_t blocks = (work.items + threads - 1) / threads;
  launch({static_cast<unsigned>(std::min<std::int64_t>(blocks, 1 << 20)), threads, 0, stream},
         upper_bound_kernel<Offset, Index>, work, out);
}

/// The objects of all work items, at least one, by the variant that `options` name.
template <class Offset, class Index>
void run(const Work<Offset>& work, Index* out, Workspace& workspace, cudaStream_t stream,
         const Options& options) {
  switch (options.variant) {
    case Variant::merge_path:
      return run_merge_path(work, out, options.items_per_thread, workspace, stream);
    case Variant::upper_bound:
      return run_upper_bound(work, out, stream);
    case Variant::output_aligned:
      return run_output_aligned(work, out, stream);
  }
}

}  // namespace warpath::load_balancing_search
