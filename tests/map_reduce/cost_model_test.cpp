// The cost model: what it says of simple cases follows from its definition.
#include "map_reduce/cost_model.hpp"

#include <gtest/gtest.h>

namespace warpath::map_reduce::test {
namespace {

constexpr KernelCost simple = {100, 10, 1.0, 0, 1, 2, 0, 500, 50, 16, 0};

TEST(CostModel, OneBlockTakesWhatItsPairsTake) {
  const Cut cut = cut_of(simple, 100, 1000, 1, 4);
  EXPECT_EQ(cut.parts, 1);
  EXPECT_EQ(cut.span, 1000);
  EXPECT_DOUBLE_EQ(cut.expected_ns, launch_ns + 100 * 1000);
}

TEST(CostModel, PartsAreSharedByTheMultiprocessors) {
  const Cut cut = cut_of(simple, 100, 1000, 4, 4);
  EXPECT_EQ(cut.parts, 4);
  EXPECT_EQ(cut.span, 250);
  EXPECT_DOUBLE_EQ(cut.expected_ns, launch_ns + 100 * 250 + 500 + 50 * (4 + 1) / 16.0);
}

TEST(CostModel, SpansAreWholeTilesAndPartsAreNotEmpty) {
  const Cut cut = cut_of(simple, 100, 95, 9, 4);  // 11 columns each, so 20: five parts
  EXPECT_EQ(cut.span, 20);
  EXPECT_EQ(cut.parts, 5);
}

// Five blocks on two multiprocessors: one gets three, a round of two and one of one.
TEST(CostModel, BlocksComeInRounds) {
  KernelCost cost = simple;
  cost.block_ns = 1000;
  EXPECT_DOUBLE_EQ(cut_of(cost, 500, 10, 1, 2).expected_ns,
                   launch_ns + (1000 + 2 * 1000) + (1000 + 1000));
}

TEST(CostModel, FewBlocksLeaveAMultiprocessorIdle) {
  KernelCost cost = simple;
  cost.busy_blocks = 2;
  EXPECT_DOUBLE_EQ(cut_of(cost, 100, 10, 1, 1).expected_ns, launch_ns + 2 * 1000);
  EXPECT_DOUBLE_EQ(cut_of(cost, 200, 10, 1, 1).expected_ns, launch_ns + 2 * 1000);
}

TEST(CostModel, MemoryIsALowerLimit) {
  KernelCost cost = simple;
  cost.pair_ns = 0;
  cost.column_bytes = 41;
  EXPECT_DOUBLE_EQ(cut_of(cost, 100, 1000, 1, 1).expected_ns,
                   launch_ns + 1000 * 41 / memory_bytes_per_ns);
}

TEST(CostModel, NoPartHasMoreColumnsThanItMay) {
  KernelCost cost = simple;
  cost.most_span = 500;
  const Cut cut = best_cut(cost, 1'000'000, 7777, 4);  // one part would take least
  EXPECT_EQ(best_cut(simple, 1'000'000, 7777, 4).parts, 1);
  EXPECT_LE(cut.span, 500);
  EXPECT_GE(cut.parts * cut.span, 7777);
}

TEST(CostModel, FewRowsGetManyPartsAndManyRowsOne) {
  constexpr int processors = 132;
  EXPECT_GT(best_cut(simple, 100, 1'000'000, processors).parts, 100);
  EXPECT_LE(best_cut(simple, 100 * processors, 1000, processors).parts, simple.resident_blocks);
  for (const std::int64_t rows : {1, 99, 1000, 12'345, 1'000'000}) {
    const Cut one = cut_of(simple, rows, 50'000, 1, processors);
    EXPECT_LE(best_cut(simple, rows, 50'000, processors).expected_ns, 1.02 * one.expected_ns);
  }
}

}  // namespace
}  // namespace warpath::map_reduce::test
