// For tests: an output that any stream may write.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "../guarded.cuh"
#include "core/cuda_check.cuh"

namespace warpath::kd_tree::test {

/// An output between guard zones, whose pattern is there before any stream goes on.
template <class T>
struct Output : Guarded<T> {
  explicit Output(std::int64_t count) : Guarded<T>(count) {
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  }
};

}  // namespace warpath::kd_tree::test
