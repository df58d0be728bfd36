// Records of any size and alignment, where the technique's other experiments have numbers: two
// source files, so that they compile side by side.
#pragma once

#include <memory>

#include "harness/technique.hpp"

namespace warpath::experiments {

// The records of a problem's `element_bytes` and `element_alignment`, or null if there are none.
std::unique_ptr<harness::Problem> make_records_of_bytes(const harness::Parameters& problem);
std::unique_ptr<harness::Problem> make_records_of_words(const harness::Parameters& problem);

}  // namespace warpath::experiments
