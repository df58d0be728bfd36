// What was published, set beside what was measured.
#pragma once

#include <vector>

#include "harness/config.hpp"

namespace warpath::harness {

/// One verdict an `expected` entry. `rows` are those of the archive, of all points of the
/// configuration.
///
/// An entry speaks of every row that `where` holds for. Where it names no variant, the best of the
/// rows with the role `technique` stands for each setting of the other parameters. The setting that
/// does worst decides.
Json judge(const Config& config, const std::vector<Json>& rows);

}  // namespace warpath::harness
