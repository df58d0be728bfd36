// What the partitioners must give, by std:: alone. Shares no code with what it judges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace warpath::partitioners::oracle {

using References = std::vector<std::uint32_t>;
inline constexpr std::uint32_t none = 0xFFFFFFFFu;

/// Tuples of some coordinates each, and the order by superkey that begins with coordinate
/// `primary`, then by number.
template <class C>
struct TupleSet {
  std::vector<C> coordinates;
  int dimensions = 1;

  [[nodiscard]] std::int64_t count() const {
    return static_cast<std::int64_t>(coordinates.size()) / dimensions;
  }
  [[nodiscard]] C coordinate(std::uint32_t tuple, int k) const {
    return coordinates[static_cast<std::size_t>(tuple) * static_cast<std::size_t>(dimensions) +
                       static_cast<std::size_t>(k % dimensions)];
  }
  [[nodiscard]] bool comes_before(std::uint32_t a, std::uint32_t b, int primary) const {
    for (int k = primary; k < primary + dimensions; ++k) {
      if (coordinate(a, k) < coordinate(b, k)) return true;
      if (coordinate(b, k) < coordinate(a, k)) return false;
    }
    return a < b;
  }
  void sort(References::iterator begin, References::iterator end, int primary) const {
    std::sort(begin, end,
              [&](std::uint32_t a, std::uint32_t b) { return comes_before(a, b, primary); });
  }
};

/// Places [begin, end).
struct Places {
  std::int64_t begin;
  std::int64_t end;
  bool operator==(const Places&) const = default;
};

/// The lower of the two places in the middle, or the one.
inline std::int64_t middle(Places places) {
  return places.begin + (places.end - places.begin - 1) / 2;
}

/// The segments of a level of n places: those of the level before, each split at its middle.
inline std::vector<Places> segments(std::int64_t n, int level) {
  std::vector<Places> all = {{0, n}};
  for (int l = 0; l < level; ++l) {
    std::vector<Places> next;
    for (const Places& each : all) {
      next.push_back({each.begin, middle(each)});
      next.push_back({middle(each) + 1, each.end});
    }
    all = std::move(next);
  }
  return all;
}

/// The nodes of a level: the reference in the middle of each segment.
inline References medians(int level, const References& primary_references) {
  References nodes;
  for (const Places& each : segments(static_cast<std::int64_t>(primary_references.size()), level)) {
    nodes.push_back(
        each.begin == each.end ? none : primary_references[static_cast<std::size_t>(middle(each))]);
  }
  return nodes;
}

/// `out` after a level has been partitioned: what no segment has is as it was.
template <class C>
References partition_level(const TupleSet<C>& tuples, int primary, int level,
                           const References& primary_references, const References& in,
                           References out) {
  for (const Places& each : segments(static_cast<std::int64_t>(in.size()), level)) {
    if (each.begin == each.end) continue;
    const std::uint32_t pivot = primary_references[static_cast<std::size_t>(middle(each))];
    std::copy_if(in.begin() + each.begin, in.begin() + each.end, out.begin() + each.begin,
                 [&](std::uint32_t tuple) { return tuples.comes_before(tuple, pivot, primary); });
    std::copy_if(in.begin() + each.begin, in.begin() + each.end, out.begin() + middle(each) + 1,
                 [&](std::uint32_t tuple) { return tuples.comes_before(pivot, tuple, primary); });
  }
  return out;
}

/// The median stores of a whole build over these references, built depth first, without reference
/// arrays: each node is the median of what its ancestors have left to it.
template <class C>
std::vector<References> nodes(const TupleSet<C>& tuples, References references) {
  std::vector<References> levels;
  const auto build = [&](const auto& self, References::iterator begin, References::iterator end,
                         std::size_t level, std::size_t k) -> void {
    if (begin == end) return;
    if (level == levels.size()) levels.emplace_back(std::size_t{1} << level, none);
    tuples.sort(begin, end, static_cast<int>(level) % tuples.dimensions);
    const auto median = begin + (end - begin - 1) / 2;
    levels[level][k] = *median;
    self(self, begin, median, level + 1, 2 * k);
    self(self, median + 1, end, level + 1, 2 * k + 1);
  };
  build(build, references.begin(), references.end(), 0, 0);
  return levels;
}

/// Two or three classes of elements, each in the order of the input.
template <class T, class Predicate>
std::pair<std::vector<T>, std::vector<T>> partition(const std::vector<T>& in,
                                                    Predicate is_selected) {
  std::pair<std::vector<T>, std::vector<T>> out;
  std::partition_copy(in.begin(), in.end(), std::back_inserter(out.first),
                      std::back_inserter(out.second), is_selected);
  return out;
}
template <class T, class First, class Second>
std::vector<std::vector<T>> partition_three_way(const std::vector<T>& in, First is_first,
                                                Second is_second) {
  auto [first, others] = partition(in, is_first);
  auto [second, rest] = partition(others, is_second);
  return {std::move(first), std::move(second), std::move(rest)};
}

}  // namespace warpath::partitioners::oracle
