// The oracle against the definition, and what it must reject.
#include "load_balancing_search/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "counts.hpp"

namespace warpath::load_balancing_search::test {
namespace {

// The source's example: 2, 5, 3, 0, 1.
TEST(Oracle, IsTheExampleOfTheSource) {
  const std::vector<int> counts = {2, 5, 3, 0, 1};
  EXPECT_EQ(oracle::exclusive_scan(counts), (std::vector<int>{0, 2, 7, 10, 10}));
  EXPECT_EQ(oracle::objects<int>(counts), (std::vector<int>{0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 4}));
  EXPECT_EQ(oracle::ranks(counts), (std::vector<int>{0, 1, 0, 1, 2, 3, 4, 0, 1, 2, 0}));
}

// The definition: the upper bound of the work item in the scan, less one.
TEST(Oracle, IsTheUpperBoundLessOne) {
  std::mt19937_64 random(1);
  for (const Counts kind : all_counts) {
    const auto counts = make_counts<int>(kind, 2000, random);
    const auto scan = oracle::exclusive_scan(counts);
    const auto objects = oracle::objects<int>(counts);
    ASSERT_EQ(static_cast<std::int64_t>(objects.size()), total(counts));
    for (int item = 0; item < static_cast<int>(objects.size()); ++item) {
      const auto bound = std::upper_bound(scan.begin(), scan.end(), item);
      ASSERT_EQ(objects[static_cast<std::size_t>(item)], bound - scan.begin() - 1)
          << name_of(kind) << ", work item " << item;
    }
  }
}

TEST(Oracle, RejectsEveryCorruptedResult) {
  std::mt19937_64 random(1);
  const auto counts = make_counts<int>(Counts::random, 500, random);
  const auto objects = oracle::objects<int>(counts);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    for (const int change : {-1, 1}) {
      auto corrupted = objects;
      corrupted[i] += change;
      ASSERT_NE(corrupted, oracle::objects<int>(counts)) << i;
    }
  }
}

}  // namespace
}  // namespace warpath::load_balancing_search::test
