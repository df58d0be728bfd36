// Sums of Gaussians in 1 to 128 dimensions, with signals of several numbers and in double: the
// layouts of rows and columns that three dimensions do not have.
#include <numeric>

#include "../number_types.hpp"
#include "../test_size.hpp"
#include "gaussian.cuh"

namespace warpath::map_reduce::test {
namespace {

// Narrow fragments of one and two chunks, and wide ones of one to eight; the box lies off the
// origin, and the columns fill no tile. Of few types: narrow ones of one chunk, wide ones of the
// fewest and of the most.
TEST(GaussianSumIn, OneDimension) {
  expect_gaussian_sums(gaussian_data<float, 1, 1>(71, 301, {30, 2}));
}
TEST(GaussianSumIn, SixteenDimensions) {
  expect_gaussian_sums(gaussian_data<float, 16, 1>(301, 301, {30, 2, 1.5}));
  expect_gaussian_sums(gaussian_data<float, 16, 1>(71, 301, {1000, 2, 1.5}));
  expect_gaussian_sums(gaussian_data<float, 16, 1>(71, 301, {1e6, 2, 1.5}));
}
#ifndef WARPATH_TEST_FEW_TYPES
TEST(GaussianSumIn, EightDimensions) {
  expect_gaussian_sums(gaussian_data<float, 8, 1>(71, 301, {30, 2, 1.5}));
}
TEST(GaussianSumIn, SixtyFourDimensions) {
  const int N = is_small() ? 71 : 141;
  expect_gaussian_sums(gaussian_data<float, 64, 1>(71, N, {0, 1, 3}));
  expect_gaussian_sums(gaussian_data<float, 64, 1>(71, N, {-20, 40, 40}));
  expect_gaussian_sums(gaussian_data<float, 64, 1>(71, N, {1000, 1, 3}));
}
#endif
TEST(GaussianSumIn, ManyDimensionsThatAreNoMultipleOfAChunk) {
  const int M = is_small() ? 17 : 41;
  const int N = is_small() ? 71 : 141;
  expect_gaussian_sums(gaussian_data<float, 127, 1>(M, N, {0, 1, 8}));
  expect_gaussian_sums(gaussian_data<float, 127, 1>(M, N, {0, 1, 1}));
  expect_gaussian_sums(gaussian_data<float, 127, 1>(M, N, {1000, 1, 1}));
}

// The squares in the Gram form are large here, and the distances small: within the limit of the
// form, where truncated sums are seen most, and beyond it.
TEST(GaussianSumIn, ManyDimensionsInClusters) {
  constexpr int D = 127;
  constexpr int clusters = 5;
  const int M = is_small() ? 17 : 41;
  const int N = is_small() ? 71 : 203;
  for (const double span : {0.8, 0.9, 1.2}) {
    const std::vector<float> centres = uniform<float>(clusters * D, 7, 30, span);
    const auto points = [&](int count, std::uint64_t seed) {
      std::vector<float> all = uniform<float>(count * D, seed, -0.03, 0.06);
      for (std::size_t k = 0; k < all.size(); ++k) all[k] += centres[k % (clusters * D)];
      return all;
    };
    expect_gaussian_sums(
        GaussianData<float, D, 1>{points(M, 1), points(N, 2), uniform<float>(N, 3, 0.5), 1.0}, 2e-6,
        few_options(true));
  }
}

// Every sum is one term, K(x, x), at squares near the form's limit: products are as large as they
// get, and the tensor cores truncate all of their terms in the same direction.
template <int D>
void expect_sums_of_points_with_themselves() {
  const int M = is_small() ? 71 : 201;
  std::vector<float> points = uniform<float>(M * D, 11, -1, 2);
  for (int i = 0; i < M; ++i) {
    float* const point = &points[static_cast<std::size_t>(i) * D];
    const double square = std::inner_product(point, point + D, point, 0.0);
    for (int k = 0; k < D; ++k) {
      point[k] *= static_cast<float>(std::sqrt(0.7 * detail::most_square<D> / log2_e / square));
    }
  }
  const std::vector<float> ones(static_cast<std::size_t>(M), 1);
  expect_gaussian_sums(GaussianData<float, D, 1>{points, points, ones, 1.0}, 2e-6,
                       few_options(true));
}
TEST(GaussianSumIn, ManyDimensionsOfPointsWithThemselves) {
  expect_sums_of_points_with_themselves<16>();
  expect_sums_of_points_with_themselves<127>();
  if constexpr (!has_few_types) {
    expect_sums_of_points_with_themselves<32>();
    expect_sums_of_points_with_themselves<64>();
  }
}

// One column near a row that is as far from the centre as the form takes points of up to 3.95: the
// worst direction that a search found, off by 2.1e-6 there.
TEST(GaussianSumIn, EightDimensionsFarFromTheCentre) {
  const std::vector<float> row{0x1.402612p+0f, -0x1.aade2ep-2f, 0x1.aaddf8p-2f, -0x1.aadedap-2f,
                               0x1.490f54p-2f, -0x1.aadc58p-2f, 0x1.aadcb2p-2f, -0x1.aade3ap-2f};
  const std::vector<float> column{0x1.402758p+0f, -0x1.aadf1cp-2f, 0x1.aadf1cp-2f, -0x1.aadf1cp-2f,
                                  0x1.490ff4p-2f, -0x1.aadf1cp-2f, 0x1.aadf1cp-2f, -0x1.aadf1cp-2f};
  std::vector<float> rows = row;
  for (const float u : row) rows.push_back(-u);  // the centre is 0
  expect_gaussian_sums(GaussianData<float, 8, 1>{rows, column, {0x1.32a51ep-1f}, 1.0}, 2e-6,
                       {{.variant = Variant::tensor}});
}

TEST(GaussianSumIn, SignalsOfSeveralNumbers) {
  expect_gaussian_sums(gaussian_data<float, 3, 3>(71, 301, {30, 2}));
}

TEST(GaussianSumIn, Double) {
  expect_gaussian_sums(gaussian_data<double, 3, 1>(71, 601, {0, 1}), 1e-14);
  expect_gaussian_sums(gaussian_data<double, 3, 1>(71, 601, {1e6, 3}), 1e-14);
  // 2^-1074 to 2^0, and less.
  expect_gaussian_sums(gaussian_data<double, 3, 1>(5, 601, {0, 60, 1}), 1e-14);
}

// As many equal terms as a GPU's memory holds: 3e9. The signal is the coordinate.
TEST(GaussianSumIn, BillionsOfEqualTerms) {
  std::int64_t N = is_small() ? 3'001 : 10'007;
  if (!is_emulated && !is_small()) {
    std::size_t free = 0;
    std::size_t total = 0;
    WARPATH_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    N = std::min<std::int64_t>(3'000'000'007, static_cast<std::int64_t>(free / 8));
  }
  DeviceBuffer<float> y(N);
  WARPATH_CUDA_CHECK(cudaMemset(y.data(), 0x3F, static_cast<std::size_t>(N) * sizeof(float)));
  float column = 0;
  std::memset(&column, 0x3F, sizeof column);
  for (const int M : {1, 19}) {
    const std::vector<float> x(static_cast<std::size_t>(M), 1 + column);
    const DeviceBuffer<float> device_x = on_device(x);
    const double term = oracle::gaussian(x.data(), &column, 1, 1.0) * static_cast<double>(column);
    const std::vector<double> expected(x.size(), term * static_cast<double>(N));
    for (const Options& options : few_options(true)) {
      const bool is_one_block =
          options.variant == Variant::gpu_1d || options.variant == Variant::tuned_1d;
      if (!is_emulated && (is_one_block || options.variant == Variant::naive)) continue;
      SCOPED_TRACE(name_of(options) + ", M " + std::to_string(M));
      expect_close(reduced(Gaussian<float, 1>(), Sum<float>(), over_i(vectors<1>(device_x.span())),
                           over_j(vectors<1>(y.span()), vectors<1>(y.span())), options),
                   expected, 2e-6);
    }
  }
}

}  // namespace
}  // namespace warpath::map_reduce::test
