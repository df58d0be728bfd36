// Partitions of plain elements: sizes, shares, alignments, element sizes.
#include <gtest/gtest.h>

#include "../device_vectors.cuh"
#include "elements.hpp"

namespace warpath::partitioners::test {
namespace {

const ElementKind& four_bytes() {
  return element_kinds()[1];
}

class Partition : public testing::TestWithParam<Form> {
 protected:
  PartitionCase next_case(std::int64_t n, Share share) {
    const std::uint64_t seed = seed_++;
    return {GetParam(), n, share, seed, static_cast<int>(seed % 3), static_cast<int>(seed % 5)};
  }
  std::uint64_t seed_ = 20261123;
};

TEST_P(Partition, OfSmallInputs) {
  for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 255, 257, 1000}) {
    for (const Share share : all_shares) {
      EXPECT_TRUE(four_bytes().check(next_case(n, share)));
    }
  }
}

TEST_P(Partition, AtTileBorders) {
  const std::int64_t tile = four_bytes().tile_items;
  for (const std::int64_t n : {tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile + 1}) {
    for (const Share share : all_shares) {
      if (is_small() && seed_ % 3 != 0) {
        ++seed_;
        continue;
      }
      EXPECT_TRUE(four_bytes().check(next_case(n, share)));
    }
  }
}

// More tiles than the emulated device holds blocks, and more than a row of the look-back.
TEST_P(Partition, OfManyTiles) {
  const std::int64_t n = (is_small() ? 10 : 70) * four_bytes().tile_items + 13;
  for (const Share share : {Share::half, Share::runs}) {
    EXPECT_TRUE(four_bytes().check(next_case(n, share)));
  }
}

TEST_P(Partition, OfElementsOfAnySize) {
  for (const ElementKind& kind : element_kinds()) {
    for (const std::int64_t n :
         {std::int64_t{1}, std::int64_t{33}, kind.tile_items + 1, 3 * kind.tile_items + 77}) {
      if (is_small() && n > 3000) continue;
      EXPECT_TRUE(kind.check(next_case(n, Share::half)));
      EXPECT_TRUE(kind.check(next_case(n, all_shares[seed_ % all_shares.size()])));
    }
  }
}

std::string name_of(const testing::TestParamInfo<Form>& form) {
  static constexpr std::array names = {"TwoOutputs", "OneOutput", "ThreeWay"};
  return names[static_cast<std::size_t>(form.param)];
}
INSTANTIATE_TEST_SUITE_P(Forms, Partition, testing::ValuesIn(all_forms), name_of);

}  // namespace
}  // namespace warpath::partitioners::test
