// The kernels of the other variants, and the choice among them. The host function of
// load_balancing_search.cuh ends here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/with_constant.hpp"
#include "load_balancing_search/block_load_balancing_search.cuh"
#include "load_balancing_search/guessed_shares.cuh"
#include "load_balancing_search/partition_tiles.cuh"
#include "load_balancing_search/tuning.hpp"
#include "load_balancing_search/variant.hpp"

namespace warpath::load_balancing_search::detail {

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

template <class Shape, class Offset, class Index>
void run_merge_path(const Work<Offset>& work, Index* out, Workspace& workspace,
                    cudaStream_t stream) {
  const Tiles tiles = partition_tiles<Shape>(work, workspace, stream);
  launch({tiles.blocks, Shape::threads, sizeof(BlockSearchStorage<Offset, Shape>), stream},
         merge_path_kernel<Shape, Offset, Index>, work, tiles.partitions, out);
}

template <class Offset, class Index>
void run_merge_path(const Work<Offset>& work, Index* out, int items_per_thread,
                    Workspace& workspace, cudaStream_t stream) {
  const auto with = [&]<int ItemsPerThread>() {
    run_merge_path<MergePathShape<merge_path_threads, ItemsPerThread>>(work, out, workspace,
                                                                       stream);
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    with_constant<merge_path_items_per_thread[i]...>("items_per_thread", items_per_thread, with);
  }
  (std::make_index_sequence<std::size(merge_path_items_per_thread)>{});
}

template <class Offset, class Index>
void run_upper_bound(const Work<Offset>& work, Index* out, cudaStream_t stream) {
  constexpr int threads = 256;
  const std::int64_t blocks = divide_up(work.items, threads);
  launch({static_cast<unsigned>(std::min<std::int64_t>(blocks, 1 << 20)), threads, 0, stream},
         upper_bound_kernel<Offset, Index>, work, out);
}

/// Throws std::invalid_argument unless `items_per_thread` is one of merge_path_items_per_thread.
inline void require_items_per_thread(int items_per_thread) {
  std::string allowed;
  for (const int number : merge_path_items_per_thread) {
    if (number == items_per_thread) return;
    allowed += (allowed.empty() ? "" : ", ") + std::to_string(number);
  }
  throw std::invalid_argument("items_per_thread is " + std::to_string(items_per_thread) +
                              ": expected one of " + allowed);
}

/// The objects of all work items, at least one, by the variant that `options` name, which is one of
/// the enum.
template <class Offset, class Index>
void run(const Work<Offset>& work, Index* out, Workspace& workspace, cudaStream_t stream,
         const Options& options) {
  switch (options.variant) {
    case Variant::merge_path:
      return run_merge_path(work, out, options.items_per_thread, workspace, stream);
    case Variant::upper_bound:
      return run_upper_bound(work, out, stream);
    case Variant::output_aligned:
      return run_search<OutputAlignedTuning>(work, ObjectNumbers<Index>{}, out, stream);
  }
}

}  // namespace warpath::load_balancing_search::detail
