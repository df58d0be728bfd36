// The program's command line.
#pragma once

#include <vector>

#include "harness/technique.hpp"

namespace warpath::harness {

/// `warpath list | run | verify | judge | compare | demo | info`. Reports every error on stderr and
/// returns the exit code: 0 good; 1 a point failed, or something could not be written; 2 bad input;
/// 128 and its number: a signal left points undone.
int run_program(int argc, const char* const* argv, const std::vector<Technique>& techniques);

}  // namespace warpath::harness
