// The subtrees of several devices as one tree, in the median stores of the first device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/launch.cuh"
#include "kd_tree/nodes.cuh"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree::detail {

/// to becomes the number that is looked up. One thread.
template <class Number>
__global__ void look_up_kernel(const Number* numbers, const Number* place, Number* to) {
  *to = numbers[*place];
}

/// The medians of a subtree, whose root is entry `root` of level `level`, to their places in the
/// stores of the whole tree. What the subtree names, tuples have the `numbers` of; null: itself.
template <class Number>
__global__ void join_subtree_kernel(const Number* subtree, std::int64_t entries,
                                    const Number* numbers, int level, std::int64_t root,
                                    Number* medians) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < entries; i += stride) {
    const int own_level = 63 - __clzll(static_cast<long long>(i + 1));
    const std::int64_t of_level = std::int64_t{1} << own_level;
    const Number tuple = subtree[i];
    medians[first_entry(level + own_level) + root * of_level + (i + 1 - of_level)] =
        tuple == no_node || numbers == nullptr ? tuple : numbers[tuple];
  }
}
/// Of a subtree of n > 0 nodes.
inline void join_subtree(const std::uint32_t* subtree, std::int64_t n, const std::uint32_t* numbers,
                         int level, int root, std::uint32_t* medians, cudaStream_t stream) {
  const std::int64_t entries = median_entries(n);
  launch({blocks_of_256(entries), 256, 0, stream}, join_subtree_kernel<std::uint32_t>, subtree,
         entries, numbers, level, std::int64_t{root}, medians);
}

}  // namespace warpath::kd_tree::detail
