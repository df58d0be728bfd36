// The CUDA runtime API of the emulator: the calls that this project uses. Contracts are CUDA's;
// what differs is in README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../site.hpp"
#include "runtime_types.hpp"

// ---------------------------------------------------------------- devices
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);

// ---------------------------------------------------------------- errors
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);

// ---------------------------------------------------------------- memory
cudaError_t cudaMalloc(void** pointer, std::size_t bytes, SIMT_SITE);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream, SIMT_SITE);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned flags = 0, SIMT_SITE);
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags, SIMT_SITE);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes,
                            cudaStream_t stream = nullptr);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses,
                                 std::size_t count);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes_to_keep);

template <class T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes, SIMT_SITE) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes, simt_file, simt_line);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream, SIMT_SITE) {
  return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream, simt_file, simt_line);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned flags = 0, SIMT_SITE) {
  return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes, flags, simt_file, simt_line);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned flags, SIMT_SITE) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags, simt_file, simt_line);
}

// ---------------------------------------------------------------- streams and events
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device);
/// There are no graphs here; option `capturing` says what the answer is.
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
/// By the host's clock: it says nothing about a GPU.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to);

// ---------------------------------------------------------------- kernels
namespace simt {

using InvokeKernel = void (*)(void* arguments);

cudaError_t launch_kernel(const cudaLaunchConfig_t& config, const void* kernel, InvokeKernel invoke,
                          std::shared_ptr<void> arguments, Site site, const char* name = nullptr);
cudaError_t set_function_attribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t get_function_attributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t occupancy(int* blocks, int threads, std::size_t shared_bytes);

/// A launch configuration with the place that it was used at.
struct PlacedConfig {
  const cudaLaunchConfig_t* config;
  Site site;
  PlacedConfig(const cudaLaunchConfig_t* c, SIMT_SITE) : config(c), site(SIMT_HERE) {}
};

template <class Function>
const void* address_of_kernel(Function* kernel) {
  static_assert(std::is_function_v<Function>);
  return reinterpret_cast<const void*>(kernel);
}

}  // namespace simt

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(simt::PlacedConfig placed, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  struct Call {
    void (*kernel)(Parameters...);
    std::tuple<Parameters...> arguments;
  };
  auto call = std::make_shared<Call>(
      Call{kernel, std::tuple<Parameters...>(std::forward<Arguments>(arguments)...)});
  const auto invoke = [](void* erased) {
    const auto& c = *static_cast<Call*>(erased);
    std::apply(c.kernel, c.arguments);
  };
  return simt::launch_kernel(*placed.config, simt::address_of_kernel(kernel), invoke,
                             std::move(call), placed.site);
}

template <class Function>
cudaError_t cudaFuncSetAttribute(Function* kernel, cudaFuncAttribute attribute, int value) {
  return simt::set_function_attribute(simt::address_of_kernel(kernel), attribute, value);
}

template <class Function>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Function* kernel) {
  return simt::get_function_attributes(attributes, simt::address_of_kernel(kernel));
}

template <class Function>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function*, int threads,
                                                          std::size_t shared_bytes) {
  return simt::occupancy(blocks, threads, shared_bytes);
}

template <class Function>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Function*,
                                                                   int threads,
                                                                   std::size_t shared_bytes,
                                                                   unsigned) {
  return simt::occupancy(blocks, threads, shared_bytes);
}

// ---------------------------------------------------------------- symbols
namespace simt {
cudaError_t copy_to_symbol(void* symbol, std::size_t symbol_bytes, const void* from,
                           std::size_t bytes, std::size_t offset);
cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t symbol_bytes,
                             std::size_t bytes, std::size_t offset);
}  // namespace simt

/// __constant__ and __device__ variables are ordinary ones here, shared by all devices.
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes,
                               std::size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return simt::copy_to_symbol(const_cast<std::remove_cv_t<T>*>(&symbol), sizeof(T), from, bytes,
                              offset);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes,
                                 std::size_t offset = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  return simt::copy_from_symbol(to, &symbol, sizeof(T), bytes, offset);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, T& symbol) {
  *address = const_cast<std::remove_cv_t<T>*>(&symbol);
  return cudaSuccess;
}
