// The start of runs by Thrust, as a peer of biased_binary_search: the cuda backend only.
#pragma once

#include <cstdint>

#include "harness/technique.hpp"

namespace warpath::experiments {

/// starts[i] becomes thrust::lower_bound of keys[positions[i]] in all keys; all are device memory.
harness::Execution thrust_run_starts(const std::int32_t* keys, std::int64_t key_count,
                                     const std::int32_t* positions, std::int64_t count,
                                     std::int32_t* starts);

}  // namespace warpath::experiments
