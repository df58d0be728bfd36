// What sorts are given: numbers in every arrangement.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace warpath::merge_sort::test {

struct Arrangement {
  std::string name;
  std::vector<int> numbers;
};

/// n numbers in every arrangement that sorts may meet. Runs, pieces and interleaved numbers are
/// those of tiles of `tile` items.
inline std::vector<Arrangement> arrangements(std::int64_t n, std::int64_t tile, unsigned seed) {
  std::mt19937 random(seed);
  const auto make = [&](const char* name, auto number) {
    Arrangement arrangement{name, {}};
    for (std::int64_t i = 0; i < n; ++i) {
      arrangement.numbers.push_back(static_cast<int>(number(i)));
    }
    return arrangement;
  };
  const std::int64_t tiles = n / tile + 1;
  return {
      make("uniform", [&](std::int64_t) { return static_cast<std::int32_t>(random()); }),
      make("sorted", [](std::int64_t i) { return i; }),
      make("reversed", [&](std::int64_t i) { return n - i; }),
      make("all equal", [](std::int64_t) { return -5; }),
      make("few unique", [&](std::int64_t) { return random() % 7; }),
      make("organ pipe", [&](std::int64_t i) { return std::min(i, n - i); }),
      make("long runs", [&](std::int64_t i) { return i / (tile + tile / 2) % 2 * 1000 + i / 300; }),
      make("tiles interleaved", [&](std::int64_t i) { return i % tile * tiles + i / tile; }),
      make("one in all others", [&](std::int64_t i) { return i == n / 2 ? -1 : 1; }),
  };
}

}  // namespace warpath::merge_sort::test
