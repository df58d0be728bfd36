// Asynchronous copies: cp.async, bulk copies with transaction barriers, bulk stores.
#include <cuda_pipeline.h>

#include "bug.hpp"

namespace {

struct Storage {
  alignas(128) int data[64];
  simt::TxBarrier full;
};
Storage& shared_storage() {
  return *reinterpret_cast<Storage*>(simt::dynamic_smem);
}

__global__ void missing_pipeline_wait_kernel(int* out, const int* in) {
  __shared__ int shared[64];
  __pipeline_memcpy_async(&shared[threadIdx.x], in + threadIdx.x, sizeof(int));
  __pipeline_commit();
  __syncthreads();
  out[threadIdx.x] = shared[threadIdx.x];  // planted: missing_pipeline_wait
}

// Each kernel below gets `bytes` announced and copied, and may skip a step.
__device__ void fetch(const int* in, unsigned announced, unsigned copied) {
  Storage& s = shared_storage();
  if (threadIdx.x == 0) simt::tx_init(&s.full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    simt::tx_arrive(&s.full, announced);
    simt::tx_copy(&s.full, s.data, in, copied);  // planted: bulk_copy_not_awaited
  }
}

__global__ void bulk_read_before_wait_kernel(int* out, const int* in) {
  fetch(in, 256, 256);
  __syncthreads();
  out[threadIdx.x] = shared_storage().data[threadIdx.x];  // planted: bulk_read_before_wait
  simt::tx_wait(&shared_storage().full, 0);
}

__global__ void bulk_copy_not_awaited_kernel(const int* in) {
  fetch(in, 256, 256);
}

__global__ void bulk_wrong_bytes_kernel(int* out, const int* in) {
  fetch(in, 256, 128);
  simt::tx_wait(&shared_storage().full, 0);  // planted: bulk_wrong_bytes
  out[threadIdx.x] = shared_storage().data[threadIdx.x];
}

__global__ void bulk_misaligned_kernel(const int* in) {
  Storage& s = shared_storage();
  if (threadIdx.x) return;
  simt::tx_init(&s.full, 1);
  simt::tx_arrive(&s.full, 16);
  simt::tx_copy(&s.full, s.data, in + 1, 16);  // planted: bulk_misaligned
  simt::tx_wait(&s.full, 0);
}

__global__ void bulk_uninitialised_kernel(const int* in) {
  Storage& s = shared_storage();
  if (threadIdx.x) return;
  simt::tx_copy(&s.full, s.data, in, 16);  // planted: bulk_uninitialised
}

__global__ void too_many_arrivals_kernel() {
  Storage& s = shared_storage();
  if (threadIdx.x) return;
  simt::tx_init(&s.full, 1);
  simt::tx_arrive(&s.full, 16);
  simt::tx_arrive(&s.full, 16);  // planted: too_many_arrivals
}

__global__ void overwritten_before_store_kernel(int* out) {
  Storage& s = shared_storage();
  s.data[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) {
    simt::bulk_store(out, s.data, 256);
    simt::bulk_store_commit();
  }
  __syncthreads();
  s.data[threadIdx.x] = -1;  // planted: overwritten_before_store
  __syncthreads();
  if (threadIdx.x == 0) simt::bulk_store_wait_read(0);
}

__global__ void store_not_awaited_kernel(int* out) {
  Storage& s = shared_storage();
  s.data[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) {
    simt::bulk_store(out, s.data, 256);  // planted: store_not_awaited
    simt::bulk_store_commit();
  }
}

__global__ void not_waiting_kernel(int* out, const int* in) {
  if (in == nullptr) simt::wait_for_kernel_before();
  out[threadIdx.x] = in[threadIdx.x];
}

template <class... P, class... A>
void launch(bugs::Trial& trial, void (*kernel)(P...), A... arguments) {
  cudaLaunchConfig_t config = trial.shape(1, 64);
  config.dynamicSmemBytes = sizeof(Storage);
  trial.check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace

PLANT(missing_pipeline_wait) {
  trial.launch(1, 64, missing_pipeline_wait_kernel, trial.out, trial.in);
  trial.expect([](int) { return 0; });
}
PLANT(early_kernel_does_not_wait) {
  cudaLaunchConfig_t config = trial.shape(1, 64);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &early;
  config.numAttrs = 1;
  const auto kernel = not_waiting_kernel;
  const int* const in = trial.in;
  trial.check(
      cudaLaunchKernelEx(&config, kernel, trial.out, in));  // launched: early_kernel_does_not_wait
}
PLANT(bulk_read_before_wait) {
  launch(trial, bulk_read_before_wait_kernel, trial.out, static_cast<const int*>(trial.in));
  trial.expect([](int) { return 0; });
}
PLANT(bulk_copy_not_awaited) {
  launch(trial, bulk_copy_not_awaited_kernel, trial.in);
}
PLANT(bulk_wrong_bytes) {
  launch(trial, bulk_wrong_bytes_kernel, trial.out, trial.in);
}
PLANT(bulk_misaligned) {
  launch(trial, bulk_misaligned_kernel, trial.in);
}
PLANT(bulk_uninitialised) {
  launch(trial, bulk_uninitialised_kernel, trial.in);
}
PLANT(too_many_arrivals) {
  launch(trial, too_many_arrivals_kernel);
}
PLANT(overwritten_before_store) {
  launch(trial, overwritten_before_store_kernel, trial.out);
  trial.expect([](int i) { return i; });
}
PLANT(store_not_awaited) {
  launch(trial, store_not_awaited_kernel, trial.out);
}
