// All operations on ints, by every variant, on the inputs that may break them.
#include <gtest/gtest.h>

#include "../test_size.hpp"
#include "balanced_path_sets/tuning.hpp"
#include "int_sets.hpp"
#include "support.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

constexpr Options all_options[] = {{Variant::count_scan_stream},
                                   {Variant::compact},
                                   {Variant::compact, /*range_checks=*/true},
                                   {Variant::single_pass}};

class SetsOfInts : public testing::Test {
 protected:
  /// Every operation by every variant, on keys and on pairs.
  void expect_all(const std::vector<int>& a, const std::vector<int>& b, bool duplicates = true,
                  Order order = {}) {
    for (const SetOperation operation : all_operations) {
      expect({operation, duplicates, order}, a, b);
    }
  }
  void expect_all(const Inputs& inputs, bool duplicates = true, Order order = {}) {
    SCOPED_TRACE(inputs.name);
    expect_all(inputs.a, inputs.b, duplicates, order);
  }

  void expect(const Case& which, const std::vector<int>& a, const std::vector<int>& b) {
    const auto expected =
        oracle::set_operation(which.operation, a, values_from<int>(0, a.size()), b,
                              values_from<int>(a.size(), b.size()), which.order);
    const Arrays<int, int> arrays(a, b, expected,
                                  most_outputs(which.operation, static_cast<std::int64_t>(a.size()),
                                               static_cast<std::int64_t>(b.size())),
                                  shift_++);
    for (const Options& options : all_options) {
      SCOPED_TRACE(name_of(which.operation) + " by " + name_of(options.variant) +
                   ", range checks " + std::to_string(options.range_checks) + ", duplicates " +
                   std::to_string(which.duplicates) + ", " + std::to_string(a.size()) + " and " +
                   std::to_string(b.size()) + " keys");
      arrays.expect_keys(stream_, [&](auto out, auto& count) {
        int_sets(which, arrays.a(), arrays.b(), out, count, workspace_, stream_, options);
      });
      arrays.expect_pairs(stream_, [&](auto out, auto out_values, auto& count) {
        int_pairs(which, arrays.a(), arrays.a_values(), arrays.b(), arrays.b_values(), out,
                  out_values, count, workspace_, stream_, options);
      });
    }
  }

  std::size_t shift_ = 0;
  Stream stream_;
  Workspace workspace_;
};

TEST_F(SetsOfInts, SmallInputs) {
  for (const Inputs& inputs : multisets()) expect_all(inputs);
}

TEST_F(SetsOfInts, WithoutDuplicates) {
  for (const Inputs& inputs : sets()) expect_all(inputs, /*duplicates=*/false);
}

TEST_F(SetsOfInts, ManyTiles) {
  for (const Inputs& inputs : many_tiles(is_small() ? 7'000 : 60'000)) expect_all(inputs);
}

TEST_F(SetsOfInts, ManyTilesWithoutDuplicates) {
  std::mt19937 random(11);
  for (const unsigned share : {1u, 2u, 7u}) {
    Inputs inputs{"one key in " + std::to_string(share), {}, {}};
    for (int key = 0; key < (is_small() ? 6'000 : 30'000); ++key) {
      if (random() % share == 0) inputs.a.push_back(key);
      if (random() % share == 0) inputs.b.push_back(key);
    }
    expect_all(inputs, /*duplicates=*/false);
  }
}

// Around a warp, and odd: nothing, one element and two of either input.
TEST_F(SetsOfInts, SizesOfBothInputs) {
  std::mt19937 random(3);
  for (const std::size_t a : {0, 1, 2, 31, 32, 33, 101, 1407}) {
    for (const std::size_t b : {0, 1, 2, 31, 32, 33, 127, 1409}) {
      if (is_small() && (a > 101 || b > 127)) continue;
      expect_all(sorted_keys(random, a, 40), sorted_keys(random, b, 40));
    }
  }
}

TEST_F(SetsOfInts, TotalsAroundATile) {
  for (const std::size_t tile :
       {SetTuning::tile_items,
        detail::SinglePassTuning<SetOperation::set_union, int, NoValue>::tile_items,
        detail::SinglePassTuning<SetOperation::set_union, int, int>::tile_items}) {
    for (const std::size_t total : {tile - 1, tile, tile + 1, 2 * tile + 1}) {
      for (const Inputs& inputs : many_tiles(total)) {
        if (is_small() && total != tile) continue;
        expect_all(inputs);
      }
    }
  }
}

// A tile that begins with a star: without duplicates, too.
TEST_F(SetsOfInts, StarredTilesOfSets) {
  for (const int before : {0, 1}) {
    std::vector<int> a;
    for (int key = 0; key < 5'000; ++key) a.push_back(key);
    std::vector<int> b(a.begin() + before, a.end());
    expect_all(a, b, /*duplicates=*/false);
    expect_all(b, a, /*duplicates=*/false);
    expect_all(a, b);
  }
}

TEST_F(SetsOfInts, KeysThatFall) {
  for (Inputs inputs : many_tiles(5'000)) {
    std::reverse(inputs.a.begin(), inputs.a.end());
    std::reverse(inputs.b.begin(), inputs.b.end());
    expect_all(inputs, /*duplicates=*/true, Order{true});
  }
}

// What the header says of each variant's memory.
TEST_F(SetsOfInts, MemoryOfEachVariant) {
  const DeviceBuffer<int> a = on_device(std::vector<int>(100'000, 1));
  DeviceBuffer<int> out(200'000);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  const std::int64_t tiles = 200'000 / SetTuning::tile_items + 1;
  const std::int64_t single_pass_tiles =
      200'000 / detail::SinglePassTuning<SetOperation::set_union, int, NoValue>::tile_items + 1;
  for (const auto& [variant, most] :
       {std::pair{Variant::single_pass, 32 * single_pass_tiles + 4096},
        std::pair{Variant::count_scan_stream, 32 * tiles + 4096},
        std::pair{Variant::compact, 32 * tiles + 4096 + 4 * tiles * SetTuning::tile_items}}) {
    Workspace workspace;
    DeviceCount count(stream_);
    int_sets({}, a.span(), a.span(), out.span(), count, workspace, stream_, {variant});
    EXPECT_EQ(count.get(stream_), 100'000);
    EXPECT_LE(workspace.bytes(), most);
  }
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
