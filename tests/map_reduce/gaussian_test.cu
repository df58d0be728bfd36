// Sums of Gaussians, by every variant, against double precision: sizes, dimensions, signals, types,
// and points that are far away from each other and from the origin.
#include "support.cuh"

namespace warpath::map_reduce::test {
namespace {

struct Data {
  double low = 0;
  double span = 1;
  double width = 1;
  double most_error = 2e-6;
};

/// Gaussian sums by all of the options over M x N points, with all of their numbers compared.
template <class T, int D, int E>
void expect_gaussian_sums(std::int64_t M, std::int64_t N, const Data& data,
                          const std::vector<Options>& all = all_options(std::is_same_v<T, float>)) {
  using Value = ValueOf<T, E>;
  const std::vector<T> x = uniform<T>(M * D, 1, data.low, data.span);
  const std::vector<T> y = uniform<T>(N * D, 2, data.low, data.span);
  const std::vector<T> b = uniform<T>(N * E, 3, 0.5);
  std::vector<double> expected;
  for (std::int64_t i = 0; i < M; ++i) {
    for (int e = 0; e < E; ++e) {
      double sum = 0;
      for (std::int64_t j = 0; j < N; ++j) {
        sum += oracle::gaussian(&x[static_cast<std::size_t>(i * D)],
                                &y[static_cast<std::size_t>(j * D)], D, data.width) *
               static_cast<double>(b[static_cast<std::size_t>(j * E + e)]);
      }
      expected.push_back(sum);
    }
  }
  const DeviceBuffer<T> device_x = on_device(x);
  const DeviceBuffer<T> device_y = on_device(y);
  const DeviceBuffer<T> device_b = on_device(b);
  for (const Options& options : all) {
    SCOPED_TRACE(name_of(options) + ", M " + std::to_string(M) + ", N " + std::to_string(N));
    const std::vector<Value> sums =
        reduced(Gaussian<T, D, E>(data.width), Sum<Value>(), over_i(vectors<D>(device_x.span())),
                over_j(vectors<D>(device_y.span()), vectors<E>(device_b.span())), options);
    EXPECT_LE(oracle::relative_error(numbers_of<T>(sums), expected), data.most_error);
  }
}

TEST(GaussianSum, Sizes) {
  const int many = is_small() ? 1101 : 3001;
  for (const auto& [M, N] : std::vector<std::pair<int, int>>{
           {1, 1}, {1, many}, {31, 33}, {33, 31}, {129, 257}, {257, 129}}) {
    expect_gaussian_sums<float, 3, 1>(M, N, {});
  }
  if (!is_small()) expect_gaussian_sums<float, 3, 1>(300, 700, {});
}

TEST(GaussianSum, MoreThanATileOfEverything) {
  const int M = is_small() ? 130 : 1030;
  const int N = is_small() ? 300 : 1300;
  expect_gaussian_sums<float, 3, 1>(M, N, {});
}

// 34 parts: three groups, the last one of which has two.
TEST(GaussianSum, PartsInGroups) {
  const int N = 33 * 256 + 50;
  expect_gaussian_sums<float, 3, 1>(
      5, N, {}, {{Variant::tuned_2d, 192, 1, 50}, {Variant::tensor, 192, 0, 50}});
}

TEST(GaussianSum, FewDimensions) {
  expect_gaussian_sums<float, 1, 1>(70, 300, {});
  expect_gaussian_sums<float, 2, 1>(70, 300, {});
  expect_gaussian_sums<float, 4, 1>(70, 300, {});
  expect_gaussian_sums<float, 8, 1>(70, 300, {});
}

TEST(GaussianSum, ManyDimensions) {
  // More than a tile in any case: those of 64 and 128 dimensions have 64 columns at most.
  expect_gaussian_sums<float, 17, 1>(70, is_small() ? 140 : 200, {0, 1, 3});
  expect_gaussian_sums<float, 64, 1>(70, is_small() ? 70 : 200, {0, 1, 3});
  expect_gaussian_sums<float, 128, 1>(40, is_small() ? 70 : 140, {0, 1, 8});
  expect_gaussian_sums<float, 128, 1>(40, is_small() ? 70 : 140, {0, 1, 1});
}

TEST(GaussianSum, SignalsOfSeveralNumbers) {
  expect_gaussian_sums<float, 3, 3>(70, 300, {});
}

TEST(GaussianSum, Double) {
  expect_gaussian_sums<double, 3, 1>(70, 600, {0, 1, 1, 1e-14});
}

// The Gram form would lose the digits that are asked for: the tensor kernel takes the differences.
TEST(GaussianSum, PointsThatAreFarApart) {
  expect_gaussian_sums<float, 3, 1>(150, 600, {-20, 40, 2});
  expect_gaussian_sums<float, 64, 1>(70, is_small() ? 70 : 200, {-20, 40, 40});
}

// The largest box that the Gram form is used for.
TEST(GaussianSum, PointsAtTheLimitOfTheGramForm) {
  expect_gaussian_sums<float, 3, 1>(300, 700, {0, 3.8, 1});
  expect_gaussian_sums<float, 3, 1>(300, 700, {0, 4.2, 1});
}

// Relative to their centre they are near. What is lost already in the coordinates is not ours.
TEST(GaussianSum, PointsFarFromTheOrigin) {
  expect_gaussian_sums<float, 3, 1>(150, 600, {1000, 1, 1, 2e-5});
}

// One tile of columns far away from all rows, the others near.
TEST(GaussianSum, SomeTilesAreFar) {
  const std::vector<float> x = uniform<float>(3 * 200, 1);
  std::vector<float> y = uniform<float>(3 * 700, 2);
  for (std::size_t k = 3 * 300; k < 3 * 400; ++k) y[k] += k % 2 == 0 ? 5.0f : -5.0f;
  const std::vector<float> b = uniform<float>(700, 3, 0.5);
  const auto expected = over_rows(rows_of(200, 700,
                                          [&](std::int64_t i, std::int64_t j) {
                                            return oracle::gaussian(&x[i * 3], &y[j * 3], 3, 1.0) *
                                                   static_cast<double>(b[j]);
                                          }),
                                  oracle::sum);
  const DeviceBuffer<float> device_x = on_device(x);
  const DeviceBuffer<float> device_y = on_device(y);
  const DeviceBuffer<float> device_b = on_device(b);
  for (const Options& options : all_options(true)) {
    SCOPED_TRACE(name_of(options));
    const auto sums =
        reduced(Gaussian<float, 3>(), Sum<float>(), over_i(vectors<3>(device_x.span())),
                over_j(vectors<3>(device_y.span()), vectors<1>(device_b.span())), options);
    EXPECT_LE(oracle::relative_error(sums, expected), 2e-6);
  }
}

TEST(Oracle, RejectsACorruptedSum) {
  std::vector<double> expected = {1, 2, 3};
  EXPECT_EQ(oracle::relative_error(std::vector<float>{1, 2, 3}, expected), 0);
  EXPECT_GT(oracle::relative_error(std::vector<float>{1, 2, 3.0001f}, expected), 1e-5);
  EXPECT_GT(oracle::relative_error(std::vector<float>{1, 0, 3}, expected), 0.1);
}

}  // namespace
}  // namespace warpath::map_reduce::test
