// The table at the end of a run, and what every table of rows is made of.
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

/// A text without its quotes, all else as JSON.
std::string text_of(const Json& value);

/// The number as printf prints a double; "-" if it is none.
std::string formatted(const Json& value, const char* format);

/// The parameters of the first row whose value is not that of all rows.
std::vector<std::string> varying_parameters(const Json& rows);

/// Lines of equally many cells, in columns.
void print_table(const std::vector<std::vector<std::string>>& lines, std::FILE* out);

}  // namespace warpath::harness
