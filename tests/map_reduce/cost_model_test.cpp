// The cost model: what it says of simple cases follows from its definition.
#include "map_reduce/cost_model.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace warpath::map_reduce::detail {
namespace {

constexpr double launch_ns = 2700;
constexpr double memory_bytes_per_ns = 4000;
constexpr KernelCost simple = {.block_rows = 100,
                               .tile = 10,
                               .figures = {.pair_ns = 1,
                                           .column_ns = 0,
                                           .busy_blocks = 1,
                                           .resident_blocks = 2,
                                           .block_ns = 0,
                                           .merge_ns = 500,
                                           .merge_step_ns = 50},
                               .merge_batch = 16,
                               .column_bytes = 0,
                               .launch_ns = launch_ns,
                               .memory_bytes_per_ns = memory_bytes_per_ns};

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
  cost.figures.block_ns = 1000;
  EXPECT_DOUBLE_EQ(cut_of(cost, 500, 10, 1, 2).expected_ns,
                   launch_ns + (1000 + 2 * 1000) + (1000 + 1000));
}

TEST(CostModel, FewBlocksLeaveAMultiprocessorIdle) {
  KernelCost cost = simple;
  cost.figures.busy_blocks = 2;
  EXPECT_DOUBLE_EQ(cut_of(cost, 100, 10, 1, 1).expected_ns, launch_ns + 2 * 1000);
  EXPECT_DOUBLE_EQ(cut_of(cost, 200, 10, 1, 1).expected_ns, launch_ns + 2 * 1000);
}

TEST(CostModel, MemoryIsALowerLimit) {
  KernelCost cost = simple;
  cost.figures.pair_ns = 0;
  cost.column_bytes = 41;
  EXPECT_DOUBLE_EQ(cut_of(cost, 100, 1000, 1, 1).expected_ns,
                   launch_ns + 1000 * 41 / memory_bytes_per_ns);
}

TEST(CostModel, ColumnsThatTheCacheHoldsComeFromThere) {
  KernelCost cost = simple;
  cost.figures.pair_ns = 0;
  cost.column_bytes = 41;
  cost.cache_bytes = 41 * 1000;
  cost.cache_bytes_per_ns = 2 * memory_bytes_per_ns;
  EXPECT_DOUBLE_EQ(cut_of(cost, 100, 1000, 1, 1).expected_ns,
                   launch_ns + 1000 * 41 / (2 * memory_bytes_per_ns));
  EXPECT_DOUBLE_EQ(least_ns(cost, 100, 1000, 1), cut_of(cost, 100, 1000, 1, 1).expected_ns);
  EXPECT_DOUBLE_EQ(cut_of(cost, 100, 1001, 1, 1).expected_ns,
                   launch_ns + 1001 * 41 / memory_bytes_per_ns);
}

// Threads over the columns: what settles, long states and long groups cost more, and no more blocks
// are resident than the kernel leaves room for.
TEST(CostModel, FewRowsCostWhatTheirReductionDoes) {
  const CallTraits sum{.column_bytes = 16,
                       .state_bytes = 16,
                       .tile_columns = 256,
                       .is_double = false,
                       .instructions = 2};
  const auto cost_of = [](const CallTraits& call, int blocks) {
    return columns_cost(h200_figures, call, 4, 256, blocks);
  };
  EXPECT_EQ(cost_of(sum, 3).figures.resident_blocks, 3);
  EXPECT_EQ(cost_of(sum, 1).figures.busy_blocks, 1);
  EXPECT_EQ(cost_of(sum, 3).settling_columns, 0);

  CallTraits least = sum;
  least.settling_columns = 3000;
  EXPECT_EQ(cost_of(least, 3).settling_columns, h200_figures.columns_settle);
  EXPECT_EQ(cost_of(least, 3).figures.block_ns, cost_of(sum, 3).figures.block_ns);
  EXPECT_DOUBLE_EQ(cost_of(least, 3).figures.pair_ns,
                   cost_of(sum, 3).figures.pair_ns * h200_figures.settling_of_columns);
  EXPECT_EQ(staged_cost(h200_figures, least, 4, 128, 128, 1000).settling_columns,
            h200_figures.staged_settle);

  CallTraits ten_least = least;
  ten_least.state_bytes = 120;
  EXPECT_DOUBLE_EQ(cost_of(ten_least, 3).figures.block_ns - cost_of(least, 3).figures.block_ns,
                   (120 - 16) * h200_figures.columns_state_byte_ns);

  CallTraits long_groups = least;
  long_groups.has_long_groups = true;
  EXPECT_DOUBLE_EQ(cost_of(long_groups, 3).figures.pair_ns,
                   cost_of(least, 3).figures.pair_ns * h200_figures.long_groups_of_columns);
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
  EXPECT_LE(best_cut(simple, 100 * processors, 1000, processors).parts,
            simple.figures.resident_blocks);
  for (const std::int64_t rows : {1, 99, 1000, 12'345, 1'000'000}) {
    const Cut one = cut_of(simple, rows, 50'000, 1, processors);
    EXPECT_LE(best_cut(simple, rows, 50'000, processors).expected_ns, 1.02 * one.expected_ns);
  }
}

// cheapest() leaves out what cannot win by this bound: it must hold for every cut.
TEST(CostModel, NoCutTakesLessThanTheLeast) {
  const CallTraits calls[] = {{.column_bytes = 16,
                               .state_bytes = 8,
                               .tile_columns = 256,
                               .is_double = false,
                               .instructions = 2,
                               .share_columns = 256,
                               .gram_form = GramForm::sum,
                               .coordinates = 3,
                               .coordinate_chunks = 1,
                               .tensor_tile_columns = 256},
                              {.column_bytes = 516,
                               .state_bytes = 16,
                               .tile_columns = 32,
                               .is_double = true,
                               .instructions = 1,
                               .gram_form = GramForm::least,
                               .coordinates = 65,
                               .coordinate_chunks = 17,
                               .tensor_tile_columns = 64}};
  for (const CallTraits& call : calls) {
    std::vector<KernelCost> costs;
    for (const int R : {1, 4, 8}) costs.push_back(rows_cost(h200_figures, call, R));
    for (const int rows : {1, 4, 16})
      costs.push_back(columns_cost(h200_figures, call, rows, 256, 4));
    for (const int rows : {512, 256, 128})
      costs.push_back(tensor_cost(h200_figures, call, rows, 2));
    costs.push_back(warpgroup_cost(h200_figures, call, 256, 64));
    costs.push_back(warpgroup_lists_cost(h200_figures, call, 256, 128, 10, 64, 16));
    for (const KernelCost& cost : costs) {
      for (const std::int64_t rows : {1, 15, 1000, 33'333, 1'000'000}) {
        for (const std::int64_t columns : {1, 700, 100'003, 10'000'000}) {
          const double least = least_ns(cost, rows, columns, 132);
          EXPECT_LE(least, best_cut(cost, rows, columns, 132).expected_ns * (1 + 1e-12));
          for (const int parts : {1, 7, 4096}) {
            EXPECT_LE(least, cut_of(cost, rows, columns, parts, 132).expected_ns * (1 + 1e-12));
          }
        }
      }
    }
  }
}

// What a column of many numbers, a reduction of many instructions or double precision change.
TEST(CostModel, PairsCostInProportionToTheirNumbers) {
  const CallTraits gaussian{.column_bytes = 16,
                            .state_bytes = 8,
                            .tile_columns = 256,
                            .is_double = false,
                            .instructions = 0};
  EXPECT_DOUBLE_EQ(relative_pair_cost(gaussian), 1);
  CallTraits other = gaussian;
  other.instructions = 8;
  EXPECT_DOUBLE_EQ(relative_pair_cost(other), 2);
  other = gaussian;
  other.column_bytes = 32;
  EXPECT_DOUBLE_EQ(relative_pair_cost(other), 2);
  other = gaussian;
  other.is_double = true;
  EXPECT_DOUBLE_EQ(relative_pair_cost(other), 2.5);
  other = gaussian;
  other.column_bytes = 160;
  EXPECT_DOUBLE_EQ(rows_cost(h200_figures, other, 1).figures.pair_ns,
                   h200_figures.rows_1.pair_ns * 10 * h200_figures.rows_1_of_long_columns);
  EXPECT_DOUBLE_EQ(rows_cost(h200_figures, other, 4).figures.pair_ns,
                   h200_figures.rows_4.pair_ns * 10);
}

TEST(CostModel, FurtherTensorInstructionsCost) {
  CallTraits call{.column_bytes = 16,
                  .state_bytes = 16,
                  .tile_columns = 256,
                  .is_double = false,
                  .instructions = 0,
                  .gram_form = GramForm::sum,
                  .coordinates = 3,
                  .coordinate_chunks = 1,
                  .tensor_tile_columns = 256};
  const auto pair_ns = [&] { return tensor_cost(h200_figures, call, 512, 2).figures.pair_ns; };
  EXPECT_DOUBLE_EQ(pair_ns(), h200_figures.tensor_sum_512.pair_ns);
  call.coordinates = 8;
  call.coordinate_chunks = 2;
  EXPECT_DOUBLE_EQ(pair_ns(),
                   h200_figures.tensor_sum_512.pair_ns + h200_figures.tensor_sum_narrow_product_ns);
  call.coordinates = 17;  // two groups of 16, three instructions each
  call.coordinate_chunks = 5;
  EXPECT_DOUBLE_EQ(
      pair_ns(), h200_figures.tensor_sum_512.pair_ns + 5 * h200_figures.tensor_sum_wide_product_ns);
  call.gram_form = GramForm::least;
  EXPECT_DOUBLE_EQ(pair_ns(),
                   h200_figures.tensor_least.pair_ns + 6 * h200_figures.tensor_least_product_ns);
  call.state_bytes = 32;
  EXPECT_DOUBLE_EQ(pair_ns(), h200_figures.tensor_least.pair_ns +
                                  6 * h200_figures.tensor_least_product_ns +
                                  h200_figures.tensor_least_many_ns);
}

TEST(CostModel, StepsOfWarpgroupsCost) {
  CallTraits call{.column_bytes = 4 * 33,
                  .state_bytes = 8,
                  .tile_columns = 64,
                  .is_double = false,
                  .instructions = 1,
                  .gram_form = GramForm::sum,
                  .coordinates = 32,
                  .coordinate_chunks = 8,
                  .tensor_tile_columns = 64};
  const double two = warpgroup_cost(h200_figures, call, 256, 64).figures.pair_ns;
  call.coordinates = 33;
  const KernelCost three = warpgroup_cost(h200_figures, call, 256, 64);
  EXPECT_NEAR(three.figures.pair_ns, two + h200_figures.warpgroup_sum_step_ns, 1e-12);
  EXPECT_DOUBLE_EQ(three.prepared_column_ns, 16 * 33 / h200_figures.memory_bytes_per_ns);
}

TEST(CostModel, ListsOfWarpgroupsCost) {
  CallTraits call{.column_bytes = 4 * 32,
                  .state_bytes = 120,
                  .tile_columns = 64,
                  .is_double = false,
                  .instructions = 8,
                  .settling_columns = 8000,
                  .gram_form = GramForm::least,
                  .coordinates = 33};
  const auto cost_of = [&](int wanted) {
    return warpgroup_lists_cost(h200_figures, call, 256, 128, wanted, wanted + 54, 16);
  };
  EXPECT_NEAR(cost_of(11).figures.block_ns,
              cost_of(10).figures.block_ns + h200_figures.warpgroup_list_room_ns, 1e-6);
  EXPECT_EQ(cost_of(10).most_columns, most_listed_columns);
  const double two = cost_of(10).figures.pair_ns;
  call.coordinates = 34;
  EXPECT_NEAR(cost_of(10).figures.pair_ns, two + h200_figures.warpgroup_lists_step_ns, 1e-12);
  // Parts are finished one after the other; all rows, in as many rounds as their blocks take.
  const auto time_of = [&](std::int64_t rows, double part_ns, double ns) {
    KernelCost cost = cost_of(10);
    cost.finish_part_ns = part_ns;
    cost.finish_ns = ns;
    return cut_of(cost, rows, 128 * 100, 5, 132).expected_ns;
  };
  EXPECT_NEAR(time_of(1000, 7, 0), time_of(1000, 0, 0) + 5 * 7, 1e-6);
  EXPECT_NEAR(time_of(3 * 16 * 264, 0, 7), time_of(3 * 16 * 264, 0, 0) + 3 * 7, 1e-6);
  // Blocks settle, and parts are finished: not as many parts as there are tiles.
  const Cut cut = best_cut(cost_of(10), 1000, 300'000, 132);
  EXPECT_GT(cut.parts, 8);
  EXPECT_LT(cut.parts, 66);
}

TEST(CostModel, SignalsOfWarpgroupsCost) {
  CallTraits call{.column_bytes = 140,
                  .state_bytes = 256,
                  .tile_columns = 192,
                  .is_double = false,
                  .instructions = 0,
                  .signal = 32,
                  .gram_form = GramForm::sum,
                  .coordinates = 3,
                  .coordinate_chunks = 1,
                  .tensor_tile_columns = 128,
                  .multiplies_signals = true};
  const auto cost_of = [&](int coordinates, int signal, int block_rows = 256) {
    call.coordinates = coordinates;
    call.signal = signal;
    return warpgroup_cost(h200_figures, call, block_rows, 128);
  };
  EXPECT_DOUBLE_EQ(cost_of(3, 32).prepared_column_ns, 16 * 35 / h200_figures.memory_bytes_per_ns);
  EXPECT_GT(cost_of(3, 33).figures.pair_ns, cost_of(3, 32).figures.pair_ns);
  EXPECT_GT(cost_of(3, 33).figures.block_ns, cost_of(3, 32).figures.block_ns);
  // 16 coordinates and the square are two steps.
  EXPECT_NEAR(cost_of(16, 8).figures.pair_ns,
              cost_of(15, 8).figures.pair_ns + h200_figures.warpgroup_signals_step_ns, 1e-12);
  // In more dimensions the square is no coordinate, and products are those of TF32.
  EXPECT_GT(cost_of(17, 8).figures.pair_ns, cost_of(16, 8).figures.pair_ns);
  EXPECT_DOUBLE_EQ(cost_of(32, 8).figures.pair_ns, cost_of(17, 5).figures.pair_ns);
  EXPECT_NEAR(cost_of(33, 8).figures.pair_ns,
              cost_of(32, 8).figures.pair_ns + h200_figures.warpgroup_sum_step_ns, 1e-12);
  EXPECT_NEAR(cost_of(32, 33).figures.pair_ns,
              cost_of(32, 32).figures.pair_ns + 4 * h200_figures.warpgroup_tf32_eight_ns, 1e-12);
  EXPECT_GT(cost_of(100, 8, 128).figures.pair_ns, cost_of(100, 8).figures.pair_ns);
}

}  // namespace
}  // namespace warpath::map_reduce::detail
