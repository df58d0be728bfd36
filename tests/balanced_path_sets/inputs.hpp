// Pairs of sorted inputs that set operations may meet.
#pragma once

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace warpath::balanced_path_sets::test {

struct Inputs {
  std::string name;
  std::vector<int> a;
  std::vector<int> b;
};

inline std::vector<int> sorted_keys(std::mt19937& random, std::size_t count, unsigned distinct) {
  std::vector<int> keys(count);
  for (int& key : keys) key = static_cast<int>(random() % distinct);
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// The source's sample, runs that touch and end anywhere, one key on both sides, and at random.
inline std::vector<Inputs> multisets() {
  constexpr int low = std::numeric_limits<int>::min();
  constexpr int high = std::numeric_limits<int>::max();
  std::vector<Inputs> all = {
      {"the source's sample",
       {1, 1, 2, 3, 3, 3, 5, 6, 6, 6, 6, 7, 7, 8, 8, 9},
       {1, 2, 2, 3, 3, 3, 3, 6, 6, 6, 6, 8}},
      {"both empty", {}, {}},
      {"a empty", {}, {1, 1, 2}},
      {"b empty", {1, 1, 2}, {}},
      {"one each, equal", {1}, {1}},
      {"one each, a first", {1}, {2}},
      {"one each, b first", {2}, {1}},
      {"one key, as many", std::vector<int>(20, 7), std::vector<int>(20, 7)},
      {"one key, more of a", std::vector<int>(40, 7), std::vector<int>(9, 7)},
      {"one key, more of b", std::vector<int>(9, 7), std::vector<int>(40, 7)},
      {"one key each, a first", std::vector<int>(17, 7), std::vector<int>(23, 8)},
      {"one key each, b first", std::vector<int>(17, 8), std::vector<int>(23, 7)},
      {"runs that alternate", {1, 1, 1, 3, 3, 3, 5, 5, 5}, {2, 2, 2, 4, 4, 4, 6, 6, 6}},
      {"limits of the type", {low, low, 0, high, high}, {low, low, low, high, high, high}},
      {"every diagonal starred or not, in turn",
       {1, 2, 3, 4, 5, 6, 7, 8},
       {1, 2, 3, 4, 5, 6, 7, 8}},
  };
  std::mt19937 random(1);
  for (const unsigned distinct : {1u, 2u, 5u, 20u, 1000u}) {
    for (int repeat = 0; repeat < 5; ++repeat) {
      all.push_back({"random of " + std::to_string(distinct),
                     sorted_keys(random, random() % 60, distinct),
                     sorted_keys(random, random() % 60, distinct)});
    }
  }
  all.push_back({"99 to 1", sorted_keys(random, 297, 40), sorted_keys(random, 3, 40)});
  all.push_back({"1 to 99", sorted_keys(random, 3, 40), sorted_keys(random, 297, 40)});
  return all;
}

/// The same without what occurs twice in one input.
inline std::vector<Inputs> sets() {
  std::vector<Inputs> all = multisets();
  for (Inputs& inputs : all) {
    for (std::vector<int>* keys : {&inputs.a, &inputs.b}) {
      keys->erase(std::unique(keys->begin(), keys->end()), keys->end());
    }
  }
  return all;
}

}  // namespace warpath::balanced_path_sets::test
