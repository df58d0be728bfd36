// All techniques of the laboratory. This is the only place that names them.
#pragma once

#include <vector>

#include "harness/technique.hpp"

namespace warpath {

std::vector<harness::Technique> techniques();

}  // namespace warpath
