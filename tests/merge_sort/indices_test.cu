// Keys and values of which indices are sorted: large ones, aligned ones, and what cannot be
// assigned.
#include "types.cuh"

namespace warpath::merge_sort::test {
namespace {

TEST_F(Types, LargeKeys) {
  expect_keys<Large>(ByMajor{}, {});
  expect_keys<Large>(ByMajor{}, binary_);
}

TEST_F(Types, SmallKeysWithLargeValues) {
  expect_pairs<std::int8_t, Large>(std::less<>{}, {});
}

TEST_F(Types, AlignedValues) {
  expect_pairs<int, Aligned>(std::less<>{}, {});
}

TEST_F(Types, KeysThatCannotBeAssigned) {
  expect_keys<Constant>(ByMajor{}, {});
}

// As many as 2^32 elements and more have indices of 64 bits.
TEST_F(Types, WideIndices) {
  using Less = ByMajor;
  const Arrangement few = arrangements(3000, 100, 9)[4];
  expect_pairs_sorted(
      made_of<Constant>(few.numbers), made_of<Large>(few.numbers), Less{},
      [&](auto keys, auto values) {
        const Options options;
        detail::run_sort_indices<SmallTiles, std::uint64_t>(detail::Call<Constant, Large, Less>{
            keys.data, values.data, keys.count, {}, workspace_, stream_, options});
      });
}

}  // namespace
}  // namespace warpath::merge_sort::test
