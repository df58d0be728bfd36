// The oracles themselves, against answers written by hand.
#include "partitioners/oracle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpath::partitioners::test {
namespace {

using oracle::none;
using oracle::Places;
using oracle::References;
using testing::ElementsAre;

TEST(Oracle, Order) {
  //                                    (1, 5)  (1, 2)  (0, 9)  (1, 2)
  const oracle::TupleSet<double> tuples{{1, 5, 1, 2, -0.0, 9, 1, 2}, 2};
  References references = {0, 1, 2, 3};
  tuples.sort(references.begin(), references.end(), 0);
  EXPECT_THAT(references, ElementsAre(2, 1, 3, 0));
  tuples.sort(references.begin(), references.end(), 1);
  EXPECT_THAT(references, ElementsAre(1, 3, 0, 2));
}

TEST(Oracle, Segments) {
  EXPECT_THAT(oracle::segments(6, 0), ElementsAre(Places{0, 6}));
  EXPECT_THAT(oracle::segments(6, 1), ElementsAre(Places{0, 2}, Places{3, 6}));
  EXPECT_THAT(oracle::segments(6, 2),
              ElementsAre(Places{0, 0}, Places{1, 2}, Places{3, 4}, Places{5, 6}));
}

TEST(Oracle, PartitionLevel) {
  // Tuple i is (i, 10 - i); the second array is sorted by the second coordinate.
  const oracle::TupleSet<int> tuples{{0, 10, 1, 9, 2, 8, 3, 7, 4, 6, 5, 5}, 2};
  const References primary = {0, 1, 2, 3, 4, 5};
  const References other = {5, 4, 3, 2, 1, 0};
  const References before(6, 77);
  EXPECT_THAT(oracle::medians(0, primary), ElementsAre(2));
  const References level1 = oracle::partition_level(tuples, 0, 0, primary, other, before);
  EXPECT_THAT(level1, ElementsAre(1, 0, 77, 5, 4, 3));
  // Now the second array is the primary one.
  EXPECT_THAT(oracle::medians(1, level1), ElementsAre(1, 4));
  EXPECT_THAT(oracle::partition_level(tuples, 1, 1, level1, primary, before),
              ElementsAre(77, 0, 77, 5, 77, 3));
  EXPECT_THAT(oracle::medians(2, {77, 0, 77, 5, 77, 3}), ElementsAre(none, 0, 5, 3));
}

TEST(Oracle, Nodes) {
  const oracle::TupleSet<int> tuples{{0, 10, 1, 9, 2, 8, 3, 7, 4, 6, 5, 5}, 2};
  EXPECT_THAT(oracle::nodes(tuples, {4, 3, 5, 0, 2, 1}),
              ElementsAre(ElementsAre(2), ElementsAre(1, 4), ElementsAre(none, 0, 5, 3)));
  EXPECT_TRUE(oracle::nodes(tuples, {}).empty());
}

TEST(Oracle, Partition) {
  const std::vector<int> in = {5, 12, 3, 30, 14, 1};
  const auto is_small = [](int i) { return i < 10; };
  const auto is_even = [](int i) { return i % 2 == 0; };
  const auto [selected, rest] = oracle::partition(in, is_small);
  EXPECT_THAT(selected, ElementsAre(5, 3, 1));
  EXPECT_THAT(rest, ElementsAre(12, 30, 14));
  // Where both predicates hold, the first one decides.
  EXPECT_THAT(oracle::partition_three_way(std::vector<int>{4, 12, 3, 31}, is_small, is_even),
              ElementsAre(ElementsAre(4, 3), ElementsAre(12), ElementsAre(31)));
}

}  // namespace
}  // namespace warpath::partitioners::test
