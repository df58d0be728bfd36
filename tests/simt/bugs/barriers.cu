// Barriers that not all threads reach.
#include <cooperative_groups.h>

#include "bug.hpp"

namespace cg = cooperative_groups;

namespace {

__global__ void exit_before_barrier_kernel(int* out) {
  if (threadIdx.x == 5) return;
  __syncthreads();  // planted: exit_before_barrier
  out[threadIdx.x] = 1;
}

__global__ void barriers_in_branches_kernel(int* out) {
  if (threadIdx.x < 32) {
    __syncthreads();
    out[0] = 1;
  } else {
    __syncthreads();  // planted: barriers_in_branches
    out[1] = 1;
  }
}

#define IN_BOTH_BRANCHES(condition, statement) \
  if (condition) {                             \
    statement;                                 \
    out[0] = 1;                                \
  } else {                                     \
    statement;                                 \
    out[1] = 1;                                \
  }

__global__ void barriers_on_one_line_kernel(int* out){
    IN_BOTH_BRANCHES(threadIdx.x < 32, __syncthreads())  // planted: barriers_on_one_line
}

__global__ void unequal_barrier_counts_kernel(int* out) {
  for (unsigned i = 0; i < 2 + threadIdx.x / 32; ++i) {
    __syncthreads();  // planted: unequal_barrier_counts
    out[threadIdx.x] = int(i);
  }
}

__global__ void barrier_against_collective_kernel(int* out) {
  if (threadIdx.x % 32 < 16)
    __syncthreads();
  else
    out[0] = int(__ballot_sync(~0u, 1));  // planted: barrier_against_collective
}

__global__ void block_leaves_cluster_kernel(int* out) {
  const auto cluster = cg::this_cluster();
  if (cluster.block_rank() == 1) return;
  cluster.sync();  // planted: block_leaves_cluster
  out[threadIdx.x] = 1;
}

__global__ void grid_barrier_kernel(int* out) {
  cg::this_grid().sync();  // planted: grid_barrier_without_cooperation
  out[threadIdx.x] = 1;
}

}  // namespace

PLANT(exit_before_barrier) {
  trial.launch(1, 64, exit_before_barrier_kernel, trial.out);
}
PLANT(barriers_in_branches) {
  trial.launch(1, 64, barriers_in_branches_kernel, trial.out);
}
PLANT(barriers_on_one_line) {
  trial.launch(1, 64, barriers_on_one_line_kernel, trial.out);
}
PLANT(unequal_barrier_counts) {
  trial.launch(1, 64, unequal_barrier_counts_kernel, trial.out);
}
PLANT(barrier_against_collective) {
  trial.launch(1, 64, barrier_against_collective_kernel, trial.out);
}
PLANT(block_leaves_cluster) {
  cudaLaunchConfig_t config = trial.shape(2, 32);
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {2, 1, 1};
  config.attrs = &cluster;
  config.numAttrs = 1;
  trial.check(cudaLaunchKernelEx(&config, block_leaves_cluster_kernel, trial.out));
}
PLANT(grid_barrier_without_cooperation) {
  trial.launch(2, 32, grid_barrier_kernel, trial.out);
}
