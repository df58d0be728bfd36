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
  const std::vector<BiasedSplit> splits = biased_splits(5'000'000, 5'000'000, 1, 4);
  ASSERT_EQ(splits.size(), 4u);
  EXPECT_EQ(splits[0].begin, 4'990'235);  // one after the split, 4,990,234
  EXPECT_EQ(splits[0].end, 5'000'000);
  EXPECT_EQ(splits[1].begin, 4'999'924);
  // Fewer than 9766 duplicates, and fewer than 77.
  EXPECT_EQ(splits[0].reach, 9'766);
  EXPECT_EQ(splits[1].reach, 77);

  // A search by halves is 23 deep. The first split leaves 9,765 elements, 14 deep: with its own
  // step, 8 levels are saved. The second leaves 76, 7 deep: 6 more.
  EXPECT_EQ(levels_of(5'000'000), 23);
  EXPECT_EQ(levels_of(9'765), 14);
  EXPECT_EQ(levels_of(76), 7);
  EXPECT_EQ(splits[0].levels_saved, 8);
  EXPECT_EQ(splits[1].levels_saved, 6);
  EXPECT_EQ(probes_of(5'000'000, 4'999'999 / 3, 3, 0), 22);
  EXPECT_EQ(probes_of(5'000'000, 4'999'999 / 3, 3, 4), 5);
}

// The run of 9,766 elements reaches the first split, and one of 9,765 does not.
TEST(BiasedSearchSteps, ReachOfASplit) {
  EXPECT_EQ(biased_splits(5'000'000, 5'000'000 - 9'765, 1, 4).front().begin, 4'990'235);
  EXPECT_EQ(biased_splits(5'000'000, 5'000'000 - 9'766, 1, 4).front().end, 4'990'234);
  // A split that fails costs its own step, and leaves not a level less.
  EXPECT_EQ(biased_splits(10'000'000, 9, 1'000'000, 4).front().levels_saved, -1);
  EXPECT_TRUE(biased_splits(0, 0, 1, 4).empty());
}

TEST(BiasedSearchSteps, SplitsOfFewerLevels) {
  const std::vector<BiasedSplit> splits = biased_splits(5'000'000, 5'000'000, 1, 2);
  ASSERT_EQ(splits.size(), 2u);
  EXPECT_EQ(splits[0].shift, 5);
  EXPECT_EQ(splits[1].shift, 4);
}

TEST(BiasedSearchSteps, Demonstration) {
  const std::string text = demonstration();
  EXPECT_THAT(text, testing::HasSubstr("split at 511/512: [4990235, 5000000) is left, 8 levels"));
  EXPECT_THAT(text, testing::HasSubstr("split at 127/128: [4999924, 5000000) is left, 6 levels"));
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
