#include "harness/ceilings.hpp"

#include <algorithm>

namespace warpath::harness {
namespace {

std::optional<double> highest(const std::vector<Bandwidth>& sizes) {
  if (sizes.empty()) return std::nullopt;
  return std::max_element(
             sizes.begin(), sizes.end(),
             [](const Bandwidth& a, const Bandwidth& b) { return a.gb_per_s < b.gb_per_s; })
      ->gb_per_s;
}

}  // namespace

std::optional<double> best(const Ceilings& ceilings, const std::string& ceiling) {
  if (ceiling == "copy") return highest(ceilings.copy);
  if (ceiling == "fill") return highest(ceilings.fill);
  if (ceiling == "fma") return ceilings.fma_per_s;
  if (ceiling == "ex2") return ceilings.ex2_per_s;
  return std::nullopt;
}

}  // namespace warpath::harness
