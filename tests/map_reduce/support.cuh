// What the tests of map_reduce share: points, calls whose result has guards on both sides, and what
// is expected of them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../guarded.cuh"
#include "../message_of.hpp"
#include "../stream.cuh"
#include "../test_size.hpp"
#include "map_reduce/map_reduce.cuh"
#include "map_reduce/oracle.hpp"

namespace warpath::map_reduce::test {

/// Whether kernels run on the emulated backend: large sizes take too long there.
#ifdef SIMT_EMULATION
inline constexpr bool is_emulated = true;
#else
inline constexpr bool is_emulated = false;
#endif

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Numbers in [low, low + span).
template <class T>
std::vector<T> uniform(std::int64_t count, std::uint64_t seed, double low = 0, double span = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> numbers(low, low + span);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(numbers(random));
  return values;
}

/// The same, rounded to multiples of 1/16: exact in float up to 2^20.
template <class T>
std::vector<T> sixteenths(std::int64_t count, std::uint64_t seed, double low, double span) {
  std::vector<T> values = uniform<T>(count, seed, 0, span);
  for (T& value : values) {
    value = static_cast<T>(low + std::round(static_cast<double>(value) * 16) / 16);
  }
  return values;
}

/// Small integers, and `offset`, so that distances are exact and many are equal.
inline std::vector<float> grid_points(std::int64_t count, std::uint64_t seed, float offset = 0) {
  std::mt19937_64 random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = offset + static_cast<float>(random() % 7);
  return values;
}

inline std::string name_of(const Options& options) {
  std::string name(enum_name(options.variant));
  name += " K " + std::to_string(options.block_threads);
  name += " rows " + std::to_string(options.rows_per_thread);
  return name + " splits " + std::to_string(options.splits);
}

/// Every variant, in several shapes; in a short run, in fewer.
inline std::vector<Options> all_options(bool has_tensor) {
  std::vector<Options> all = {
      {Variant::naive},
      {Variant::gpu_1d, 192},
      {Variant::gpu_2d, 64},
      {Variant::tuned_1d, 192, 1},
      {Variant::tuned_2d},
      {Variant::tuned_2d, 192, 1, 50},
      {Variant::tuned_2d, 192, 0, 5},
      {Variant::automatic},
  };
  if (!is_small()) {
    all.push_back({Variant::gpu_1d, 32});
    all.push_back({Variant::tuned_1d});
    all.push_back({Variant::tuned_2d, 192, 1, 3});
  }
  if (has_tensor) {
    all.push_back({Variant::tensor});
    all.push_back({Variant::tensor, 192, 0, 4});
    if (!is_small()) all.push_back({Variant::tensor, 192, 0, 1});
  }
  return all;
}

/// One shape of every variant.
inline std::vector<Options> few_options(bool has_tensor) {
  std::vector<Options> few = {{Variant::naive},
                              {Variant::gpu_1d, 192},
                              {Variant::gpu_2d, 64},
                              {Variant::tuned_1d, 192, 1},
                              {Variant::tuned_2d, 192, 0, 5},
                              {Variant::automatic}};
  if (has_tensor) few.push_back({Variant::tensor});
  return few;
}

/// The result of a call.
template <class Formula, class Reduction, class X, class Y>
std::vector<typename Reduction::Result> reduced(const Formula& formula, const Reduction& reduction,
                                                const X& x, const Y& y,
                                                const Options& options = {}) {
  const Stream stream;
  Workspace workspace;
  Guarded<typename Reduction::Result> out(x.count);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
  reduce(formula, reduction, x, y, out.span(), workspace, stream, options);
  return out.get();
}

/// The numbers of a vector of results.
template <class T, class Result>
std::vector<T> numbers_of(const std::vector<Result>& results) {
  std::vector<T> numbers(results.size() * sizeof(Result) / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), results.data(), numbers.size() * sizeof(T));
  return numbers;
}

/// Fails unless what is not finite is the same, and the relative error of the rest, by the
/// Euclidean norm, is at most `most_error`.
template <class T>
void expect_close(const std::vector<T>& found, const std::vector<double>& expected,
                  double most_error) {
  ASSERT_EQ(found.size(), expected.size());
  std::vector<T> finite;
  std::vector<double> finite_expected;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto number = static_cast<double>(found[i]);
    if (std::isfinite(expected[i]) && std::isfinite(number)) {
      finite.push_back(found[i]);
      finite_expected.push_back(expected[i]);
    } else {
      ASSERT_TRUE(number == expected[i] || (std::isnan(number) && std::isnan(expected[i])))
          << "number " << i << " is " << number << ": expected " << expected[i];
    }
  }
  EXPECT_LE(oracle::relative_error(finite, finite_expected), most_error);
}

/// value(i, j) in double precision, a vector a row.
inline std::vector<std::vector<double>> rows_of(
    std::int64_t M, std::int64_t N,
    const std::function<double(std::int64_t, std::int64_t)>& value) {
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(M));
  for (std::int64_t i = 0; i < M; ++i) {
    for (std::int64_t j = 0; j < N; ++j) rows[static_cast<std::size_t>(i)].push_back(value(i, j));
  }
  return rows;
}

/// One number for each row.
inline std::vector<double> over_rows(const std::vector<std::vector<double>>& rows,
                                     const std::function<double(const std::vector<double>&)>& of) {
  std::vector<double> results;
  for (const std::vector<double>& row : rows) results.push_back(of(row));
  return results;
}

/// Points of three dimensions on both sides, and their squared distances.
struct PointPairs {
  PointPairs(std::vector<float> x_, std::vector<float> y_)
      : x(std::move(x_)),
        y(std::move(y_)),
        device_x(on_device(x)),
        device_y(on_device(y)),
        squares(rows_of(static_cast<std::int64_t>(x.size() / 3),
                        static_cast<std::int64_t>(y.size() / 3),
                        [this](std::int64_t i, std::int64_t j) {
                          return oracle::squared_distance(&x[static_cast<std::size_t>(i * 3)],
                                                          &y[static_cast<std::size_t>(j * 3)], 3);
                        })) {}
  [[nodiscard]] auto rows() const { return over_i(vectors<3>(device_x.span())); }
  [[nodiscard]] auto columns() const { return over_j(vectors<3>(device_y.span())); }

  std::vector<float> x;
  std::vector<float> y;
  DeviceBuffer<float> device_x;
  DeviceBuffer<float> device_y;
  std::vector<std::vector<double>> squares;  ///< a vector a row
};

/// M and N, and how far from the origin. N is no multiple of anything, but for one.
struct Size {
  int M;
  int N;
  float offset;
};
inline std::vector<Size> sizes() {
  if (is_small()) return {{3, 5, 0}, {1, 1101, 1000}, {131, 515, 30}};
  return {{1, 1, 1000},   {3, 5, 0},        {1, 2001, 30},
          {40, 33, 1e6f}, {131, 515, 1000}, {301, 603, -30}};
}

/// The columns of the K least values, by value and column; -1 where there are no more.
template <int K>
Vector<std::int64_t, K> least_columns(const std::vector<double>& row) {
  Vector<std::int64_t, K> columns;
  const std::vector<std::int64_t> order = oracle::by_value(row);
  for (int k = 0; k < K; ++k) {
    columns[k] = k < static_cast<int>(order.size()) ? order[static_cast<std::size_t>(k)] : -1;
  }
  return columns;
}

}  // namespace warpath::map_reduce::test
