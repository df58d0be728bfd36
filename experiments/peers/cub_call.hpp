// One call of a CUB algorithm as an execution.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>

#include "core/cuda_check.cuh"
#include "harness/technique.hpp"
#include "scratch.cuh"

namespace warpath::experiments {

/// Asks algorithm(memory, bytes, stream) how much temporary storage it wants. The execution keeps
/// `storage`, also where a later variant has been prepared since: executions take turns.
template <class Algorithm>
harness::Execution cub_call(const std::shared_ptr<KeptStorage>& storage, Algorithm algorithm) {
  std::size_t bytes = 0;
  WARPATH_CUDA_CHECK(algorithm(nullptr, bytes, nullptr));
  char* memory = storage->allocate(static_cast<std::ptrdiff_t>(bytes));
  return [storage, algorithm, memory, bytes](cudaStream_t stream) {
    std::size_t available = bytes;
    WARPATH_CUDA_CHECK(algorithm(memory, available, stream));
  };
}

}  // namespace warpath::experiments
