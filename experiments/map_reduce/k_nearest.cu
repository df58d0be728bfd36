#include <stdexcept>

#include "map_reduce/cases.hpp"
#include "map_reduce/pairs.cuh"

namespace warpath::experiments::pairs {

std::unique_ptr<harness::Problem> make_k_nearest_in_many_dimensions(const Parameters& problem) {
  const bool is_plain = problem.text("number") == "float32" && problem.text("accuracy") == "block";
  const bool are_10 = problem.text("reduction") == "argkmin";
  const std::int64_t d = problem.integer("d");
  if (is_plain && are_10 && d == 64) return make<NearestOf<float, 64, 10>>(problem);
  if (is_plain && are_10 && d == 128) return make<NearestOf<float, 128, 10>>(problem);
  if (is_plain && !are_10 && d == 64) return make<NearestOf<float, 64, 100>>(problem);
  throw std::invalid_argument(problem.text("reduction") + " in d " + std::to_string(d) +
                              ": compiled are float32 and accuracy block, argkmin with d 3, 64 and "
                              "128, and argkmin_100 with d 3 and 64");
}

}  // namespace warpath::experiments::pairs
