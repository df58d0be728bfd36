// `warpath run --dry-run`: what would be measured, how much memory it needs, and about how long it
// takes.
#pragma once

#include <functional>
#include <vector>

#include "harness/plan.hpp"

namespace warpath::harness {

/// Prints a line a point, and the sums. `is_finished` says which points --resume would not measure.
void print_dry_run(const std::vector<Experiment>& experiments,
                   const std::function<bool(const Experiment&, const Point&)>& is_finished);

}  // namespace warpath::harness
