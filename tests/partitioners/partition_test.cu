// Partitions of plain elements: sizes, shares, alignments, element sizes.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <tuple>

#include "../device_vectors.cuh"
#include "../test_size.hpp"
#include "elements.hpp"

namespace warpath::partitioners::test {
namespace {

using detail::PartitionPath;

const ElementKind& four_bytes() {
  return small_elements().back();
}

class Partition : public testing::TestWithParam<std::tuple<Form, PartitionPath>> {
 protected:
  PartitionCase next_case(std::int64_t n, Share share) {
    const std::uint64_t seed = seed_++;
    const auto [form, path] = GetParam();
    return {form, path, n, share, seed, static_cast<int>(seed % 3), static_cast<int>(seed % 5)};
  }
  /// Elements of a tile of the kernel that is tested.
  static std::int64_t tile_of(const ElementKind& kind) {
    return std::get<PartitionPath>(GetParam()) == PartitionPath::pipeline ? kind.pipeline_tile_items
                                                                          : kind.plain_tile_items;
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
  const std::int64_t tile = tile_of(four_bytes());
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
  const std::int64_t n = (is_small() ? 10 : 70) * tile_of(four_bytes()) + 13;
  for (const Share share : {Share::half, Share::runs}) {
    EXPECT_TRUE(four_bytes().check(next_case(n, share)));
  }
}

TEST_P(Partition, OfElementsOfAnySize) {
  for (const std::span<const ElementKind> kinds : {small_elements(), large_elements()}) {
    for (const ElementKind& kind : kinds) {
      const std::int64_t tile = tile_of(kind);
      for (const std::int64_t n : {std::int64_t{1}, std::int64_t{33}, tile + 1, 3 * tile + 77}) {
        if (is_small() && n > 3000) continue;
        EXPECT_TRUE(kind.check(next_case(n, Share::half)));
        EXPECT_TRUE(kind.check(next_case(n, all_shares[seed_ % all_shares.size()])));
      }
    }
  }
}

// Elements smaller than a word begin and end anywhere in one.
TEST_P(Partition, OfBytesFromAnyPlaceToAnyPlace) {
  const ElementKind& one_byte = small_elements().front();
  for (int offset = 0; offset < 17; ++offset) {
    PartitionCase c = next_case(offset % 2 == 0 ? 40 + offset : 700 + offset, Share::half);
    c.in_offset = offset;
    c.out_offset = offset * 5 % 17;
    EXPECT_TRUE(one_byte.check(c));
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<Form, PartitionPath>>& info) {
  static constexpr std::array forms = {"TwoOutputs", "OneOutput", "ThreeWay"};
  static constexpr std::array paths = {"", "Plain", "Pipeline"};
  const auto [form, path] = info.param;
  return std::string(forms[static_cast<std::size_t>(form)]) + paths[static_cast<std::size_t>(path)];
}
INSTANTIATE_TEST_SUITE_P(Forms, Partition,
                         testing::Combine(testing::ValuesIn(all_forms),
                                          testing::Values(PartitionPath::automatic,
                                                          PartitionPath::pipeline)),
                         name_of);

}  // namespace
}  // namespace warpath::partitioners::test
