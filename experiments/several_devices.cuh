// The devices of experiments on several GPUs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/cuda_check.cuh"
#include "harness/device.hpp"
#include "harness/technique.hpp"

namespace warpath::experiments {

/// The devices of a problem: as many GPUs; or virtual ones, all on the first. Emulated ones are
/// used in turn. Throws NotHere if there are fewer.
inline std::vector<int> ordinals_of(const harness::Parameters& problem) {
  const auto wanted = static_cast<int>(problem.integer("devices"));
  if (problem.on("virtual")) return std::vector<int>(static_cast<std::size_t>(wanted), 0);
  int there = 0;
  WARPATH_CUDA_CHECK(cudaGetDeviceCount(&there));
  if (there < wanted && !harness::emulated) {
    throw harness::NotHere("needs " + std::to_string(wanted) + " GPUs: this machine has " +
                           std::to_string(there));
  }
  std::vector<int> ordinals;
  for (int i = 0; i < wanted; ++i) ordinals.push_back(i % there);
  return ordinals;
}

}  // namespace warpath::experiments
