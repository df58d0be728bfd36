// The interval operations as problems of load_balancing_search's experiments.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/technique.hpp"

namespace warpath::experiments {

/// `operation` interval_expand or interval_move, of objects with so many work items each.
std::unique_ptr<harness::Problem> make_intervals(const harness::Parameters& problem,
                                                 const std::vector<std::int32_t>& counts);
/// Bytes of device memory that it needs with all that its variants allocate.
std::int64_t intervals_device_bytes(const harness::Parameters& problem, std::int64_t objects);

}  // namespace warpath::experiments
