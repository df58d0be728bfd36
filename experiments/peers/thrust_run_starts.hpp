// The start of runs by Thrust, as a peer of biased_binary_search: the cuda backend only.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "harness/technique.hpp"

namespace warpath::experiments::thrust_run_starts {

/// Makes the execution: starts[i] becomes thrust::lower_bound of keys[positions[i]] in all keys.
/// All pointers are device memory.
harness::Execution lower_bound(const std::int32_t* keys, std::int64_t key_count,
                               const std::int32_t* positions, std::int64_t count,
                               std::int32_t* starts);

#ifdef SIMT_EMULATION
// The harness never prepares a peer here: it needs a GPU.
inline harness::Execution lower_bound(const std::int32_t*, std::int64_t, const std::int32_t*,
                                      std::int64_t, std::int32_t*) {
  throw std::logic_error("Thrust needs the cuda backend");
}
#endif

}  // namespace warpath::experiments::thrust_run_starts
