// Sums of numbers in three accuracies, and log-sum-exp, by every variant: values of any size and
// sign, equal ones, and sums that pass the largest float.
#include <limits>

#include "../test_size.hpp"
#include "support.cuh"

namespace warpath::map_reduce::test {
namespace {

constexpr float largest = std::numeric_limits<float>::max();

/// b_j as it is.
struct Value {
  __device__ float operator()(float, float b) const { return b; }
};

TEST(LogSumExp, ManyAndFewColumns) {
  for (const auto& [M, N, offset] : sizes()) {
    const PointPairs points(sixteenths<float>(3 * M, 4, offset, 1.5),
                            sixteenths<float>(3 * N, 5, offset, 1.5));
    const auto expected = over_rows(points.squares, [](std::vector<double> row) {
      for (double& value : row) value = -value;
      return oracle::log_sum_exp(row);
    });
    for (const Options& options : all_options(true)) {
      SCOPED_TRACE(name_of(options) + ", M " + std::to_string(M) + ", N " + std::to_string(N) +
                   ", offset " + std::to_string(offset));
      expect_close(reduced(LogGaussian<float, 3>(), map_reduce::LogSumExp<float>(), points.rows(),
                           points.columns(), options),
                   expected, 2e-6);
    }
  }
}

// A NaN enters its own row, or all; a point at infinity is far from all others.
TEST(LogSumExp, PointsThatAreNotFinite) {
  std::vector<float> x = uniform<float>(3 * 301, 1, 30);
  std::vector<float> y = uniform<float>(3 * 601, 2, 30);
  x[3 * 5 + 1] = nan;
  x[3 * 130] = infinity;
  const auto expect = [&] {
    const PointPairs points(x, y);
    const auto expected = over_rows(points.squares, [](std::vector<double> row) {
      double sum = 0;
      for (const double square : row) sum += std::exp(-square);
      return std::log(sum);
    });
    for (const Options& options : all_options(true)) {
      SCOPED_TRACE(name_of(options));
      expect_close(reduced(LogGaussian<float, 3>(), map_reduce::LogSumExp<float>(), points.rows(),
                           points.columns(), options),
                   expected, 2e-6);
    }
  };
  if (!is_small()) expect();
  y[3 * 400 + 2] = -infinity;
  expect();
  y[3 * 17] = nan;
  expect();
}

// Values whose exponentials no float can hold, rising and falling, and none at all; values that no
// float can hold once they are multiplied by log2 e.
TEST(LogSumExp, ValuesOfAnySize) {
  const int N = 903;
  std::vector<std::vector<float>> cases(11, std::vector<float>(N));
  std::mt19937 random(5);
  for (std::size_t j = 0; j < N; ++j) {
    cases[0][j] = -1e4f;
    cases[1][j] = 200.0f * static_cast<float>(j);
    cases[2][j] = -200.0f * static_cast<float>(j);
    cases[3][j] = static_cast<float>(random() % 2000) - 1000;
    cases[4][j] = j % 3 == 0 ? -infinity : 5.0f;
    cases[5][j] = -infinity;
    cases[6][j] = largest;
    cases[7][j] = -largest;
    cases[8][j] = j % 2 == 0 ? 3e38f : -3e38f;
    cases[9][j] = j == 777 ? 3e38f : -infinity;
    cases[10][j] = -30.0f + static_cast<float>(j) / 16;  // rises within what is not summed again
  }
  const DeviceBuffer<float> x = on_device(std::vector<float>(41));
  for (const std::vector<float>& values : cases) {
    SCOPED_TRACE("values from " + std::to_string(values[0]) + " to " +
                 std::to_string(values[N - 1]));
    const DeviceBuffer<float> b = on_device(values);
    const double expected = oracle::log_sum_exp({values.begin(), values.end()});
    for (const Options& options : all_options(false)) {
      SCOPED_TRACE(name_of(options));
      expect_close(reduced(Value(), map_reduce::LogSumExp<float>(), over_i(vectors<1>(x.span())),
                           over_j(vectors<1>(b.span())), options),
                   std::vector<double>(41, expected), 2e-6);
    }
  }
}

// All additions round in the same direction; the logarithm shows the relative error of the sum.
TEST(LogSumExp, EqualValues) {
  const std::size_t N = is_small() ? 20'003 : 200'003;
  const DeviceBuffer<float> x = on_device(std::vector<float>(1));
  for (const float value : {-11.3f, -10.0f, 7.0f}) {
    const DeviceBuffer<float> b = on_device(std::vector<float>(N, value));
    const double expected = static_cast<double>(value) + std::log(static_cast<double>(N));
    for (const Options& options : few_options(false)) {
      SCOPED_TRACE(name_of(options));
      for (const float found :
           reduced(Value(), map_reduce::LogSumExp<float>(), over_i(vectors<1>(x.span())),
                   over_j(vectors<1>(b.span())), options)) {
        EXPECT_NEAR(found, expected, 3e-6);
      }
    }
  }
}

/// The sums of numbers, by the given options.
template <Accuracy accuracy>
std::vector<float> sums_of(const std::vector<float>& numbers, const Options& options, int M = 1) {
  const DeviceBuffer<float> x = on_device(std::vector<float>(static_cast<std::size_t>(M)));
  const DeviceBuffer<float> b = on_device(numbers);
  return reduced(Value(), map_reduce::Sum<float, accuracy>(), over_i(vectors<1>(x.span())),
                 over_j(vectors<1>(b.span())), options);
}
/// The relative error of the sum of many numbers, one thread adding them all.
template <Accuracy accuracy>
double error_of_sum(const std::vector<float>& numbers) {
  return oracle::relative_error(sums_of<accuracy>(numbers, {Variant::tuned_1d, 192, 1}),
                                {oracle::sum({numbers.begin(), numbers.end()})});
}

TEST(Sum, ThreeAccuracies) {
  const std::vector<float> numbers = uniform<float>(is_small() ? 40'001 : 500'009, 6, 0.1);
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

// All additions of equal numbers may round in the same direction.
TEST(Sum, OfEqualNumbers) {
  for (const float number : {0.1f, 1.0f / 3, 0.7f, 1.9f, -5.3f}) {
    for (const int N : {17, 257, is_small() ? 10'007 : 100'003}) {
      const std::vector<float> numbers(static_cast<std::size_t>(N), number);
      const double expected = static_cast<double>(number) * N;
      for (const Options& options : few_options(false)) {
        SCOPED_TRACE(name_of(options) + ", N " + std::to_string(N));
        expect_close(sums_of<Accuracy::block>(numbers, options), {expected}, 2e-6);
        expect_close(sums_of<Accuracy::kahan>(numbers, options), {expected}, 2e-6);
      }
    }
  }
}

// A sum that passes the largest float is infinite; a NaN among the numbers, or two infinities that
// cancel, make it a NaN.
TEST(Sum, ThatOverflowsOrIsNotFinite) {
  for (const std::size_t N : {2, 18, 301, 2003}) {
    if (is_small() && N != 18 && N != 301) continue;
    std::vector<std::vector<float>> cases(6, std::vector<float>(N, 1.0f));
    cases[0].assign(N, 3e38f);
    cases[1].assign(N, -3e38f);
    cases[2][N / 2] = infinity;
    cases[3][N - 1] = -infinity;
    cases[4][0] = nan;
    cases[5][0] = infinity;
    cases[5][N - 1] = -infinity;
    const std::vector<double> expected = {infinity, -infinity, infinity, -infinity, nan, nan};
    for (std::size_t i = 0; i < cases.size(); ++i) {
      for (const Options& options : all_options(false)) {
        SCOPED_TRACE(name_of(options) + ", N " + std::to_string(N) + ", case " + std::to_string(i));
        const std::vector<double> sums(17, expected[i]);
        expect_close(sums_of<Accuracy::plain>(cases[i], options, 17), sums, 0);
        expect_close(sums_of<Accuracy::block>(cases[i], options, 17), sums, 0);
        expect_close(sums_of<Accuracy::kahan>(cases[i], options, 17), sums, 0);
      }
    }
  }
}

TEST(Sum, EveryAccuracyByEveryVariant) {
  const std::vector<float> numbers = uniform<float>(515, 5);
  const std::vector<double> expected(131, oracle::sum({numbers.begin(), numbers.end()}));
  for (const Options& options : all_options(false)) {
    SCOPED_TRACE(name_of(options));
    expect_close(sums_of<Accuracy::plain>(numbers, options, 131), expected, 2e-6);
    expect_close(sums_of<Accuracy::block>(numbers, options, 131), expected, 2e-6);
    expect_close(sums_of<Accuracy::kahan>(numbers, options, 131), expected, 2e-6);
  }
}

}  // namespace
}  // namespace warpath::map_reduce::test
