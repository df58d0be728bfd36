// The oracle itself: what all cores compute is what one row after the other gives, and results that
// are wrong in one place only are rejected.
#include "map_reduce/oracle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace warpath::map_reduce::oracle {
namespace {

using testing::HasSubstr;

Inputs inputs_of(std::size_t M, std::size_t N, int D) {
  std::mt19937_64 random(7);
  const auto uniform = [&](std::size_t count, double low) {
    std::vector<double> values(count);
    for (double& value : values) value = static_cast<double>(random() >> 40) * 0x1p-24 + low;
    return values;
  };
  const auto dimension = static_cast<std::size_t>(D);
  return {D, uniform(M * dimension, 0), uniform(N * dimension, 0), uniform(N, -0.5)};
}

/// value(x_i, y_j) for all columns j of row i.
template <class Value>
std::vector<double> row_of(const Inputs& inputs, std::size_t i, Value value) {
  const auto dimension = static_cast<std::size_t>(inputs.dimension);
  std::vector<double> values;
  for (std::size_t j = 0; j < inputs.b.size(); ++j) {
    values.push_back(value(&inputs.x[i * dimension], &inputs.y[j * dimension]));
  }
  return values;
}

// Blocks of 16 rows and 512 columns: none, one, and one more than whole blocks.
TEST(TheOracle, OfAllCoresIsThatOfEachRow) {
  for (const std::size_t M : {1, 16, 17, 40}) {
    for (const std::size_t N : {0, 1, 512, 513, 1300}) {
      for (const int D : {1, 3, 16}) {
        SCOPED_TRACE(std::to_string(M) + " x " + std::to_string(N) + ", D " + std::to_string(D));
        const Inputs inputs = inputs_of(M, N, D);
        const std::vector<double> gaussians = sums(Formula::gaussian, inputs);
        const std::vector<double> laplacians = sums(Formula::laplacian, inputs);
        const std::vector<double> logs = log_sums(Formula::log_gaussian, inputs);
        const std::vector<double> nearest = least(Formula::squared_distance, inputs, 3);
        ASSERT_EQ(nearest.size(), 3 * M);
        for (std::size_t i = 0; i < M; ++i) {
          const auto near = [](double expected) {
            return testing::DoubleNear(expected, 1e-12 * (1 + std::abs(expected)));
          };
          const auto weighted = [&](std::vector<double> values) {
            for (std::size_t j = 0; j < N; ++j) values[j] *= inputs.b[j];
            return sum(values);
          };
          EXPECT_THAT(gaussians[i],
                      near(weighted(row_of(inputs, i, [&](const double* x, const double* y) {
                        return gaussian(x, y, D, 1.0);
                      }))));
          EXPECT_THAT(laplacians[i],
                      near(weighted(row_of(inputs, i, [&](const double* x, const double* y) {
                        return laplacian(x, y, D, 1.0);
                      }))));
          std::vector<double> squares = row_of(inputs, i, [&](const double* x, const double* y) {
            return squared_distance(x, y, D);
          });
          std::vector<double> minus = squares;
          for (double& value : minus) value = -value;
          if (N == 0) {
            EXPECT_EQ(logs[i], -std::numeric_limits<double>::infinity());
          } else {
            EXPECT_THAT(logs[i], near(log_sum_exp(minus)));
          }
          squares.resize(std::max<std::size_t>(N, 3), std::numeric_limits<double>::infinity());
          std::sort(squares.begin(), squares.end());
          for (std::size_t k = 0; k < 3; ++k) {
            if (std::isinf(squares[k])) {
              EXPECT_EQ(nearest[3 * i + k], squares[k]);
            } else {
              EXPECT_THAT(nearest[3 * i + k], near(squares[k]));
            }
          }
        }
      }
    }
  }
}

constexpr Tolerance of_sums = {2e-6, 1.6e-5, Scale::all_rows};

// In many dimensions a row that has one near column may be many times larger than most.
TEST(TheJudge, MeasuresALargeRowByItself) {
  std::vector<double> expected(1000, 1e-6);
  expected[7] = 1e-3;
  std::vector<double> results = expected;
  results[7] *= 1 + 1.5e-6;
  EXPECT_EQ(mismatch(results, expected, of_sums), std::nullopt);
  results = expected;
  results[8] += 1e-3 * 1.5e-6;  // and a small one by the root mean square, 3.2e-5
  EXPECT_NE(mismatch(results, expected, of_sums), std::nullopt);
}

// A kernel that leaves out, or takes twice, a tile of 16 rows by 128 columns anywhere is found,
// though all results together are off by little.
TEST(TheJudge, FindsOneWrongTile) {
  const std::size_t M = 400;
  const std::size_t N = 20'000;
  const Inputs inputs = inputs_of(M, N, 3);
  const std::vector<double> expected = sums(Formula::gaussian, inputs);
  const std::vector<float> rounded(expected.begin(), expected.end());
  const std::vector<double> results(rounded.begin(), rounded.end());
  EXPECT_EQ(mismatch(results, expected, of_sums), std::nullopt);
  for (const std::size_t first_row : {0, 16, 384}) {
    for (const std::size_t first : {0, 128, 19'872}) {
      for (const double times : {-1.0, 1.0}) {
        std::vector<double> wrong = results;
        for (std::size_t i = first_row; i < first_row + 16; ++i) {
          for (std::size_t j = first; j < first + 128; ++j) {
            wrong[i] += times * inputs.b[j] * gaussian(&inputs.x[i * 3], &inputs.y[j * 3], 3, 1.0);
          }
        }
        EXPECT_THAT(mismatch(wrong, expected, of_sums).value_or("accepted"),
                    HasSubstr("the error is"));
      }
    }
  }
}

TEST(TheJudge, FindsOneWrongResult) {
  std::vector<double> expected(100'000, 1.0);
  for (std::size_t i = 0; i < expected.size(); i += 2) expected[i] = -0.5;
  for (const std::size_t i : {std::size_t{0}, std::size_t{777}, expected.size() - 1}) {
    for (const double value : {0.0, expected[i] * 1.0001, std::nan(""), -1e30,
                               std::numeric_limits<double>::infinity()}) {
      std::vector<double> wrong = expected;
      wrong[i] = value;
      const std::string said = mismatch(wrong, expected, of_sums).value_or("accepted");
      EXPECT_THAT(said, HasSubstr("result " + std::to_string(i) + " is")) << value;
      for (const Scale scale : {Scale::one, Scale::itself}) {
        EXPECT_NE(mismatch(wrong, expected, {2e-6, 1.6e-5, scale}), std::nullopt);
      }
    }
  }
  std::vector<double> shorter = expected;
  shorter.pop_back();
  EXPECT_EQ(mismatch(shorter, expected, of_sums), "99999 results: expected 100000");
}

// Each result within its tolerance, all of them to the same side: the overall error counts.
TEST(TheJudge, FindsManyResultsThatAreSlightlyOff) {
  const std::vector<double> expected(1000, 1.0);
  const std::vector<double> results(1000, 1.00001);
  EXPECT_THAT(mismatch(results, expected, of_sums).value_or("accepted"),
              HasSubstr("the relative error is 1e-05: expected at most 2e-06"));
}

TEST(TheJudge, TakesEqualInfinities) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(worst_of({infinity, 1}, {infinity, 1}, Scale::itself).error, 0);
  EXPECT_EQ(mismatch({infinity, 1}, {infinity, 1}, of_sums), std::nullopt);
  EXPECT_NE(mismatch({-infinity, 1}, {infinity, 1}, of_sums), std::nullopt);
  EXPECT_EQ(worst_of({-infinity, 1}, {infinity, 1}, Scale::one).error, infinity);
  EXPECT_EQ(worst_of({0, 0}, {0, 0}, Scale::itself).error, 0);
  EXPECT_EQ(worst_of({0, 1e-9}, {0, 0}, Scale::itself).error, infinity);
}

}  // namespace
}  // namespace warpath::map_reduce::oracle
