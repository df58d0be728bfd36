// What the sorts must give, by std:: alone. Shares no code with what it judges.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace warpath::merge_sort::oracle {

/// The indices of the keys in the order of the keys; of equal ones, in that of the indices.
template <class K, class Less>
std::vector<std::size_t> stable_order(const std::vector<K>& keys, Less less) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return less(keys[a], keys[b]); });
  return order;
}

template <class K, class Less>
std::vector<K> sort_keys(const std::vector<K>& keys, Less less) {
  std::vector<K> sorted;
  for (const std::size_t i : stable_order(keys, less)) sorted.push_back(keys[i]);
  return sorted;
}

/// Two columns of equal length.
template <class K, class V>
struct Pairs {
  std::vector<K> keys;
  std::vector<V> values;
};

template <class K, class V, class Less>
Pairs<K, V> sort_pairs(const std::vector<K>& keys, const std::vector<V>& values, Less less) {
  Pairs<K, V> sorted;
  for (const std::size_t i : stable_order(keys, less)) {
    sorted.keys.push_back(keys[i]);
    sorted.values.push_back(values[i]);
  }
  return sorted;
}

template <class C>
bool is_nan(C coordinate) {
  if constexpr (std::is_floating_point_v<C>) return std::isnan(coordinate);
  return false;
}

/// The references in the order of their tuples' superkeys: coordinate `primary` first, then the
/// next ones cyclically; equal tuples, by reference; NaN after all numbers. The values are the
/// coordinates `primary`.
template <class C>
Pairs<C, std::uint32_t> sort_superkeys(const std::vector<C>& coordinates, int dimensions,
                                       int primary, std::vector<std::uint32_t> references) {
  const auto coordinate = [&](std::uint32_t reference, int place) {
    const auto tuple = static_cast<std::size_t>(reference) * static_cast<std::size_t>(dimensions);
    return coordinates[tuple + static_cast<std::size_t>((primary + place) % dimensions)];
  };
  std::sort(references.begin(), references.end(), [&](std::uint32_t a, std::uint32_t b) {
    for (int place = 0; place < dimensions; ++place) {
      const C x = coordinate(a, place);
      const C y = coordinate(b, place);
      if (is_nan(x) != is_nan(y)) return is_nan(y);
      if (x < y || y < x) return x < y;
    }
    return a < b;
  });
  Pairs<C, std::uint32_t> sorted;
  for (const std::uint32_t reference : references) {
    sorted.keys.push_back(coordinate(reference, 0));
    sorted.values.push_back(reference);
  }
  return sorted;
}

/// The least index of a NaN among the coordinates of referenced tuples; -1 if there is none.
template <class C>
std::int64_t first_nan(const std::vector<C>& coordinates, int dimensions,
                       const std::vector<std::uint32_t>& references) {
  std::int64_t first = -1;
  for (const std::uint32_t reference : references) {
    for (int k = 0; k < dimensions; ++k) {
      const std::int64_t index = std::int64_t{reference} * dimensions + k;
      if (!is_nan(coordinates[static_cast<std::size_t>(index)])) continue;
      if (first < 0 || index < first) first = index;
    }
  }
  return first;
}

}  // namespace warpath::merge_sort::oracle
