// Division of counts.
#pragma once

#include <cstdint>

namespace warpath {

/// How many groups of b elements hold a elements: a / b, rounded up. a >= 0, b > 0.
constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace warpath
