#include <stdexcept>

#include "map_reduce/cases.hpp"
#include "map_reduce/pairs.cuh"

namespace warpath::experiments::pairs {

std::unique_ptr<harness::Problem> make_nearest_100(const Parameters& problem) {
  if (problem.text("formula") != "squared_distance" || problem.integer("d") != 3 ||
      problem.text("number") != "float32" || problem.text("accuracy") != "block") {
    throw std::invalid_argument(
        "argkmin_100: compiled is squared_distance, d 3, float32 and accuracy block");
  }
  return make<NearestOf<float, 3, 100>>(problem);
}

}  // namespace warpath::experiments::pairs
