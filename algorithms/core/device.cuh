// The current device: the one that calls of this thread go to.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "core/cuda_check.cuh"

namespace warpath {

/// The number of the current device.
inline int current_device() {
  int device = 0;
  WARPATH_CUDA_CHECK(cudaGetDevice(&device));
  return device;
}

namespace detail {

inline int device_attribute(cudaDeviceAttr attribute) {
  int value = 0;
  WARPATH_CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, current_device()));
  return value;
}

}  // namespace detail

/// How many multiprocessors the current device has.
inline int device_processors() {
  return detail::device_attribute(cudaDevAttrMultiProcessorCount);
}

/// The most shared memory that a block can have on the current device, in bytes.
inline std::size_t device_shared_bytes() {
  return static_cast<std::size_t>(
      detail::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

}  // namespace warpath
