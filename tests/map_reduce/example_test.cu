// The example of algorithms/map_reduce/README.md: a formula and a reduction of one's own. What
// stands between the two lines is in the README, word for word; a test of the documents compares
// them.
#include "support.cuh"

namespace warpath::map_reduce::test {
namespace {

// example begins
struct Cauchy {  // a formula: its members are the parameters p
  float width;
  __device__ float operator()(const Vector<float, 3>& x, const Vector<float, 3>& y, float b) const {
    return b / (1 + squared_distance(x, y) / (width * width));
  }
};

struct CountAbove {  // a reduction: how many values are greater than the threshold
  float threshold;
  using State = int;
  using Result = int;
  __device__ int neutral() const { return 0; }
  __device__ void add(int& count, float value, std::int64_t) const { count += value > threshold; }
  __device__ void merge(int& count, int other) const { count += other; }
  __device__ int result(int count) const { return count; }
};

// x, y: three numbers a point; b: one for each y; out: one for each x. Nothing synchronises.
void count_strong_pairs(DeviceSpan<const float> x, DeviceSpan<const float> y,
                        DeviceSpan<const float> b, DeviceSpan<int> out, Workspace& workspace,
                        cudaStream_t stream) {
  map_reduce::reduce(Cauchy{2.0f}, CountAbove{0.5f}, over_i(vectors<3>(x)),
                     over_j(vectors<3>(y), vectors<1>(b)), out, workspace, stream);
}
// example ends

TEST(Example, CountsStrongPairs) {
  const int M = 120;
  const int N = 900;
  const std::vector<float> x = uniform<float>(3 * M, 1, 0, 5);
  const std::vector<float> y = uniform<float>(3 * N, 2, 0, 5);
  const std::vector<float> b = uniform<float>(N, 3);
  std::vector<int> expected;
  std::vector<int> unsure;  // values that are too close to the threshold
  for (int i = 0; i < M; ++i) {
    int above = 0;
    int close = 0;
    for (int j = 0; j < N; ++j) {
      const double square = oracle::squared_distance(&x[static_cast<std::size_t>(3 * i)],
                                                     &y[static_cast<std::size_t>(3 * j)], 3);
      const double value = static_cast<double>(b[static_cast<std::size_t>(j)]) / (1 + square / 4);
      above += value > 0.5;
      close += std::abs(value - 0.5) < 1e-5;
    }
    expected.push_back(above);
    unsure.push_back(close);
  }
  const Stream stream;
  Workspace workspace;
  const DeviceBuffer<float> device_x = on_device(x);
  const DeviceBuffer<float> device_y = on_device(y);
  const DeviceBuffer<float> device_b = on_device(b);
  Guarded<int> out(M);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  count_strong_pairs(device_x.span(), device_y.span(), device_b.span(), out.span(), workspace,
                     stream);
  const std::vector<int> counts = out.get();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_NEAR(counts[i], expected[i], unsure[i]) << "row " << i;
  }
  // The other variants count the same pairs.
  for (const Options& options : all_options(false)) {
    SCOPED_TRACE(name_of(options));
    EXPECT_EQ(reduced(Cauchy{2.0f}, CountAbove{0.5f}, over_i(vectors<3>(device_x.span())),
                      over_j(vectors<3>(device_y.span()), vectors<1>(device_b.span())), options),
              counts);
  }
}

}  // namespace
}  // namespace warpath::map_reduce::test
