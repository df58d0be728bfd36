// From median stores to nodes.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/cuda_check.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree::detail {

/// Blocks of 256 threads for so many of them, or as many as are enough.
inline unsigned blocks_of_256(std::int64_t threads) {
  return static_cast<unsigned>(std::min<std::int64_t>(divide_up(threads, 256), 1 << 16));
}

/// Fills in the nodes of a level: entry k of its median store has entries 2 k and 2 k + 1 of the
/// next one, `children`, as children; null if there is no next one. Entries that name none of the
/// `tuples` are passed over. A template as all kernels in
/// headers are, so that any number of files may include it.
template <class Tree>
__global__ void fill_nodes_kernel(const std::uint32_t* medians, std::int64_t entries,
                                  const std::uint32_t* children, Tree* nodes, std::int64_t tuples) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       k < entries; k += stride) {
    const std::uint32_t tuple = medians[k];
    if (tuple >= tuples) continue;
    nodes[tuple] = {tuple, children == nullptr ? no_node : children[2 * k],
                    children == nullptr ? no_node : children[2 * k + 1]};
  }
}

inline void run_fill_nodes(const std::uint32_t* medians, std::int64_t node_count,
                           DeviceSpan<Node> nodes, cudaStream_t stream) {
  if (nodes.count == 0) return;
  // Those of tuples that were removed.
  WARPATH_CUDA_CHECK(cudaMemsetAsync(nodes.data, 0xFF,
                                     static_cast<std::size_t>(nodes.count) * sizeof(Node), stream));
  const int levels = level_count(node_count);
  for (int level = 0; level < levels; ++level) {
    const std::int64_t entries = std::int64_t{1} << level;
    const std::uint32_t* const of_level = medians + first_entry(level);
    launch({blocks_of_256(entries), 256, 0, stream}, fill_nodes_kernel<Node>, of_level, entries,
           level + 1 < levels ? of_level + entries : nullptr, nodes.data, nodes.count);
  }
}

}  // namespace warpath::kd_tree::detail

namespace warpath::kd_tree {

/// Fills in the nodes of a tree from its median stores, level after level, as the source does.
/// medians: those of `node_count` nodes; nodes: one for each tuple.
inline void fill_nodes(std::type_identity_t<DeviceSpan<const std::uint32_t>> medians,
                       std::int64_t node_count, DeviceSpan<Node> nodes, cudaStream_t stream) {
  require_span("nodes", nodes);
  require_in_range("node_count", node_count, 0, nodes.count);
  require_in_range("the number of nodes' tuples", nodes.count, 0, most_tuples);
  require_span("medians", medians);
  require_room("medians", medians, median_entries(node_count));
  require_apart("medians", medians, "nodes", nodes);
  detail::run_fill_nodes(medians.data, node_count, nodes, stream);
}

}  // namespace warpath::kd_tree
