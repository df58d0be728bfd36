// Keys and values that move with every pass: small ones, and comparators of every kind.
#include <limits>

#include "types.cuh"

namespace warpath::merge_sort::test {
namespace {

struct ByAbsoluteValue {
  __host__ __device__ bool operator()(int a, int b) const {
    return (a < 0 ? -a : a) < (b < 0 ? -b : b);
  }
};
struct ByModulus {
  int modulus;
  __host__ __device__ bool operator()(int a, int b) const { return a % modulus < b % modulus; }
};

TEST_F(Types, Bytes) {
  expect_keys<std::uint8_t>(std::less<>{}, {});
  expect_keys<std::uint8_t>(std::less<>{}, binary_);
}
TEST_F(Types, FloatsWithIndices) {
  expect_pairs<float, std::uint32_t>(std::less<>{}, {});
  expect_pairs<float, std::uint32_t>(std::less<>{}, binary_);
}
TEST_F(Types, DoublesDescendingWithBytes) {
  expect_pairs<double, std::uint8_t>(std::greater<>{}, {});
}
TEST_F(Types, ByAbsoluteValue) {
  expect_pairs<int, int>(ByAbsoluteValue{}, {});
}
TEST_F(Types, ByAComparatorWithState) {
  expect_pairs<std::int16_t, std::int64_t>(ByModulus{10}, {});
}
TEST_F(Types, AStructByOneMember) {
  expect_keys<Version>(ByMajor{}, {});
}
TEST_F(Types, SixteenBytesWithSixteen) {
  static_assert(sizeof(detail::Item<Sixteen, Sixteen>) == 32);
  expect_pairs<Sixteen, Sixteen>(ByMajor{}, {});
}

// Zeros of either sign are equal, and stay in order; the infinities are the ends.
TEST_F(Types, SpecialFloats) {
  using Limits = std::numeric_limits<float>;
  std::vector<float> keys;
  for (int i = 0; i < 500; ++i) {
    for (const float key : {0.0f, -0.0f, Limits::infinity(), -Limits::infinity(), Limits::max(),
                            Limits::lowest(), Limits::denorm_min()}) {
      keys.push_back(key);
    }
  }
  for (const Options& options : all_options()) {
    expect_keys_sorted(keys, std::less<>{}, [&](auto in) {
      const detail::Call<float, detail::NoValue, std::less<>> call{
          in.data, nullptr, in.count, {}, workspace_, stream_, options};
      detail::run_sort_items<SmallTiles>(call);
    });
  }
}

}  // namespace
}  // namespace warpath::merge_sort::test
