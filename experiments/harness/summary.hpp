// The table at the end of a run.
#pragma once

#include "harness/value.hpp"

namespace warpath::harness {

/// Prints the rows of an archive, and its verdicts, to stdout. Parameters that all rows share stand
/// above the table.
void print_summary(const Json& archive);

/// One line a verdict of an archive.
void print_verdicts(const Json& verdicts);

}  // namespace warpath::harness
