// Sums of Gaussians with signals of several numbers, which the tensor kernel adds up by a second
// matrix product: numbers of very different sizes, and tiles that have nothing in common.
#include "../number_types.hpp"
#include "../test_size.hpp"
#include "gaussian.cuh"

namespace warpath::map_reduce::test {
namespace {

/// Signals whose number e is uniform in [0.5, 1.5) times size_of(j, e).
template <int D, int E, class SizeOf>
GaussianData<float, D, E> data_of(std::int64_t M, std::int64_t N, SizeOf size_of) {
  GaussianData<float, D, E> data = gaussian_data<float, D, E>(M, N, {30, 2, 1.5});
  for (std::size_t k = 0; k < data.b.size(); ++k) {
    data.b[k] *= static_cast<float>(size_of(k / E, k % E));
  }
  return data;
}

/// One number of all signals by itself: an error of a small one is not lost beside a large one.
template <int D, int E>
void expect_each_number(const GaussianData<float, D, E>& data, double most_error = 2e-6) {
  const std::vector<double> expected = expected_gaussian_sums(data);
  const DeviceBuffer<float> x = on_device(data.x);
  const DeviceBuffer<float> y = on_device(data.y);
  const DeviceBuffer<float> b = on_device(data.b);
  for (const Options& options :
       {Options{Variant::tensor}, Options{Variant::tensor, 192, 0, 3}, Options{}}) {
    const std::vector<float> found = numbers_of<float>(reduced(
        Gaussian<float, D, E>(data.width), Sum<ValueOf<float, E>>(), over_i(vectors<D>(x.span())),
        over_j(vectors<D>(y.span()), vectors<E>(b.span())), options));
    for (std::size_t e = 0; e < E; ++e) {
      SCOPED_TRACE(name_of(options) + ", number " + std::to_string(e));
      std::vector<float> of_e;
      std::vector<double> expected_of_e;
      for (std::size_t k = e; k < found.size(); k += E) {
        of_e.push_back(found[k]);
        expected_of_e.push_back(expected[k]);
      }
      expect_close(of_e, expected_of_e, most_error);
    }
  }
}

int columns() {
  return is_small() ? 301 : 701;
}

// As many numbers as one, two and three products take, and fewer; narrow and wide points.
TEST(Signals, OfAnyLength) {
  const auto one = [](std::size_t, std::size_t) { return 1.0; };
  expect_each_number(data_of<3, 5>(300, columns(), one));
  expect_each_number(data_of<16, 17>(71, columns(), one));
  expect_each_number(data_of<33, 3>(71, columns(), one));
  if constexpr (!has_few_types) {
    expect_each_number(data_of<1, 4>(71, columns(), one));
    expect_each_number(data_of<2, 43>(71, columns(), one));
    expect_each_number(data_of<17, 20>(71, columns(), one));
    expect_each_number(data_of<3, 8>(71, columns(), one));
    expect_each_number(data_of<10, 64>(71, columns(), one));
    expect_each_number(data_of<9, 2>(71, columns(), one));
    expect_each_number(data_of<70, 40>(71, columns(), one));
    expect_each_number(data_of<40, 33>(71, columns(), one));
  }
}

// Numbers of one signal, columns of a tile, and tiles: of any sizes.
template <int D, int E>
void expect_signals_of_any_sizes() {
  // (In many dimensions exponentials of these points are as small as 2^-20.)
  constexpr double sizes[] = {1e-30, 1e30, D > 8 ? 1e-31 : 3e-38, 0, 1e12};
  expect_each_number(
      data_of<D, E>(71, columns(), [&](std::size_t, std::size_t e) { return sizes[e]; }));
  expect_each_number(data_of<D, E>(71, columns(), [](std::size_t j, std::size_t e) {
    return std::exp2(static_cast<double>(e) - 2.0 * static_cast<double>(j * 7 % 23));
  }));
  expect_each_number(data_of<D, E>(
      71, columns(), [](std::size_t j, std::size_t) { return j / 256 % 2 == 0 ? 1e-20 : 1e20; }));
}
TEST(Signals, OfAnySizes) {
  expect_signals_of_any_sizes<3, 5>();
  expect_signals_of_any_sizes<33, 3>();
}

// Products of halves, or of what is scaled for them, would lose them: a small signal at the row, a
// large one as far from it as the form allows.
template <int D, int E>
void expect_small_ones_near_and_large_ones_far() {
  const int n = 64;
  GaussianData<float, D, E> data{std::vector<float>(D * n), std::vector<float>(D * n),
                                 std::vector<float>(E * n), 1};
  const auto edge = static_cast<float>(std::sqrt(0.99 * detail::most_square<D> / log2_e));
  for (std::size_t k = 0; k < n; ++k) {
    data.x[D * k] = k % 2 == 0 ? edge : -edge;
    data.y[D * k] = k % 3 == 0 ? edge : -edge;
    for (std::size_t e = 0; e < E; ++e) {
      data.b[E * k + e] = k % 3 == 0 ? std::exp2(-5.0f * static_cast<float>(e)) : 1.1f;
    }
  }
  expect_each_number(data, D > 8 ? 5e-6 : 2e-6);
}
TEST(Signals, SmallOnesNearAndLargeOnesFar) {
  expect_small_ones_near_and_large_ones_far<3, 5>();
  expect_small_ones_near_and_large_ones_far<33, 3>();
}

// A number that is 0 everywhere, and one that is not finite somewhere: the others stay right.
template <int D, int E>
void expect_zeros_and_what_is_not_finite() {
  auto data =
      data_of<D, E>(71, columns(), [](std::size_t, std::size_t e) { return e == E / 2 ? 0 : 1; });
  expect_each_number(data);
  data.b[E * 270 + E / 2 - 1] = infinity;
  expect_each_number(data);
  data.b[E * 20 + E - 1] = std::numeric_limits<float>::quiet_NaN();
  expect_each_number(data);
}
TEST(Signals, ZerosAndWhatIsNotFinite) {
  expect_zeros_and_what_is_not_finite<3, 5>();
  expect_zeros_and_what_is_not_finite<33, 3>();
}

// All terms are equal: the tensor cores truncate all sums in the same direction.
TEST(Signals, OfEqualTerms) {
  const std::size_t n = is_small() ? 1001 : 5003;
  GaussianData<float, 3, 5> data{std::vector<float>(3 * 19, 17), std::vector<float>(3 * n, 17),
                                 std::vector<float>(5 * n, 0.7f), 0.83};
  for (std::size_t j = 0; j < n; ++j) data.y[3 * j] += 0.9f;
  expect_each_number(data, 1e-6);
}

// A tile that is far from all rows lies in the same memory as the products'.
template <int D, int E>
void expect_that_some_tiles_are_far() {
  auto data = data_of<D, E>(300, 701, [](std::size_t, std::size_t e) { return e + 1.0; });
  for (std::size_t k = D * 300; k < D * 400; ++k) data.y[k] += k % 2 == 0 ? 9.0f : -9.0f;
  expect_each_number(data);
}
TEST(Signals, SomeTilesAreFar) {
  expect_that_some_tiles_are_far<3, 5>();
  expect_that_some_tiles_are_far<33, 3>();
}

// Blocks work on several tiles at once, and several blocks on a row.

// More far tiles than a block notes: what was fetched for the next one must not fall into the sums
// (seen on a GPU only: emulated copies are done at once).
template <int D, int E>
void expect_that_many_tiles_are_far() {
  auto data = data_of<D, E>(71, 5200, [](std::size_t, std::size_t e) { return e + 1.0; });
  for (std::size_t tile = 1; tile < 19; tile += 2) data.y[D * (256 * tile + 9)] += 9;
  expect_each_number(data);
}
TEST(Signals, ManyTilesAreFar) {
  expect_that_many_tiles_are_far<3, 16>();
  expect_that_many_tiles_are_far<33, 3>();
}

TEST(Signals, HaveTheSameBitsInEveryRun) {
  const auto data = gaussian_data<float, 3, 5>(is_emulated ? 20 : 20'011,
                                               is_emulated ? 301 : 60'013, {0, 1, 0.7});
  const DeviceBuffer<float> x = on_device(data.x);
  const DeviceBuffer<float> y = on_device(data.y);
  const DeviceBuffer<float> b = on_device(data.b);
  std::vector<float> first;
  for (int run = 0; run < (is_emulated ? 2 : 20); ++run) {
    const std::vector<float> sums = numbers_of<float>(reduced(
        Gaussian<float, 3, 5>(data.width), Sum<ValueOf<float, 5>>(), over_i(vectors<3>(x.span())),
        over_j(vectors<3>(y.span()), vectors<5>(b.span())), {Variant::tensor}));
    if (run == 0) first = sums;
    ASSERT_EQ(sums, first) << "run " << run;
  }
}

// 32 bytes a column for up to eight numbers, in whole tiles, and 32 a tile; as much for points of
// up to four coordinates and the square, and 16 for each line, where warpgroups multiply.
TEST(Signals, TakeMemoryEvenInOnePart) {
  const Plan made =
      plan(Gaussian<float, 3, 5>(), Sum<ValueOf<float, 5>>(), over_i(Array<float, 3>{nullptr, 10}),
           over_j(Array<float, 3>{nullptr, 300}, Array<float, 5>{nullptr, 300}),
           {Variant::tensor, 192, 0, 1});
  EXPECT_EQ(made.parts, 1);
  const std::int64_t lines = 2 + 128 / 8;
  EXPECT_EQ(made.extra_bytes,
            made.takes_warpgroups
                ? 3 * (128 * 32 + 128 * 32 + 16 * lines + 32 + 16)
                : 2 * (256 * 32 + 32) + 10 * 2 * 5 * 4 +
                      static_cast<std::int64_t>(sizeof(detail::FarPoints<3, 256>)));
}

// From addresses where signals can be read in whole vectors, and where they cannot: in up to 16
// dimensions they are split, in more they are not.
template <int D>
void expect_signals_that_begin_anywhere() {
  const auto data =
      data_of<D, 4>(71, columns(), [](std::size_t, std::size_t e) { return e + 1.0; });
  const std::vector<double> expected = expected_gaussian_sums(data);
  const DeviceBuffer<float> x = on_device(data.x);
  const DeviceBuffer<float> y = on_device(data.y);
  for (const std::size_t offset : {0, 1, 2}) {
    SCOPED_TRACE(offset);
    std::vector<float> padded(offset, 1e30f);
    padded.insert(padded.end(), data.b.begin(), data.b.end());
    const DeviceBuffer<float> b = on_device(padded);
    const DeviceSpan<const float> signals{b.data() + offset,
                                          static_cast<std::int64_t>(data.b.size())};
    expect_close(numbers_of<float>(reduced(Gaussian<float, D, 4>(data.width),
                                           Sum<ValueOf<float, 4>>(), over_i(vectors<D>(x.span())),
                                           over_j(vectors<D>(y.span()), vectors<4>(signals)),
                                           {Variant::tensor})),
                 expected, 2e-6);
  }
}
TEST(Signals, ThatBeginAnywhere) {
  expect_signals_that_begin_anywhere<3>();
  if constexpr (!has_few_types) expect_signals_that_begin_anywhere<17>();
}

// Sums near the largest number, and beyond it.
TEST(Signals, NearTheLargestNumber) {
  for (const float signal : {1.7e38f, 0.8e38f, 3e38f, -3e38f}) {
    GaussianData<float, 3, 5> data{std::vector<float>(3 * 34), std::vector<float>(3 * 3),
                                   std::vector<float>(5 * 3, signal), 1};
    for (std::size_t i = 0; i < data.x.size(); i += 3) data.x[i] = i % 2 == 0 ? -1.5f : 1.5f;
    if (std::abs(signal) > 2e38f) std::fill(data.x.begin(), data.x.end(), 0.0f);
    const double beyond = static_cast<double>(std::numeric_limits<float>::max());
    std::vector<double> expected = expected_gaussian_sums(data);
    for (double& sum : expected) {
      if (std::abs(sum) > beyond) sum = sum > 0 ? INFINITY : -INFINITY;
    }
    const DeviceBuffer<float> x = on_device(data.x);
    const DeviceBuffer<float> y = on_device(data.y);
    const DeviceBuffer<float> b = on_device(data.b);
    for (const Options& options : few_options(true)) {
      SCOPED_TRACE(name_of(options));
      expect_close(
          numbers_of<float>(reduced(Gaussian<float, 3, 5>(), Sum<ValueOf<float, 5>>(),
                                    over_i(vectors<3>(x.span())),
                                    over_j(vectors<3>(y.span()), vectors<5>(b.span())), options)),
          expected, 2e-6);
    }
  }
}

}  // namespace
}  // namespace warpath::map_reduce::test
