// Calls that a GPU's runtime refuses, and kernels that stop by themselves.
#include <stdexcept>

#include "bug.hpp"

namespace {

__global__ void kernel(int* out) {
  out[0] = 1;
}

__global__ void throwing_kernel(int* out) {
  if (threadIdx.x == 3) throw std::runtime_error("thrown in a kernel");
  out[0] = 1;
}

__global__ void trapping_kernel(int* out) {
  if (threadIdx.x == 3) __trap();  // planted: trap
  out[0] = 1;
}

}  // namespace

PLANT(copy_beyond_allocation) {
  std::vector<int> host(100);
  int* array;
  trial.check(cudaMalloc(&array, 256));  // allocated: copy_beyond_allocation
  trial.check(cudaMemcpy(host.data(), array, 260, cudaMemcpyDeviceToHost));
  cudaFree(array);
}
PLANT(copy_of_wrong_kind) {
  std::vector<int> host(64);
  trial.check(cudaMemcpy(host.data(), trial.out, 256, cudaMemcpyHostToDevice));
}
PLANT(peer_copy_of_wrong_owner) {
  trial.check(cudaMemcpyPeerAsync(trial.out, 1, trial.in, 0, 256, trial.stream));
}
PLANT(too_much_shared) {
  cudaLaunchConfig_t config = trial.shape(1, 64);
  config.dynamicSmemBytes = 50000;
  trial.check(cudaLaunchKernelEx(&config, kernel, trial.out));  // planted: too_much_shared
}
PLANT(too_many_threads) {
  const cudaLaunchConfig_t config = trial.shape(1, 1025);
  trial.check(cudaLaunchKernelEx(&config, kernel, trial.out));  // planted: too_many_threads
}
PLANT(empty_grid) {
  const cudaLaunchConfig_t config = trial.shape(0, 64);
  trial.check(cudaLaunchKernelEx(&config, kernel, trial.out));  // planted: empty_grid
}
PLANT(cooperative_grid_too_large) {
  cudaLaunchConfig_t config = trial.shape(100, 64);
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  trial.check(
      cudaLaunchKernelEx(&config, kernel, trial.out));  // planted: cooperative_grid_too_large
}
PLANT(out_of_memory) {
  int* array;
  trial.check(cudaMalloc(&array, std::size_t{1} << 50));  // planted: out_of_memory
}
PLANT(exception_in_kernel) {
  const cudaLaunchConfig_t config = trial.shape(1, 64);
  trial.check(
      cudaLaunchKernelEx(&config, throwing_kernel, trial.out));  // launched: exception_in_kernel
}
PLANT(trap) {
  trial.launch(1, 64, trapping_kernel, trial.out);
}
