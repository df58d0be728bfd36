// The one typed way to launch a kernel, the predicate that chooses between kernels, the accessor of
// dynamic shared memory, and the one way to poll.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "core/cuda_check.cuh"
#include "core/device.cuh"
#include "core/hopper.cuh"

namespace warpath {

/// Grid, block and stream of one launch. `shared_bytes` may pass 48 KiB: launch() asks for what it
/// needs.
struct LaunchShape {
  unsigned blocks = 1;
  unsigned threads = 1;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  /// If the kernel was compiled for Hopper: it may start once every block of the kernel before it
  /// in the stream has ended or called hopper::let_next_kernel_start(), and calls
  /// hopper::wait_for_kernel_before() itself. Elsewhere it starts as any other.
  bool starts_early = false;
  /// Where the shape was written: what an error of the launch names. Leave it as it is.
  const char* file = __builtin_FILE();
  int line = __builtin_LINE();
};

namespace detail {

/// What the driver says about a kernel's code on one device.
struct KernelCode {
  int compiled_for = 0;  ///< compute capability, times ten
  std::size_t static_shared_bytes = 0;
};

/// The driver is asked once for each kernel and device: a call would wait for it every time. Any
/// number of threads may ask.
class KernelCodes {
 public:
  template <class Ask>
  KernelCode get(const void* kernel, int device, const Ask& ask) {
    const std::pair key(kernel, device);
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = codes_.find(key); found != codes_.end()) return found->second;
    }
    const KernelCode code = ask();
    const std::unique_lock lock(mutex_);
    return codes_.emplace(key, code).first->second;
  }
  /// For tests that change what the emulated devices are.
  void forget() {
    const std::unique_lock lock(mutex_);
    codes_.clear();
  }

 private:
  std::shared_mutex mutex_;
  std::map<std::pair<const void*, int>, KernelCode> codes_;
};
inline KernelCodes& kernel_codes() {
  static KernelCodes codes;
  return codes;
}

template <class... Declared>
KernelCode code_of(void (*kernel)(Declared...)) {
  return kernel_codes().get(reinterpret_cast<const void*>(kernel), current_device(), [&] {
    cudaFuncAttributes attributes{};
    WARPATH_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    // PTX for 8.0 that the driver has compiled for a device of 9.0 has binaryVersion 90, and no
    // instruction of 9.0 in it.
    return KernelCode{std::min(attributes.ptxVersion, attributes.binaryVersion),
                      attributes.sharedSizeBytes};
  });
}

/// The most dynamic shared memory that a kernel was allowed on a device. It is never taken back:
/// another host thread may be about to launch the kernel with what it was allowed.
class SharedLimits {
 public:
  template <class Allow>
  void raise(const void* kernel, int device, std::size_t bytes, const Allow& allow) {
    const std::pair key(kernel, device);
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = limits_.find(key); found != limits_.end() && found->second >= bytes) {
        return;
      }
    }
    const std::unique_lock lock(mutex_);
    std::size_t& limit = limits_[key];
    if (limit >= bytes) return;
    allow();
    limit = bytes;
  }
  /// For tests that change what the emulated devices are.
  void forget() {
    const std::unique_lock lock(mutex_);
    limits_.clear();
  }

 private:
  std::shared_mutex mutex_;
  std::map<std::pair<const void*, int>, std::size_t> limits_;
};
inline SharedLimits& shared_limits() {
  static SharedLimits limits;
  return limits;
}

/// Lets blocks of a kernel have so much dynamic shared memory on the current device. Any number of
/// threads may ask.
template <class... Declared>
void allow_shared_bytes(void (*kernel)(Declared...), std::size_t bytes, const char* file,
                        int line) {
  constexpr std::size_t always_allowed = 48 * 1024;  // with what the kernel declares itself
  if (bytes == 0 || bytes + code_of(kernel).static_shared_bytes <= always_allowed) return;
  shared_limits().raise(reinterpret_cast<const void*>(kernel), current_device(), bytes, [&] {
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)),
               "cudaFuncSetAttribute", file, line);
  });
}

/// The compute capability that hopper.cuh needs, times ten.
inline constexpr int hopper_capability = 90;

}  // namespace detail

/// What a kernel needs that not every device of compute capability 8.0 or more has.
struct KernelNeeds {
  bool hopper = false;           ///< it calls functions of hopper.cuh that trap before 9.0
  std::size_t shared_bytes = 0;  ///< of dynamic shared memory, for a block
  bool sm_90a = false;           ///< it asks hopper::is_compiled_for_90a()
};

/// Whether the current device can run `kernel`: whether the code of it that was loaded has been
/// compiled for what it needs, and a block's shared memory fits the device. Every choice between
/// kernels is made by this function: what the device is called, or could run if the program had
/// been compiled for it, decides nothing.
template <class... Declared>
bool can_run(void (*kernel)(Declared...), const KernelNeeds& needs) {
  const detail::KernelCode code = detail::code_of(kernel);
  if (needs.hopper && code.compiled_for < detail::hopper_capability) return false;
  const bool is_for_90a = code.compiled_for == detail::hopper_capability &&
                          code.static_shared_bytes < hopper::mark_bytes;
  if (needs.sm_90a && !is_for_90a) return false;
  return code.static_shared_bytes + needs.shared_bytes <= device_shared_bytes();
}

/// Launches `kernel`; the arguments are converted to the kernel's own parameter types. Throws
/// CudaError.
template <class... Declared, class... Given>
void launch(const LaunchShape& shape, void (*kernel)(Declared...), Given&&... arguments) {
  detail::allow_shared_bytes(kernel, shape.shared_bytes, shape.file, shape.line);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.blocks);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = shape.stream;
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &early;
  const bool is_early =
      shape.starts_early && detail::code_of(kernel).compiled_for >= detail::hopper_capability;
  config.numAttrs = is_early ? 1 : 0;
#ifdef SIMT_EMULATION
  const simt::PlacedConfig placed(&config, shape.file, shape.line);
#else
  const cudaLaunchConfig_t* placed = &config;
#endif
  cuda_check(
      cudaLaunchKernelEx(placed, kernel, static_cast<Declared>(std::forward<Given>(arguments))...),
      "launch", shape.file, shape.line);
}

/// How many blocks of `kernel` the current device holds at once: the grid of a persistent kernel.
template <class... Declared>
unsigned resident_blocks(void (*kernel)(Declared...), unsigned threads, std::size_t shared_bytes) {
  detail::allow_shared_bytes(kernel, shared_bytes, __FILE__, __LINE__);
  int per_processor = 0;
  WARPATH_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &per_processor, kernel, static_cast<int>(threads), shared_bytes));
  if (per_processor == 0) {
    throw CudaError(cudaErrorInvalidConfiguration,
                    "a block of " + std::to_string(threads) + " threads and " +
                        std::to_string(shared_bytes) +
                        " bytes of shared memory does not fit this device");
  }
  return static_cast<unsigned>(device_processors() * per_processor);
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

/// Polls until `ready()` holds. All spinning is done here: each round lets the other threads run.
template <class Ready>
__device__ __forceinline__ void wait_until(Ready ready) {
  while (!ready()) __nanosleep(20);
}

}  // namespace warpath
