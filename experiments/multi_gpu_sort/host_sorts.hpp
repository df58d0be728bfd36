// Sorts of host memory: the problem of the experiment, in a source of its own.
#pragma once

#include <memory>

#include "harness/technique.hpp"

namespace warpath::experiments::multi_sorts {

/// 32-bit integers in page-locked host memory. Throws NotHere if there are fewer devices than the
/// problem wants.
std::unique_ptr<harness::Problem> make_host_sorts(const harness::Parameters& problem);

}  // namespace warpath::experiments::multi_sorts
