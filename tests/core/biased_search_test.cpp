// The biased search as a function, on the host, against std::.
#include "core/biased_search.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace warpath::core_test {
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

/// Key i / length at place i: runs of equal keys, without memory.
struct Runs {
  std::int64_t length;
  std::int64_t operator[](std::int64_t i) const { return i / length; }
};

// 32-bit halves overflow beyond 2^30, and 511 times the end long before.
TEST(BiasedSearch, PastTwoToThe31) {
  const std::int64_t count = (std::int64_t{3} << 31) + 17;
  for (int levels = 0; levels <= max_bias_levels; ++levels) {
    const Runs runs{1000};
    for (const std::int64_t key : {std::int64_t{0}, count / 2000, count / 1000}) {
      EXPECT_EQ((biased_search<Bound::lower>(runs, count, key, levels, std::less<>{})), key * 1000);
    }
  }
  const auto index = static_cast<std::uint32_t>(3'000'000'000u);
  EXPECT_EQ(
      (biased_search<Bound::lower>(Runs{1000}, index, std::int64_t{2'999'999}, 4, std::less<>{})),
      2'999'999'000u);
}

}  // namespace
}  // namespace warpath::core_test
