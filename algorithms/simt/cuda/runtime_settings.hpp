// Runtime calls and constants that many CUDA programs name although they do not depend on them:
// settings of caches and limits, priorities, profiling, occupancy helpers, older forms of a launch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "runtime_api.hpp"
#include "runtime_types.hpp"

#define CUDA_VERSION 13000
#define CUDART_VERSION CUDA_VERSION

// ---------------------------------------------------------------- settings without an effect
enum cudaFuncCache {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault = 0,
  cudaSharedMemBankSizeFourByte = 1,
  cudaSharedMemBankSizeEightByte = 2
};

template <class Function>
cudaError_t cudaFuncSetCacheConfig(Function*, cudaFuncCache) {
  return cudaSuccess;
}
template <class Function>
cudaError_t cudaFuncSetSharedMemConfig(Function*, cudaSharedMemConfig) {
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  *config = cudaFuncCachePreferNone;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
inline cudaError_t cudaProfilerStart() {
  return cudaSuccess;
}
inline cudaError_t cudaProfilerStop() {
  return cudaSuccess;
}

// ---------------------------------------------------------------- other forms of calls
inline cudaError_t cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                            unsigned = 0) {
  return cudaEventRecord(event, stream);
}
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned = 0) {
  *device = host;
  return cudaSuccess;
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned = 0) {
  *device = static_cast<T*>(host);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind,
                                    cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}

// ---------------------------------------------------------------- occupancy
/// The largest block that may run, or `most_threads`, and a grid that fills the device with it.
/// shared_bytes_of: the dynamic shared memory of a block of so many threads.
template <class Function, class SharedBytes>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* blocks, int* threads,
                                                           Function* kernel,
                                                           SharedBytes shared_bytes_of,
                                                           int most_threads = 0) {
  int device = 0, processors = 0, per_processor = 0;
  *threads = most_threads > 0 ? std::min(most_threads, 1024) : 1024;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &per_processor, kernel, *threads, static_cast<std::size_t>(shared_bytes_of(*threads)));
  *blocks = processors * per_processor;
  return error;
}
template <class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* blocks, int* threads, Function* kernel,
                                               std::size_t shared_bytes = 0, int most_threads = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      blocks, threads, kernel, [=](int) { return shared_bytes; }, most_threads);
}

// ---------------------------------------------------------------- launches by pointers
namespace simt {

template <class... Parameters, std::size_t... I>
cudaError_t launch_unpacked(PlacedConfig placed, void (*kernel)(Parameters...), void** arguments,
                            std::index_sequence<I...>) {
  return cudaLaunchKernelEx(placed, kernel, *static_cast<Parameters*>(arguments[I])...);
}

}  // namespace simt

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                             SIMT_SITE) {
  const cudaLaunchConfig_t config{grid, block, shared_bytes, stream, nullptr, 0};
  return simt::launch_unpacked({&config, simt_file, simt_line}, kernel, arguments,
                               std::index_sequence_for<Parameters...>());
}

template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr, SIMT_SITE) {
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  const cudaLaunchConfig_t config{grid, block, shared_bytes, stream, &cooperative, 1};
  return simt::launch_unpacked({&config, simt_file, simt_line}, kernel, arguments,
                               std::index_sequence_for<Parameters...>());
}

// Pass the kernel as it is: a cast to void* hides the types of its parameters.
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t = 0,
                             cudaStream_t = nullptr) = delete;
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, std::size_t = 0,
                                        cudaStream_t = nullptr) = delete;
