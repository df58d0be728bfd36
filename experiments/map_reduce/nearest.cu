#include <stdexcept>

#include "map_reduce/cases.hpp"
#include "map_reduce/pairs.cuh"

namespace warpath::experiments::pairs {

std::unique_ptr<harness::Problem> make_nearest_in_many_dimensions(const Parameters& problem) {
  if (problem.text("number") != "float32" || problem.text("accuracy") != "block") {
    throw std::invalid_argument("argmin in d " + std::to_string(problem.integer("d")) +
                                ": compiled are float32 and accuracy block");
  }
  switch (problem.integer("d")) {
    case 16:
      return make<NearestOf<float, 16, 1>>(problem);
    case 64:
      return make<NearestOf<float, 64, 1>>(problem);
    case 128:
      return make<NearestOf<float, 128, 1>>(problem);
    default:
      throw std::invalid_argument("argmin in d " + std::to_string(problem.integer("d")) +
                                  ": compiled are 3, 16, 64 and 128");
  }
}

}  // namespace warpath::experiments::pairs
