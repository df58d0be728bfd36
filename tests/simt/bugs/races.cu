// Missing order: within a warp, within a block, between blocks.
#include <cuda/atomic>

#include "bug.hpp"

namespace {

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void missing_barrier_kernel(int* out) {
  __shared__ int shared[64];
  shared[threadIdx.x] = int(threadIdx.x);
  out[threadIdx.x] = shared[63 - threadIdx.x];  // planted: missing_barrier
}

// Right if the threads run one after the other.
__global__ void hidden_missing_barrier_kernel(int* out) {
  __shared__ int shared[64];
  shared[threadIdx.x] = int(threadIdx.x);
  out[threadIdx.x] = threadIdx.x ? shared[threadIdx.x - 1] : 0;  // planted: hidden_missing_barrier
}

__global__ void overwritten_too_early_kernel(int* out) {
  __shared__ int shared[64];
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    shared[threadIdx.x] = int(threadIdx.x) + round;  // planted: overwritten_too_early
    __syncthreads();
    sum += shared[63 - threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

__global__ void missing_warp_barrier_kernel(int* out) {
  __shared__ int shared[64];
  shared[threadIdx.x] = int(threadIdx.x);
  out[threadIdx.x] = shared[threadIdx.x ^ 1];  // planted: missing_warp_barrier
}

__global__ void lost_updates_kernel(int* out) {
  out[0] = out[0] + 1;  // planted: lost_updates
}

__global__ void relaxed_flag_kernel(int* data, int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    Flag(*flag).store(1, cuda::std::memory_order_relaxed);
  } else {
    while (!Flag(*flag).load(cuda::std::memory_order_relaxed)) __nanosleep(10);
    out[blockIdx.x] = data[0];  // planted: relaxed_flag
  }
}

__global__ void volatile_chain_kernel(int* flags, int* data) {
  const unsigned block = blockIdx.x;
  volatile int* status = flags;
  while (block && !status[block - 1]) __nanosleep(1);
  data[block] = block ? data[block - 1] + 1 : 1;  // planted: volatile_chain
  status[block] = 1;
}

// Blocks start in any order: a block may only wait for earlier tickets.
__global__ void waits_for_block_index_kernel(int* flags, int* out) {
  const unsigned block = blockIdx.x;
  if (block)
    while (!Flag(flags[block - 1]).load(cuda::std::memory_order_acquire))
      __nanosleep(1);  // planted: waits_for_block_index
  out[block] = block ? out[block - 1] + 1 : 0;
  Flag(flags[block]).store(1, cuda::std::memory_order_release);
}

// The last block to arrive reads what the others wrote.
__global__ void last_block_without_fence_kernel(int* partial, int* arrived, int* out) {
  partial[blockIdx.x] = 1;
  if (atomicAdd(arrived, 1) != int(gridDim.x) - 1) return;
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];  // planted: last_block_without_fence
  out[0] = sum;
}

// At most 10 may pass; each looks first and counts afterwards.
__global__ void check_then_act_kernel(int* out) {
  if (Flag(out[0]).load(cuda::std::memory_order_relaxed) >= 10) return;
  atomicAdd(&out[0], 1);  // planted: check_then_act
}

}  // namespace

PLANT(missing_barrier) {
  trial.launch(1, 64, missing_barrier_kernel, trial.out);
  trial.expect([](int i) { return 63 - i; });
}
PLANT(hidden_missing_barrier) {
  trial.launch(1, 64, hidden_missing_barrier_kernel, trial.out);
  trial.expect([](int i) { return i ? i - 1 : 0; });
}
PLANT(overwritten_too_early) {
  trial.launch(1, 64, overwritten_too_early_kernel, trial.out);
  trial.expect([](int i) { return 4 * (63 - i) + 6; });
}
PLANT(missing_warp_barrier) {
  trial.launch(1, 64, missing_warp_barrier_kernel, trial.out);
  trial.expect([](int i) { return i ^ 1; });
}
PLANT(lost_updates) {
  trial.launch(200, 1, lost_updates_kernel, trial.out);
}
PLANT(relaxed_flag) {
  trial.launch(2, 32, relaxed_flag_kernel, trial.in, trial.in + 1, trial.out);
}
PLANT(volatile_chain) {
  trial.launch(64, 1, volatile_chain_kernel, trial.in, trial.out);
}
PLANT(waits_for_block_index) {
  trial.launch(64, 1, waits_for_block_index_kernel, trial.in, trial.out);
  trial.expect([](int i) { return i; });
}
PLANT(last_block_without_fence) {
  trial.launch(32, 1, last_block_without_fence_kernel, trial.in, trial.in + 63, trial.out);
}
PLANT(check_then_act) {
  trial.launch(1, 64, check_then_act_kernel, trial.out);
  trial.expect([](int i) { return i ? 0 : 10; });
}
