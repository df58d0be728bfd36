// For the tests of Gaussian sums: the sums of all options against double precision.
#pragma once

#include "support.cuh"

namespace warpath::map_reduce::test {

/// Points on both sides, D numbers each, with a signal of E numbers for each column.
template <class T, int D, int E>
struct GaussianData {
  std::vector<T> x;
  std::vector<T> y;
  std::vector<T> b;
  double width = 1;
};

template <class T, int D, int E>
std::vector<double> expected_gaussian_sums(const GaussianData<T, D, E>& data) {
  std::vector<double> expected;
  for (std::size_t i = 0; i < data.x.size(); i += D) {
    double sums[E] = {};
    for (std::size_t j = 0; j < data.b.size() / E; ++j) {
      const double kernel = oracle::gaussian(&data.x[i], &data.y[j * D], D, data.width);
      for (int e = 0; e < E; ++e) {
        sums[e] += kernel * static_cast<double>(data.b[j * E + static_cast<std::size_t>(e)]);
      }
    }
    expected.insert(expected.end(), sums, sums + E);
  }
  return expected;
}

/// The sums of all options, all numbers of which are compared. Numbers that are not finite must be
/// the same; `most_error` is the relative error of the others.
template <class T, int D, int E>
void expect_gaussian_sums(const GaussianData<T, D, E>& data, double most_error = 2e-6,
                          const std::vector<Options>& all = all_options(std::is_same_v<T, float>)) {
  const std::vector<double> expected = expected_gaussian_sums(data);
  const DeviceBuffer<T> x = on_device(data.x);
  const DeviceBuffer<T> y = on_device(data.y);
  const DeviceBuffer<T> b = on_device(data.b);
  for (const Options& options : all) {
    SCOPED_TRACE(name_of(options) + ", M " + std::to_string(data.x.size() / D) + ", N " +
                 std::to_string(data.y.size() / D) + ", D " + std::to_string(D) + ", width " +
                 std::to_string(data.width));
    expect_close(
        numbers_of<T>(reduced(Gaussian<T, D, E>(data.width), Sum<ValueOf<T, E>>(),
                              over_i(vectors<D>(x.span())),
                              over_j(vectors<D>(y.span()), vectors<E>(b.span())), options)),
        expected, most_error);
  }
}

struct Box {
  double low = 0;
  double span = 1;
  double width = 1;
};

/// M x N points in a box, with coordinates that are multiples of 1/16 where the box lies far away:
/// they are exact then.
template <class T, int D, int E>
GaussianData<T, D, E> gaussian_data(std::int64_t M, std::int64_t N, const Box& box) {
  const bool is_near = std::abs(box.low) < 100;
  const auto points = [&](std::int64_t count, std::uint64_t seed) {
    return is_near ? uniform<T>(count, seed, box.low, box.span)
                   : sixteenths<T>(count, seed, box.low, box.span);
  };
  return {points(M * D, 1), points(N * D, 2), uniform<T>(N * E, 3, 0.5), box.width};
}

}  // namespace warpath::map_reduce::test
