// CUDA's error codes: name, number, text.
#pragma once

#define SIMT_CUDA_ERRORS(X)                                                                \
  X(cudaSuccess, 0, "no error")                                                            \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                          \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                         \
  X(cudaErrorInitializationError, 3, "initialization error")                               \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                    \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                   \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                           \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")              \
  X(cudaErrorInsufficientDriver, 35, "driver version is insufficient for runtime version") \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                          \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                 \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                        \
  X(cudaErrorNotReady, 600, "device not ready")                                            \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")              \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")         \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")              \
  X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                  \
  X(cudaErrorHostMemoryAlreadyRegistered, 712,                                             \
    "part or all of the requested memory range is already mapped")                         \
  X(cudaErrorHostMemoryNotRegistered, 713,                                                 \
    "pointer does not correspond to a registered memory region")                           \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                             \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")      \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                                 \
  X(cudaErrorNotSupported, 801, "operation not supported")                                 \
  X(cudaErrorUnknown, 999, "unknown error")

#define SIMT_ENUMERATE(name, number, text) name = number,
enum cudaError { SIMT_CUDA_ERRORS(SIMT_ENUMERATE) };
#undef SIMT_ENUMERATE
using cudaError_t = cudaError;
