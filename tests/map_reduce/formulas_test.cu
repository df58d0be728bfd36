// The formulas but the Gaussian, several arrays on both sides, parameters and labels.
#include "../number_types.hpp"
#include "support.cuh"

namespace warpath::map_reduce::test {
namespace {

constexpr int M = 71;
constexpr int N = 401;

template <class T>
struct Arrays {
  /// Coordinates that are exact, `offset` from the origin.
  explicit Arrays(double offset = 0)
      : x(sixteenths<T>(M * 3, 1, offset - 1, 2)), y(sixteenths<T>(N * 3, 2, offset - 1, 2)) {}
  std::vector<T> x;
  std::vector<T> y;
  std::vector<T> b = uniform<T>(N, 3, 0.5);
  DeviceBuffer<T> device_x = on_device(x);
  DeviceBuffer<T> device_y = on_device(y);
  DeviceBuffer<T> device_b = on_device(b);
};

template <class T, class Formula>
void expect_sums(const Formula& formula, double most_error, const std::vector<double>& offsets,
                 const std::function<double(const T*, const T*)>& value) {
  for (const double offset : offsets) {
    const Arrays<T> arrays(offset);
    const auto expected = over_rows(rows_of(M, N,
                                            [&](std::int64_t i, std::int64_t j) {
                                              return value(&arrays.x[i * 3], &arrays.y[j * 3]) *
                                                     static_cast<double>(arrays.b[j]);
                                            }),
                                    oracle::sum);
    for (const Options& options : all_options(false)) {
      SCOPED_TRACE(name_of(options) + ", offset " + std::to_string(offset));
      const auto sums = reduced(
          formula, Sum<T>(), over_i(vectors<3>(arrays.device_x.span())),
          over_j(vectors<3>(arrays.device_y.span()), vectors<1>(arrays.device_b.span())), options);
      expect_close(sums, expected, most_error);
    }
  }
}

#ifndef WARPATH_TEST_FEW_TYPES  // the program has it, too
TEST(Formulas, Laplacian) {
  for (const double width : {0.5, 1e-20, 1e20}) {
    expect_sums<float>(
        Laplacian<float, 3>(width), 2e-6, {0, 1e3, 1e5},
        [&](const float* x, const float* y) { return oracle::laplacian(x, y, 3, width); });
  }
}
#endif
TEST(Formulas, InnerProduct) {
  expect_sums<float>(InnerProduct<float, 3>(), 2e-6, {0, 1e3},
                     [](const float* x, const float* y) { return oracle::inner_product(x, y, 3); });
}
TEST(Formulas, EnergyDistanceInDouble) {
  expect_sums<double>(
      EnergyDistance<double, 3>(), 1e-14, {0, 1e6},
      [](const double* x, const double* y) { return oracle::energy_distance(x, y, 3); });
}

TEST(Formulas, WidthsThatAreNotPositive) {
  const auto message = [](const auto& act) { return message_of<std::invalid_argument>(act); };
  const std::string expected = ": expected a positive, finite number";
  EXPECT_EQ(message([] { return Gaussian<float, 3>(0); }), "the width of Gaussian is 0" + expected);
  EXPECT_EQ(message([] { return Laplacian<double, 2>(-1.5); }),
            "the width of Laplacian is -1.5" + expected);
  EXPECT_EQ(message([] { return LogGaussian<float, 3>(std::nan("")); }),
            "the width of LogGaussian is nan" + expected);
  EXPECT_EQ(message([] { return Gaussian<double, 3>(INFINITY); }),
            "the width of Gaussian is inf" + expected);
}

// A factor of 0 would make a NaN of an infinite distance.
TEST(Formulas, FactorsOfVeryLargeWidthsAreNotZero) {
  for (const double width : {1e40, 1e47, 1e70, 1e300}) {
    EXPECT_GT((Gaussian<float, 3>(width).factor), 0);
    EXPECT_GT((Laplacian<float, 3>(width).factor), 0);
    EXPECT_GT((LogGaussian<float, 3>(width).factor), 0);
    EXPECT_GT((Gaussian<double, 3>(width).factor), 0);
  }
}

/// Two arrays on either side, one of them of integers, and a parameter: points of the same label
/// attract each other by p times the product of their weights.
struct Attraction {
  float p;
  __device__ Vector<float, 2> operator()(const Vector<float, 3>& x, int label_x,
                                         const Vector<float, 3>& y, int label_y,
                                         const Vector<float, 1>& weight) const {
    const float of_pair = label_x == label_y ? p * weight[0] : 0.0f;
    return {of_pair, of_pair * squared_distance(x, y)};
  }
};

TEST(Formulas, SeveralArraysParametersAndLabels) {
  const Arrays<float> arrays;
  std::vector<int> labels(N);
  for (int j = 0; j < N; ++j) labels[static_cast<std::size_t>(j)] = j % 3;
  const DeviceBuffer<int> device_labels = on_device(labels);
  std::vector<double> expected;
  for (int i = 0; i < M; ++i) {
    double sums[2] = {};
    for (int j = 0; j < N; ++j) {
      if (labels[static_cast<std::size_t>(i)] != labels[static_cast<std::size_t>(j)]) continue;
      const double of_pair = 2.5 * static_cast<double>(arrays.b[static_cast<std::size_t>(j)]);
      sums[0] += of_pair;
      sums[1] += of_pair * oracle::squared_distance(&arrays.x[static_cast<std::size_t>(i * 3)],
                                                    &arrays.y[static_cast<std::size_t>(j * 3)], 3);
    }
    expected.insert(expected.end(), {sums[0], sums[1]});
  }
  for (const Options& options : all_options(false)) {
    SCOPED_TRACE(name_of(options));
    const auto sums =
        reduced(Attraction{2.5f}, Sum<Vector<float, 2>>(),
                over_i(vectors<3>(arrays.device_x.span()), Array<int, 1>{device_labels.data(), M}),
                over_j(vectors<3>(arrays.device_y.span()), vectors<1>(device_labels.span()),
                       vectors<1>(arrays.device_b.span())),
                options);
    EXPECT_LE(oracle::relative_error(numbers_of<float>(sums), expected), 2e-6);
  }
}

/// Sums of squared distances of two rows to columns that start `offset` numbers into their array.
template <int D>
void expect_sums_of_shifted_columns(std::int64_t offset) {
  SCOPED_TRACE("D " + std::to_string(D) + ", offset " + std::to_string(offset));
  const std::int64_t n = 1103;
  const std::vector<float> x = uniform<float>(2 * D, 1);
  const std::vector<float> y = uniform<float>(n * D + offset, 2);
  const DeviceBuffer<float> device_x = on_device(x);
  const DeviceBuffer<float> device_y = on_device(y);
  const auto expected = over_rows(rows_of(2, n,
                                          [&](std::int64_t i, std::int64_t j) {
                                            return oracle::squared_distance(
                                                &x[static_cast<std::size_t>(i * D)],
                                                &y[static_cast<std::size_t>(offset + j * D)], D);
                                          }),
                                  oracle::sum);
  for (const Options& options : all_options(false)) {
    SCOPED_TRACE(name_of(options));
    const auto sums = reduced(SquaredDistance<float, D>(), Sum<float>(),
                              over_i(Array<float, D>{device_x.data(), 2}),
                              over_j(Array<float, D>{device_y.data() + offset, n}), options);
    EXPECT_LE(oracle::relative_error(sums, expected), 2e-6);
  }
}

// Columns that no vector load can have: the arrays start at any number.
TEST(Formulas, ArraysThatAreNotAligned) {
  expect_sums_of_shifted_columns<4>(1);
  expect_sums_of_shifted_columns<4>(2);
  if constexpr (!has_few_types) {
    expect_sums_of_shifted_columns<2>(1);
    expect_sums_of_shifted_columns<3>(3);
  }
}

}  // namespace
}  // namespace warpath::map_reduce::test
