// Lists of more least values than a thread's registers hold, which warps keep: by every variant, of
// every length, among values that are equal and that are not finite.
#include <algorithm>
#include <limits>

#include "../test_size.hpp"
#include "support.cuh"

namespace warpath::map_reduce::test {
namespace {

// More than a thread's registers hold: lists that warps keep. Of many columns that are equal, and
// of fewer columns than the list has.
template <int K>
void expect_lists() {
  const std::vector<Size> short_sizes = {{3, 5, 0}, {1, 301, 1000}, {71, 203, 30}};
  for (const auto& [M, N, offset] : is_small() ? short_sizes : sizes()) {
    if (M > 200) continue;  // two blocks have been
    const PointPairs points(grid_points(3 * M, 4, offset), grid_points(3 * N, 5, offset));
    std::vector<Vector<std::int64_t, K>> expected;
    for (const auto& row : points.squares) expected.push_back(least_columns<K>(row));
    for (const Options& options : few_options(true)) {
      SCOPED_TRACE(name_of(options) + ", M " + std::to_string(M) + ", N " + std::to_string(N));
      const auto found = reduced(SquaredDistance<float, 3>(), ArgKMin<float, K>(), points.rows(),
                                 points.columns(), options);
      EXPECT_EQ(numbers_of<std::int64_t>(found), numbers_of<std::int64_t>(expected));
    }
  }
}
TEST(Lists, OfAHundred) {
  expect_lists<100>();
}

template <class T>
struct Product {
  __device__ T operator()(const Vector<T, 1>& x, const Vector<T, 1>& y) const {
    return x[0] * y[0];
  }
};

// Other lengths: a warp's lists have one, two or four entries a lane, some of which are none.
template <class T, int K>
void expect_lists_of_values() {
  for (const std::int64_t N : {K - 1, K + 1, is_small() ? 300 : 700}) {
    if (is_small() && N == K + 1) continue;
    std::vector<T> y;
    for (const float number : grid_points(N, 6)) y.push_back(static_cast<T>(3 - number));
    y[static_cast<std::size_t>(N) / 2] = std::numeric_limits<T>::quiet_NaN();
    y[static_cast<std::size_t>(N) / 3] = std::numeric_limits<T>::infinity();
    y[static_cast<std::size_t>(N) / 4] = -std::numeric_limits<T>::infinity();
    constexpr std::int64_t M = detail::ListShapeOf<T>::block_rows + 7;
    const DeviceBuffer<T> device_x = on_device(std::vector<T>(M, T{1}));
    const DeviceBuffer<T> device_y = on_device(y);
    const auto x = over_i(vectors<1>(device_x.span()));
    const auto columns = over_j(vectors<1>(device_y.span()));
    std::vector<std::int64_t> order;
    for (std::int64_t j = 0; j < N; ++j) {
      if (!std::isnan(y[static_cast<std::size_t>(j)])) order.push_back(j);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return y[static_cast<std::size_t>(a)] < y[static_cast<std::size_t>(b)];
    });
    order.resize(K, -1);
    using Reduction = ArgKMin<T, K>;
    for (const std::int64_t span : {std::int64_t{256}, std::int64_t{1024}}) {
      const Stream stream;
      Workspace workspace;
      Guarded<typename Reduction::Result> out(M);
      const detail::Problem<Product<T>, Reduction, decltype(x.arrays), decltype(columns.arrays)>
          problem{{}, {}, x.arrays, columns.arrays, M, N, out.span().data};
      const Choice choice{.variant = Variant::tuned_2d,
                          .block_rows = detail::ListShapeOf<T>::block_rows,
                          .parts = divide_up(N, span),
                          .span = span};
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
      detail::run_rows(problem, choice, workspace, stream);
      const auto found = numbers_of<std::int64_t>(out.get());
      for (std::int64_t i = 0; i < M; ++i) {
        EXPECT_TRUE(std::equal(order.begin(), order.end(), found.begin() + i * K))
            << "K " << K << ", N " << N << ", span " << span << ", row " << i;
      }
    }
  }
}
TEST(Lists, OfEveryLength) {
  expect_lists_of_values<float, 17>();
  expect_lists_of_values<float, 32>();
  expect_lists_of_values<float, 33>();
  expect_lists_of_values<float, 64>();
  expect_lists_of_values<double, 128>();
}

// The Gram form rules out no column of a row that is not finite, and none that is beyond halves.
TEST(Lists, OfPointsThatAreFarAwayOrNotFinite) {
  std::vector<float> x(3 * 71, 0.25f);
  x[3 * 7] = infinity;
  x[3 * 40 + 1] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> y = uniform<float>(3 * 701, 11);
  for (std::size_t k = 0; k < y.size(); k += 7) y[k] *= 1e9f;
  y[3 * 9 + 1] = std::numeric_limits<float>::quiet_NaN();
  y[3 * 500 + 2] = -infinity;
  const PointPairs points(x, y);
  const auto by = [&](const Options& options) {
    return numbers_of<std::int64_t>(reduced(SquaredDistance<float, 3>(), ArgKMin<float, 100>(),
                                            points.rows(), points.columns(), options));
  };
  const auto expected = by({Variant::gpu_1d});
  EXPECT_EQ(by({Variant::tuned_2d, 192, 0, 3}), expected);
  EXPECT_EQ(by({Variant::tensor}), expected);
}

}  // namespace
}  // namespace warpath::map_reduce::test
