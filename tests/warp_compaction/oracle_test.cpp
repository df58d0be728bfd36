// The oracles themselves, against answers written by hand; and the battery, which must be what its
// names say.
#include "warp_compaction/oracle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "distributions.hpp"

namespace warpath::warp_compaction::test {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Ints = std::vector<int>;

TEST(Oracle, CompactIf) {
  const auto is_odd = [](int i) { return i % 2 != 0; };
  EXPECT_THAT(oracle::compact_if(Ints{3, 2, 1, 4, 3}, is_odd), ElementsAre(3, 1, 3));
  EXPECT_THAT(oracle::compact_if(Ints{}, is_odd), IsEmpty());
}

TEST(Oracle, CompactFlagged) {
  EXPECT_THAT(oracle::compact_flagged(Ints{5, 6, 7}, Ints{2, 0, -1}), ElementsAre(5, 7));
}

TEST(Oracle, Unique) {
  EXPECT_THAT(oracle::unique(Ints{1, 1, 2, 1, 1, 3}, std::equal_to<>{}), ElementsAre(1, 2, 1, 3));
  const auto same_tens = [](int a, int b) { return a / 10 == b / 10; };
  EXPECT_THAT(oracle::unique(Ints{13, 11, 21, 29, 10}, same_tens), ElementsAre(13, 21, 10));
}

TEST(Oracle, UniqueByKey) {
  const auto pairs =
      oracle::unique_by_key(Ints{1, 1, 2, 1}, Ints{10, 11, 12, 13}, std::equal_to<>{});
  EXPECT_THAT(pairs.first, ElementsAre(1, 2, 1));
  EXPECT_THAT(pairs.second, ElementsAre(10, 12, 13));
}

TEST(Oracle, RemoveDuplicates) {
  // Tuples of two coordinates, sorted by coordinate 1, then 0: (2, 0) (0, 1) (0, 1) (3, 1).
  const std::vector<double> tuples = {0, 1, 3, 1, 2, 0, -0.0, 1};
  const auto distinct =
      oracle::remove_duplicates(std::vector<double>{0, 1, 1, 1}, Ints{2, 3, 0, 1}, tuples, 2, 1);
  EXPECT_THAT(distinct.kept.first, ElementsAre(0, 1, 1));
  EXPECT_THAT(distinct.kept.second, ElementsAre(2, 3, 1));
  EXPECT_EQ(distinct.first_disorder, -1);

  const auto disordered =
      oracle::remove_duplicates(std::vector<double>{0, 1, 1, 0}, Ints{2, 1, 0, 2}, tuples, 2, 1);
  EXPECT_THAT(disordered.kept.second, ElementsAre(2, 1, 0, 2));
  EXPECT_EQ(disordered.first_disorder, 2);  // (3, 1) before (0, 1)
}

TEST(Battery, KeepsWhatItSays) {
  const auto count = [](Distribution distribution) {
    Random random(1);
    const auto flags = make_flags(distribution, 990, 64, random);
    EXPECT_EQ(flags.size(), 990u);
    return std::count(flags.begin(), flags.end(), 1);
  };
  EXPECT_EQ(count(Distribution::nothing), 0);
  EXPECT_EQ(count(Distribution::everything), 990);
  EXPECT_EQ(count(Distribution::only_first), 1);
  EXPECT_EQ(count(Distribution::only_last), 1);
  EXPECT_EQ(count(Distribution::alternating), 495);
  EXPECT_EQ(count(Distribution::every_33rd), 30);
  EXPECT_NEAR(count(Distribution::uniform), 495, 5);
  EXPECT_NEAR(count(Distribution::sorted), 495, 5);
}

TEST(Battery, KeysAreInTheOrderItSays) {
  Random random(1);
  const auto keys = [&](Distribution distribution) {
    return make_keys(distribution, 990, 64, random);
  };
  const auto is_sorted = [](const auto& k) { return std::is_sorted(k.begin(), k.end()); };
  EXPECT_TRUE(is_sorted(keys(Distribution::sorted)));
  EXPECT_TRUE(is_sorted(keys(Distribution::long_runs)));
  EXPECT_TRUE(is_sorted(keys(Distribution::everything)));
  EXPECT_FALSE(is_sorted(keys(Distribution::uniform)));
  EXPECT_FALSE(is_sorted(keys(Distribution::organ_pipe)));
  auto reversed = keys(Distribution::reversed);
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_TRUE(is_sorted(reversed));
  EXPECT_EQ(oracle::unique(keys(Distribution::all_equal), std::equal_to<>{}).size(), 1u);
  EXPECT_EQ(oracle::unique(keys(Distribution::everything), std::equal_to<>{}).size(), 990u);
  EXPECT_EQ(oracle::unique(keys(Distribution::alternating), std::equal_to<>{}).size(), 496u);
}

}  // namespace

}  // namespace warpath::warp_compaction::test
