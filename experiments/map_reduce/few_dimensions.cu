#include "map_reduce/cases.hpp"
#include "map_reduce/pairs.cuh"

namespace warpath::experiments::pairs {

std::unique_ptr<harness::Problem> make_gaussian_sum_of_few_dimensions(const Parameters& problem) {
  switch (problem.integer("d")) {
    case 5:
      return make<GaussianSum<float, 5>>(problem);
    case 7:
      return make<GaussianSum<float, 7>>(problem);
    case 8:
      return make<GaussianSum<float, 8>>(problem);
    case 10:
      return make<GaussianSum<float, 10>>(problem);
    default:
      return nullptr;
  }
}

}  // namespace warpath::experiments::pairs
