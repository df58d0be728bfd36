// Runs a plan: measures group by group, keeps every point's record, and assembles the archives.
#pragma once

#include <vector>

#include "harness/plan.hpp"

namespace warpath::harness {

/// What the program returns to the shell, or interrupt_exit_code() if a signal left points undone.
enum ExitCode { exit_good = 0, exit_failed_points = 1, exit_bad_input = 2 };

/// `warpath run`: returns the exit code. Throws UserError before anything runs.
int run_campaign(const RunOptions& options, const std::vector<Technique>& techniques);

/// `warpath verify`: checks every point against the oracle; neither times nor writes.
int verify_campaign(const RunOptions& options, const std::vector<Technique>& techniques);

}  // namespace warpath::harness
