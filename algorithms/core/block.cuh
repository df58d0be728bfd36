// Collectives of one block of whole warps, at most 1024 threads. All threads of the block call them
// together; each ends with a barrier, so that the shared storage can be reused right away.
#pragma once

#include "core/warp.cuh"

namespace warpath {

/// Shared memory that the block collectives need.
template <class T>
struct BlockSums {
  T of_warp[warp_threads];
};

/// The sum of the values of all threads with a lower index; `total` becomes the sum of all threads.
template <class T>
__device__ __forceinline__ T block_exclusive_sum(T value, BlockSums<T>& shared, T& total) {
  const T through = warp_inclusive_sum(value);
  const int warps = static_cast<int>(blockDim.x) / warp_threads;
  if (lane_index() == warp_threads - 1) shared.of_warp[warp_index()] = through;
  __syncthreads();  // each warp's sum is there
  if (warp_index() == 0) {
    const T of_warp = lane_index() < warps ? shared.of_warp[lane_index()] : T{};
    shared.of_warp[lane_index()] = warp_inclusive_sum(of_warp);
  }
  __syncthreads();  // the sums through each warp are there
  total = shared.of_warp[warps - 1];
  const T before_warp = warp_index() == 0 ? T{} : shared.of_warp[warp_index() - 1];
  __syncthreads();  // all threads have read the sums
  return before_warp + through - value;
}

/// The sum of the values of all threads, in every thread.
template <class T>
__device__ __forceinline__ T block_sum(T value, BlockSums<T>& shared) {
  const T sum = warp_sum(value);
  const int warps = static_cast<int>(blockDim.x) / warp_threads;
  if (lane_index() == 0) shared.of_warp[warp_index()] = sum;
  __syncthreads();  // each warp's sum is there
  const T total = warp_sum(lane_index() < warps ? shared.of_warp[lane_index()] : T{});
  __syncthreads();  // all threads have read the sums
  return total;
}

}  // namespace warpath
