// One file an experiment: all rows, what they were measured with, and the verdicts.
#pragma once

#include <string>
#include <vector>

#include "harness/config.hpp"
#include "harness/point.hpp"
#include "harness/store.hpp"

namespace warpath::harness {

/// What an archive says of the run that wrote it.
struct RunFacts {
  std::string profile;
  std::string command;
  bool is_resumed = false;  ///< records of other runs count
};

/// Gathers the valid records of `points`. "complete" if every point has one. A row that another run
/// has measured says which, and at which commit. All percentages refer to the archive's ceilings.
/// "links" if a record has them.
Json assemble_archive(const Config& config, const std::vector<Point>& points, const Store& store,
                      const Device& device, const RunFacts& facts);

}  // namespace warpath::harness
