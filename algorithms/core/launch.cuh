// One typed way to launch a kernel, the one accessor of dynamic shared memory, and the one way to
// poll.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "core/cuda_check.cuh"

namespace warpath {

/// Grid, block and stream of one launch. `shared_bytes` may pass 48 KiB: launch() asks for what it
/// needs.
struct LaunchShape {
  unsigned blocks = 1;
  unsigned threads = 1;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  /// On Hopper: the kernel may start once every block of the kernel before it in the stream has
  /// ended or called hopper::let_next_kernel_start(), and calls hopper::wait_for_kernel_before()
  /// itself. Elsewhere it starts as any other.
  bool starts_early = false;
};

/// Whether the code of `kernel` that this device runs has been compiled for Hopper, or later.
template <class... Declared>
bool is_compiled_for_hopper(void (*kernel)(Declared...)) {
  cudaFuncAttributes attributes{};
  WARPATH_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  return attributes.ptxVersion >= 90;
}

/// Launches `kernel`; the arguments are converted to the kernel's own parameter types. Throws
/// CudaError.
template <class... Declared, class... Given>
void launch(const LaunchShape& shape, void (*kernel)(Declared...), Given&&... arguments) {
  if (shape.shared_bytes > 48 * 1024) {
    WARPATH_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(shape.shared_bytes)));
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.blocks);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = shape.stream;
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &early;
  config.numAttrs = shape.starts_early && is_compiled_for_hopper(kernel) ? 1 : 0;
  WARPATH_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel,
                                        static_cast<Declared>(std::forward<Given>(arguments))...));
}

/// How many blocks of `kernel` the current device holds at once: the grid of a persistent kernel.
template <class... Declared>
unsigned resident_blocks(void (*kernel)(Declared...), unsigned threads, std::size_t shared_bytes) {
  if (shared_bytes > 48 * 1024) {
    WARPATH_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(shared_bytes)));
  }
  int device = 0;
  int processors = 0;
  int per_processor = 0;
  WARPATH_CUDA_CHECK(cudaGetDevice(&device));
  WARPATH_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  WARPATH_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &per_processor, kernel, static_cast<int>(threads), shared_bytes));
  if (per_processor == 0) {
    throw CudaError(cudaErrorInvalidConfiguration,
                    "a block of " + std::to_string(threads) + " threads and " +
                        std::to_string(shared_bytes) +
                        " bytes of shared memory does not fit this device");
  }
  return static_cast<unsigned>(processors * per_processor);
}

/// The most dynamic shared memory that a Hopper block can have.
inline constexpr std::size_t max_shared_bytes = 227 * 1024;

/// Whether the current device has bulk copies and transaction barriers: compute capability 9.0 or
/// more.
inline bool is_hopper() {
  int device = 0;
  int major = 0;
  WARPATH_CUDA_CHECK(cudaGetDevice(&device));
  WARPATH_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= 9;
}

/// The most dynamic shared memory that a block can have on the current device.
inline std::size_t device_shared_bytes() {
  int device = 0;
  int bytes = 0;
  WARPATH_CUDA_CHECK(cudaGetDevice(&device));
  WARPATH_CUDA_CHECK(
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return static_cast<std::size_t>(bytes);
}

/// The block's dynamic shared memory, seen as one struct. A kernel calls it once.
template <class SharedStorage>
__device__ __forceinline__ SharedStorage& dynamic_shared() {
#ifdef SIMT_EMULATION
  return *reinterpret_cast<SharedStorage*>(simt::dynamic_smem);
#else
  extern __shared__ __align__(128) unsigned char dynamic_shared_memory[];
  return *reinterpret_cast<SharedStorage*>(dynamic_shared_memory);
#endif
}

/// Polls until `ready()` holds. The only spin in the house: each round lets the other threads run.
template <class Ready>
__device__ __forceinline__ void wait_until(Ready ready) {
  while (!ready()) __nanosleep(20);
}

}  // namespace warpath
