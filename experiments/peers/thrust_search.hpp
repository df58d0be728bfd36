// Load-balancing search by Thrust, as peers of load_balancing_search: the cuda backend only.
#pragma once

#include <cstdint>

#include "harness/technique.hpp"

namespace warpath::experiments::thrust_search {

// Each makes the execution, with its temporary storage; all pointers are device memory. `scan`: the
// exclusive scan of the work-item counts; objects[i] becomes the object of work item i.

/// thrust::upper_bound of the work items in the scan, less one.
harness::Execution upper_bound(const std::int32_t* scan, std::int64_t objects, std::int64_t items,
                               std::int32_t* out);
/// Each object that has work items scatters its number to the first; a maximum scan spreads them.
harness::Execution scatter_scan(const std::int32_t* scan, std::int64_t objects, std::int64_t items,
                                std::int32_t* out);

}  // namespace warpath::experiments::thrust_search
