// The program's command line.
#pragma once

#include <vector>

#include "harness/technique.hpp"

namespace warpath::harness {

/// `warpath list | run | verify | info`. Reports every error on stderr and returns the exit code: 0
/// good, 1 a point failed, 2 bad input, 130 interrupted.
int run_program(int argc, const char* const* argv, const std::vector<Technique>& techniques);

}  // namespace warpath::harness
