// The oracles themselves, against answers written by hand; and that they reject results that are
// nearly right.
#include "merge_sort/oracle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace warpath::merge_sort::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Ints = std::vector<int>;
using References = std::vector<std::uint32_t>;

TEST(Oracle, SortKeys) {
  EXPECT_THAT(oracle::sort_keys(Ints{3, 1, 2, 1}, std::less<>{}), ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(oracle::sort_keys(Ints{3, 1, 2, 1}, std::greater<>{}), ElementsAre(3, 2, 1, 1));
  EXPECT_THAT(oracle::sort_keys(Ints{}, std::less<>{}), IsEmpty());
  const auto by_tens = [](int a, int b) { return a / 10 < b / 10; };
  EXPECT_THAT(oracle::sort_keys(Ints{25, 13, 21, 11, 29}, by_tens),
              ElementsAre(13, 11, 25, 21, 29));
}

TEST(Oracle, SortPairs) {
  const auto sorted = oracle::sort_pairs(Ints{2, 1, 2, 1}, Ints{10, 11, 12, 13}, std::less<>{});
  EXPECT_THAT(sorted.keys, ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(sorted.values, ElementsAre(11, 13, 10, 12));
}

TEST(Oracle, SortSuperkeys) {
  // (1, 5) (1, 4) (0, 5) (1, 4)
  const Ints tuples{1, 5, 1, 4, 0, 5, 1, 4};
  const auto by_first = oracle::sort_superkeys(tuples, 2, 0, References{3, 2, 1, 0});
  EXPECT_THAT(by_first.values, ElementsAre(2, 1, 3, 0));
  EXPECT_THAT(by_first.keys, ElementsAre(0, 1, 1, 1));
  const auto by_second = oracle::sort_superkeys(tuples, 2, 1, References{0, 1, 2, 3});
  EXPECT_THAT(by_second.values, ElementsAre(1, 3, 2, 0));
  EXPECT_THAT(by_second.keys, ElementsAre(4, 4, 5, 5));
  const auto some = oracle::sort_superkeys(tuples, 2, 1, References{2, 0, 2});
  EXPECT_THAT(some.values, ElementsAre(2, 2, 0));
  // Zeros of either sign are equal: the second coordinate decides.
  const std::vector<float> zeros{0.0f, 1, -0.0f, 2, 0.0f, 0};
  EXPECT_THAT(oracle::sort_superkeys(zeros, 2, 0, References{0, 1, 2}).values,
              ElementsAre(2, 0, 1));
  // NaN comes last, and ties with NaN.
  const float nan = std::nanf("");
  const std::vector<float> nans{nan, 2, 5, 1, nan, 1, 4, nan};
  EXPECT_THAT(oracle::sort_superkeys(nans, 2, 0, References{0, 1, 2, 3}).values,
              ElementsAre(3, 1, 2, 0));
}

TEST(Oracle, FirstNan) {
  const float nan = std::nanf("");
  const std::vector<float> tuples{0, 1, nan, 3, 4, nan, 6, 7};
  EXPECT_EQ(oracle::first_nan(tuples, 2, References{0, 1, 2, 3}), 2);
  EXPECT_EQ(oracle::first_nan(tuples, 2, References{3, 2, 0}), 5);
  EXPECT_EQ(oracle::first_nan(tuples, 2, References{2, 1}), 2);
  EXPECT_EQ(oracle::first_nan(tuples, 2, References{3, 0}), -1);
  EXPECT_EQ(oracle::first_nan(Ints{1, 2}, 1, References{0, 1}), -1);
}

/// Each result that is one exchange away from the right one.
template <class T>
std::vector<std::vector<T>> exchanged(const std::vector<T>& right) {
  std::vector<std::vector<T>> all;
  for (std::size_t i = 0; i + 1 < right.size(); ++i) {
    all.push_back(right);
    std::swap(all.back()[i], all.back()[i + 1]);
  }
  return all;
}

// Two values of equal keys in the wrong order are seen, and so is a lost element.
TEST(Oracle, RejectsWhatIsNearlyRight) {
  const auto pairs = oracle::sort_pairs(Ints{2, 1, 2, 1, 2}, Ints{0, 1, 2, 3, 4}, std::less<>{});
  for (const Ints& wrong : exchanged(pairs.values)) EXPECT_NE(wrong, pairs.values);
  // Tuples 0 and 2 are equal; 1 and 3 differ in the last coordinate of the superkey only.
  const Ints tuples{7, 0, 5, 6, 1, 5, 7, 0, 5, 6, 1, 5};
  const auto sorted = oracle::sort_superkeys(tuples, 3, 1, References{3, 2, 1, 0});
  EXPECT_THAT(sorted.values, ElementsAre(0, 2, 1, 3));
  for (const References& wrong : exchanged(sorted.values)) EXPECT_NE(wrong, sorted.values);
  References lost = sorted.values;
  lost[1] = lost[0];
  EXPECT_NE(lost, sorted.values);
}

}  // namespace
}  // namespace warpath::merge_sort::test
