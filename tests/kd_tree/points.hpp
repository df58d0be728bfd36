// For tests: points of all kinds, the same on host and device.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kd_tree/oracle.hpp"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree::test {

/// How coordinates are made.
enum class Distribution {
  uniform,     ///< hardly any ties
  few_values,  ///< three values a coordinate: superkeys tie often, and whole tuples too
  all_equal,   ///< only numbers differ; zeros have either sign
  sorted,      ///< all coordinates grow with the number of the tuple
  opposed,     ///< coordinates grow in turn with the number and against it
  extremes     ///< the ends of the type, infinities, tiny values
};
inline constexpr std::array all_distributions = {Distribution::uniform,   Distribution::few_values,
                                                 Distribution::all_equal, Distribution::sorted,
                                                 Distribution::opposed,   Distribution::extremes};

template <class C>
C coordinate_of(Distribution distribution, std::int64_t tuple, int k, std::mt19937_64& random) {
  using Limits = std::numeric_limits<C>;
  const auto draw = static_cast<std::int64_t>(random() >> 1);
  switch (distribution) {
    case Distribution::uniform:
      return static_cast<C>(draw % 2'000'001 - 1'000'000);
    case Distribution::few_values:
      return static_cast<C>(draw % 3 - 1);
    case Distribution::all_equal:
      return draw % 2 == 0 ? C{0} : static_cast<C>(-C{0});
    case Distribution::sorted:
      return static_cast<C>(tuple);
    case Distribution::opposed:
      return static_cast<C>(k % 2 == 0 ? tuple : -tuple);
    default:
      const std::array values = {
          Limits::lowest(),
          Limits::max(),
          Limits::min(),
          C{0},
          C{1},
          Limits::has_infinity ? Limits::infinity() : Limits::max(),
          Limits::has_infinity ? static_cast<C>(-Limits::infinity()) : Limits::lowest()};
      return values[static_cast<std::size_t>(draw) % values.size()];
  }
}

template <class C>
oracle::PointSet<C> make_points(std::int64_t n, int dimensions, Distribution distribution,
                                std::uint64_t seed) {
  std::mt19937_64 random(seed);
  oracle::PointSet<C> points;
  points.dimensions = dimensions;
  for (std::int64_t tuple = 0; tuple < n; ++tuple) {
    for (int k = 0; k < dimensions; ++k) {
      points.coordinates.push_back(coordinate_of<C>(distribution, tuple, k, random));
    }
  }
  return points;
}

inline std::string name_of(Distribution distribution) {
  const std::array names = {"uniform", "few values", "all equal", "sorted", "opposed", "extremes"};
  return names[static_cast<std::size_t>(distribution)];
}

/// The nodes of the tree in median stores, by the definition of their addresses: one for each
/// tuple.
inline std::vector<Node> nodes_of(const oracle::References& medians, std::size_t tuples) {
  std::vector<Node> nodes(tuples);
  const auto at = [&](std::size_t i) { return i < medians.size() ? medians[i] : no_node; };
  for (std::size_t i = 0; i < medians.size(); ++i) {
    if (medians[i] != no_node) nodes[medians[i]] = {medians[i], at(2 * i + 1), at(2 * i + 2)};
  }
  return nodes;
}

}  // namespace warpath::kd_tree::test
