// `warpath judge`: new verdicts for the rows of archives.
#pragma once

#include <string>
#include <vector>

#include "harness/technique.hpp"

namespace warpath::harness {

/// Judges archives, and all of folders, by what their configurations under configs/ expect now;
/// writes and prints their verdicts. Returns the exit code. Throws UserError before anything is
/// written.
int judge_archives(const std::vector<std::string>& places,
                   const std::vector<Technique>& techniques);

}  // namespace warpath::harness
