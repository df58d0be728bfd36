// Arrays to be sorted, whole and in parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "multi_gpu_sort/oracle.hpp"

namespace warpath::multi_gpu_sort::test {

using oracle::Parts;

/// Numbers in the arrangements that matter to an exchange.
template <class K>
std::vector<K> numbers(const std::string& arrangement, std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<K> all;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t number = static_cast<std::int64_t>(random() % 1'000'000);
    if (arrangement == "sorted") number = i;
    if (arrangement == "reversed") number = n - i;
    if (arrangement == "all equal") number = 5;
    if (arrangement == "few unique") number = number % 3;
    if (arrangement == "half equal" && number % 2 == 0) number = 500'000;
    if (arrangement == "zipf") number = 1'000'000 / (number + 1);
    all.push_back(static_cast<K>(number));
  }
  return all;
}

/// Cuts into parts of about equal sizes, or of any, some of none.
template <class T>
Parts<T> cut(const std::vector<T>& all, int count, bool is_even, unsigned seed) {
  std::mt19937 random(seed);
  const auto n = static_cast<std::int64_t>(all.size());
  std::vector<std::int64_t> ends;
  for (int i = 1; i < count; ++i) {
    ends.push_back(is_even ? n * i / count : static_cast<std::int64_t>(random() % (n + 1)));
  }
  if (count > 2 && !is_even) ends[0] = ends[1];  // a part without elements
  std::sort(ends.begin(), ends.end());
  ends.push_back(n);
  Parts<T> parts;
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    parts.emplace_back(all.begin() + begin, all.begin() + end);
    begin = end;
  }
  return parts;
}

}  // namespace warpath::multi_gpu_sort::test
