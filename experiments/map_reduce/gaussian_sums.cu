#include <stdexcept>

#include "map_reduce/cases.hpp"
#include "map_reduce/pairs.cuh"

namespace warpath::experiments::pairs {

std::unique_ptr<harness::Problem> make_gaussian_sum(const Parameters& problem) {
  const auto accuracy = harness::named<Accuracy>(problem, "accuracy");
  if (problem.text("number") == "float64") {
    if (accuracy == Accuracy::block) return make<GaussianSum<double, 3>>(problem);
    throw std::invalid_argument("float64: compiled is accuracy block");
  }
  switch (accuracy) {
    case Accuracy::plain:
      return make<GaussianSum<float, 3, Accuracy::plain>>(problem);
    case Accuracy::kahan:
      return make<GaussianSum<float, 3, Accuracy::kahan>>(problem);
    default:
      return make<GaussianSum<float, 3>>(problem);
  }
}

}  // namespace warpath::experiments::pairs
