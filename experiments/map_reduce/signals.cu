#include <stdexcept>

#include "map_reduce/cases.hpp"
#include "map_reduce/pairs.cuh"

namespace warpath::experiments::pairs {

std::unique_ptr<harness::Problem> make_gaussian_sum_of_signals(const Parameters& problem) {
  if (problem.integer("d") == 64) return make_signals_in_many_dimensions(problem);
  if (problem.integer("d") != 3 || problem.text("number") != "float32" ||
      problem.text("accuracy") != "block") {
    throw std::invalid_argument("e " + std::to_string(problem.integer("e")) +
                                ": compiled are d 3 and 64, float32 and accuracy block");
  }
  switch (problem.integer("e")) {
    case 3:
      return make<GaussianSum<float, 3, Accuracy::block, 3>>(problem);
    case 16:
      return make<GaussianSum<float, 3, Accuracy::block, 16>>(problem);
    case 64:
      return make<GaussianSum<float, 3, Accuracy::block, 64>>(problem);
    default:
      throw std::invalid_argument("e is " + std::to_string(problem.integer("e")) +
                                  ": compiled are 1, 3, 16 and 64 (d 64: 1, 16 and 64)");
  }
}

}  // namespace warpath::experiments::pairs
