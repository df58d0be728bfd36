// Least and greatest values and their columns, by every variant: among many that are equal, near
// the origin and far from it, and among numbers that are not finite.
#include <algorithm>
#include <limits>

#include "../number_types.hpp"
#include "../test_size.hpp"
#include "support.cuh"

namespace warpath::map_reduce::test {
namespace {

template <class Reduction>
void expect_exactly(
    const Reduction& reduction, bool has_tensor,
    const std::function<typename Reduction::Result(const std::vector<double>&)>& of) {
  for (const auto& [M, N, offset] : sizes()) {
    const PointPairs points(grid_points(3 * M, 4, offset), grid_points(3 * N, 5, offset));
    std::vector<typename Reduction::Result> expected;
    for (const auto& row : points.squares) expected.push_back(of(row));
    for (const Options& options : all_options(has_tensor)) {
      SCOPED_TRACE(name_of(options) + ", M " + std::to_string(M) + ", N " + std::to_string(N) +
                   ", offset " + std::to_string(offset));
      const auto found =
          reduced(SquaredDistance<float, 3>(), reduction, points.rows(), points.columns(), options);
      EXPECT_EQ(numbers_of<std::uint32_t>(found), numbers_of<std::uint32_t>(expected));
    }
  }
}

TEST(Least, Min) {
  expect_exactly(Min<float>(), true, [](const std::vector<double>& row) {
    return static_cast<float>(*std::min_element(row.begin(), row.end()));
  });
}
TEST(Least, ArgMinIsTheFirstOfEqualColumns) {
  expect_exactly(ArgMin<float>(), true,
                 [](const std::vector<double>& row) { return oracle::by_value(row).front(); });
}
TEST(Least, ArgMaxIsTheFirstOfEqualColumns) {
  expect_exactly(ArgMax<float>(), false, [](const std::vector<double>& row) {
    return std::max_element(row.begin(), row.end()) - row.begin();
  });
}

TEST(Least, ArgKMinWithTiesByColumn) {
  expect_exactly(ArgKMin<float, 4>(), true, least_columns<4>);
}

#ifndef WARPATH_TEST_FEW_TYPES  // ArgMax and ArgKMin stand for them
TEST(Least, Max) {
  expect_exactly(Max<float>(), false, [](const std::vector<double>& row) {
    return static_cast<float>(*std::max_element(row.begin(), row.end()));
  });
}
TEST(Least, KMin) {
  expect_exactly(KMin<float, 5>(), true, [](const std::vector<double>& row) {
    Vector<float, 5> values;
    const Vector<std::int64_t, 5> columns = least_columns<5>(row);
    for (int k = 0; k < 5; ++k) {
      values[k] =
          columns[k] < 0 ? infinity : static_cast<float>(row[static_cast<std::size_t>(columns[k])]);
    }
    return values;
  });
}
#endif

// Points anywhere: the distance of the column that is found is the least one, but for rounding.
template <int D>
void expect_nearest(double low, double span, double most_error) {
  const int M = is_small() ? 71 : 101;
  const int N = is_small() ? 301 : 701;
  const std::vector<float> x = uniform<float>(M * D, 8, low, span);
  const std::vector<float> y = uniform<float>(N * D, 9, low, span);
  const DeviceBuffer<float> device_x = on_device(x);
  const DeviceBuffer<float> device_y = on_device(y);
  const auto square = [&](std::int64_t i, std::int64_t j) {
    return oracle::squared_distance(&x[static_cast<std::size_t>(i * D)],
                                    &y[static_cast<std::size_t>(j * D)], D);
  };
  const auto rows = rows_of(M, N, square);
  for (const Options& options : all_options(true)) {
    SCOPED_TRACE(name_of(options));
    const auto found =
        reduced(SquaredDistance<float, D>(), ArgKMin<float, 4>(),
                over_i(vectors<D>(device_x.span())), over_j(vectors<D>(device_y.span())), options);
    for (int i = 0; i < M; ++i) {
      const std::vector<std::int64_t> best = oracle::by_value(rows[static_cast<std::size_t>(i)]);
      for (int k = 0; k < 4; ++k) {
        const std::int64_t j = found[static_cast<std::size_t>(i)][k];
        ASSERT_TRUE(0 <= j && j < N);
        const double least = square(i, best[static_cast<std::size_t>(k)]);
        ASSERT_NEAR(square(i, j), least, most_error * least) << "row " << i << ", place " << k;
      }
    }
  }
}

TEST(Nearest, PointsAnywhere) {
  expect_nearest<3>(0, 1, 1e-5);
  expect_nearest<3>(-1e6, 2e6, 1e-5);
  expect_nearest<3>(1e-9, 1e-9, 1e-5);
  expect_nearest<3>(-2e18, 4e18, 1e-5);  // farther than any scale makes 1
  expect_nearest<20>(0, 1, 1e-5);
  if constexpr (!has_few_types) expect_nearest<4>(0, 1, 1e-5);
}

// Columns farther away than halves can hold, rows that are all equal, and points that are not
// finite: none of them changes what the others find.
TEST(Nearest, PointsThatAreFarAwayOrNotFinite) {
  const int M = 301;
  const int N = 701;
  std::vector<float> x(3 * M, 0.25f);
  x[3 * 7] = infinity;
  x[3 * 100 + 1] = nan;
  x[3 * 300] = -infinity;
  std::vector<float> y = uniform<float>(3 * N, 11);
  for (std::size_t k = 0; k < y.size(); k += 7) y[k] *= 1e9f;
  y[3 * 9 + 1] = nan;
  y[3 * 500 + 2] = infinity;
  const PointPairs points(x, y);
  std::vector<std::int64_t> expected;
  for (const std::vector<double>& row : points.squares) {
    // Of what is no NaN; the squares of float are infinite from 2^128 on.
    std::int64_t best = -1;
    float least = infinity;
    for (std::int64_t j = 0; j < N; ++j) {
      const auto square = static_cast<float>(row[static_cast<std::size_t>(j)]);
      if (square < least || (square == least && best < 0)) {
        best = j;
        least = square;
      }
    }
    expected.push_back(best);
  }
  for (const Options& options : all_options(true)) {
    SCOPED_TRACE(name_of(options));
    EXPECT_EQ(reduced(SquaredDistance<float, 3>(), ArgMin<float>(), points.rows(), points.columns(),
                      options),
              expected);
  }
}

// Columns that no thread takes as a sample of how far they are, and nothing nearer.
TEST(Nearest, OnlyColumnsThatAreFarAway) {
  const int M = 37;
  const int N = 1000;
  std::vector<float> y(3 * N, nan);
  float distance = 1e5f;
  for (const std::size_t j : {501, 502, 770, 771, 772}) {
    distance /= 3;
    for (std::size_t k = 0; k < 3; ++k) y[3 * j + k] = k == 0 ? distance : 0;
  }
  const PointPairs points(uniform<float>(3 * M, 12), y);
  for (const Options& options : all_options(true)) {
    SCOPED_TRACE(name_of(options));
    EXPECT_THAT(reduced(SquaredDistance<float, 3>(), ArgMin<float>(), points.rows(),
                        points.columns(), options),
                testing::Each(772));
    const auto found = reduced(SquaredDistance<float, 3>(), ArgKMin<float, 4>(), points.rows(),
                               points.columns(), options);
    for (int i = 0; i < M; ++i) {
      const auto& list = found[static_cast<std::size_t>(i)];
      EXPECT_THAT((std::vector{list[0], list[1], list[2], list[3]}),
                  testing::ElementsAre(772, 771, 770, 502));
    }
  }
}

// The same with columns just beyond the limit, of which the one with the larger square is nearer
// to half of the rows.
TEST(Nearest, OnlyColumnsThatAreJustFarAway) {
  const int M = 32;
  const int N = 1000;
  std::vector<float> x(3 * M, 0.0f);
  for (std::size_t i = 0; i < M; ++i) x[3 * i] = i < M / 2 ? 1 : -1;
  std::vector<float> y(3 * N, nan);
  const auto set_column = [&](std::size_t j, const Vector<float, 3>& point) {
    for (int k = 0; k < 3; ++k) y[3 * j + static_cast<std::size_t>(k)] = point[k];
  };
  set_column(501, {0, 300, 0});
  set_column(801, {300.2f, 0, 0});
  std::vector<std::int64_t> expected(M, 501);
  std::fill_n(expected.begin(), M / 2, 801);
  const PointPairs points(x, y);
  for (const Options& options : all_options(true)) {
    SCOPED_TRACE(name_of(options));
    EXPECT_EQ(reduced(SquaredDistance<float, 3>(), ArgMin<float>(), points.rows(), points.columns(),
                      options),
              expected);
  }
}

}  // namespace
}  // namespace warpath::map_reduce::test
