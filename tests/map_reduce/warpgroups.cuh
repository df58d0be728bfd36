// What the tests of kernels that take the products of warpgroups share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "../test_size.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "support.cuh"

namespace warpath::map_reduce::test {

inline const Options tensor{.variant = Variant::tensor};
inline const Options one_part{.variant = Variant::tensor, .splits = 1};

namespace detail_of_tests {
template <int = 0>
__global__ void needs_warpgroups_kernel() {
  if (!hopper::is_compiled_for_90a()) return;
}
}  // namespace detail_of_tests

/// Whether the device has them, and the tests are compiled for it.
inline bool has_warpgroup_code() {
  return can_run(detail_of_tests::needs_warpgroups_kernel<>, {.hopper = true, .sm_90a = true});
}

/// Columns of a tile of the search for nearest columns.
template <int D>
inline constexpr int least_tile = detail::LeastTile<D>::columns;

/// Points of D coordinates, one after the other.
struct Points {
  std::vector<float> x;
  std::vector<float> y;
};

template <int D>
Points uniform_points(int M, int N, double low = 0, double span = 1) {
  return {uniform<float>(M * D, 18, low, span), uniform<float>(N * D, 19, low, span)};
}

/// Row 7 is so far away in one coordinate that a half of it is infinite; columns hardly differ
/// there, and the first one lies on its other side. In floats all of them are equally far from it.
template <int D>
Points points_and_a_row_beyond_halves(int M, int N) {
  Points points = uniform_points<D>(M, N);
  for (auto* const of : {&points.x, &points.y}) {
    for (std::size_t k = 3; k < of->size(); k += D) (*of)[k] = 2e-6f * ((*of)[k] - 0.5f);
  }
  points.x[7 * D + 3] = 1e5f;
  points.y[3] = -1e-6f;
  return points;
}

/// Every other row is infinitely far from all columns, since squares pass the range of floats, and
/// the first column is the farthest.
template <int D>
Points points_infinitely_far_from_some_rows(int M, int N) {
  constexpr float a = 3e18f;
  Points points = uniform_points<D>(M, N, 0, 1e17);
  for (std::size_t k = 0; k < points.x.size(); ++k) points.x[k] += k / D % 2 == 0 ? a : -a;
  for (std::size_t k = 0; k < points.y.size(); ++k) points.y[k] -= (k < D ? 1.25f : 1.2f) * a;
  return points;
}

/// Points in a unit cube, and some that lie so far away in one direction that the columns, and not
/// the rows, are far for a product of halves: the nearest columns of such a row are such columns,
/// one of the first ones and some of the last but 9.
template <int D>
Points points_and_far_columns(int M, int N) {
  Points points = uniform_points<D>(M, N);
  // (Half of all points are up to 1 away from the centre when they are scaled by 0.5.)
  constexpr float limit = 2 * detail::farthest_column;
  const auto move = [](std::vector<float>& of, int n, float to) {
    for (int k = 0; k < D; ++k) of[static_cast<std::size_t>(n * D + k)] *= 1e-3f;
    of[static_cast<std::size_t>(n * D)] = to;
  };
  move(points.x, 3, 0.8f * limit);
  move(points.x, M - 1, 0.75f * limit);
  move(points.y, 5, 1.12f * limit);
  move(points.y, N - 19, 1.08f * limit);
  move(points.y, N - 15, 1.1f * limit);
  move(points.y, N - 14, 1.13f * limit);
  move(points.y, N - 12, 1.09f * limit);
  return points;
}

/// The squared distance of row i and column j, added up as the formula does it: so that the same
/// ones are equal.
template <int D>
float squared_distance_in_floats(const Points& points, std::size_t i, std::size_t j) {
  float square = 0;
  for (std::size_t first = 0; first < D; first += 16) {
    const bool is_one = first > 0 && first + 1 == D;  // added in one rounding
    float part = is_one ? std::exchange(square, 0.0f) : 0.0f;
    for (std::size_t k = first; k < std::min<std::size_t>(D, first + 16); ++k) {
      const float difference = points.x[i * D + k] - points.y[j * D + k];
      part = std::fma(difference, difference, part);
    }
    square += part;
  }
  return square;
}

inline std::vector<Options> few_parts() {
  if (is_small()) return {one_part};
  return {one_part, tensor};
}

}  // namespace warpath::map_reduce::test
