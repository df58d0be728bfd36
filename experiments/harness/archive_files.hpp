// Finds archives by name, and refuses other files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/node.hpp"

namespace warpath::harness {

/// The archives among the names: files, and all of a folder, sorted. Throws UserError where a
/// folder has none.
std::vector<std::filesystem::path> archive_files(const std::vector<std::string>& names);

/// What an archive is of, as technique/experiment. Throws UserError if it is no archive.
std::string experiment_of(const Node& archive);

}  // namespace warpath::harness
