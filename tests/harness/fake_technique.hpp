// A technique that doubles n integers, and goes wrong in every way that a technique can, when it is
// told to.
#pragma once

#include <string>
#include <vector>

#include "harness/technique.hpp"

namespace warpath::harness::fake {

/// Parameters: n, fault (none, wrong_answer, exception, cuda_error, device_lost,
/// device_vanishes, too_large, not_here, no_room; endless only says that it takes 10^9 steps an
/// element), faulty (the variant that goes wrong), when (verifying, timing), delay_ms (of each host
/// execution), scale, tuning, seed. Variants: kernel and naive (anywhere), library (gpu),
/// host_fast, host_slow and oracle (host). host_fast chooses its loop by n: even or odd.
Technique technique();

/// All that a configuration of the tests may name.
inline const std::vector<Technique>& techniques() {
  static const std::vector<Technique> all = {technique()};
  return all;
}

/// The variants in the order in which they were executed in this process. The caller may clear it.
std::vector<std::string>& executions();

}  // namespace warpath::harness::fake
