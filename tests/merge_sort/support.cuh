// What the tests of sorts share: small tiles, all ways to sort, watched arrays, and the comparison
// with std::stable_sort, byte by byte.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../guarded.cuh"
#include "../stream.cuh"
#include "core/buffer.cuh"
#include "inputs.hpp"
#include "merge_sort/oracle.hpp"
#include "merge_sort/tuning.hpp"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::test {

/// Tiles so small that few items are many of them: of two warps, output tiles half as large, and a
/// few items more have wide positions and ties that are sorted part after part.
struct SmallTiles : SortTuning<TileShape<64, 4>, MergeTileShape<64, 2, 4>, void, 0,
                               TiesTileShape<64, 2, 3, 30, 6>, TiesTileShape<64, 2, 2, 30, 6>> {
  static constexpr std::int64_t least_for_wide_positions = 3000;
  static constexpr std::int64_t least_for_sparse_ties = 600;
};
/// Without padding, a warp a tile.
struct OddTiles : SortTuning<TileShape<32, 3>, MergeTileShape<32, 3, 8>, void, 0,
                             TiesTileShape<32, 2, 3, 9, 4>, TiesTileShape<32, 2, 2, 9, 4>> {
  static constexpr std::int64_t least_for_sparse_ties = 200;
};
/// As many runs at once as a warp has lanes.
using ManyWays = SortTuning<TileShape<64, 2>, MergeTileShape<64, 2, 32>>;

inline std::vector<Options> all_options() {
  return {{Variant::binary_merge, LowLevelMerge::merge_path},
          {Variant::binary_merge, LowLevelMerge::rank_search},
          {Variant::multiway_merge, LowLevelMerge::merge_path},
          {Variant::multiway_merge, LowLevelMerge::rank_search}};
}
inline std::vector<Options> superkey_options() {
  auto options = all_options();
  options.push_back({Variant::key_then_ties, LowLevelMerge::merge_path});
  return options;
}
inline std::string name_of(const Options& options) {
  return std::string(enum_name(options.variant)) + ", " + std::string(enum_name(options.low_level));
}

/// An array that is sorted in place, between guard zones.
template <class T>
class InPlace {
 public:
  explicit InPlace(const std::vector<T>& elements, int offset = 0)
      : memory_(static_cast<std::int64_t>(elements.size()), offset) {
    if (elements.empty()) return;
    WARPATH_CUDA_CHECK(cudaMemcpy(static_cast<void*>(memory_.span().data), elements.data(),
                                  elements.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  [[nodiscard]] DeviceSpan<T> span() { return memory_.span(); }
  void expect(const char* what, const std::vector<T>& expected) const {
    const std::vector<T> found = memory_.get();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (std::memcmp(&found[i], &expected[i], sizeof(T)) == 0) continue;
      ADD_FAILURE() << what << " " << i << " of " << expected.size() << " is "
                    << testing::PrintToString(found[i]) << ", expected "
                    << testing::PrintToString(expected[i]);
      return;
    }
  }

 private:
  Guarded<T> memory_;
};

/// The numbers as keys of another type.
template <class K>
std::vector<K> keys_of(const std::vector<int>& numbers) {
  std::vector<K> keys;
  for (const int number : numbers) keys.push_back(static_cast<K>(number));
  return keys;
}

/// 0, 1, 2, ...: of equal keys, these say which one came first.
template <class V>
std::vector<V> numbered(std::size_t count) {
  std::vector<V> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<V>(i));
  return values;
}

/// Runs act(keys, values) on arrays in place, and expects what std::stable_sort gives.
template <class K, class V, class Less, class Act>
void expect_pairs_sorted(const std::vector<K>& keys, const std::vector<V>& values, Less less,
                         const Act& act) {
  InPlace<K> sorted_keys(keys, 1);
  InPlace<V> sorted_values(values, 3);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
  act(sorted_keys.span(), sorted_values.span());
  const auto expected = oracle::sort_pairs(keys, values, less);
  sorted_keys.expect("key", expected.keys);
  sorted_values.expect("value", expected.values);
}
template <class K, class Less, class Act>
void expect_keys_sorted(const std::vector<K>& keys, Less less, const Act& act) {
  InPlace<K> sorted_keys(keys, 1);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  act(sorted_keys.span());
  sorted_keys.expect("key", oracle::sort_keys(keys, less));
}

}  // namespace warpath::merge_sort::test
