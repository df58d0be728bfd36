#include <stdexcept>

#include "map_reduce/cases.hpp"
#include "map_reduce/pairs.cuh"

namespace warpath::experiments::pairs {

std::unique_ptr<harness::Problem> make_signals_in_many_dimensions(const Parameters& problem) {
  if (problem.text("number") != "float32" || problem.text("accuracy") != "block") {
    throw std::invalid_argument("d 64 with e " + std::to_string(problem.integer("e")) +
                                ": compiled are float32 and accuracy block");
  }
  switch (problem.integer("e")) {
    case 16:
      return make<GaussianSum<float, 64, Accuracy::block, 16>>(problem);
    case 64:
      return make<GaussianSum<float, 64, Accuracy::block, 64>>(problem);
    default:
      throw std::invalid_argument("d 64 with e " + std::to_string(problem.integer("e")) +
                                  ": compiled are 1, 16 and 64");
  }
}

}  // namespace warpath::experiments::pairs
