// `warpath judge`: new verdicts for the rows of archives.
#pragma once

#include <string>
#include <vector>

#include "harness/technique.hpp"

namespace warpath::harness {

/// Judges archives, and all of folders, by what their configurations under configs/ expect now;
/// writes and prints their verdicts. Says on stderr which it could not judge, and why. Returns the
/// exit code: 1 if some could not be judged, 2 if none could. Throws UserError if a folder has no
/// archive, or if another run writes to it.
int judge_archives(const std::vector<std::string>& places,
                   const std::vector<Technique>& techniques);

}  // namespace warpath::harness
