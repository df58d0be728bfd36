// References to tuples, sorted by superkey: source files of their own, so that they compile side by
// side.
#pragma once

#include <memory>

#include "harness/technique.hpp"

namespace warpath::experiments::sorting {

/// C: float, double, std::int32_t or std::int64_t.
template <class C>
std::unique_ptr<harness::Problem> make_superkeys(const harness::Parameters& problem);

}  // namespace warpath::experiments::sorting
