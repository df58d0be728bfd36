// The tree and its tuples on the host.
//
// Source: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Completion", which speaks of
// "methods to copy the Kd tree and coordinate arrays back to the CPU".
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/arguments.hpp"
#include "core/cuda_check.cuh"
#include "core/span.hpp"
#include "kd_tree/arguments.cuh"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree {

/// Copies the coordinates of n tuples and their n nodes to the host, in stream order, and returns
/// once they are there. Pinned memory is copied to at the full rate. Throws std::invalid_argument,
/// which names the argument, unless there are as many nodes as points, and `coordinates` and
/// `host_nodes` are as large as what is copied to them.
template <class C>
void copy_back(const Points<C>& points, std::type_identity_t<DeviceSpan<const Node>> nodes,
               std::type_identity_t<std::span<C>> coordinates, std::span<Node> host_nodes,
               cudaStream_t stream) {
  const std::int64_t n = detail::require_points(points);
  require_span("nodes", nodes);
  require_count("nodes", nodes.count, "points", n);
  require_count("coordinates", static_cast<std::int64_t>(coordinates.size()),
                "the points' coordinates", points.coordinates.count);
  require_count("host_nodes", static_cast<std::int64_t>(host_nodes.size()), "nodes", n);
  if (n == 0) return;
  WARPATH_CUDA_CHECK(cudaMemcpyAsync(coordinates.data(), points.coordinates.data,
                                     coordinates.size_bytes(), cudaMemcpyDeviceToHost, stream));
  WARPATH_CUDA_CHECK(cudaMemcpyAsync(host_nodes.data(), nodes.data, host_nodes.size_bytes(),
                                     cudaMemcpyDeviceToHost, stream));
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
}

}  // namespace warpath::kd_tree
