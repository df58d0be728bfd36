// What sorts over several devices must give, by std:: alone. Shares no code with what it judges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace warpath::multi_gpu_sort::oracle {

/// One array a device.
template <class T>
using Parts = std::vector<std::vector<T>>;

/// The order of all keys, part after part: of equal ones, that of the parts and of the places.
template <class K, class Less>
std::vector<std::size_t> stable_order(const Parts<K>& parts, Less less) {
  std::vector<K> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return less(all[a], all[b]); });
  return order;
}

/// The elements of all parts in this order, in parts of the sizes that they have.
template <class T>
Parts<T> in_order(const Parts<T>& parts, const std::vector<std::size_t>& order) {
  std::vector<T> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  Parts<T> sorted;
  std::size_t next = 0;
  for (const auto& part : parts) {
    sorted.emplace_back();
    for (std::size_t i = 0; i < part.size(); ++i) sorted.back().push_back(all[order[next++]]);
  }
  return sorted;
}

/// Tuples of `dimensions` coordinates, one after the other, by the superkey that begins with
/// coordinate `primary`: their numbers in the order, of wholly equal ones as they are.
template <class C>
std::vector<std::size_t> superkey_order(const std::vector<C>& coordinates, int dimensions,
                                        int primary) {
  const auto d = static_cast<std::size_t>(dimensions);
  std::vector<std::size_t> order(coordinates.size() / d);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    for (std::size_t k = 0; k < d; ++k) {
      const std::size_t coordinate = (static_cast<std::size_t>(primary) + k) % d;
      const C x = coordinates[a * d + coordinate];
      const C y = coordinates[b * d + coordinate];
      if (x != y) return x < y;
    }
    return false;
  });
  return order;
}

}  // namespace warpath::multi_gpu_sort::oracle
