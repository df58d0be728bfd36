// The problems of kd_tree's experiments: source files of their own, so that they compile side by
// side.
#pragma once

#include <memory>

#include "harness/technique.hpp"

namespace warpath::experiments::trees {

/// Operations `build` and `from_host`. C: float, double, std::int32_t or std::int64_t.
template <class C>
std::unique_ptr<harness::Problem> make_builds(const harness::Parameters& problem);

/// Operation `on_devices`: of floats, or of int32. Throws NotHere if there are fewer devices than
/// the problem wants.
std::unique_ptr<harness::Problem> make_builds_on_devices(const harness::Parameters& problem);

/// All other operations, on trees of floats that are built already.
std::unique_ptr<harness::Problem> make_asked(const harness::Parameters& problem);

}  // namespace warpath::experiments::trees
