// Every reduction, by every variant: sums in three accuracies, log-sum-exp, and least and greatest
// values with their columns, among many that are equal.
#include <algorithm>
#include <limits>

#include "support.cuh"

namespace warpath::map_reduce::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Points of three dimensions on both sides.
struct Points {
  Points(std::int64_t M, std::int64_t N, bool is_grid)
      : x(is_grid ? grid_points(3 * M, 4) : uniform<float>(3 * M, 4)),
        y(is_grid ? grid_points(3 * N, 5) : uniform<float>(3 * N, 5)),
        device_x(on_device(x)),
        device_y(on_device(y)),
        squares(rows_of(M, N, [this](std::int64_t i, std::int64_t j) {
          return oracle::squared_distance(&x[static_cast<std::size_t>(i * 3)],
                                          &y[static_cast<std::size_t>(j * 3)], 3);
        })) {}
  [[nodiscard]] auto rows() const { return over_i(vectors<3>(device_x.span())); }
  [[nodiscard]] auto columns() const { return over_j(vectors<3>(device_y.span())); }

  std::vector<float> x;
  std::vector<float> y;
  DeviceBuffer<float> device_x;
  DeviceBuffer<float> device_y;
  std::vector<std::vector<double>> squares;  ///< a vector a row
};

const std::vector<std::pair<int, int>> sizes =
    is_small() ? std::vector<std::pair<int, int>>{{3, 5}, {1, 1100}, {130, 515}}
               : std::vector<std::pair<int, int>>{{1, 1},   {3, 5},     {1, 2000},
                                                  {40, 33}, {130, 515}, {300, 600}};

template <class Reduction>
void expect_exactly(
    const Reduction& reduction, bool has_tensor,
    const std::function<typename Reduction::Result(const std::vector<double>&)>& of) {
  for (const auto& [M, N] : sizes) {
    const Points points(M, N, true);
    std::vector<typename Reduction::Result> expected;
    for (const auto& row : points.squares) expected.push_back(of(row));
    for (const Options& options : all_options(has_tensor)) {
      SCOPED_TRACE(name_of(options) + ", M " + std::to_string(M) + ", N " + std::to_string(N));
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
TEST(Least, Max) {
  expect_exactly(Max<float>(), false, [](const std::vector<double>& row) {
    return static_cast<float>(*std::max_element(row.begin(), row.end()));
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

template <int K>
Vector<std::int64_t, K> least_columns(const std::vector<double>& row) {
  Vector<std::int64_t, K> columns;
  const std::vector<std::int64_t> order = oracle::by_value(row);
  for (int k = 0; k < K; ++k) {
    columns[k] = k < static_cast<int>(order.size()) ? order[static_cast<std::size_t>(k)] : -1;
  }
  return columns;
}

TEST(Least, ArgKMinWithTiesByColumn) {
  expect_exactly(ArgKMin<float, 10>(), true, least_columns<10>);
  expect_exactly(ArgKMin<float, 1>(), true, least_columns<1>);
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

// Points anywhere: the distance of the column that is found is the least one, but for rounding.
template <int D>
void expect_nearest(double low, double span, double most_error) {
  const int M = is_small() ? 70 : 200;
  const int N = is_small() ? 300 : 1300;
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
  expect_nearest<4>(0, 1, 1e-5);
  expect_nearest<20>(0, 1, 1e-5);
}

// Columns farther away than halves can hold, rows that are all equal, and one that is not finite.
TEST(Nearest, ColumnsFarBeyondTheRows) {
  const int N = 700;
  std::vector<float> x(3 * 40, 0.25f);
  x[3 * 7] = infinity;
  std::vector<float> y = uniform<float>(3 * N, 11);
  for (std::size_t k = 0; k < y.size(); k += 7) y[k] *= 1e9f;
  const DeviceBuffer<float> device_x = on_device(x);
  const DeviceBuffer<float> device_y = on_device(y);
  const auto rows = over_i(vectors<3>(device_x.span()));
  const auto columns = over_j(vectors<3>(device_y.span()));
  const auto expected =
      reduced(SquaredDistance<float, 3>(), ArgMin<float>(), rows, columns, {Variant::gpu_1d});
  for (const Options& options : all_options(true)) {
    SCOPED_TRACE(name_of(options));
    EXPECT_EQ(reduced(SquaredDistance<float, 3>(), ArgMin<float>(), rows, columns, options),
              expected);
  }
}

TEST(LogSumExp, ManyAndFewColumns) {
  for (const auto& [M, N] : sizes) {
    const Points points(M, N, false);
    const auto expected = over_rows(points.squares, [](std::vector<double> row) {
      for (double& value : row) value = -value;
      return oracle::log_sum_exp(row);
    });
    for (const Options& options : all_options(true)) {
      SCOPED_TRACE(name_of(options) + ", M " + std::to_string(M) + ", N " + std::to_string(N));
      const auto found = reduced(LogGaussian<float, 3>(), map_reduce::LogSumExp<float>(),
                                 points.rows(), points.columns(), options);
      EXPECT_LE(oracle::relative_error(found, expected), 2e-6);
    }
  }
}

/// b_j as it is.
struct Value {
  __device__ float operator()(float, float b) const { return b; }
};

// Values whose exponentials no float can hold, rising and falling, and none at all.
TEST(LogSumExp, ValuesOfAnySize) {
  const int N = 900;
  std::vector<std::vector<float>> cases(6, std::vector<float>(N));
  std::mt19937 random(5);
  for (int j = 0; j < N; ++j) {
    cases[0][j] = -1e4f;
    cases[1][j] = 200.0f * static_cast<float>(j);
    cases[2][j] = -200.0f * static_cast<float>(j);
    cases[3][j] = static_cast<float>(random() % 2000) - 1000;
    cases[4][j] = j % 3 == 0 ? -infinity : 5.0f;
    cases[5][j] = -infinity;
  }
  DeviceBuffer<float> x = on_device(std::vector<float>(40));
  for (const std::vector<float>& values : cases) {
    const DeviceBuffer<float> b = on_device(values);
    const double expected = oracle::log_sum_exp({values.begin(), values.end()});
    for (const Options& options : all_options(false)) {
      SCOPED_TRACE(name_of(options));
      const auto found =
          reduced(Value(), map_reduce::LogSumExp<float>(), over_i(vectors<1>(x.span())),
                  over_j(vectors<1>(b.span())), options);
      for (const float value : found) {
        if (std::isinf(expected)) {
          EXPECT_EQ(value, expected);
        } else {
          EXPECT_NEAR(value, expected, 2e-6 * std::abs(expected) + 1e-5);
        }
      }
    }
  }
}

/// The relative error of the sum of many numbers, one thread adding them all.
template <Accuracy accuracy>
double error_of_sum(const std::vector<float>& numbers) {
  DeviceBuffer<float> x = on_device(std::vector<float>(1));
  const DeviceBuffer<float> b = on_device(numbers);
  const auto found = reduced(Value(), Sum<float, accuracy>(), over_i(vectors<1>(x.span())),
                             over_j(vectors<1>(b.span())), {Variant::tuned_1d, 192, 1});
  return oracle::relative_error(found, {oracle::sum({numbers.begin(), numbers.end()})});
}

TEST(Sum, ThreeAccuracies) {
  const std::vector<float> numbers = uniform<float>(is_small() ? 100'000 : 1'000'000, 6, 0.1);
  const double plain = error_of_sum<Accuracy::plain>(numbers);
  const double block = error_of_sum<Accuracy::block>(numbers);
  const double kahan = error_of_sum<Accuracy::kahan>(numbers);
  EXPECT_LE(kahan, 6e-8);
  EXPECT_LE(block, 2e-6);
  EXPECT_GT(plain, 2 * block);
}

// Half of what is added would be lost, one by one: 2^24 + 1 is no float.
TEST(Sum, KahanKeepsWhatOneAdditionLoses) {
  std::vector<float> numbers(2049, 1.0f);
  numbers[0] = 0x1p24f;
  EXPECT_EQ(error_of_sum<Accuracy::kahan>(numbers), 0);
  EXPECT_GT(error_of_sum<Accuracy::plain>(numbers), 1e-4);
}

TEST(Sum, EveryAccuracyByEveryVariant) {
  const Points points(130, 515, false);
  const auto expected = over_rows(points.squares, oracle::sum);
  const auto expect = [&](const auto& sum) {
    for (const Options& options : all_options(false)) {
      SCOPED_TRACE(name_of(options));
      const auto found =
          reduced(SquaredDistance<float, 3>(), sum, points.rows(), points.columns(), options);
      EXPECT_LE(oracle::relative_error(found, expected), 2e-6);
    }
  };
  expect(Sum<float, Accuracy::plain>());
  expect(Sum<float, Accuracy::kahan>());
}

}  // namespace
}  // namespace warpath::map_reduce::test
