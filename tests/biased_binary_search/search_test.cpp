// The search as a function, on the host: against std::, and step by step as the source counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "biased_binary_search/biased_search.cuh"
#include "biased_binary_search/demonstration.hpp"

namespace warpath::biased_binary_search::test {
namespace {

/// Every bound, with every number of levels, of every key in, between and around the data.
void expect_bounds(const std::vector<int>& data) {
  const int low = data.empty() ? 0 : data.front() - 1;
  const int high = data.empty() ? 0 : data.back() + 1;
  for (int key = low; key <= high; ++key) {
    const auto lower = std::lower_bound(data.begin(), data.end(), key) - data.begin();
    const auto upper = std::upper_bound(data.begin(), data.end(), key) - data.begin();
    const int count = static_cast<int>(data.size());
    for (int levels = 0; levels <= max_bias_levels; ++levels) {
      SCOPED_TRACE("key " + std::to_string(key) + ", levels " + std::to_string(levels));
      const auto less = std::less<>{};
      EXPECT_EQ((biased_search<Bound::lower>(data.data(), count, key, levels, less)), lower);
      EXPECT_EQ((biased_search<Bound::upper>(data.data(), count, key, levels, less)), upper);
      EXPECT_EQ((biased_search<Bound::lower, int>(data.data(), count, key, levels, less)), lower);
      EXPECT_EQ((biased_search<Bound::upper, int>(data.data(), count, key, levels, less)), upper);
    }
  }
}

TEST(BiasedSearch, EverySmallSize) {
  std::mt19937 random(1);
  for (int size = 0; size <= 70; ++size) {
    for (const int distinct : {1, 3, 40}) {
      SCOPED_TRACE(std::to_string(size) + " elements of " + std::to_string(distinct));
      std::vector<int> data(static_cast<std::size_t>(size));
      for (int& element : data)
        element = static_cast<int>(random() % static_cast<unsigned>(distinct));
      std::sort(data.begin(), data.end());
      expect_bounds(data);
    }
  }
}

// Around each of the splits: 16, 32, 128 and 512 parts.
TEST(BiasedSearch, SizesAroundTheSplits) {
  for (const int parts : {16, 32, 128, 512}) {
    for (const int size : {parts - 1, parts, parts + 1, 2 * parts + 1}) {
      SCOPED_TRACE(size);
      std::vector<int> data;
      for (int i = 0; i < size; ++i) data.push_back(i / 7);
      expect_bounds(data);
    }
  }
}

TEST(BiasedSearch, AnyOrder) {
  const std::vector<double> down = {9, 7, 7, 7, 3, -0.0, 0.0, -5};
  const auto greater = std::greater<>{};
  for (int levels = 0; levels <= max_bias_levels; ++levels) {
    EXPECT_EQ((biased_search<Bound::lower>(down.data(), 8, 7.0, levels, greater)), 1);
    EXPECT_EQ((biased_search<Bound::upper>(down.data(), 8, 7.0, levels, greater)), 4);
    EXPECT_EQ((biased_search<Bound::lower>(down.data(), 8, 0.0, levels, greater)), 5);
    EXPECT_EQ((biased_search<Bound::upper>(down.data(), 8, 0.0, levels, greater)), 7);
  }
}

// The middle of 2 x 10 million: 5,000,000 elements in front of the cross-diagonal.
TEST(BiasedSearch, WorkedExampleOfTheSource) {
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

TEST(BiasedSearch, Demonstration) {
  const std::string text = demonstration();
  EXPECT_THAT(text, testing::HasSubstr("split at 511/512: [4990235, 5000000) is left"));
  EXPECT_THAT(text, testing::HasSubstr("split at 127/128: [4999924, 5000000) is left"));
}

// Short runs gain; those that are long lose, at most a probe for each level.
TEST(BiasedSearch, WhatTheBiasCosts) {
  const std::int64_t count = 1'000'003;
  const auto probes = [&](std::int64_t run, int levels) {
    return probes_of(count, (count - 1) / run, run, levels);
  };
  for (const std::int64_t run : {1, 10, 100, 1'000}) EXPECT_LT(probes(run, 4), probes(run, 0));
  const std::int64_t all = 1'000'000'000;
  EXPECT_GT(probes(all, 4), probes(all, 0));
  EXPECT_LE(probes(all, 4), probes(all, 0) + 4);
}

// 32-bit halves overflow beyond 2^30, and 511 times the end long before.
TEST(BiasedSearch, PastTwoToThe31) {
  const std::int64_t count = (std::int64_t{3} << 31) + 17;
  for (int levels = 0; levels <= max_bias_levels; ++levels) {
    std::int64_t probes = 0;
    const CountedRuns runs{1000, &probes};
    for (const std::int64_t key : {std::int64_t{0}, count / 2000, count / 1000}) {
      EXPECT_EQ((biased_search<Bound::lower>(runs, count, key, levels, std::less<>{})), key * 1000);
    }
  }
  const auto index = static_cast<std::uint32_t>(3'000'000'000u);
  std::int64_t probes = 0;
  EXPECT_EQ((biased_search<Bound::lower>(CountedRuns{1000, &probes}, index, std::int64_t{2'999'999},
                                         4, std::less<>{})),
            2'999'999'000u);
}

}  // namespace
}  // namespace warpath::biased_binary_search::test
