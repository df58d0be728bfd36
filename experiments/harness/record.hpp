// Validates records when they are read back: their files may have been edited or damaged.
#pragma once

#include <string>

#include "harness/point.hpp"
#include "harness/value.hpp"

namespace warpath::harness {

/// The first fault of the JSON as a record of the point: its place, and what is wrong there; empty
/// for a valid record. All that is read out of a record is checked here, once.
std::string fault_of_record(const Json& record, const Point& point);

/// The same of the row of an archive, which may be of any point.
std::string fault_of_row(const Json& row);

}  // namespace warpath::harness
