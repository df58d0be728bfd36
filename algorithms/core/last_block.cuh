// Which block is the last one to finish its part: it merges what the others have left.
#pragma once

#include <cuda_runtime.h>

#include <cuda/atomic>

namespace warpath {

/// True in all threads of the last of `parts` blocks to call this with the same ticket
/// (Workspace::tickets), which is 0 before the first call and after the last one. What the other
/// blocks wrote before they called it is visible then. All threads of the block.
__device__ __forceinline__ bool is_last_block(unsigned* ticket, unsigned parts) {
  __shared__ bool is_last;
  __syncthreads();  // the block's partial results are written
  if (threadIdx.x == 0) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*ticket);
    is_last = counter.fetch_add(1, cuda::memory_order_acq_rel) == parts - 1;
    if (is_last) counter.store(0, cuda::memory_order_relaxed);
  }
  __syncthreads();  // is_last is there
  return is_last;
}

}  // namespace warpath
