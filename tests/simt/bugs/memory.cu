// Memory that is not there, not any more, not here, or not yet written.
#include "bug.hpp"

namespace {

// How far beyond is an argument, so that no compiler can see it.
__global__ void write_at_kernel(int* out, int index) {
  out[index] = 7;  // planted: global_write_beyond_end, global_write_before_begin
}

__global__ void read_at_kernel(int* out, const int* in, int index) {
  out[threadIdx.x] = in[index];  // planted: global_read_beyond_end
}

__global__ void dynamic_shared_kernel(int* out) {
  int* shared = reinterpret_cast<int*>(simt::dynamic_smem);
  shared[threadIdx.x + 1] = int(threadIdx.x);  // planted: dynamic_shared_beyond_end
  __syncthreads();
  out[threadIdx.x] = shared[threadIdx.x];
}

__global__ void static_shared_kernel(int* out) {
  __shared__ int shared[64];
  shared[threadIdx.x + 1] = int(threadIdx.x);  // planted: static_shared_beyond_end
  __syncthreads();
  out[threadIdx.x] = shared[threadIdx.x];
}

__global__ void local_array_kernel(int* out, unsigned shift) {
  int local[8];
  for (int i = 0; i < 8; ++i) local[i] = i + int(shift);
  out[threadIdx.x] = local[threadIdx.x % 8 + shift];  // planted: local_array_beyond_end
}

__global__ void fill_kernel(int* out, int value) {
  out[threadIdx.x] = value;  // planted: use_after_free, wrong_device, pool_of_wrong_device
}

__global__ void misaligned_kernel(int* out) {
  auto* wide = reinterpret_cast<int4*>(out + 1);
  wide[threadIdx.x].x = 1;  // planted: misaligned_vector
}

__global__ void shift_kernel(int* out) {
  out[threadIdx.x] = 1 << (threadIdx.x + 1);  // planted: shift_too_far
}

// nvcc's code gives the nearest int, the CPU's anything.
__global__ void cast_kernel(int* out, float factor) {
  out[threadIdx.x] = int(factor * (threadIdx.x + 1));  // planted: cast_out_of_range
}

__global__ void uninitialised_dynamic_shared_kernel(int* out) {
  const int* shared = reinterpret_cast<const int*>(simt::dynamic_smem);
  out[threadIdx.x] = shared[threadIdx.x];  // planted: uninitialised_dynamic_shared
}

__global__ void uninitialised_static_shared_kernel(int* out) {
  __shared__ int shared[64];
  if (threadIdx.x >= 64) shared[0] = 0;
  out[threadIdx.x] = shared[threadIdx.x];  // planted: uninitialised_static_shared
}

// Block 0 writes no result: were it the last of the grid to end, its own would hide the others'.
template <class T>
__global__ void previous_block_kernel(T* out) {
  __shared__ T shared[64];
  if (blockIdx.x == 0) shared[threadIdx.x] = 0;  // planted: value_of_previous_block
  __syncthreads();
  if (blockIdx.x != 0) out[threadIdx.x] = shared[threadIdx.x];
}

__global__ void copy_kernel(int* out, const int* in) {
  out[threadIdx.x] = in[threadIdx.x];
}

__attribute__((noinline)) __device__ int recursion(const int* in, int depth) {
  volatile int frame[256];
  frame[depth % 256] = in[depth % 64];
  return depth ? recursion(in, depth - 1) + frame[depth % 256] : 0;  // planted: stack_overflow
}

__global__ void stack_overflow_kernel(int* out, const int* in) {
  out[0] = recursion(in, 1000);
}

__global__ void exclusive_kernel(int* out, const int* in) {
  out[threadIdx.x] = in[threadIdx.x] + 1;
}

cudaLaunchConfig_t with_dynamic_shared(const bugs::Trial& trial) {
  cudaLaunchConfig_t config = trial.shape(1, 64);
  config.dynamicSmemBytes = 64 * sizeof(int);
  return config;
}

}  // namespace

PLANT(global_write_beyond_end) {
  int* array;
  trial.check(cudaMalloc(&array, 32 * sizeof(int)));  // allocated: global_write_beyond_end
  trial.launch(1, 1, write_at_kernel, array, 32);
  trial.check(cudaStreamSynchronize(trial.stream));
  cudaFree(array);
}
PLANT(global_write_before_begin) {
  int* array;
  trial.check(cudaMalloc(&array, 32 * sizeof(int)));  // allocated: global_write_before_begin
  trial.launch(1, 1, write_at_kernel, array, -1);
  trial.check(cudaStreamSynchronize(trial.stream));
  cudaFree(array);
}
PLANT(global_read_beyond_end) {
  int* array;
  trial.check(cudaMalloc(&array, 32 * sizeof(int)));  // allocated: global_read_beyond_end
  trial.launch(1, 1, read_at_kernel, trial.out, array, 32);
  trial.check(cudaStreamSynchronize(trial.stream));
  cudaFree(array);
}
PLANT(dynamic_shared_beyond_end) {
  const auto shape = with_dynamic_shared(trial);
  const auto kernel = dynamic_shared_kernel;
  trial.check(
      cudaLaunchKernelEx(&shape, kernel, trial.out));  // launched: dynamic_shared_beyond_end
}
PLANT(static_shared_beyond_end) {
  trial.launch(1, 64, static_shared_kernel, trial.out);
}
PLANT(local_array_beyond_end) {
  trial.launch(1, 64, local_array_kernel, trial.out, 1u);
}
PLANT(use_after_free) {
  int* array;
  trial.check(cudaMalloc(&array, 64 * sizeof(int)));  // allocated: use_after_free
  cudaFree(array);
  trial.launch(1, 64, fill_kernel, array, 1);
}
PLANT(wrong_device) {
  int* array;
  cudaSetDevice(1);
  trial.check(cudaMalloc(&array, 64 * sizeof(int)));  // allocated: wrong_device
  cudaSetDevice(0);
  trial.launch(1, 64, fill_kernel, array, 1);
  cudaFree(array);
}
PLANT(pool_of_wrong_device) {
  int* array;
  cudaSetDevice(1);
  trial.check(
      cudaMallocAsync(&array, 64 * sizeof(int), nullptr));  // allocated: pool_of_wrong_device
  cudaStreamSynchronize(nullptr);
  cudaSetDevice(0);
  trial.check(cudaDeviceEnablePeerAccess(1, 0));  // which pools do not heed
  trial.launch(1, 64, fill_kernel, array, 1);
  cudaFree(array);
}
PLANT(misaligned_vector) {
  trial.launch(1, 4, misaligned_kernel, trial.out);
}
PLANT(shift_too_far) {
  trial.launch(1, 32, shift_kernel, trial.out);
}
PLANT(cast_out_of_range) {
  trial.launch(1, 32, cast_kernel, trial.out, 3e9f);
}
PLANT(double_free) {
  int* array;
  trial.check(cudaMalloc(&array, 64));  // allocated: double_free
  trial.check(cudaFree(array));
  trial.check(cudaFree(array));
}
PLANT(leak) {
  int* array;
  trial.check(cudaMalloc(&array, 100));  // planted: leak
}
PLANT(host_reads_device_memory) {
  int* array;
  trial.check(cudaMalloc(&array, 64 * sizeof(int)));  // allocated: host_reads_device_memory
  trial.launch(1, 64, fill_kernel, array, 1);
  trial.check(cudaStreamSynchronize(trial.stream));
  const volatile int* pointer = array;
  std::printf("the host reads %d\n", pointer[3]);  // planted: host_reads_device_memory
  cudaFree(array);
}
PLANT(uninitialised_global) {
  int* array;
  trial.check(cudaMalloc(&array, 64 * sizeof(int)));
  trial.launch(1, 64, copy_kernel, trial.out, array);
  trial.expect([](int) { return 0; });
  trial.check(cudaStreamSynchronize(trial.stream));
  cudaFree(array);
}
PLANT(uninitialised_dynamic_shared) {
  const cudaLaunchConfig_t config = with_dynamic_shared(trial);
  trial.check(cudaLaunchKernelEx(&config, uninitialised_dynamic_shared_kernel, trial.out));
  trial.expect([](int) { return 0; });
}
PLANT(uninitialised_static_shared) {
  trial.launch(1, 64, uninitialised_static_shared_kernel, trial.out);
  trial.expect([](int) { return 0; });
}
PLANT(value_of_previous_block) {
  trial.launch(6, 64, previous_block_kernel<int>, trial.out);
  trial.expect([](int) { return 0; });
}
PLANT(stack_overflow) {
  trial.launch(1, 1, stack_overflow_kernel, trial.out, trial.in);
}
PLANT(null_pointer) {
  trial.launch(1, 64, exclusive_kernel, static_cast<int*>(nullptr), trial.in);
}
