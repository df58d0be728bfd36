// The levels that the experiments partition, and what they expect, against the oracle.
#include "partitioners/tree_levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "partitioners/oracle.hpp"

namespace warpath::experiments {
namespace {

namespace oracle = partitioners::oracle;

/// n tuples of d coordinates, many of them equal.
std::vector<float> make_tuples(std::int64_t n, int d) {
  std::vector<float> tuples;
  for (std::int64_t i = 0; i < n * d; ++i) {
    tuples.push_back(static_cast<float>(random_bits(3, i) % 7));
  }
  return tuples;
}

void expect_the_oracles_levels(std::int64_t n, int d) {
  const oracle::TupleSet<float> tuples{make_tuples(n, d), d};
  oracle::References all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0U);
  const std::vector<oracle::References> nodes = oracle::nodes(tuples, all);
  const oracle::References holes(static_cast<std::size_t>(n), TreeLevels::hole);

  TreeLevels tree(tuples.coordinates, d);
  for (std::size_t p = 0; p < tree.arrays().size(); ++p) {
    tuples.sort(all.begin(), all.end(), static_cast<int>(p));
    ASSERT_EQ(tree.arrays()[p], all) << "array " << p;
  }
  std::int64_t left = n;
  for (std::size_t level = 0; level < nodes.size(); ++level) {
    ASSERT_EQ(tree.level(), static_cast<int>(level));
    ASSERT_EQ(tree.primary(), static_cast<int>(level) % d);
    ASSERT_EQ(tree.medians(), nodes[level]) << "n = " << n << ", d = " << d << ", level " << level;
    ASSERT_EQ(tree.references(), left);
    left -= static_cast<std::int64_t>(nodes[level].size()) -
            std::count(nodes[level].begin(), nodes[level].end(), TreeLevels::no_node);
    const std::vector<TreeLevels::References> before = tree.arrays();
    const auto primary = static_cast<std::size_t>(tree.primary());
    tree.advance();
    for (std::size_t array = 0; array < before.size(); ++array) {
      ASSERT_EQ(tree.arrays()[array],
                oracle::partition_level(tuples, static_cast<int>(primary), static_cast<int>(level),
                                        before[primary], before[array], holes))
          << "n = " << n << ", d = " << d << ", level " << level << ", array " << array;
    }
  }
  EXPECT_EQ(left, 0);
}

TEST(TreeLevels, AreTheOracles) {
  for (const std::int64_t n : {1, 2, 3, 4, 7, 15, 16, 17, 100, 1000}) {
    for (const int d : {2, 3, 4}) expect_the_oracles_levels(n, d);
  }
}

}  // namespace
}  // namespace warpath::experiments
