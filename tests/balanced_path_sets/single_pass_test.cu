// The pipeline of single_pass: blocks that go through many tiles, and inputs that begin anywhere in
// a line.
#include <numeric>

#include "support.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

/// Some 60 tiles of 320 elements for the few blocks of the emulated device.
using SmallTiles = SinglePassShape<64, 5, 1, 2>;

class SinglePass : public testing::Test {
 protected:
  void SetUp() override {
    const auto kernel =
        single_pass_kernel<SmallTiles, SetOperation::set_union, true, int, int, std::less<int>>;
    if (!can_run(kernel, {.hopper = true}))
      GTEST_SKIP() << "needs bulk copies: compute capability 9.0 or more";
  }
};

/// `values` behind `offset` elements that are none of theirs.
template <class T>
DeviceBuffer<T> on_device_at(std::size_t offset, const std::vector<T>& values) {
  std::vector<T> shifted(offset + values.size(), T{77});
  std::copy(values.begin(), values.end(), shifted.begin() + static_cast<std::ptrdiff_t>(offset));
  return on_device(shifted);
}

template <class Key, class Value>
std::vector<Value> values_from(Value first, const std::vector<Key>& keys) {
  std::vector<Value> values(keys.size());
  std::iota(values.begin(), values.end(), first);
  return values;
}

template <class Shape, SetOperation operation, class Key, class Value>
void expect_operation(const std::vector<Key>& a, const std::vector<Key>& b, std::size_t a_offset,
                      std::size_t b_offset) {
  SCOPED_TRACE("operation " + std::to_string(static_cast<int>(operation)) + ", offsets " +
               std::to_string(a_offset) + " and " + std::to_string(b_offset));
  const auto a_values = values_from(Value{0}, a);
  const auto b_values = values_from(static_cast<Value>(a.size()), b);
  const auto expected =
      oracle::set_operation<operation>(a, a_values, b, b_values, std::less<Key>{});
  const DeviceBuffer<Key> device_a = on_device_at(a_offset, a);
  const DeviceBuffer<Key> device_b = on_device_at(b_offset, b);
  const DeviceBuffer<Value> device_a_values = on_device(a_values);
  const DeviceBuffer<Value> device_b_values = on_device(b_values);
  const auto a_count = static_cast<std::int64_t>(a.size());
  const auto b_count = static_cast<std::int64_t>(b.size());
  const std::int64_t room = most_outputs<operation>(a_count, b_count);
  DeviceBuffer<Key> out = poisoned<Key>(room);
  DeviceBuffer<Key> out_keys = poisoned<Key>(room);
  DeviceBuffer<Value> out_values = poisoned<Value>(room);
  DeviceCount count;
  DeviceCount pairs;
  Workspace workspace;
  run_single_pass<Shape, operation, true>(
      Call<Key, NoValue, std::less<Key>>{{device_a.data() + a_offset, nullptr, a_count},
                                         {device_b.data() + b_offset, nullptr, b_count},
                                         {out.data(), nullptr},
                                         count.data(),
                                         {},
                                         workspace,
                                         nullptr});
  run_single_pass<Shape, operation, true>(Call<Key, Value, std::less<Key>>{
      {device_a.data() + a_offset, device_a_values.data(), a_count},
      {device_b.data() + b_offset, device_b_values.data(), b_count},
      {out_keys.data(), out_values.data()},
      pairs.data(),
      {},
      workspace,
      nullptr});
  const std::size_t right = expected.keys.size();
  ASSERT_EQ(count.get(nullptr), static_cast<std::int64_t>(right));
  ASSERT_EQ(pairs.get(nullptr), static_cast<std::int64_t>(right));
  EXPECT_TRUE(holds(out, expected.keys));
  EXPECT_TRUE(holds(out_keys, expected.keys));
  EXPECT_TRUE(holds(out_values, expected.values));
}

template <class Key, class Value>
void expect_small_tiles() {
  for (const Inputs& inputs : many_tiles(is_small() ? 7'000 : 20'000)) {
    SCOPED_TRACE(inputs.name);
    const std::vector<Key> a = keys_of<Key>(inputs.a);
    const std::vector<Key> b = keys_of<Key>(inputs.b);
    expect_operation<SmallTiles, SetOperation::intersection, Key, Value>(a, b, 0, 0);
    expect_operation<SmallTiles, SetOperation::set_union, Key, Value>(a, b, 1, 2);
    expect_operation<SmallTiles, SetOperation::difference, Key, Value>(a, b, 3, 1);
    expect_operation<SmallTiles, SetOperation::symmetric_difference, Key, Value>(a, b, 2, 3);
  }
}

TEST_F(SinglePass, ManySmallTiles) {
  expect_small_tiles<std::int32_t, std::int32_t>();
}
TEST_F(SinglePass, ManySmallTilesOfLongs) {
  expect_small_tiles<std::int64_t, double>();
}

// Parts so short that a line holds all of them, or that they fill no line, at every offset.
TEST_F(SinglePass, FewKeysAnywhereInALine) {
  for (std::size_t count = 1; count <= 9; ++count) {
    const std::vector<int> a(count, 5);
    for (std::size_t offset = 0; offset < 4; ++offset) {
      expect_operation<SmallTiles, SetOperation::set_union, int, int>(a, {4, 5, 6}, offset,
                                                                      3 - offset);
    }
  }
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
