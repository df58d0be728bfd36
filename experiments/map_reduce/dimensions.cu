#include <stdexcept>

#include "map_reduce/cases.hpp"
#include "map_reduce/pairs.cuh"

namespace warpath::experiments::pairs {

std::unique_ptr<harness::Problem> make_gaussian_sum_of_dimension(const Parameters& problem) {
  if (problem.text("number") != "float32" || problem.text("accuracy") != "block") {
    throw std::invalid_argument("d " + std::to_string(problem.integer("d")) +
                                ": compiled are float32 and accuracy block");
  }
  switch (problem.integer("d")) {
    case 1:
      return make<GaussianSum<float, 1>>(problem);
    case 16:
      return make<GaussianSum<float, 16>>(problem);
    case 64:
      return make<GaussianSum<float, 64>>(problem);
    case 128:
      return make<GaussianSum<float, 128>>(problem);
    default:
      break;
  }
  if (auto of_few = make_gaussian_sum_of_few_dimensions(problem)) return of_few;
  throw std::invalid_argument("d is " + std::to_string(problem.integer("d")) +
                              ": compiled are 1, 3, 5, 7, 8, 10, 16, 64 and 128");
}

}  // namespace warpath::experiments::pairs
