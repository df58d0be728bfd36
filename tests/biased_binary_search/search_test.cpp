// The search step by step, as the source counts. tests/core/biased_search_test.cpp compares it with
// std::.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "biased_binary_search/biased_search.cuh"
#include "biased_binary_search/demonstration.hpp"

namespace warpath::biased_binary_search::test {
namespace {

// The middle of 2 x 10 million: 5,000,000 elements in front of the cross-diagonal.
TEST(BiasedSearchSteps, WorkedExampleOfTheSource) {
  // Each split by itself.
  std::int64_t probes = 0;
  const CountedRuns no_run{1, &probes};
  std::int64_t begin = 0;
  std::int64_t end = 5'000'000;
  const std::int64_t key = 5'000'000;
  binary_search_step<Bound::lower, std::int64_t>(no_run, begin, end, key, 9, std::less<>{});
  EXPECT_EQ(begin, 4'990'235);  // one after the split, 4,990,234
  EXPECT_EQ(end, 5'000'000);
  binary_search_step<Bound::lower, std::int64_t>(no_run, begin, end, key, 7, std::less<>{});
  EXPECT_EQ(begin, 4'999'924);

  // A search by halves is 23 deep. The first split leaves 9,765 elements, 14 deep: with its own
  // step, 8 levels are saved. The second leaves 76, 7 deep: 6 more.
  const auto depth = [](std::int64_t count) {
    std::int64_t levels = 0;
    for (; count > 0; count /= 2) ++levels;
    return levels;
  };
  EXPECT_EQ(depth(5'000'000), 23);
  EXPECT_EQ(depth(5'000'000) - 1 - depth(9'765), 8);
  EXPECT_EQ(depth(9'765) - 1 - depth(76), 6);
  EXPECT_EQ(probes_of(5'000'000, 4'999'999 / 3, 3, 0), 22);
  EXPECT_EQ(probes_of(5'000'000, 4'999'999 / 3, 3, 4), 5);
}

TEST(BiasedSearchSteps, Demonstration) {
  const std::string text = demonstration();
  EXPECT_THAT(text, testing::HasSubstr("split at 511/512: [4990235, 5000000) is left"));
  EXPECT_THAT(text, testing::HasSubstr("split at 127/128: [4999924, 5000000) is left"));
}

// Short runs gain; those that are long lose, at most a probe for each level.
TEST(BiasedSearchSteps, WhatTheBiasCosts) {
  const std::int64_t count = 1'000'003;
  const auto probes = [&](std::int64_t run, int levels) {
    return probes_of(count, (count - 1) / run, run, levels);
  };
  for (const std::int64_t run : {1, 10, 100, 1'000}) EXPECT_LT(probes(run, 4), probes(run, 0));
  const std::int64_t all = 1'000'000'000;
  EXPECT_GT(probes(all, 4), probes(all, 0));
  EXPECT_LE(probes(all, 4), probes(all, 0) + 4);
}

}  // namespace
}  // namespace warpath::biased_binary_search::test
