// Whole levels and whole builds, by every variant.
#include <gtest/gtest.h>

#include "../device_vectors.cuh"
#include "builds.hpp"

namespace warpath::partitioners::test {
namespace {

constexpr std::array all_variants = {Variant::source, Variant::look_back, Variant::side_bits};

/// Few warps, so that all four partitioners of the source have levels.
Options options_of(Variant variant, int warps = 8) {
  return {.variant = variant, .warps = warps};
}

class Levels : public testing::TestWithParam<Variant> {
 protected:
  Case next_case(std::int64_t n) {
    return {.n = n, .options = options_of(GetParam()), .seed = seed_++};
  }
  std::uint64_t seed_ = 20261123;
};

TEST_P(Levels, OfSmallTrees) {
  for (const std::int64_t n : {0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65}) {
    Case c = next_case(n);
    c.distribution = all_distributions[c.seed % all_distributions.size()];
    EXPECT_TRUE(check_all_levels(c));
  }
}

TEST_P(Levels, OfLargerTrees) {
  if (is_small()) GTEST_SKIP() << "WARPATH_TEST_SIZE=small";
  for (const std::int64_t n : {1000, 1023, 1024, 1025, 5000}) {
    Case c = next_case(n);
    c.distribution = all_distributions[c.seed % all_distributions.size()];
    EXPECT_TRUE(check_all_levels(c));
  }
}

TEST_P(Levels, OfAnyDimensionsAndTypes) {
  for (const int dimensions : {1, 2, 3, 4, 16}) {
    for (const Type type : all_types) {
      Case c = next_case(is_small() ? 77 : 300 + dimensions);
      c.dimensions = dimensions;
      c.type = type;
      c.distribution = c.seed % 2 == 0 ? Distribution::uniform : Distribution::few_values;
      EXPECT_TRUE(check_all_levels(c));
    }
  }
}

TEST_P(Levels, OfAnyDistribution) {
  for (const Distribution distribution : all_distributions) {
    Case c = next_case(is_small() ? 130 : 700);
    c.distribution = distribution;
    EXPECT_TRUE(check_all_levels(c));
  }
}

TEST_P(Levels, InTheDefaultStream) {
  Case c = next_case(200);
  c.on_default_stream = true;
  EXPECT_TRUE(check_all_levels(c));
}

// Segments of more than a tile of the single pass, several tiles an array, and more tiles than the
// emulated device holds blocks.
TEST_P(Levels, OfManyTiles) {
  if (is_small()) GTEST_SKIP() << "WARPATH_TEST_SIZE=small";
  for (const int level : {0, 1, 3, 6, 10}) {
    EXPECT_TRUE(check_level(next_case(20'003), level));
  }
}

TEST_P(Levels, MakeATree) {
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 6, 40, 511, 512, is_small() ? 100 : 3000}) {
    Case c = next_case(n);
    c.dimensions = 1 + static_cast<int>(c.seed % 4);
    c.distribution = all_distributions[c.seed % all_distributions.size()];
    EXPECT_TRUE(check_build(c));
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Levels, testing::ValuesIn(all_variants),
                         [](const auto& test) { return std::string(enum_name(test.param)); });

// A comparison that cannot fail proves nothing.
TEST(Levels, CorruptedResultsAreRejected) {
  const Case c{.n = 100, .options = options_of(Variant::look_back), .seed = 1};
  for (const int level : {0, 3}) {
    for (const std::int64_t place : {0, 49, 99}) {
      EXPECT_TRUE(sees_corruption(c, level, 0, place)) << "array 0, level " << level;
      EXPECT_TRUE(sees_corruption(c, level, 1, place)) << "array 1, level " << level;
    }
    EXPECT_TRUE(sees_corruption(c, level, -1, (1 << level) - 1)) << "medians, level " << level;
  }
}

}  // namespace
}  // namespace warpath::partitioners::test
