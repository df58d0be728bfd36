// Least distances by the products of warpgroups: candidates that are few, many, or all columns;
// what is far or not finite; and where the kernel is taken. Results are exactly those of the
// differences.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "warpgroups.cuh"

namespace warpath::map_reduce::test {
namespace {

/// The least distance of each row, and its first column, in floats as the formula adds them up, so
/// that the same ones are equal; infinity and -1 where there is none that is a number.
struct Nearest {
  float value = infinity;
  std::int64_t j = -1;
};
template <int D>
std::vector<Nearest> nearest(const Points& points) {
  std::vector<Nearest> all(points.x.size() / D);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < points.y.size() / D; ++j) {
      const float square = squared_distance_in_floats<D>(points, i, j);
      if (square < all[i].value || (square == infinity && all[i].j < 0)) {
        all[i] = {square, static_cast<std::int64_t>(j)};
      }
    }
  }
  return all;
}

template <int D>
void expect_the_nearest(const Points& points, const std::vector<Options>& options = few_parts()) {
  const DeviceBuffer<float> x = on_device(points.x);
  const DeviceBuffer<float> y = on_device(points.y);
  std::vector<float> values;
  std::vector<std::int64_t> columns;
  for (const Nearest& least : nearest<D>(points)) {
    values.push_back(least.value);
    columns.push_back(least.j);
  }
  const auto rows = over_i(vectors<D>(x.span()));
  const auto all = over_j(vectors<D>(y.span()));
  const SquaredDistance<float, D> square;
  for (const Options& of : options) {
    SCOPED_TRACE(name_of(of));
    EXPECT_EQ(reduced(square, ArgMin<float>(), rows, all, of), columns);
    if constexpr (D == 20 || D == 33) {
      EXPECT_EQ(reduced(square, Min<float>(), rows, all, of), values);
    }
  }
}

// Tiles through all stages, in one part and several; the last one has few columns. Several blocks
// of rows, the last one with one row.
TEST(WarpgroupLeast, PointsAnywhere) {
  expect_the_nearest<20>(uniform_points<20>(257, 71), {tensor});
  expect_the_nearest<20>(uniform_points<20>(1, least_tile<20> + 1, -1e6, 2e6), {tensor});
  expect_the_nearest<64>(uniform_points<64>(19, least_tile<64> * 5 - 1));
  expect_the_nearest<33>(uniform_points<33>(19, 71, 30, 2));
  if (!is_small()) {
    expect_the_nearest<20>(uniform_points<20>(257, least_tile<20> * 5 + 3));
    expect_the_nearest<9>(uniform_points<9>(19, least_tile<9> * 2 - 1, 1e-9, 1e-9));
    expect_the_nearest<17>(uniform_points<17>(513, 999),
                           {{.variant = Variant::tensor, .splits = 3}});
    expect_the_nearest<128>(uniform_points<128>(19, least_tile<128> * 4 + 1));
    expect_the_nearest<127>(uniform_points<127>(3, 301, -1000, 1));
  }
}

// Distances that are exact, and often equal: the first column counts. There are so many candidates
// that blocks give up.
TEST(WarpgroupLeast, ManyEqualDistances) {
  constexpr int D = 20;
  const int N = is_small() ? 133 : least_tile<D> * 4 + 5;
  Points points{grid_points(41 * D, 4, 1000), grid_points(N * D, 5, 1000)};
  for (float& number : points.x) number = std::min(number, 1002.0f);
  for (float& number : points.y) number = std::min(number, 1002.0f);
  expect_the_nearest<D>(points);
  std::fill(points.y.begin(), points.y.end(), 1001.0f);
  expect_the_nearest<D>(points);
}

// More candidates of a few rows than there is room for, and not so many that a block gives up:
// columns so near each other that only their differences tell which is the nearest.
TEST(WarpgroupLeast, MoreCandidatesThanThereIsRoomFor) {
  constexpr int D = 20;
  Points points = uniform_points<D>(40, least_tile<D> * 4);
  for (const int i : {3, 4, 39}) {
    const float* const x = &points.x[static_cast<std::size_t>(i * D)];
    for (int n = 0; n < 90; ++n) {
      float* const y = &points.y[static_cast<std::size_t>((7 + 10 * n + i) * D)];
      std::copy(x, x + D, y);
      y[n % D] += 1e-3f + 1e-6f * static_cast<float>((n * 37) % 90);
    }
  }
  expect_the_nearest<D>(points);
}

// Rows that have all columns at the same distance, and give up, beside others that have few
// candidates: columns on a sphere around the former.
TEST(WarpgroupLeast, WarpsThatGiveUpBesideOthers) {
  constexpr int D = 20;
  const int N = is_small() ? least_tile<D> + 5 : least_tile<D> * 5 + 3;
  for (const int warp : {0, 3, 15}) {
    Points points = uniform_points<D>(256, N, -1, 2);
    for (int j = 0; j < N; ++j) {
      float* const y = &points.y[static_cast<std::size_t>(j * D)];
      double square = 0;
      for (int k = 0; k < D; ++k) square += static_cast<double>(y[k]) * y[k];
      for (int k = 0; k < D; ++k) y[k] = static_cast<float>(y[k] / std::sqrt(square));
    }
    std::fill_n(points.x.begin() + warp * 16 * D, 16 * D, 0.0f);
    expect_the_nearest<D>(points);
    if (is_small()) break;
  }
}

// Halves lose as much as they may, and all in one direction: one column seems farther than it is,
// and another nearer.
TEST(WarpgroupLeast, RoundingThatAddsUp) {
  constexpr int D = 20;
  constexpr float down = 1 + 0x1p-11f - 0x1p-16f;  // a half loses nearly 2^-11 of it
  Points points;
  for (int i = 0; i < 16; ++i) points.x.insert(points.x.end(), D, i % 2 == 0 ? down : -down);
  points.y.insert(points.y.end(), D, -2 * down);
  points.y.insert(points.y.end(), D, 4 * (down - 0x1p-14f));
  expect_the_nearest<D>(points, {one_part});
}

// One row and one column lie so far away that for the others all columns are alike.
TEST(WarpgroupLeast, ScaleOfDistantPoints) {
  constexpr int D = 20;
  Points points = uniform_points<D>(40, is_small() ? 133 : least_tile<D> * 2);
  points.x[D * 0] = 3000;
  points.y[D * 0] = -4000;
  expect_the_nearest<D>(points);
  points.x[D * 39 + 7] = 1e6f;
  points.y[D * 100 + 7] = 1e7f;
  expect_the_nearest<D>(points);
}

// Tiles and blocks that are far, and numbers that are not finite.
TEST(WarpgroupLeast, PointsThatAreFarAwayOrNotFinite) {
  Points of_left_over = uniform_points<33>(257, 71);
  of_left_over.x[7 * 33] = 1e5f;
  expect_the_nearest<33>(of_left_over, {tensor});
  constexpr int D = 20;
  const Points points = uniform_points<D>(is_small() ? 41 : 300, least_tile<D> * 2 - 5);
  for (const float number : {1e5f, 1e19f, 1e30f, nan, infinity, -infinity}) {
    Points column = points;
    column.y[(least_tile<D> + 7) * D + 3] = number;
    expect_the_nearest<D>(column);
    Points row = points;
    row.x[7 * D + 19] = number;
    expect_the_nearest<D>(row);
    if (is_small()) break;
    Points all_columns = points;
    for (std::size_t j = 0; j < all_columns.y.size(); j += D) all_columns.y[j] = number;
    expect_the_nearest<D>(all_columns);
    Points all_rows = points;
    for (std::size_t i = 0; i < all_rows.x.size(); i += D) all_rows.x[i] = number;
    expect_the_nearest<D>(all_rows);
  }
}

// The nearest column is far, and computed from the difference by either half of the threads.
TEST(WarpgroupLeast, FarColumnsThatAreTheNearest) {
  constexpr int D = 20;
  const int N = least_tile<D> + 9;
  const Points points = points_and_far_columns<D>(21, N);
  EXPECT_LT(nearest<D>(points)[3].value, 0.2f * points.x[3 * D] * points.x[3 * D]);
  expect_the_nearest<D>(points);
  Points others = points;
  std::swap(others.y[5 * D], others.y[(N - 19) * D]);
  expect_the_nearest<D>(others, {one_part});
}

// Squares that pass the range of floats: those that are infinite are equal, and those that are 0.
TEST(WarpgroupLeast, SquaresBeyondTheRangeOfFloats) {
  constexpr int D = 20;
  std::vector<double> spans = {1e-24, 3e18, 1e25};
  if (!is_small()) spans.insert(spans.end(), {1e-30, 1e-22, 1e-19, 1e17, 6e18, 1e19, 3e38});
  for (const double span : spans) {
    SCOPED_TRACE(span);
    expect_the_nearest<D>(
        uniform_points<D>(19, is_small() ? 71 : least_tile<D> + 9, -span / 2, span));
  }
}

// Rows that are beyond what a half holds, and rows to which all distances are infinite.
TEST(WarpgroupLeast, ColumnsThatAreEquallyFarInFloats) {
  constexpr int D = 20;
  expect_the_nearest<D>(points_and_a_row_beyond_halves<D>(17, 71), {one_part});
  expect_the_nearest<D>(points_infinitely_far_from_some_rows<D>(19, 71), {one_part});
  expect_the_nearest<D>(points_infinitely_far_from_some_rows<D>(19, 29), {one_part});
}

template <int D, class Reduction>
Plan plan_of_nearest(const Reduction& reduction) {
  const auto x = over_i(vectors<D>(DeviceSpan<const float>{nullptr, 1000 * D}));
  const auto y = over_j(vectors<D>(DeviceSpan<const float>{nullptr, 1000 * D}));
  return plan(SquaredDistance<float, D>(), reduction, x, y, tensor);
}

// In more than 8 dimensions, of one least distance a row, for code that has the instructions.
TEST(WarpgroupLeast, IsTakenWhereItCanBe) {
  EXPECT_EQ(plan_of_nearest<20>(ArgMin<float>()).takes_warpgroups, has_warpgroup_code());
  EXPECT_EQ(plan_of_nearest<20>(Min<float>()).takes_warpgroups, has_warpgroup_code());
  EXPECT_FALSE(plan_of_nearest<3>(ArgMin<float>()).takes_warpgroups);
}

}  // namespace
}  // namespace warpath::map_reduce::test
