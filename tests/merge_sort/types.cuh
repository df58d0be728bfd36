// Keys and values of every kind, with the numbers that they are made of, and what sorts of them are
// held to.
#pragma once

#include <type_traits>

#include "../test_size.hpp"
#include "merge_sort/merge_sort.cuh"
#include "support.cuh"

namespace warpath::merge_sort::test {

/// Only `major` counts.
struct Version {
  std::int16_t major;
  std::int16_t minor;
};
struct ByMajor {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a.major < b.major;
  }
};

/// 40 bytes: sorted by indices.
struct Large {
  std::int32_t major;
  std::int32_t rest[9];
};
/// Cannot be assigned.
struct Constant {
  Constant() = default;
  explicit Constant(int number) : major(number), inverted(~number) {}
  const int major = 0;
  const int inverted = 0;
};
static_assert(std::is_trivially_copyable_v<Constant> && !std::is_copy_assignable_v<Constant>);
struct alignas(32) Aligned {
  int major;
  int rest[7];
};
struct Sixteen {
  std::int64_t major;
  std::int64_t rest;
};

template <class T>
std::vector<T> made_of(const std::vector<int>& numbers) {
  std::vector<T> all;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int number = numbers[i];
    const int i_th = static_cast<int>(i);
    if constexpr (std::is_same_v<T, Version>) {
      all.push_back({static_cast<std::int16_t>(number % 50), static_cast<std::int16_t>(i)});
    } else if constexpr (std::is_same_v<T, Large>) {
      all.push_back({number, {i_th, 1, 2, 3, 4, 5, 6, 7, i_th}});
    } else if constexpr (std::is_same_v<T, Constant>) {
      all.push_back(Constant(number));
    } else if constexpr (std::is_same_v<T, Aligned>) {
      all.push_back({number, {i_th, 1, 2, 3, 4, 5, i_th}});
    } else if constexpr (std::is_same_v<T, Sixteen>) {
      all.push_back({number, i_th});
    } else {
      all.push_back(static_cast<T>(number));
    }
  }
  return all;
}

class Types : public testing::Test {
 protected:
  /// Around one tile, and three with a rest; a tile is that of the type.
  template <class K, class V>
  static std::vector<std::int64_t> some_sizes() {
    using Sorted = std::conditional_t<detail::fits_item<K> && detail::fits_item<V>,
                                      detail::Item<K, V>, std::uint32_t>;
    constexpr std::int64_t tile = TuningOf<sizeof(Sorted)>::SortShape::tile_items;
    return {1, 33, tile, tile + 1, is_small() ? tile + 2 : 3 * tile + 5};
  }
  template <class K, class Less>
  void expect_keys(Less less, const Options& options) {
    for (const std::int64_t n : some_sizes<K, detail::NoValue>()) {
      const Arrangement few = arrangements(n, 100, 9)[n % 2 == 0 ? 0 : 4];
      SCOPED_TRACE(std::to_string(n) + " keys, " + few.name + ", " + name_of(options));
      expect_keys_sorted(made_of<K>(few.numbers), less,
                         [&](auto keys) { sort_keys(keys, workspace_, stream_, less, options); });
    }
  }
  template <class K, class V, class Less>
  void expect_pairs(Less less, const Options& options) {
    for (const std::int64_t n : some_sizes<K, V>()) {
      const Arrangement few = arrangements(n, 100, 9)[n % 2 == 0 ? 0 : 4];
      SCOPED_TRACE(std::to_string(n) + " pairs, " + few.name + ", " + name_of(options));
      const auto numbers = numbered<int>(few.numbers.size());
      expect_pairs_sorted(made_of<K>(few.numbers), made_of<V>(numbers), less,
                          [&](auto keys, auto values) {
                            sort_pairs(keys, values, workspace_, stream_, less, options);
                          });
    }
  }
  static constexpr Options binary_ = {Variant::binary_merge, LowLevelMerge::rank_search};

  Stream stream_;
  Workspace workspace_;
};

}  // namespace warpath::merge_sort::test
