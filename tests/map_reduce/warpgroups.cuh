// What the tests of kernels that take the products of warpgroups share.
#pragma once

#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "support.cuh"

namespace warpath::map_reduce::test {

inline const Options tensor{.variant = Variant::tensor};
inline const Options one_part{.variant = Variant::tensor, .splits = 1};

namespace detail_of_tests {
template <int = 0>
__global__ void needs_warpgroups_kernel() {
  if (!hopper::is_compiled_for_90a()) return;
}
}  // namespace detail_of_tests

/// Whether the device has them, and the tests are compiled for it.
inline bool has_warpgroup_code() {
  return can_run(detail_of_tests::needs_warpgroups_kernel<>, {.hopper = true, .sm_90a = true});
}

}  // namespace warpath::map_reduce::test
