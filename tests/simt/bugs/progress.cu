// Threads that wait for what will never come, and shared memory of blocks that have ended.
#include <cooperative_groups.h>

#include <chrono>
#include <cuda/atomic>

#include "bug.hpp"

namespace cg = cooperative_groups;

namespace {

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void livelock_kernel(int* out) {
  if (threadIdx.x) return;
  while (!Flag(out[0]).load(cuda::std::memory_order_acquire))
    __nanosleep(100);  // planted: livelock
}

__global__ void poll_without_yield_kernel(int* out) {
  while (!Flag(out[0]).load(cuda::std::memory_order_acquire)) {  // planted: poll_without_yield
  }
}

// The block with the next ticket may start only when this one has ended.
__global__ void later_ticket_kernel(int* tickets, int* done, int* out) {
  const int ticket = atomicAdd(tickets, 1);
  if (ticket + 1 < int(gridDim.x))
    while (!Flag(done[ticket + 1]).load(cuda::std::memory_order_acquire))
      simt::yield();  // planted: waits_for_later_ticket
  out[ticket] = ticket;
  Flag(done[ticket]).store(1, cuda::std::memory_order_release);
}

__global__ void cluster_memory_after_exit_kernel(int* out) {
  int* shared = reinterpret_cast<int*>(simt::dynamic_smem);
  const auto cluster = cg::this_cluster();
  shared[threadIdx.x] = int(cluster.block_rank());
  cluster.sync();
  // One thread sleeps, so that a turn goes to the other block, and not to the next thread.
  if (cluster.block_rank() == 1 && threadIdx.x == 0)
    for (int i = 0; i < 2000; ++i) __nanosleep(1);
  __syncwarp();
  const int* other = cluster.map_shared_rank(shared, cluster.block_rank() ^ 1);
  out[blockIdx.x * 32 + threadIdx.x] = other[threadIdx.x];  // planted: cluster_memory_after_exit
}

// No bug: one thread polls, while another block takes a second until it has what that waits for.
__global__ void long_computation_kernel(int* flag) {
  if (blockIdx.x == 0) {
    while (!Flag(*flag).load(cuda::std::memory_order_acquire)) simt::yield();
    return;
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(1);
  while (Clock::now() < end) {
  }
  Flag(*flag).store(1, cuda::std::memory_order_release);
}

}  // namespace

PLANT(no_bug_long_computation) {
  trial.launch(2, 1, long_computation_kernel, trial.out);
}
PLANT(livelock) {
  trial.launch(1, 64, livelock_kernel, trial.out);
}
PLANT(poll_without_yield) {
  trial.launch(1, 1, poll_without_yield_kernel, trial.out);
}
PLANT(waits_for_later_ticket) {
  trial.launch(32, 1, later_ticket_kernel, trial.in + 63, trial.in, trial.out);
}
PLANT(cluster_memory_after_exit) {
  cudaLaunchConfig_t config = trial.shape(2, 32);
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {2, 1, 1};
  config.attrs = &cluster;
  config.numAttrs = 1;
  config.dynamicSmemBytes = 32 * sizeof(int);
  trial.check(cudaLaunchKernelEx(&config, cluster_memory_after_exit_kernel, trial.out));
  trial.expect([](int i) { return i < 32 ? 1 : 0; });
}
