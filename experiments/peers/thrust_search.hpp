// Load-balancing search by Thrust, as peers of load_balancing_search: the cuda backend only.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/technique.hpp"
#include "scratch.cuh"

namespace warpath::experiments::thrust_search {

// Each makes the execution; all pointers are device memory. `scan`: the exclusive scan of the
// work-item counts; out[i] becomes the object of work item i. No call waits for the GPU
// (par_nosync), and Thrust itself takes 32-bit offsets where they do.

/// thrust::upper_bound of the work items in the scan, less one.
harness::Execution upper_bound(const std::int32_t* scan, std::int64_t objects, std::int64_t items,
                               std::int32_t* out);
/// Each object that has work items scatters its number to the first; a maximum scan spreads them.
harness::Execution scatter_scan(const std::int32_t* scan, std::int64_t objects, std::int64_t items,
                                std::int32_t* out, const std::shared_ptr<KeptStorage>& storage);
/// thrust::gather: out[i] becomes the value of object objects[i]. A value has 1, 4, 8, 12 or 16
/// bytes.
harness::Execution gather(int value_bytes, const std::int32_t* objects, std::int64_t items,
                          const void* values, void* out);

}  // namespace warpath::experiments::thrust_search
