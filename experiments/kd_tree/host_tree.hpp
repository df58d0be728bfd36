// The balanced k-d tree on the host, and its answers to queries: what builds and queries must give.
// Shares no code with what it judges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "host_inputs.hpp"

namespace warpath::experiments::trees {

/// A tuple, and how far it is from a query, squared.
struct Near {
  float distance = std::numeric_limits<float>::infinity();
  std::uint32_t tuple = 0xFFFFFFFFU;
  bool operator<(const Near& other) const {
    return distance != other.distance ? distance < other.distance : tuple < other.tuple;
  }
};

/// The tree as median stores: entry i has the children 2 i + 1 and 2 i + 2. Queries are of
/// floats.
template <class C>
class HostTree {
 public:
  static constexpr std::uint32_t no_node = 0xFFFFFFFFU;

  /// Of all tuples, or of all but those that are equal to one of a lesser number. tuples: d
  /// coordinates each, and kept by the caller.
  HostTree(const std::vector<C>& tuples, int d, bool removes_duplicates)
      : tuples_(tuples.data()), d_(d) {
    std::vector<std::uint32_t> numbers(tuples.size() / static_cast<std::size_t>(d));
    for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    if (removes_duplicates) remove_duplicates(numbers);
    nodes_ = static_cast<std::int64_t>(numbers.size());
    std::size_t entries = 0;
    while (entries < numbers.size()) entries = 2 * entries + 1;
    entries_.assign(entries, no_node);

    // While parts are few, cores share out each level's; then whole subtrees.
    std::vector<Part> parts = {{0, 0, 0, numbers.size()}};
    while (!parts.empty() && parts.size() < most_parts) {
      std::vector<std::vector<Part>> halves(parts.size());
      for_each(parts, [&](std::size_t i) { split(numbers, parts[i], halves[i]); });
      parts.clear();
      for (const auto& of_part : halves) parts.insert(parts.end(), of_part.begin(), of_part.end());
    }
    for_each(parts, [&](std::size_t i) {
      std::vector<Part> left = {parts[i]};
      while (!left.empty()) {
        const Part part = left.back();
        left.pop_back();
        split(numbers, part, left);
      }
    });
  }

  [[nodiscard]] const std::vector<std::uint32_t>& entries() const { return entries_; }
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

  /// The k nearest tuples to a query, the nearest first; `visits` grows by the nodes looked at.
  [[nodiscard]] std::vector<Near> nearest(const float* query, int k, std::int64_t& visits) const {
    std::vector<Near> found(static_cast<std::size_t>(k));
    search(query, 0, 0, found, visits);
    return found;
  }
  /// The tuples no farther away than that, by number.
  [[nodiscard]] std::vector<std::uint32_t> within(const float* query, float squared_radius,
                                                  std::int64_t& visits) const {
    std::vector<std::uint32_t> found;
    list(
        0, 0, [&](const float* at) { return squared_distance(query, at) <= squared_radius; },
        [&](float at, int k) {
          const bool is_near = square(query[k] - at) <= squared_radius;
          return std::pair(query[k] <= at || is_near, query[k] >= at || is_near);
        },
        found, visits);
    std::sort(found.begin(), found.end());
    return found;
  }
  /// The tuples with low <= coordinate <= high, for each coordinate, by number.
  [[nodiscard]] std::vector<std::uint32_t> in_box(const float* low, const float* high,
                                                  std::int64_t& visits) const {
    std::vector<std::uint32_t> found;
    list(
        0, 0,
        [&](const float* at) {
          bool is_in = true;
          for (int k = 0; k < d_; ++k) is_in = is_in && low[k] <= at[k] && at[k] <= high[k];
          return is_in;
        },
        [&](float at, int k) { return std::pair(low[k] <= at, high[k] >= at); }, found, visits);
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  static constexpr std::size_t most_parts = 256;
  /// Places [begin, end) of the numbers are the subtree of an entry.
  struct Part {
    std::size_t entry;
    int level;
    std::size_t begin;
    std::size_t end;
  };

  /// Calls body(i) for each part, on all cores.
  template <class Body>
  static void for_each(const std::vector<Part>& parts, const Body& body) {
    in_parts(static_cast<std::int64_t>(parts.size()), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) body(static_cast<std::size_t>(i));
    });
  }
  [[nodiscard]] const C* tuple(std::uint32_t number) const {
    return tuples_ + std::size_t{number} * static_cast<std::size_t>(d_);
  }
  [[nodiscard]] int order(std::uint32_t a, std::uint32_t b, int primary) const {
    for (int k = 0; k < d_; ++k) {
      const C x = tuple(a)[(primary + k) % d_];
      const C y = tuple(b)[(primary + k) % d_];
      if (x != y) return x < y ? -1 : 1;
    }
    return 0;
  }
  void remove_duplicates(std::vector<std::uint32_t>& numbers) const {
    sort_in_parts(numbers, [this](std::uint32_t a, std::uint32_t b) {
      const int order_of = order(a, b, 0);
      return order_of != 0 ? order_of < 0 : a < b;
    });
    const auto equal = [this](std::uint32_t a, std::uint32_t b) { return order(a, b, 0) == 0; };
    numbers.erase(std::unique(numbers.begin(), numbers.end(), equal), numbers.end());
  }
  /// Puts the part's node in its entry, and the two parts beside it after `parts`.
  void split(std::vector<std::uint32_t>& numbers, const Part& part, std::vector<Part>& parts) {
    if (part.begin == part.end) return;
    const std::size_t middle = part.begin + (part.end - part.begin - 1) / 2;
    const auto at = [&](std::size_t i) { return numbers.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(part.begin), at(middle), at(part.end),
                     [&](std::uint32_t a, std::uint32_t b) {
                       const int order_of = order(a, b, part.level % d_);
                       return order_of != 0 ? order_of < 0 : a < b;
                     });
    entries_[part.entry] = numbers[middle];
    parts.push_back({2 * part.entry + 1, part.level + 1, part.begin, middle});
    parts.push_back({2 * part.entry + 2, part.level + 1, middle + 1, part.end});
  }

  static float square(float x) {
    // Rounded by itself, and not with the sum that it goes to.
    const volatile float product = x * x;
    return product;
  }
  [[nodiscard]] float squared_distance(const float* a, const float* b) const {
    float sum = 0;
    for (int k = 0; k < d_; ++k) sum += square(a[k] - b[k]);
    return sum;
  }
  /// Finds all tuples that are `is_in`. goes_on: for what splits a level by coordinate k, whether
  /// such tuples may be on its first side, and on its second.
  template <class IsIn, class GoesOn>
  void list(std::size_t entry, int level, const IsIn& is_in, const GoesOn& goes_on,
            std::vector<std::uint32_t>& found, std::int64_t& visits) const {
    if (entry >= entries_.size() || entries_[entry] == no_node) return;
    ++visits;
    const float* const at = tuple(entries_[entry]);
    if (is_in(at)) found.push_back(entries_[entry]);
    const auto [first, second] = goes_on(at[level % d_], level % d_);
    if (first) list(2 * entry + 1, level + 1, is_in, goes_on, found, visits);
    if (second) list(2 * entry + 2, level + 1, is_in, goes_on, found, visits);
  }
  /// found: sorted; what has no tuple yet is infinitely far.
  void search(const float* query, std::size_t entry, int level, std::vector<Near>& found,
              std::int64_t& visits) const {
    if (entry >= entries_.size() || entries_[entry] == no_node) return;
    ++visits;
    const Near node{squared_distance(query, tuple(entries_[entry])), entries_[entry]};
    if (node < found.back()) {
      found.back() = node;
      for (std::size_t i = found.size() - 1; i > 0 && found[i] < found[i - 1]; --i) {
        std::swap(found[i], found[i - 1]);
      }
    }
    const float between = query[level % d_] - tuple(node.tuple)[level % d_];
    const std::size_t first = between < 0 ? 2 * entry + 1 : 2 * entry + 2;
    search(query, first, level + 1, found, visits);
    if (square(between) <= found.back().distance) {
      search(query, 4 * entry + 3 - first, level + 1, found, visits);
    }
  }

  const C* tuples_;
  int d_;
  std::int64_t nodes_ = 0;
  std::vector<std::uint32_t> entries_;
};

}  // namespace warpath::experiments::trees
