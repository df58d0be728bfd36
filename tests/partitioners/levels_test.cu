// Which places are which segment, and which partitioner serves which level: no kernel runs.
#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "../device_vectors.cuh"
#include "../test_size.hpp"
#include "partitioners/level_places.cuh"
#include "partitioners/levels.cuh"
#include "partitioners/oracle.hpp"
#include "partitioners/selection.hpp"

namespace warpath::partitioners::test {
namespace {

Level level_of(std::int64_t n, int number) {
  return {static_cast<std::uint32_t>(n), number};
}
oracle::Places places_of(Segment segment) {
  return {segment.begin, segment.end};
}

/// Small trees of all sizes, and some odd ones.
std::vector<std::int64_t> tree_sizes() {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = 0; n <= (is_small() ? 70 : 300); ++n) sizes.push_back(n);
  for (const std::int64_t n : {511, 512, 513, 1000, 1023, 1025, 2047, 4097}) sizes.push_back(n);
  return sizes;
}

/// Sizes at which a logarithm in floating point is wrong, and the largest.
std::vector<std::int64_t> traps() {
  std::vector<std::int64_t> sizes = {most_references, most_references - 1, 1 << 30};
  for (std::int64_t k = -11; k <= 2; ++k) sizes.push_back((1 << 24) + k);
  return sizes;
}

TEST(Segments, AreThoseOfTheOracle) {
  for (const std::int64_t n : tree_sizes()) {
    for (int level = 0; level <= last_level(n); ++level) {
      const auto expected = oracle::segments(n, level);
      ASSERT_EQ(expected.size(), level_of(n, level).segments());
      for (std::uint32_t k = 0; k < expected.size(); ++k) {
        ASSERT_EQ(places_of(level_of(n, level).segment(k)), expected[k])
            << "n = " << n << ", level " << level << ", segment " << k;
      }
    }
  }
}

// All places of an array are those of a level's segments and those of the pivots before.
TEST(Segments, AndPivotsArePlacesOfTheArray) {
  std::vector<std::int64_t> sizes = tree_sizes();
  if (!is_small()) {
    for (std::int64_t n = 3001; n <= 7000; n += 2) sizes.push_back(n);
  }
  for (const std::int64_t n : sizes) {
    const int level = last_level(n);
    std::uint32_t next = 0;
    for (std::uint32_t k = 0; k < level_of(n, level).segments(); ++k) {
      const Segment segment = level_of(n, level).segment(k);
      ASSERT_EQ(segment.begin, next);
      ASSERT_LE(segment.count(), 1u);
      next = segment.end + 1;
    }
    ASSERT_EQ(next, n + 1);
  }
}

TEST(Segments, OfALevelDifferByOneAtMost) {
  for (const std::int64_t n : tree_sizes()) {
    for (int level = 0; level <= last_level(n); ++level) {
      const std::uint32_t largest = level_of(n, level).largest_segment();
      std::uint32_t found = 0;
      for (std::uint32_t k = 0; k < level_of(n, level).segments(); ++k) {
        const std::uint32_t count = level_of(n, level).segment(k).count();
        found = std::max(found, count);
        ASSERT_GE(count + 1, largest);
      }
      ASSERT_EQ(found, largest) << "n = " << n << ", level " << level;
    }
  }
}

// Neighbours at both ends and in the middle, where n is too large to look at all of them.
TEST(Segments, OfLargeTreesAreNeighbours) {
  for (const std::int64_t n : traps()) {
    for (int number = 0; number <= last_level(n); ++number) {
      const Level level = level_of(n, number);
      const std::uint32_t last = level.segments() - 1;
      ASSERT_EQ(level.segment(0).begin, 0u);
      ASSERT_EQ(level.segment(last).end, n);
      for (const std::uint32_t k : {0u, 1u, 2u, last / 3, last / 2, last - 2, last - 1}) {
        if (k >= last) continue;  // also what is below 0
        const Segment segment = level.segment(k);
        ASSERT_EQ(segment.end + 1, level.segment(k + 1).begin)
            << "n = " << n << ", level " << number << ", segment " << k;
        ASSERT_LE(segment.count(), level.largest_segment());
        ASSERT_GE(segment.count() + 1, level.largest_segment());
      }
    }
  }
}

TEST(Levels, LastAndLeafAreExact) {
  std::vector<std::int64_t> sizes = tree_sizes();
  for (const std::int64_t n : traps()) sizes.push_back(n);
  for (const std::int64_t n : sizes) {
    int floor_of_log2 = 0;
    while (n >> (floor_of_log2 + 1) != 0) ++floor_of_log2;
    EXPECT_EQ(last_level(n), floor_of_log2) << n;
    EXPECT_LE(level_of(n, last_level(n)).largest_segment(), 1u) << n;
    EXPECT_LE(level_of(n, leaf_level(n)).largest_segment(), 3u) << n;
    if (leaf_level(n) > 0) {
      EXPECT_GT(level_of(n, leaf_level(n) - 1).largest_segment(), 3u) << n;
    }
    EXPECT_GE(leaf_level(n) + 1, last_level(n)) << n;
  }
}

// What kernels that go by places know of what lies before.
TEST(LevelPlaces, AreThoseOfTheSegments) {
  for (const std::int64_t n : {0, 1, 2, 3, 5, 6, 7, 12, 31, 32, 33, 100, 127, 128, 1000}) {
    for (int number = 0; number <= last_level(n); ++number) {
      const Level level = level_of(n, number);
      std::uint32_t units = 0;
      for (std::uint32_t k = 0; k < level.segments(); ++k) {
        const Segment segment = level.segment(k);
        const std::uint32_t less = segment.count() == 0 ? 0 : segment.less_side().count();
        const std::uint32_t pivots = segment.count() == 0 ? 0 : 1;
        for (std::uint32_t place = segment.begin; place <= segment.end && place < n; ++place) {
          detail::LevelPlace at = detail::root_of(level);
          at.descend(level, place);
          ASSERT_EQ(at.segment, segment) << "n = " << n << ", place " << place;
          ASSERT_EQ(at.has(place), place < segment.end);
          ASSERT_EQ(at.units_before, units);
        }
        units += 2 * less + pivots;
      }
      ASSERT_EQ(detail::units_of_subtree(level.n, number), units);
    }
  }
}

// The way down may stop at the last node that has both of two places.
TEST(LevelPlaces, MayBeFoundInTwoSteps) {
  const Level level = level_of(1000, 6);
  for (std::uint32_t first = 0; first < 1000; first += 7) {
    for (const std::uint32_t length : {1u, 5u, 32u, 300u}) {
      const std::uint32_t last = std::min(first + length, 1000u) - 1;
      detail::LevelPlace both = detail::root_of(level);
      both.descend(level, first, last);
      for (const std::uint32_t place : {first, (first + last) / 2, last}) {
        detail::LevelPlace directly = detail::root_of(level);
        directly.descend(level, place);
        detail::LevelPlace in_steps = both;
        in_steps.descend(level, place);
        ASSERT_EQ(in_steps.segment, directly.segment) << first << " to " << last;
        ASSERT_EQ(in_steps.units_before, directly.units_before);
      }
    }
  }
}

TEST(Selection, IsByLevel) {
  // 2^24 references and 2048 warps: the source's example.
  constexpr std::int64_t n = 1 << 24;
  for (int level = 0; level <= leaf_level(n); ++level) {
    const Partitioner expected = level < 11   ? Partitioner::multi_warp
                                 : level < 20 ? Partitioner::warp_per_array
                                 : level < 23 ? Partitioner::sub_warp
                                              : Partitioner::leaf;
    EXPECT_EQ(partitioner_of_level(n, level, 2048), expected) << "level " << level;
  }
}

TEST(CallCounts, OfPowersOfTwo) {
  for (int log_n = 5; log_n <= 30; ++log_n) {
    for (int log_warps = 0; log_warps <= log_n - 4; ++log_warps) {
      // As the source means it, with the first two of its formulas exchanged (README, errata).
      const CallCounts expected{log_warps, log_n - 4 - log_warps, 3, 1};
      EXPECT_EQ(count_calls(std::int64_t{1} << log_n, 1 << log_warps), expected)
          << "n = 2^" << log_n << ", 2^" << log_warps << " warps";
      EXPECT_EQ(expected.total(), log_n);
    }
    // So many warps that segments are never more: none is left for warp_per_array.
    EXPECT_EQ(count_calls(std::int64_t{1} << log_n, 1 << (log_n - 3)),
              (CallCounts{log_n - 4, 0, 3, 1}));
  }
}

TEST(CallCounts, OfOtherSizes) {
  for (std::int64_t n = 2; n < (is_small() ? 3000 : 40'000); ++n) {
    const CallCounts calls = count_calls(n, 16);
    ASSERT_EQ(calls.total(), std::bit_width(static_cast<std::uint64_t>(n)) - 1) << n;
    ASSERT_EQ(calls.leaf, 1) << n;
    if (n < 17) continue;
    // Three calls of sub_warp where a level has a segment of 16, 8 and 4: up to 1/16 beyond a power
    // of two. Else two: sizes that are halved from 15 on come to 7 and 3.
    const std::int64_t power = std::int64_t{1}
                               << (std::bit_width(static_cast<std::uint64_t>(n)) - 1);
    ASSERT_EQ(calls.sub_warp, n < power + power / 16 ? 3 : 2) << n;
  }
  for (const std::int64_t n : traps()) {
    ASSERT_EQ(count_calls(n, 2048).total(), std::bit_width(static_cast<std::uint64_t>(n)) - 1);
  }
  EXPECT_EQ(count_calls(1, 16), (CallCounts{0, 0, 0, 1}));
  EXPECT_EQ(count_calls(0, 16), (CallCounts{0, 0, 0, 1}));
}

}  // namespace
}  // namespace warpath::partitioners::test
