// Where runs of equal keys begin, by std:: alone. Shares no code with what it judges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace warpath::biased_binary_search::oracle {

/// For each position, where its key occurs first. keys: sorted by `less`.
template <class Key, class Index, class Less = std::less<Key>>
std::vector<Index> run_starts(const std::vector<Key>& keys, const std::vector<Index>& positions,
                              Less less = {}) {
  std::vector<Index> starts;
  starts.reserve(positions.size());
  for (const Index position : positions) {
    const Key& key = keys[static_cast<std::size_t>(position)];
    const auto first = std::lower_bound(keys.begin(), keys.end(), key, less);
    starts.push_back(static_cast<Index>(first - keys.begin()));
  }
  return starts;
}

}  // namespace warpath::biased_binary_search::oracle
