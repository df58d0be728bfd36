// The source's four partitioners, each alone over its range.
#include <gtest/gtest.h>

#include "../device_vectors.cuh"
#include "../test_size.hpp"
#include "builds.hpp"
#include "partitioners/selection.hpp"

namespace warpath::partitioners::test {
namespace {

Case case_of(Partitioner partitioner, std::int64_t n, int warps, std::uint64_t seed) {
  return {.n = n,
          .distribution = all_distributions[seed % all_distributions.size()],
          .options = {.variant = Variant::source, .partitioner = partitioner, .warps = warps},
          .seed = seed};
}

/// n of which level `level` has segments of `size` elements and some of one more; level 0 has one
/// segment of `size`.
std::int64_t count_of(int level, std::int64_t size) {
  return ((size + 1) << level) - 1 + (std::int64_t{1} << level) / 2;
}

// One warp or many for a segment; parts of no row, a part of one, just one, and several; a number
// of warps that is no power of two leaves some without work.
TEST(MultiWarp, TakesAnySegments) {
  std::uint64_t seed = 1;
  for (const int warps : {1, 2, 5, 8, 40}) {
    for (const std::int64_t size : {1, 31, 32, 33, 127, 128, 129, 300, 1300}) {
      if (is_small() && (warps == 40 || size > 300)) continue;
      for (int level = 0; (1 << level) <= warps && level < 4; ++level) {
        const Case c = case_of(Partitioner::multi_warp, count_of(level, size), warps, seed++);
        EXPECT_TRUE(check_level(c, level));
      }
    }
  }
}

TEST(MultiWarp, SumsMoreThanAWarpOfCounts) {
  const Case c = case_of(Partitioner::multi_warp, is_small() ? 2300 : 9100, 70, 5);
  EXPECT_TRUE(check_level(c, 0));
}

// The last level has segments without elements.
TEST(MultiWarp, TakesEmptySegments) {
  EXPECT_TRUE(check_level(case_of(Partitioner::multi_warp, 9, 16, 6), 3));
}

// As many segments as warps, fewer, and more, so that a warp takes several.
TEST(WarpPerArray, TakesAnySegments) {
  std::uint64_t seed = 1;
  for (const int warps : {1, 8, 24}) {
    for (const std::int64_t size : {0, 1, 3, 4, 16, 17, 31, 32, 33, 127, 128, 129, 200}) {
      for (const int level : {0, 1, 3, 5}) {
        const std::int64_t n = count_of(level, size);
        if (n == 0 || (is_small() && n > 1100)) continue;
        EXPECT_TRUE(check_level(case_of(Partitioner::warp_per_array, n, warps, seed++), level));
      }
    }
  }
}

TEST(SubWarp, TakesSegmentsOfAtMostSixteen) {
  std::uint64_t seed = 1;
  for (const int warps : {1, 8}) {
    for (std::int64_t size = 0; size < 16; ++size) {
      for (const int level : {0, 1, 2, 3, 6}) {
        const std::int64_t n = count_of(level, size);
        if (n == 0) continue;
        EXPECT_TRUE(check_level(case_of(Partitioner::sub_warp, n, warps, seed++), level));
      }
    }
  }
  for (const std::int64_t n : {16, 33, 67, 135}) {  // all of 16
    int level = 0;
    while (Level{static_cast<std::uint32_t>(n), level}.largest_segment() > 16) ++level;
    EXPECT_TRUE(check_level(case_of(Partitioner::sub_warp, n, 8, seed++), level));
  }
}

TEST(Leaf, TakesSegmentsOfAtMostThree) {
  std::uint64_t seed = 1;
  for (std::int64_t n = 0; n <= 70; ++n) {
    for (int level = leaf_level(n); level <= last_level(n); ++level) {
      EXPECT_TRUE(check_level(case_of(Partitioner::leaf, n, 8, seed++), level));
    }
  }
  const std::int64_t large = is_small() ? 600 : 3000;
  EXPECT_TRUE(check_level(case_of(Partitioner::leaf, large, 1, seed), leaf_level(large)));
}

}  // namespace
}  // namespace warpath::partitioners::test
