// The table at the end of a run.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "harness/value.hpp"

namespace warpath::harness {

/// Prints the rows of an archive, and its verdicts, to `out`. Parameters that all rows share stand
/// above the table.
void print_summary(const Json& archive, std::FILE* out);

/// One line a verdict of an archive.
void print_verdicts(const Json& verdicts, std::FILE* out);

/// Lines of equally many cells, in columns.
void print_table(const std::vector<std::vector<std::string>>& lines, std::FILE* out);

}  // namespace warpath::harness
