// For tests: the devices of this machine, real or emulated.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "core/cuda_check.cuh"

namespace warpath {

/// So many devices, those of this machine in turn.
inline std::vector<int> ordinals(int count) {
  int there = 0;
  WARPATH_CUDA_CHECK(cudaGetDeviceCount(&there));
  std::vector<int> all;
  for (int i = 0; i < count; ++i) all.push_back(i % there);
  return all;
}

}  // namespace warpath
