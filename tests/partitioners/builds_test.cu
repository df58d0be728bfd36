// Whole levels and whole builds, by every variant.
#include <gtest/gtest.h>

#include <algorithm>

#include "../device_vectors.cuh"
#include "../test_size.hpp"
#include "builds.hpp"
#include "partitioners/dispatch.cuh"

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

TEST(Levels, OfTheSourceOnNotedSides) {
  std::uint64_t seed = 1;
  for (const std::int64_t n : {2, 31, 64, 200, is_small() ? 300 : 3000}) {
    for (const Distribution distribution : all_distributions) {
      const Options options{.variant = Variant::source, .warps = 8, .notes_sides = true};
      EXPECT_TRUE(check_all_levels({.n = n,
                                    .dimensions = 6,
                                    .distribution = distribution,
                                    .options = options,
                                    .seed = seed++}));
    }
  }
}

/// What `side_bits` may choose for a level, and the shapes of it that are hard.
class Stores : public testing::TestWithParam<Store> {
 protected:
  /// All levels that the store is for: the first ones of the stores for large segments, which have
  /// a tile for each segment.
  testing::AssertionResult check(Case c) {
    c.options.variant = Variant::side_bits;
    c.store = GetParam();
    c.seed = seed_++;
    const bool is_crowded = c.store == Store::crowded_segments || c.store == Store::crowded_ranges;
    const std::uint32_t tile = c.store == Store::ranges           ? detail::RangeShape::tile_items
                               : c.store == Store::crowded_ranges ? tile_of_crowded_ranges
                                                                  : ~0u;
    const int last =
        is_crowded || c.store == Store::ranges ? last_level(c.n) : std::min(last_level(c.n), 2);
    int first = 0;
    while (Level{static_cast<std::uint32_t>(c.n), first}.largest_segment() > tile) ++first;
    for (int level = first; level <= last; ++level) {
      const auto verdict = check_level(c, level);
      if (!verdict) return verdict;
    }
    return testing::AssertionSuccess();
  }
  std::uint64_t seed_ = 20261124;
};

TEST_P(Stores, OfSmallTrees) {
  for (const std::int64_t n : {1, 2, 3, 4, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129}) {
    EXPECT_TRUE(check({.n = n}));
  }
}

// One tile and several, for each of the distributions.
TEST_P(Stores, OfAnyDistribution) {
  for (const std::int64_t n : {300, is_small() ? 500 : 2500}) {
    for (const Distribution distribution : all_distributions) {
      EXPECT_TRUE(check({.n = n, .distribution = distribution}));
    }
  }
}

TEST_P(Stores, OfAnyDimensionsAndTypes) {
  for (const int dimensions : {2, 5, 16}) {
    for (const Type type : all_types) {
      EXPECT_TRUE(check({.type = type,
                         .n = is_small() ? 140 : 270,
                         .dimensions = dimensions,
                         .distribution = Distribution::few_values}));
    }
  }
}

// Where sizes of segments differ, and where they do not: with a remainder of n + 1 of any kind.
TEST_P(Stores, OfNeighbouringSizes) {
  for (std::int64_t n = 250; n <= (is_small() ? 258 : 290); ++n) EXPECT_TRUE(check({.n = n}));
}

std::string name_of(Store store) {
  static constexpr std::array names = {"by_level",      "bits",   "large_segments",
                                       "segments",      "ranges", "crowded_segments",
                                       "crowded_ranges"};
  return names[static_cast<std::size_t>(store)];
}
INSTANTIATE_TEST_SUITE_P(SideBits, Stores,
                         testing::Values(Store::bits, Store::large_segments, Store::segments,
                                         Store::ranges, Store::crowded_segments,
                                         Store::crowded_ranges),
                         [](const auto& test) { return name_of(test.param); });

// Several tiles of each shape, and the choice itself: the emulated device has few multiprocessors.
TEST(Stores, AreChosenBySizeOfSegments) {
  const auto processors = static_cast<std::int64_t>(device_processors());
  int busy = 0;  // the first level that has work for all of them
  while ((std::int64_t{4} << busy) < 3 * processors) ++busy;
  const auto chosen = [&](std::int64_t largest, int level) {
    return detail::side_store_of({static_cast<std::uint32_t>(((largest + 1) << level) - 1), level});
  };
  using detail::SideStore;
  EXPECT_EQ(chosen(100'000, 0), SideStore::bits);
  EXPECT_EQ(chosen(17'000, busy), SideStore::large_segments);
  EXPECT_EQ(chosen(1'000'000, busy), SideStore::bits);
  EXPECT_EQ(chosen(16'384, busy), SideStore::segments);
  EXPECT_EQ(chosen(1025, busy), SideStore::segments);
  EXPECT_EQ(chosen(1025, busy - 1), SideStore::bits);
  EXPECT_EQ(chosen(1024, 0), SideStore::ranges);
  EXPECT_EQ(chosen(1, 4), SideStore::ranges);
}

TEST(Stores, OfManyTiles) {
  if (is_small()) GTEST_SKIP() << "WARPATH_TEST_SIZE=small";
  const Case c{.n = 80'003, .options = {.variant = Variant::side_bits}, .seed = 8};
  for (const int level : {0, 2, 3, 6, 9}) EXPECT_TRUE(check_level(c, level));
}

struct alignas(16) TableWords {
  std::uint32_t words[64];
};
/// One block of 32 threads. Its tables begin as if every tuple had been noted as greater.
__global__ void note_as_less_kernel(std::uint32_t* found) {
  auto& shared = dynamic_shared<TableWords>();
  for (std::uint32_t i = threadIdx.x; i < 64; i += blockDim.x) shared.words[i] = 0xAAAAAAAAu;
  __syncthreads();
  const detail::SideTables tables(shared.words, {48, 16});
  tables.block_clear();
  __syncthreads();
  tables.note(threadIdx.x, detail::side_less);
  __syncthreads();
  found[threadIdx.x] = tables.find(threadIdx.x);
}

TEST(SideTables, ForgetWhatWasInTheirMemory) {
  DeviceBuffer<std::uint32_t> found(32);
  launch({1, 32, sizeof(TableWords), nullptr}, note_as_less_kernel, found.data());
  EXPECT_EQ(on_host(found, nullptr), std::vector<std::uint32_t>(32, detail::side_less));
}

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
