// The oracle against the definition of a run's start, with expected values that are corrupted.
#include "biased_binary_search/oracle.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace warpath::biased_binary_search::test {
namespace {

/// Walks back from a position as long as the key stays the same.
int start_by_walking(const std::vector<int>& keys, int position) {
  const auto key_at = [&](int i) { return keys[static_cast<std::size_t>(i)]; };
  int start = position;
  while (start > 0 && key_at(start - 1) == key_at(position)) --start;
  return start;
}

TEST(RunStartsOracle, FindsWhatWalkingFinds) {
  for (const std::vector<int>& keys :
       {std::vector<int>{7}, {1, 1, 2, 2, 2, 5}, {-3, 0, 4}, {6, 6, 6, 6}}) {
    std::vector<int> positions;
    std::vector<int> starts;
    for (int position = static_cast<int>(keys.size()) - 1; position >= 0; --position) {
      positions.push_back(position);
      starts.push_back(start_by_walking(keys, position));
    }
    EXPECT_EQ(oracle::run_starts(keys, positions), starts);
  }
  EXPECT_EQ(
      oracle::run_starts(std::vector<int>{9, 9, 4, 4}, std::vector<int>{1, 3, 2}, std::greater<>{}),
      (std::vector<int>{0, 2, 2}));
}

// One off in any place, a place too few or too many, two exchanged.
TEST(RunStartsOracle, RejectsCorruptedResults) {
  const std::vector<int> keys = {1, 1, 2, 2, 2, 5};
  const std::vector<int> positions = {0, 1, 2, 3, 4, 5};
  const std::vector<int> right = {0, 0, 2, 2, 2, 5};
  const std::vector<int> found = oracle::run_starts(keys, positions);
  ASSERT_EQ(found, right);
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (const int change : {-1, 1}) {
      auto corrupted = right;
      corrupted[i] += change;
      EXPECT_NE(found, corrupted) << i;
    }
  }
  EXPECT_NE(found, (std::vector<int>{0, 0, 2, 2, 2}));
  EXPECT_NE(found, (std::vector<int>{0, 0, 2, 2, 2, 5, 5}));
  EXPECT_NE(found, (std::vector<int>{0, 2, 0, 2, 2, 5}));
}

}  // namespace
}  // namespace warpath::biased_binary_search::test
