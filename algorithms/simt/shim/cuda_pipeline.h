// cp.async. A copy lands when it is waited for, never earlier, so that a missing wait shows.
#pragma once

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's.

#include "cuda_runtime.h"

inline void __pipeline_memcpy_async(void* to_shared, const void* from, std::size_t bytes,
                                    std::size_t zeros = 0, SIMT_SITE) {
  simt::pipeline_copy(to_shared, from, bytes, zeros, SIMT_HERE);
}
inline void __pipeline_commit() {
  simt::pipeline_commit();
}
inline void __pipeline_wait_prior(std::size_t pending) {
  simt::pipeline_wait(pending);
}

// NOLINTEND(bugprone-reserved-identifier)
