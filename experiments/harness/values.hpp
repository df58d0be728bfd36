// The values that a parameter takes, as a configuration or --set spells them.
#pragma once

#include <string>
#include <vector>

#include "harness/config.hpp"

namespace warpath::harness {

/// A single value, a list of them, {"pow2": [first, last, step]} (2^first, 2^(first+step), ... up
/// to 2^last) or
/// {"range": [first, last, step]}. Throws UserError.
std::vector<Value> read_values(const Node& node, const Parameter& parameter);

}  // namespace warpath::harness
