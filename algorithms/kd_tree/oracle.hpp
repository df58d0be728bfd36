// What a build and its queries must give, by std:: alone. Shares no code with what it judges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace warpath::kd_tree::oracle {

using References = std::vector<std::uint32_t>;
inline constexpr std::uint32_t none = 0xFFFFFFFFu;

/// Tuples of some coordinates each.
template <class C>
struct PointSet {
  std::vector<C> coordinates;
  int dimensions = 1;

  [[nodiscard]] std::size_t count() const {
    return coordinates.size() / static_cast<std::size_t>(dimensions);
  }
  [[nodiscard]] const C* tuple(std::uint32_t number) const {
    return coordinates.data() +
           static_cast<std::size_t>(number) * static_cast<std::size_t>(dimensions);
  }
  /// -1, 0 or 1: the order by coordinates `primary`, `primary` + 1, ... around.
  [[nodiscard]] int compare(std::uint32_t a, std::uint32_t b, int primary) const {
    for (int k = 0; k < dimensions; ++k) {
      const int coordinate = (primary + k) % dimensions;
      if (tuple(a)[coordinate] < tuple(b)[coordinate]) return -1;
      if (tuple(b)[coordinate] < tuple(a)[coordinate]) return 1;
    }
    return 0;
  }
  [[nodiscard]] bool comes_before(std::uint32_t a, std::uint32_t b, int primary) const {
    const int order = compare(a, b, primary);
    return order < 0 || (order == 0 && a < b);
  }
};

/// The numbers of all tuples; of equal ones only the least, if `distinct`.
template <class C>
References numbers(const PointSet<C>& points, bool distinct) {
  References all(points.count());
  std::iota(all.begin(), all.end(), 0u);
  if (!distinct) return all;
  std::sort(all.begin(), all.end(), [&](auto a, auto b) { return points.comes_before(a, b, 0); });
  const auto equal = [&](auto a, auto b) { return points.compare(a, b, 0) == 0; };
  all.erase(std::unique(all.begin(), all.end(), equal), all.end());
  return all;
}

/// The median stores of the tree of these tuples, level after level: built depth first, each node
/// the lower median of its part by the superkey of its level.
template <class C>
References median_stores(const PointSet<C>& points, References tuples) {
  std::size_t entries = 0;
  while (entries < tuples.size()) entries = 2 * entries + 1;
  References stores(entries, none);
  struct Part {
    std::size_t entry, begin, end;
    int level;
  };
  std::vector<Part> parts = {{0, 0, tuples.size(), 0}};
  while (!parts.empty()) {
    const Part part = parts.back();
    parts.pop_back();
    if (part.begin == part.end) continue;
    const std::size_t middle = part.begin + (part.end - part.begin - 1) / 2;
    const auto at = [&](std::size_t place) {
      return tuples.begin() + static_cast<std::ptrdiff_t>(place);
    };
    std::nth_element(at(part.begin), at(middle), at(part.end), [&](auto a, auto b) {
      return points.comes_before(a, b, part.level % points.dimensions);
    });
    stores[part.entry] = tuples[middle];
    parts.push_back({2 * part.entry + 1, part.begin, middle, part.level + 1});
    parts.push_back({2 * part.entry + 2, middle + 1, part.end, part.level + 1});
  }
  return stores;
}

/// Squared distances in the type in which they are defined: float of floats, else double.
template <class C>
using Distance = std::conditional_t<std::is_same_v<C, float>, float, double>;

template <class C>
Distance<C> squared_distance(const PointSet<C>& points, std::uint32_t number, const C* query) {
  Distance<C> sum = 0;
  for (int k = 0; k < points.dimensions; ++k) {
    const C a = std::min(query[k], points.tuple(number)[k]);
    const C b = std::max(query[k], points.tuple(number)[k]);
    Distance<C> between = 0;
    if constexpr (std::is_integral_v<C>) {
      between = static_cast<Distance<C>>(static_cast<std::make_unsigned_t<C>>(b) -
                                         static_cast<std::make_unsigned_t<C>>(a));
    } else if (a != b) {
      between = b - a;
    }
    // Rounded twice, and not once as by a fused operation.
    volatile Distance<C> square = between * between;
    sum += square;
  }
  return sum;
}

template <class C>
struct Neighbour {
  Distance<C> distance;
  std::uint32_t tuple;
  bool operator==(const Neighbour&) const = default;
  bool operator<(const Neighbour& other) const {
    return distance < other.distance || (distance == other.distance && tuple < other.tuple);
  }
};

/// The k nearest of the given tuples, or all if there are fewer, by brute force.
template <class C>
std::vector<Neighbour<C>> k_nearest(const PointSet<C>& points, const References& tuples,
                                    const C* query, std::size_t k) {
  std::vector<Neighbour<C>> all;
  for (const std::uint32_t tuple : tuples) {
    const Distance<C> distance = squared_distance(points, tuple, query);
    if (distance == distance) all.push_back({distance, tuple});
  }
  std::sort(all.begin(), all.end());
  all.resize(std::min(all.size(), k));
  return all;
}

/// The given tuples at most so far from a query, in the order of their numbers.
template <class C>
References within_radius(const PointSet<C>& points, References tuples, const C* query,
                         Distance<C> radius) {
  volatile Distance<C> squared_radius = radius * radius;
  std::erase_if(tuples, [&](std::uint32_t tuple) {
    return !(squared_distance(points, tuple, query) <= squared_radius);
  });
  std::sort(tuples.begin(), tuples.end());
  return tuples;
}

/// The given tuples between two corners, in the order of their numbers.
template <class C>
References in_box(const PointSet<C>& points, References tuples, const C* low, const C* high) {
  std::erase_if(tuples, [&](std::uint32_t tuple) {
    for (int k = 0; k < points.dimensions; ++k) {
      const C coordinate = points.tuple(tuple)[k];
      if (!(low[k] <= coordinate && coordinate <= high[k])) return true;
    }
    return false;
  });
  std::sort(tuples.begin(), tuples.end());
  return tuples;
}

}  // namespace warpath::kd_tree::oracle
