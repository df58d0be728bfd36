// `warpath run --dry-run`: what would be measured, how much memory it needs, and about how long it
// takes.
#pragma once

#include <vector>

#include "harness/plan.hpp"

namespace warpath::harness {

void print_dry_run(const std::vector<Experiment>& experiments);

}  // namespace warpath::harness
