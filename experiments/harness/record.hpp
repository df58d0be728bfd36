// What a record may hold: it is read back from a file that anything may have happened to.
#pragma once

#include <string>

#include "harness/point.hpp"
#include "harness/value.hpp"

namespace warpath::harness {

/// What keeps the JSON from being a record of the point, as the place and what is wrong there;
/// empty if nothing does. All that is read out of a record is checked here, once.
std::string fault_of_record(const Json& record, const Point& point);

/// The same of the row of an archive, which may be of any point.
std::string fault_of_row(const Json& row);

}  // namespace warpath::harness
