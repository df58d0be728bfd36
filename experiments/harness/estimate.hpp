// How long a plan will take, before it runs: guesses, good to a factor of a few.
#pragma once

#include <string>
#include <vector>

#include "harness/plan.hpp"

namespace warpath::harness {

/// A run time, in seconds.
struct Estimate {
  double least = 0;
  double most = 0;
  double executor = 0;  ///< of `least`: kernels that run on the CPU, on the emulated backend
};

/// The time that the given points of the group take.
Estimate estimate(const Group& group, const std::vector<const Point*>& points);

/// Why the point is skipped on this machine, as far as that is known without its problem; else
/// empty. Asks no GPU.
std::string why_not_here(const Point& point);

/// The points of a group that are still to run.
struct Pending {
  const Group* group;
  std::vector<const Point*> points;
};

/// On the emulated backend: throws UserError if its kernels would take the CPU more than an hour,
/// which names a size that would do, unless `options` force it; and says on stderr if a profile for
/// GPUs was chosen although the configuration has one for this backend.
void check_executor_time(const std::vector<Pending>& pending, const RunOptions& options);

}  // namespace warpath::harness
