// Calls that a GPU's runtime refuses, and kernels that stop by themselves.
#undef NDEBUG
#include <cassert>
#include <cstdlib>
#include <stdexcept>

#include "bug.hpp"
#include "core/launch.cuh"

namespace {

__global__ void kernel(int* out) {
  out[threadIdx.x] = 1;
}

__global__ void throwing_kernel(int* out) {
  if (threadIdx.x == 3) throw std::runtime_error("thrown in a kernel");
  out[threadIdx.x] = 1;
}

__global__ void trapping_kernel(int* out) {
  if (threadIdx.x == 3) __trap();  // planted: trap
  out[threadIdx.x] = 1;
}

__global__ void asserting_kernel(int* out) {
  assert(threadIdx.x != 3);  // planted: device_assert
  out[threadIdx.x] = 1;
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
PLANT(trap_launched_through_core) {
  try {
    warpath::launch({1, 64}, trapping_kernel, trial.out);  // launched: trap_launched_through_core
    trial.check(cudaDeviceSynchronize());
  } catch (const warpath::CudaError& error) {
    trial.complain(error.what());
  }
}
PLANT(device_assert) {
  trial.launch(1, 64, asserting_kernel, trial.out);
}
PLANT(host_assert) {
  assert(trial.out == nullptr);
}

// What follows ends as a program does that checks nothing.
PLANT(unread_failure) {
  const cudaLaunchConfig_t config = trial.shape(1, 64);
  cudaLaunchKernelEx(&config, trapping_kernel, trial.out);  // launched: unread_failure
  cudaDeviceSynchronize();
  cudaDeviceReset();
  std::exit(0);
}
PLANT(unread_refusal) {
  const cudaLaunchConfig_t config = trial.shape(1, 2000);
  cudaLaunchKernelEx(&config, kernel, trial.out);  // launched: unread_refusal
  std::exit(0);
}
PLANT(unread_copy) {
  std::vector<int> host(100);
  int* array;
  cudaMalloc(&array, 256);  // allocated: unread_copy
  cudaMemcpy(host.data(), array, 260, cudaMemcpyDeviceToHost);
  std::exit(0);
}
PLANT(unread_failure_and_exit_code) {
  const cudaLaunchConfig_t config = trial.shape(1, 64);
  cudaLaunchKernelEx(&config, trapping_kernel, trial.out);
  std::exit(7);
}
PLANT(leak_and_exit_code) {
  std::exit(7);
}
PLANT(no_bug_failure_is_read) {
  trial.launch(1, 64, trapping_kernel, trial.out);
  trial.check(cudaDeviceSynchronize());
  std::exit(0);
}
PLANT(no_bug_asks_for_too_much) {
  int* array;
  int value;
  cudaMalloc(&array, std::size_t{1} << 50);
  cudaSetDevice(1000);
  cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0);
}
