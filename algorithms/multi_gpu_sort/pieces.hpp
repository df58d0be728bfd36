// Arrays that lie in parts, cut differently: which piece of the one is which of the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpath::multi_gpu_sort::detail {

/// Calls act(to, its place, from, its place, length) for all elements that lie both in part `from`
/// of the sizes `sources` and in part `to` of the sizes `targets`, of as many elements in all.
template <class Act>
void for_each_piece(const std::vector<std::int64_t>& sources,
                    const std::vector<std::int64_t>& targets, const Act& act) {
  std::int64_t source_begin = 0;
  for (std::size_t from = 0; from < sources.size(); ++from) {
    const std::int64_t source_end = source_begin + sources[from];
    std::int64_t target_begin = 0;
    for (std::size_t to = 0; to < targets.size(); ++to) {
      const std::int64_t target_end = target_begin + targets[to];
      const std::int64_t begin = std::max(source_begin, target_begin);
      const std::int64_t end = std::min(source_end, target_end);
      if (begin < end) {
        act(static_cast<int>(to), begin - target_begin, static_cast<int>(from),
            begin - source_begin, end - begin);
      }
      target_begin = target_end;
    }
    source_begin = source_end;
  }
}

}  // namespace warpath::multi_gpu_sort::detail
