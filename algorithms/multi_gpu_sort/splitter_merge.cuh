// Each device gets its slice of all sorted parts, and merges it from up to as many runs as there
// are devices: each element crosses a link once at most, and is merged once.
//
//   direct   kernels merge straight from the other devices' memory: the exchange is the merge's own
//            reading, and no device has to know where the others' slices end
//   copy     exact splitters (splitters.cuh), copies between devices, merges of what has come
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "multi_gpu_sort/splitters.cuh"
#include "multi_gpu_sort/team.cuh"

namespace warpath::multi_gpu_sort::detail {

template <class K, class V, class Less>
void merge_from_others(const Team<K, V, Less>& team) {
  std::vector<Part<K, V>> runs;
  for (int i = 0; i < team.count(); ++i) {
    team.copy(team.scratch(i), i, team.part(i), i);
    runs.push_back(team.scratch(i));
  }
  team.devices().meet();  // all runs are there
  for (int i = 0; i < team.count(); ++i) team.merge(i, runs, team.begin(i), team.part(i));
  team.tell(Step::merge);
  team.devices().meet();  // and are read
}

/// How many elements of each part (column) lie before each device's slice (row), and before the
/// end.
template <class K, class V, class Less>
std::vector<std::vector<std::int64_t>> find_slices(const Team<K, V, Less>& team) {
  std::vector<DeviceSpan<const K>> keys;
  std::vector<std::int64_t> ends;
  for (int i = 0; i < team.count(); ++i) {
    keys.push_back({team.part(i).keys, team.part(i).count});
    ends.push_back(team.part(i).count);
  }
  std::vector<std::int64_t> begins;
  for (int i = 1; i < team.count(); ++i) begins.push_back(team.begin(i));
  auto slices = Splitters<K, Less>(team.devices(), keys, team.less()).before(begins);
  slices.insert(slices.begin(), std::vector<std::int64_t>(ends.size(), 0));
  slices.push_back(ends);
  return slices;
}

template <class K, class V, class Less>
void copy_and_merge(const Team<K, V, Less>& team) {
  const auto slices = find_slices(team);
  team.tell(Step::split);
  std::int64_t moved = 0;
  std::vector<std::vector<Part<K, V>>> runs(static_cast<std::size_t>(team.count()));
  team.devices().meet();  // all parts are sorted
  for (int to = 0; to < team.count(); ++to) {
    const auto row = static_cast<std::size_t>(to);
    std::int64_t next = 0;
    for (int from = 0; from < team.count(); ++from) {
      const auto column = static_cast<std::size_t>(from);
      const std::int64_t first = slices[row][column];
      const std::int64_t length = slices[row + 1][column] - first;
      const Part<K, V> target = team.scratch(to).slice(next, length);
      team.copy(target, to, team.part(from).slice(first, length), from);
      runs[row].push_back(target);
      next += length;
      if (from != to) moved += length;
    }
  }
  team.tell(Step::exchange, moved);
  team.devices().meet();  // all slices are there, and parts may be written
  for (int i = 0; i < team.count(); ++i) {
    team.merge(i, runs[static_cast<std::size_t>(i)], 0, team.part(i));
  }
  team.tell(Step::merge);
}

template <class K, class V, class Less>
void splitter_merge(Team<K, V, Less>& team) {
  team.sort_parts();
  if (team.count() == 1) return;
  if (team.is_direct()) {
    merge_from_others(team);
  } else {
    copy_and_merge(team);
  }
}

}  // namespace warpath::multi_gpu_sort::detail
