// How many tuples of a tree lie where: in its subtrees, and on several devices, of which each gets
// a subtree, and before that the medians above it.
#pragma once

#include <cstdint>
#include <vector>

namespace warpath::kd_tree::detail {

/// How many tuples the subtree of entry `number` of a level has, of n in all.
constexpr std::int64_t subtree_count(std::int64_t n, int level, std::uint32_t number) {
  for (int bit = level - 1; bit >= 0 && n > 0; --bit) {
    const std::int64_t less = (n - 1) / 2;
    n = (number >> bit & 1) != 0 ? n - 1 - less : less;
  }
  return n;
}

/// How many of n tuples, in the order by which the root splits, each of `devices` gets, a power of
/// two: the less side and the median go to the first half of them, the greater side to the rest;
/// and so on in each half, without the median, which is the last of its half's.
inline std::vector<std::int64_t> tree_shares(std::int64_t n, int devices) {
  if (devices == 1) return {n};
  std::vector<std::int64_t> shares = tree_shares(subtree_count(n, 1, 0), devices / 2);
  shares.back() += n == 0 ? 0 : 1;
  const std::vector<std::int64_t> greater = tree_shares(subtree_count(n, 1, 1), devices / 2);
  shares.insert(shares.end(), greater.begin(), greater.end());
  return shares;
}

}  // namespace warpath::kd_tree::detail
