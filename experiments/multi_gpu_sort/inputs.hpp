// Keys for sorts over several devices, made on the host.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "host_inputs.hpp"

namespace warpath::experiments::multi_sorts {

inline std::vector<std::string> distributions() {
  return {"uniform", "sorted", "reversed", "all_equal", "half_equal", "zipf"};
}

/// Key i of n. half_equal: every second key is the middle one. zipf: the r-th most frequent of a
/// million numbers is about 1 / r as frequent as the first.
template <class K>
K make_key(const std::string& distribution, std::int64_t i, std::int64_t n, std::int64_t seed) {
  const std::uint64_t bits = random_bits(seed, i);
  if (distribution == "sorted") return static_cast<K>(i);
  if (distribution == "reversed") return static_cast<K>(n - 1 - i);
  if (distribution == "all_equal") return static_cast<K>(5);
  if (distribution == "half_equal" && bits % 2 == 0) return any_number<K>(std::uint64_t{1} << 62);
  if (distribution == "zipf") {
    // The distribution function of 1 / r is about log r: so e^(share x log million).
    const double share = std::ldexp(static_cast<double>(bits >> 11), -53);
    return static_cast<K>(std::exp(share * std::log(1e6)));
  }
  return any_number<K>(bits >> 1);
}

template <class K>
std::vector<K> make_keys(const std::string& distribution, std::int64_t n, std::int64_t seed) {
  std::vector<K> keys(static_cast<std::size_t>(n));
  in_parts(n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      keys[static_cast<std::size_t>(i)] = make_key<K>(distribution, i, n, seed);
    }
  });
  return keys;
}

/// Keys in order; and of pairs, where each key was, equal ones in the order of places.
template <class K>
struct Sorted {
  std::vector<K> keys;
  std::vector<std::uint32_t> places;
};

/// On all cores.
template <class K>
Sorted<K> sorted_keys(const std::vector<K>& keys) {
  Sorted<K> sorted{keys, {}};
  sort_in_parts(sorted.keys, [](K a, K b) { return a < b; });
  return sorted;
}
template <class K>
Sorted<K> sorted_pairs(const std::vector<K>& keys) {
  struct Placed {
    K key;
    std::uint32_t place;
  };
  std::vector<Placed> all(keys.size());
  const auto n = static_cast<std::int64_t>(keys.size());
  const auto for_each = [n](const auto& body) {
    in_parts(n, [&](std::int64_t first, std::int64_t last) {
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
        body(i);
      }
    });
  };
  for_each([&](std::size_t i) { all[i] = {keys[i], static_cast<std::uint32_t>(i)}; });
  sort_in_parts(all, [](const Placed& a, const Placed& b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
  });
  Sorted<K> sorted{std::vector<K>(keys.size()), std::vector<std::uint32_t>(keys.size())};
  for_each([&](std::size_t i) {
    sorted.keys[i] = all[i].key;
    sorted.places[i] = all[i].place;
  });
  return sorted;
}

}  // namespace warpath::experiments::multi_sorts
