// Elements of at most 16 bytes that go through registers and shared memory.
#include "element_sizes.cuh"

namespace warpath::warp_compaction::test {
namespace {

class SmallElements : public testing::TestWithParam<ElementKind> {};

TEST_P(SmallElements, OfAnySizeAreCompacted) {
  ASSERT_TRUE(GetParam().is_in_registers);
  expect_right_at_all_sizes(GetParam());
}

// 4 bytes: compact_if_test.cu. Those of 8 and 16 are here with their own alignment.
INSTANTIATE_TEST_SUITE_P(Sizes, SmallElements,
                         testing::Values(kind_of<1>(), kind_of<2, 2>(), kind_of<3>(),
                                         kind_of<4, 4>(), kind_of<6, 2>(), kind_of<8, 8>(),
                                         kind_of<12, 4>(), kind_of<16, 16>()),
                         [](const auto& test) { return std::to_string(test.param.bytes); });

}  // namespace
}  // namespace warpath::warp_compaction::test
