// What the experiments sort, and what they expect: against the oracle, and against their words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "merge_sort/inputs.hpp"
#include "merge_sort/oracle.hpp"

namespace warpath::experiments::sorting {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Lt;

template <class T>
void expect_the_oracles_order(const std::string& distribution, std::int64_t n, int d) {
  const std::vector<T> tuples = make_tuples<T>(distribution, n, d, 42);
  std::vector<std::uint32_t> references(static_cast<std::size_t>(n));
  std::iota(references.begin(), references.end(), 0U);
  const auto expected = merge_sort::oracle::sort_superkeys(tuples, d, 0, references);
  const std::vector<Entry<T>> sorted = sorted_tuples(tuples, d);
  ASSERT_EQ(sorted.size(), references.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    ASSERT_EQ(sorted[i].value, expected.keys[i]) << distribution << ", n = " << n << ", d = " << d;
    ASSERT_EQ(sorted[i].reference, expected.values[i]) << distribution << ", " << n << ", " << d;
  }
}

TEST(ExperimentInputs, AreExpectedInTheOraclesOrder) {
  for (const std::string& distribution : distributions()) {
    // Fewer than there may be cores, and no multiple of their number.
    for (const std::int64_t n : {1, 2, 7, 1001}) {
      for (const int d : {1, 2, 4}) {
        expect_the_oracles_order<float>(distribution, n, d);
        expect_the_oracles_order<std::int64_t>(distribution, n, d);
      }
    }
  }
}

TEST(ExperimentInputs, AreWhatTheirNamesSay) {
  const auto values = [](const std::string& distribution) {
    return make_tuples<float>(distribution, 1000, 1, 7);
  };
  EXPECT_THAT(values("equal"), Each(1.0F));
  EXPECT_THAT(values("many"), Each(AllOf(Ge(0.0F), Lt(1000.0F))));
  EXPECT_THAT(values("uniform24"), Each(AllOf(Ge(0.0F), Lt(1.0F))));
  EXPECT_THAT(make_tuples<std::int32_t>("sorted", 4, 1, 7), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(make_tuples<std::int32_t>("reversed", 4, 1, 7), ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(make_tuples<std::int32_t>("organ_pipe", 5, 1, 7), ElementsAre(0, 1, 2, 1, 0));
  const std::vector<float> few = values("few");
  EXPECT_LT(*std::min_element(few.begin(), few.end()), -1e30F);
  EXPECT_GT(*std::max_element(few.begin(), few.end()), 1e30F);
}

// Results are compared bit by bit, and a sort may write either zero.
TEST(ExperimentInputs, AreNumbersWithoutNegativeZero) {
  constexpr auto least = std::numeric_limits<std::uint64_t>::min();
  for (const std::uint64_t bits :
       {least, ~least, std::uint64_t{1} << 31, std::uint64_t{1} << 63, std::uint64_t{0x7F800000},
        std::uint64_t{0xFFC00001}, std::uint64_t{0x7FF} << 52, std::uint64_t{0xFFF8} << 48}) {
    const auto number = any_number<float>(bits);
    EXPECT_TRUE(std::isfinite(number)) << bits;
    EXPECT_FALSE(number == 0 && std::signbit(number)) << bits;
    const auto other = any_number<double>(bits);
    EXPECT_TRUE(std::isfinite(other)) << bits;
    EXPECT_FALSE(other == 0 && std::signbit(other)) << bits;
  }
  EXPECT_EQ(any_number<float>(0xC0200000), -2.5F);
}

TEST(ExperimentInputs, TiesAreThoseOfTheSortedValues) {
  const std::vector<Entry<int>> sorted = {{1, 0}, {2, 0}, {2, 0}, {2, 0},
                                          {3, 0}, {4, 0}, {4, 0}, {5, 0}};
  EXPECT_EQ(ties_of(sorted).neighbours_percent, 100.0 * 3 / 8);
  EXPECT_EQ(ties_of(sorted).entries_percent, 100.0 * 5 / 8);
}

TEST(ExperimentInputs, UnorderedRunsAreFound) {
  const auto expect = [](const std::vector<Entry<int>>& sorted, std::int64_t entries,
                         std::int64_t longest) {
    EXPECT_EQ(unordered_runs(sorted, 2).entries, entries);
    EXPECT_EQ(unordered_runs(sorted, 2).longest, longest);
  };
  expect({}, 0, 0);
  expect({{1, 0}, {1, 1}, {1, 2}, {2, 0}}, 0, 0);  // in order
  expect({{1, 1}, {1, 0}, {2, 3}, {2, 2}}, 0, 0);  // short
  expect({{0, 5}, {1, 1}, {1, 0}, {1, 2}}, 3, 3);
  expect({{0, 5}, {1, 0}, {1, 2}, {1, 1}, {2, 5}, {2, 4}, {2, 3}, {2, 2}, {3, 0}}, 7, 4);
}

}  // namespace
}  // namespace warpath::experiments::sorting
