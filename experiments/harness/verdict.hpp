// Judges measurements by the expected figures: claims, aims and comparisons.
#pragma once

#include <filesystem>
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

/// Judges the rows of an archive again, by what its configuration expects now, and replaces its
/// verdicts; a record stays what it is. Throws UserError where the file is no archive of it.
Json judge_again(const Json& archive, const Config& config, const std::filesystem::path& file);

}  // namespace warpath::harness
