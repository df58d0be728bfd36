// Tuples for trees and queries, made on the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "host_inputs.hpp"

namespace warpath::experiments::trees {

/// A number in [0, 1), of as many random bits as a float has, or a double.
template <class C>
double uniform(std::uint64_t bits) {
  constexpr int digits = std::is_same_v<C, float> ? 24 : 53;
  return std::ldexp(static_cast<double>(bits >> (64 - digits)), -digits);
}

/// Of floating-point types the number itself; of integers, [0, 1) is all that there are.
template <class C>
C coordinate(double place) {
  if constexpr (std::is_floating_point_v<C>) {
    return static_cast<C>(place);
  } else {
    return static_cast<C>(
        std::ldexp(std::clamp(place, 0.0, 1 - 0x1p-53) - 0.5, 8 * int{sizeof(C)}));
  }
}

/// n tuples in the unit cube. Clustered: about a thousand centres, off by the product of three
/// uniform numbers in each coordinate, a hundredth of the edge at most.
template <class C>
std::vector<C> make_points(std::int64_t n, int d, const std::string& distribution,
                           std::int64_t seed) {
  const bool is_clustered = distribution == "clustered";
  std::vector<C> points(static_cast<std::size_t>(n * d));
  in_parts(n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const auto centre = static_cast<std::int64_t>(random_bits(seed + 1, i) % 1000);
      for (int k = 0; k < d; ++k) {
        const std::int64_t place = i * d + k;
        double x = uniform<C>(random_bits(seed, place));
        if (is_clustered) {
          const double off = uniform<C>(random_bits(seed + 2, place)) *
                             uniform<C>(random_bits(seed + 3, place)) * (x - 0.5);
          x = uniform<C>(random_bits(seed + 4, centre * d + k)) + 0.02 * off;
        }
        points[static_cast<std::size_t>(place)] = coordinate<C>(x);
      }
    }
  });
  return points;
}

/// The last tuples, this share of all, become copies of others, each of any.
template <class C>
void duplicate(std::vector<C>& points, int d, double share, std::int64_t seed) {
  const auto n = static_cast<std::int64_t>(points.size()) / d;
  const auto distinct =
      std::max<std::int64_t>(1, std::llround(static_cast<double>(n) * (1 - share)));
  for (std::int64_t i = distinct; i < n; ++i) {
    const auto of =
        static_cast<std::int64_t>(random_bits(seed + 5, i) % static_cast<std::uint64_t>(distinct));
    std::copy_n(points.begin() + of * d, d, points.begin() + i * d);
  }
}

/// Along a curve: in the order of the bits of all coordinates, the highest of each first.
inline void sort_along_curve(std::vector<float>& tuples, int d) {
  const auto n = static_cast<std::int64_t>(tuples.size()) / d;
  struct Place {
    std::uint64_t key;
    std::int64_t i;
  };
  std::vector<Place> places(static_cast<std::size_t>(n));
  const int bits = std::min(21, 63 / d);
  in_parts(n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::uint64_t key = 0;
      for (int bit = bits - 1; bit >= 0; --bit) {
        for (int k = 0; k < d; ++k) {
          const float x = std::clamp(tuples[static_cast<std::size_t>(i * d + k)], 0.0F, 0.999F);
          key = key << 1 | (static_cast<std::uint64_t>(std::ldexp(x, bits)) >> bit & 1);
        }
      }
      places[static_cast<std::size_t>(i)] = {key, i};
    }
  });
  sort_in_parts(places, [](const Place& a, const Place& b) {
    return a.key != b.key ? a.key < b.key : a.i < b.i;
  });
  std::vector<float> sorted(tuples.size());
  in_parts(n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Place& place = places[static_cast<std::size_t>(i)];
      std::copy_n(tuples.begin() + place.i * d, d, sorted.begin() + i * d);
    }
  });
  tuples.swap(sorted);
}

}  // namespace warpath::experiments::trees
