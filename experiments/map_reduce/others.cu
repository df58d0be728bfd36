#include <stdexcept>

#include "map_reduce/cases.hpp"
#include "map_reduce/pairs.cuh"

namespace warpath::experiments::pairs {

std::unique_ptr<harness::Problem> make_other(const Parameters& problem) {
  const std::string wanted = problem.text("formula") + " with " + problem.text("reduction");
  const bool is_plain = problem.integer("d") == 3 && problem.text("number") == "float32" &&
                        problem.text("accuracy") == "block";
  if (is_plain && wanted == "log_gaussian with log_sum_exp") {
    return make<LogSumExpOf<float, 3>>(problem);
  }
  if (is_plain && wanted == "squared_distance with argmin") {
    return make<NearestOf<float, 3, 1>>(problem);
  }
  if (wanted == "squared_distance with argmin") return make_nearest_in_many_dimensions(problem);
  if (is_plain && wanted == "squared_distance with argkmin") {
    return make<NearestOf<float, 3, 10>>(problem);
  }
  if (is_plain && wanted == "laplacian with sum") {
    return make<SumOf<float, 3, map_reduce::Laplacian, Accuracy::block>>(problem);
  }
  throw std::invalid_argument(
      wanted + ", d " + std::to_string(problem.integer("d")) + ", " + problem.text("number") +
      ", accuracy " + problem.text("accuracy") +
      " is not compiled: there are gaussian with sum; and, with d 3, float32 and accuracy block, "
      "laplacian with sum, log_gaussian with log_sum_exp, squared_distance with argmin (d 16, 64 "
      "and 128, too) or argkmin (d 64 and 128, too)");
}

}  // namespace warpath::experiments::pairs
