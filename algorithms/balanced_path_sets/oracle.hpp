// The balanced path and the set operations, by std:: alone. Shares no code with what it judges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "balanced_path_sets/variant.hpp"

namespace warpath::balanced_path_sets::oracle {

/// How many elements of each input lie left of a cross-diagonal.
struct Cut {
  std::size_t a;
  std::size_t b;
  bool operator==(const Cut&) const = default;
};

/// The cuts of all cross-diagonals, by walking: of each key, A's and B's in turn, then the rest.
template <class Key, class Less>
std::vector<Cut> cuts(const std::vector<Key>& a, const std::vector<Key>& b, Less less) {
  std::vector<char> path;       // whose element is next
  std::vector<char> is_paired;  // an element of A that the next one, of B, matches
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() || y != b.end()) {
    const Key key = y == b.end() || (x != a.end() && !less(*y, *x)) ? *x : *y;
    auto a_left = std::upper_bound(x, a.end(), key, less) - x;
    auto b_left = std::upper_bound(y, b.end(), key, less) - y;
    x += a_left;
    y += b_left;
    for (; a_left > 0 || b_left > 0; --a_left, --b_left) {
      if (a_left > 0) path.push_back('a'), is_paired.push_back(b_left > 0 ? 1 : 0);
      if (b_left > 0) path.push_back('b'), is_paired.push_back(0);
    }
  }
  std::vector<Cut> cuts{{0, 0}};
  Cut walked{0, 0};
  for (std::size_t i = 0; i < path.size(); ++i) {
    ++(path[i] == 'a' ? walked.a : walked.b);
    cuts.push_back({walked.a, walked.b + (is_paired[i] != 0 ? 1 : 0)});
  }
  return cuts;
}

/// Keys, and the values that came with them.
template <class Key, class Value>
struct Pairs {
  std::vector<Key> keys;
  std::vector<Value> values;
};

/// What std::set_* makes of both inputs, with the values carried along.
template <class Key, class Value, class Less>
Pairs<Key, Value> set_operation(SetOperation operation, const std::vector<Key>& a,
                                const std::vector<Value>& a_values, const std::vector<Key>& b,
                                const std::vector<Value>& b_values, Less less) {
  using Pair = std::pair<Key, Value>;
  const auto zip = [](const std::vector<Key>& keys, const std::vector<Value>& values) {
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < keys.size(); ++i) pairs.emplace_back(keys[i], values[i]);
    return pairs;
  };
  const std::vector<Pair> x = zip(a, a_values);
  const std::vector<Pair> y = zip(b, b_values);
  const auto by_key = [&](const Pair& p, const Pair& q) { return less(p.first, q.first); };
  std::vector<Pair> out;
  const auto to = std::back_inserter(out);
  switch (operation) {
    case SetOperation::intersection:
      std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), to, by_key);
      break;
    case SetOperation::set_union:
      std::set_union(x.begin(), x.end(), y.begin(), y.end(), to, by_key);
      break;
    case SetOperation::difference:
      std::set_difference(x.begin(), x.end(), y.begin(), y.end(), to, by_key);
      break;
    case SetOperation::symmetric_difference:
      std::set_symmetric_difference(x.begin(), x.end(), y.begin(), y.end(), to, by_key);
      break;
  }
  Pairs<Key, Value> pairs;
  for (const Pair& pair : out) {
    pairs.keys.push_back(pair.first);
    pairs.values.push_back(pair.second);
  }
  return pairs;
}

}  // namespace warpath::balanced_path_sets::oracle
