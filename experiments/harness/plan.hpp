// What one call of the program is to measure: configurations, their points, and the groups that
// share a problem.
#pragma once

#include <string>
#include <vector>

#include "harness/config.hpp"
#include "harness/sweep.hpp"

namespace warpath::harness {

struct Experiment {
  Config config;
  std::vector<Point> points;
};

/// What `run` and `verify` were asked for.
struct RunOptions {
  std::vector<std::string> configs;
  std::string profile = default_profile;
  std::vector<std::string> overrides;  ///< of --set
  std::vector<std::string> benchmark_flags;
  std::string out = "results/runs";
  std::string command;                 ///< for the records: it names no path of this machine
  std::string typed;                   ///< the same as it was typed
  std::vector<std::string> arguments;  ///< of the program, its name included
  bool resume = false;
  bool dry_run = false;
  bool force = false;
};

/// Reads and expands all configurations before anything runs. Throws UserError, also if two are of
/// one experiment.
std::vector<Experiment> read_experiments(const RunOptions& options,
                                         const std::vector<Technique>& techniques);

/// Points of one configuration that share a problem, in the order of their first members.
struct Group {
  const Experiment* experiment;
  std::vector<const Point*> points;
};
std::vector<Group> group_points(const std::vector<Experiment>& experiments);

}  // namespace warpath::harness
