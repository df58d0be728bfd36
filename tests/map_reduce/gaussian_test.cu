// Sums of Gaussians in three dimensions, by every variant, against double precision: sizes; points
// near and far from the origin and from each other; sums whose terms are all equal; numbers that
// are not finite; widths at the ends of their range. (Other dimensions: dimensions_test.cu.)
#include "../test_size.hpp"
#include "gaussian.cuh"

namespace warpath::map_reduce::test {
namespace {

using Data = GaussianData<float, 3, 1>;

Data data_of(std::int64_t M, std::int64_t N, const Box& box = {}) {
  return gaussian_data<float, 3, 1>(M, N, box);
}

TEST(GaussianSum, Sizes) {
  const int many = is_small() ? 1101 : 3001;
  for (const auto& [M, N] : std::vector<std::pair<int, int>>{
           {1, 1}, {1, many}, {31, 33}, {33, 31}, {129, 257}, {257, 129}}) {
    expect_gaussian_sums(data_of(M, N));
  }
  if (!is_small()) expect_gaussian_sums(data_of(301, 701, {-7, 1}));
}

TEST(GaussianSum, MoreThanATileOfEverything) {
  expect_gaussian_sums(data_of(is_small() ? 131 : 1031, is_small() ? 301 : 1301, {50, 1}));
}

// 34 parts: three groups, the last one of which has two.
TEST(GaussianSum, PartsInGroups) {
  expect_gaussian_sums(data_of(5, 33 * 256 + 51, {3, 1}), 2e-6,
                       {{Variant::tuned_2d, 192, 1, 50}, {Variant::tensor, 192, 0, 50}});
}

// Columns that fill a tile up lie at the centre of the rows, and not at the origin: there the Gram
// form has exponentials that are infinite.
TEST(GaussianSum, ColumnsThatFillNoTile) {
  for (const int N : {1, 7, 9, 255, 257, 301, 304}) {
    expect_gaussian_sums(data_of(is_small() ? 71 : 301, N, {30, 2, 1.5}));
    expect_gaussian_sums(data_of(17, N, {1000, 2, 1.5}));
  }
}

// The Gram form would lose the digits that are asked for: the tensor kernel takes the differences.
TEST(GaussianSum, PointsThatAreFarApart) {
  expect_gaussian_sums(data_of(151, 601, {-20, 40, 2}));
}

// The largest box that the Gram form is used for.
TEST(GaussianSum, PointsAtTheLimitOfTheGramForm) {
  const int N = is_small() ? 301 : 701;
  expect_gaussian_sums(data_of(301, N, {0, 3.8}));
  expect_gaussian_sums(data_of(301, N, {0, 4.2}));
}

// Coordinates are subtracted first and scaled then: where they are exact, so is the answer.
TEST(GaussianSum, PointsFarFromTheOrigin) {
  for (const double offset : {1e3, -1e4, 1e5, 1e6}) {
    expect_gaussian_sums(data_of(is_small() ? 71 : 151, 603, {offset, 3}));
    expect_gaussian_sums(data_of(3, 603, {offset, 40, 7}));
  }
}

// One tile of columns far away from all rows, the others near.
TEST(GaussianSum, SomeTilesAreFar) {
  Data data = data_of(201, 701);
  for (std::size_t k = 3 * 300; k < 3 * 400; ++k) data.y[k] += k % 2 == 0 ? 5.0f : -5.0f;
  expect_gaussian_sums(data);
}

// More tiles are far than a block notes one by one; the last one, and the first one, are near.
TEST(GaussianSum, ManyTilesAreFar) {
  Data data = data_of(71, 4700);
  for (int tile = 1; tile < 17; tile += 2)
    data.y[3 * static_cast<std::size_t>(256 * tile + 9)] += 7;
  expect_gaussian_sums(data);
}

// K(x, x) = 1, anywhere and for any width.
TEST(GaussianSum, OfAPointAndItself) {
  for (const float coordinate : {3.0f, 1000.1f, -1e15f}) {
    for (const double width : {1e-45, 1e-38, 1e-20, 1e-10, 1.3, 1e20, 1e38}) {
      const std::size_t n = is_small() ? 71 : 201;
      const Data data{std::vector<float>(3 * n, coordinate), std::vector<float>(3 * n, coordinate),
                      std::vector<float>(n, 1.0f), width};
      SCOPED_TRACE(coordinate);
      expect_gaussian_sums(data, 5e-7, few_options(true));
    }
  }
}

// All that is summed comes from a point so far from the centre of its block that the products of
// the Gram form are many times the distance.
TEST(GaussianSum, OfPointsFarFromTheCentreOfTheirBlock) {
  constexpr auto limit = static_cast<float>(detail::most_square<3> / log2_e);
  std::vector<float> points = uniform<float>(3 * 200, 5, -1.3, 2.6);
  for (std::size_t i = 0; i < points.size() / 2; i += 3) {  // half of them at the form's limit
    const float square =
        points[i] * points[i] + points[i + 1] * points[i + 1] + points[i + 2] * points[i + 2];
    for (int k = 0; k < 3; ++k) points[i + k] *= std::sqrt(0.997f * limit / square);
  }
  for (std::size_t i = 0; i < points.size(); i += 3) {
    Data data{std::vector<float>(3 * 33), {}, {1.0f}, 1};
    data.y.assign(&points[i], &points[i] + 3);
    std::copy(data.y.begin(), data.y.end(), data.x.begin() + 3);  // one row; the centre is 0
    expect_gaussian_sums(data, 2e-6, {{.variant = Variant::tensor}});
  }
}

// Terms that a float holds, and whose sum it holds, but for the factor that the Gram form takes out
// of them: it is put back before anything can overflow.
TEST(GaussianSum, TermsNearTheLargestNumber) {
  for (const int M : {2, 34}) {  // the centre lies in the middle
    for (const float signal : {1.7e38f, 1.2e38f, 0.8e38f}) {
      Data data{std::vector<float>(3 * static_cast<std::size_t>(M)), std::vector<float>(3 * 3),
                std::vector<float>(3, signal), 1};
      for (std::size_t i = 0; i < data.x.size(); i += 3) data.x[i] = i % 2 == 0 ? -1.5f : 1.5f;
      expect_gaussian_sums(data, 2e-6, few_options(true));
      expect_gaussian_sums(data, 2e-6, {{.variant = Variant::tensor, .splits = 1}});
    }
  }
}

// Widths with squares, or reciprocals of squares, that no float can hold.
TEST(GaussianSum, PointsOfAnySize) {
  for (const double size : {1e-30, 1e-20, 1e-15, 1e15, 1e20, 1e30}) {
    expect_gaussian_sums(data_of(33, 301, {0, 2 * size, size}), 2e-6, few_options(true));
  }
}

// All terms are equal, so that all additions may round in the same direction: one by one, 256 of
// them would be off by up to 8e-6, and 20,000 by 6e-4.
TEST(GaussianSum, OfEqualTerms) {
  const std::size_t N = is_small() ? 3001 : 10'003;
  for (const double width : {1.0, 0.83}) {
    for (const std::size_t M : {1, 19}) {
      Data data{std::vector<float>(3 * M, 17.0f), std::vector<float>(3 * N, 17.0f),
                std::vector<float>(N, 0.7f), width};
      for (std::size_t j = 0; j < N; ++j) data.y[3 * j] += 1;
      expect_gaussian_sums(data, 2e-6, few_options(true));
    }
  }
}

// Only the rows that a NaN enters are NaNs. A point at infinity is far from all others.
TEST(GaussianSum, RowsThatAreNotFinite) {
  Data data = data_of(301, 301, {2, 1});
  data.x[3 * 5 + 1] = nan;
  data.x[3 * 130] = infinity;
  data.x[3 * 300 + 2] = -infinity;
  expect_gaussian_sums(data);
  for (std::size_t k = 0; k < 3 * 100; ++k) data.x[k] = nan;  // all that the centre samples
  expect_gaussian_sums(data);
  for (std::size_t k = 0; k < 3 * 100; ++k) data.x[k] = 3e38f;
  expect_gaussian_sums(data);
}

TEST(GaussianSum, ColumnsThatAreNotFinite) {
  Data data = data_of(301, 601, {2, 1});
  data.y[3 * 7] = infinity;
  data.y[3 * 300 + 2] = -infinity;
  expect_gaussian_sums(data);
  data.x[3 * 9] = infinity;  // at no distance from the column
  expect_gaussian_sums(data);
  data.y[3 * 550] = nan;
  expect_gaussian_sums(data);
}

TEST(GaussianSum, SignalsThatAreNotFinite) {
  for (const float signal : {infinity, -infinity, nan}) {
    Data data = data_of(301, 301, {2, 1});
    data.b[77] = signal;
    expect_gaussian_sums(data);
  }
}

// A sum that passes the largest float is infinite, with any number of columns and parts.
TEST(GaussianSum, ThatOverflows) {
  for (const std::size_t N : {2, 9, 301, 1501}) {
    if (is_small() && N != 9 && N != 301) continue;
    for (const float signal : {3e38f, -3e38f}) {
      const std::vector<float> x(3 * 33, 1.0f);
      const DeviceBuffer<float> device_x = on_device(x);
      const DeviceBuffer<float> y = on_device(std::vector<float>(3 * N, 1.0f));
      const DeviceBuffer<float> b = on_device(std::vector<float>(N, signal));
      for (const Options& options : all_options(true)) {
        SCOPED_TRACE(name_of(options) + ", N " + std::to_string(N));
        expect_close(
            reduced(Gaussian<float, 3>(), Sum<float>(), over_i(vectors<3>(device_x.span())),
                    over_j(vectors<3>(y.span()), vectors<1>(b.span())), options),
            std::vector<double>(33, signal * infinity), 0);
      }
    }
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
