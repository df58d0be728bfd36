// The balanced path and the set operations, by std:: alone. Shares no code with what it judges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

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

}  // namespace warpath::balanced_path_sets::oracle
