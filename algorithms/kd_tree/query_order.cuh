// Queries in an order in which those that lie near each other come one after another, so that the
// threads of a warp go the same way and read the same rows: by the path that they take through the
// first levels of the tree.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/buffer.cuh"
#include "core/launch.cuh"
#include "core/span.hpp"
#include "kd_tree/in_order.cuh"
#include "merge_sort/merge_sort.cuh"

namespace warpath::kd_tree::detail {

/// Queries as they are asked: `numbers` says which ones they are, and is null if they come in their
/// own order.
struct QueryNumbers {
  const std::uint32_t* numbers = nullptr;
  std::int64_t count = 0;
};

/// Of each query, at which entry of the level below the splits its path ends.
template <class C>
__global__ void find_paths_kernel(InOrderTree<C> tree, const C* queries, std::int64_t count,
                                  std::uint32_t* paths, std::uint32_t* numbers) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const C* const query = queries + i * tree.dimensions;
  const int levels = split_levels(tree.node_count);
  std::uint32_t entry = 0;
  int k = 0;
  for (int level = 0; level < levels; ++level) {
    entry = 2 * entry + (tree.splits[entry] < query[k] ? 2 : 1);
    k = k + 1 == tree.dimensions ? 0 : k + 1;
  }
  paths[i] = entry;
  numbers[i] = static_cast<std::uint32_t>(i);
}

/// Brings tuples into the order of `numbers`.
template <class C>
__global__ void gather_tuples_kernel(const C* tuples, const std::uint32_t* numbers,
                                     std::int64_t count, int dimensions, C* gathered) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const C* const tuple = tuples + std::int64_t{numbers[i]} * dimensions;
  for (int k = 0; k < dimensions; ++k) gathered[i * dimensions + k] = tuple[k];
}

/// The order of queries by the tree, in `numbers`; `paths` is scratch memory of as many words.
template <class C>
void order_queries(const InOrderTree<C>& tree, const C* queries, DeviceSpan<std::uint32_t> numbers,
                   std::uint32_t* paths, Workspace& sort, cudaStream_t stream) {
  launch({static_cast<unsigned>(divide_up(numbers.count, 256)), 256, 0, stream},
         find_paths_kernel<C>, tree, queries, numbers.count, paths, numbers.data);
  merge_sort::sort_pairs(DeviceSpan<std::uint32_t>{paths, numbers.count}, numbers, sort, stream);
}
template <class C>
void gather_tuples(const C* tuples, const QueryNumbers& order, int dimensions, C* gathered,
                   cudaStream_t stream) {
  launch({static_cast<unsigned>(divide_up(order.count, 256)), 256, 0, stream},
         gather_tuples_kernel<C>, tuples, order.numbers, order.count, dimensions, gathered);
}

}  // namespace warpath::kd_tree::detail
