// A point's result as a row of an archive.
#pragma once

#include "harness/ceilings.hpp"
#include "harness/group_run.hpp"
#include "harness/value.hpp"

namespace warpath::harness {

/// README.md lists the fields. Percentages refer to `ceilings`; a host variant on a GPU machine has
/// none.
Json make_row(const Point& point, const PointResult& result, const Measure& measure,
              const Ceilings& ceilings);

/// The ceilings that percentages refer to, each under a name with its unit.
Json ceilings_summary(const Ceilings& ceilings);
/// What ceilings_summary() wrote.
Ceilings read_ceilings_summary(const Json& summary);
/// Recomputes the percentage of a row that was measured with other ceilings (both as
/// ceilings_summary() writes them), so that all of an archive refer to the same; without the
/// ceiling on either side there is none.
void refer_to(const Json& ceilings, const Json& those_of_row, Json& row);

}  // namespace warpath::harness
