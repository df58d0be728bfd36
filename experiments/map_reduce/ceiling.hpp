// What the rate of pairs is a share of, where a formula takes an exponential of each pair.
#pragma once

#include <string>

#include "map_reduce/variant.hpp"

namespace warpath::experiments::pairs {

/// The ceiling of `warpath info` for a variant (never automatic: the one that it chose): "ex2",
/// where the special function units compute one exponential for each pair. Empty where they do
/// not, so that the rate may pass theirs: exponentials in double are polynomials, and so is one of
/// four in Gram form.
inline std::string ceiling_of_exponentials(map_reduce::Variant variant, bool is_float) {
  return is_float && variant != map_reduce::Variant::tensor ? "ex2" : "";
}

}  // namespace warpath::experiments::pairs
