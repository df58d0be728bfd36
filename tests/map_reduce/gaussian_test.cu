// Sums of Gaussians, by every scheme, against double precision.
#include "support.cuh"

namespace warpath::map_reduce::test {
namespace {

/// Gaussian sums of all schemes over M x N points, with all of their numbers compared.
template <class T, int D, int E>
void expect_gaussian_sums(std::int64_t M, std::int64_t N, double low, double span, double width,
                          double most_error) {
  using Value = ValueOf<T, E>;
  const std::vector<T> x = uniform<T>(M * D, 1, low, span);
  const std::vector<T> y = uniform<T>(N * D, 2, low, span);
  const std::vector<T> b = uniform<T>(N * E, 3, 0.5);
  std::vector<double> expected;
  for (std::int64_t i = 0; i < M; ++i) {
    for (int e = 0; e < E; ++e) {
      std::vector<double> values;
      for (std::int64_t j = 0; j < N; ++j) {
        values.push_back(oracle::gaussian(&x[i * D], &y[j * D], D, width) * b[j * E + e]);
      }
      expected.push_back(oracle::sum(values));
    }
  }
  const DeviceBuffer<T> device_x = on_device(x);
  const DeviceBuffer<T> device_y = on_device(y);
  const DeviceBuffer<T> device_b = on_device(b);
  for (const Options& options : all_options(std::is_same_v<T, float>)) {
    SCOPED_TRACE(name_of(options) + ", M " + std::to_string(M) + ", N " + std::to_string(N));
    const std::vector<Value> sums =
        reduced(Gaussian<T, D, E>(width), Sum<Value>(), over_i(vectors<D>(device_x.span())),
                over_j(vectors<D>(device_y.span()), vectors<E>(device_b.span())), options);
    std::vector<T> numbers(expected.size());
    memcpy(numbers.data(), sums.data(), numbers.size() * sizeof(T));
    EXPECT_LE(oracle::relative_error(numbers, expected), most_error);
  }
}

TEST(GaussianSum, ThreeDimensions) {
  for (const auto& [M, N] : std::vector<std::pair<int, int>>{
           {1, 1}, {1, 3001}, {31, 33}, {33, 31}, {129, 257}, {300, 700}}) {
    expect_gaussian_sums<float, 3, 1>(M, N, 0, 1, 1, 2e-6);
  }
}

}  // namespace
}  // namespace warpath::map_reduce::test
