// The pipeline of single_pass: blocks that go through many tiles, and inputs that begin anywhere in
// a line. Of operation x type x values, as many kernels as differ in code.
#include "../test_size.hpp"
#include "balanced_path_sets/dispatch.cuh"
#include "support.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

/// Some 60 tiles of 320 elements for the few blocks of the emulated device.
using SmallTiles = detail::SinglePassShape<64, 5, 1, 2>;

class SinglePass : public testing::Test {
 protected:
  void SetUp() override {
    const auto kernel = detail::single_pass_kernel<SmallTiles, SetOperation::set_union, true, int,
                                                   int, std::less<int>>;
    if (!can_run(kernel, {.hopper = true}))
      GTEST_SKIP() << "needs bulk copies: compute capability 9.0 or more";
  }
};

/// On keys alone where Value is NoValue, else on pairs.
template <SetOperation operation, class Key, class Value>
void expect_operation(const std::vector<Key>& a, const std::vector<Key>& b, std::size_t shift) {
  SCOPED_TRACE(name_of(operation) + ", shift " + std::to_string(shift));
  constexpr bool has_values = !std::is_same_v<Value, NoValue>;
  using Number = std::conditional_t<has_values, Value, int>;
  const auto expected =
      oracle::set_operation(operation, a, values_from<Number>(0, a.size()), b,
                            values_from<Number>(a.size(), b.size()), std::less<Key>{});
  const Arrays<Key, Number> arrays(a, b, expected,
                                   most_outputs(operation, static_cast<std::int64_t>(a.size()),
                                                static_cast<std::int64_t>(b.size())),
                                   shift);
  Workspace workspace;
  const auto run = [&](const Value* a_values, const Value* b_values, Key* out, Value* out_values,
                       DeviceCount& count) {
    detail::run_single_pass<SmallTiles, operation, true>(
        detail::Call<Key, Value, std::less<Key>>{{arrays.a().data, a_values, arrays.a().count},
                                                 {arrays.b().data, b_values, arrays.b().count},
                                                 {out, out_values},
                                                 count.data(),
                                                 {},
                                                 workspace,
                                                 nullptr});
  };
  if constexpr (has_values) {
    arrays.expect_pairs(nullptr, [&](auto out, auto out_values, auto& count) {
      run(arrays.a_values().data, arrays.b_values().data, out.data, out_values.data, count);
    });
  } else {
    arrays.expect_keys(
        nullptr, [&](auto out, auto& count) { run(nullptr, nullptr, out.data, nullptr, count); });
  }
}

/// act(a, b, shift) on tiles of every kind, each time at another place in a line.
template <class Key, class Act>
void for_many_tiles(const Act& act) {
  std::size_t shift = 0;
  for (const Inputs& inputs : many_tiles(is_small() ? 7'000 : 20'000)) {
    SCOPED_TRACE(inputs.name);
    for (int repeat = 0; repeat < 2; ++repeat) {
      act(keys_of<Key>(inputs.a), keys_of<Key>(inputs.b), shift);
      shift += 5;
    }
  }
}

TEST_F(SinglePass, ManySmallTiles) {
  for_many_tiles<std::int32_t>([](const auto& a, const auto& b, std::size_t shift) {
    expect_operation<SetOperation::intersection, std::int32_t, NoValue>(a, b, shift);
    expect_operation<SetOperation::set_union, std::int32_t, std::int32_t>(a, b, shift);
    expect_operation<SetOperation::difference, std::int32_t, std::int32_t>(a, b, shift);
    expect_operation<SetOperation::symmetric_difference, std::int32_t, NoValue>(a, b, shift);
  });
}
TEST_F(SinglePass, ManySmallTilesOfLongs) {
  for_many_tiles<std::int64_t>([](const auto& a, const auto& b, std::size_t shift) {
    expect_operation<SetOperation::intersection, std::int64_t, double>(a, b, shift);
    expect_operation<SetOperation::set_union, std::int64_t, NoValue>(a, b, shift);
    expect_operation<SetOperation::difference, std::int64_t, NoValue>(a, b, shift);
    expect_operation<SetOperation::symmetric_difference, std::int64_t, double>(a, b, shift);
  });
}

// Parts so short that a line holds all of them, or that they fill no line, at every offset.
TEST_F(SinglePass, FewKeysAnywhereInALine) {
  for (std::size_t count = 1; count <= 9; ++count) {
    const std::vector<int> a(count, 5);
    for (std::size_t shift = 0; shift < 16; ++shift) {
      expect_operation<SetOperation::set_union, int, int>(a, {4, 5, 6}, shift);
    }
  }
}

// From this many tiles on, each lane of a warp searches for an end of its own.
TEST_F(SinglePass, TilesWhoseEndsLanesSearch) {
  const auto count =
      static_cast<std::size_t>(detail::least_tiles_for_shared_searches * SmallTiles::tile_items);
  if (is_small()) GTEST_SKIP() << "stages_test.cu has the kernel that searches";
  std::mt19937 random(13);
  const std::vector<int> a = sorted_keys(random, count / 2 + 5, 50'000);
  const std::vector<int> b = sorted_keys(random, count / 2 + 6, 50'000);
  expect_operation<SetOperation::intersection, int, NoValue>(a, b, 6);
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
