// Sums by the products of warpgroups: what the tests of other sums do not reach. Tiles on their way
// through all stages, tiles and blocks that are computed from the differences, several blocks of
// rows, and where the kernel is taken.
#include "../test_size.hpp"
#include "gaussian.cuh"
#include "warpgroups.cuh"

namespace warpath::map_reduce::test {
namespace {

template <int D>
constexpr int tile = detail::SplitTile<D>::columns;

/// A cube off the origin. The mean square of a distance in it is D / 6; the width lets the form be
/// accurate for all of its points.
template <int D>
Box box() {
  return {30, 1, D / 8.0};
}

// One part with more tiles than stages, so that each stage is loaded again, and several parts. The
// last tile has one column.
TEST(WarpgroupSum, TilesThroughAllStages) {
  expect_gaussian_sums(gaussian_data<float, 9, 1>(19, 5 * tile<9> + 1, box<9>()), 2e-6,
                       {one_part, {.variant = Variant::tensor, .splits = 3}});
  if (is_small()) return;
  expect_gaussian_sums(gaussian_data<float, 33, 1>(19, 9 * tile<33> + 1, box<33>()), 2e-6,
                       {one_part, {.variant = Variant::tensor, .splits = 2}});
  expect_gaussian_sums(gaussian_data<float, 128, 1>(3, 5 * tile<128> + 1, box<128>()), 2e-6,
                       {one_part});
}

// Three blocks of rows, the last one with one row.
TEST(WarpgroupSum, BlocksOfRows) {
  const int M = is_small() ? 257 : 513;
  expect_gaussian_sums(gaussian_data<float, 20, 1>(M, 77, box<20>()), 2e-6, {tensor});
}

// The columns of the second of five tiles, and one of the fourth, are far from the centre.
TEST(WarpgroupSum, SomeTilesAreFar) {
  constexpr int D = 33;
  auto data = gaussian_data<float, D, 1>(71, 5 * tile<D> - 3, box<D>());
  for (int j = tile<D>; j < 2 * tile<D>; ++j) data.y[static_cast<std::size_t>(j * D)] += 19;
  data.y[static_cast<std::size_t>((3 * tile<D> + 7) * D + 5)] -= 100;
  expect_gaussian_sums(data, 2e-6, {one_part, tensor});
}

// A row that is far sends its block to the differences, and no other block.
TEST(WarpgroupSum, OneBlockOfRowsIsFar) {
  constexpr int D = 16;
  auto data = gaussian_data<float, D, 1>(300, tile<D> + 40, box<D>());
  data.x[260 * D + 3] += 50;
  expect_gaussian_sums(data, 2e-6, {one_part, tensor});
  data.x[7 * D] = nan;
  expect_gaussian_sums(data, 2e-6, {tensor});
}

// Numbers that are not finite in the midst of tiles, and in those that fill up the last one's.
TEST(WarpgroupSum, NumbersThatAreNotFinite) {
  constexpr int D = 17;
  const auto data = gaussian_data<float, D, 1>(41, 3 * tile<D> - 5, box<D>());
  for (const float number : {nan, infinity, -infinity}) {
    for (const std::size_t j : {3, 2 * tile<D> + 1}) {
      auto points = data;
      points.y[j * D + 16] = number;
      expect_gaussian_sums(points, 2e-6, {one_part});
      auto signals = data;
      signals.b[j] = number;
      expect_gaussian_sums(signals, 2e-6, {one_part});
    }
    if (is_small()) break;
  }
}

// Terms and sums beside the largest number, of which the form takes a factor out.
TEST(WarpgroupSum, NearTheLargestNumber) {
  constexpr int D = 12;
  for (const float signal : {1.6e38f, 2.1e38f}) {
    GaussianData<float, D, 1> data{std::vector<float>(D * 2), std::vector<float>(D * 2),
                                   std::vector<float>(2, signal), 1};
    data.x[0] = 0.5f;
    data.x[D] = -0.5f;
    expect_gaussian_sums(data, 2e-6, few_options(true));
  }
}

// A signal of which 2^-|v|^2 is no normal number, at points as far from the centre as the form
// takes them: K(x, x) = 1 is put together from that and its reciprocal. In one tile beside larger
// ones it need not be as exact.
TEST(WarpgroupSum, OfTinySignals) {
  constexpr int D = 65;
  const float a = std::sqrt(22.5f / static_cast<float>(log2_e) / D);
  for (const float signal : {1e-20f, 1e-25f, 1e-33f, 1e-36f, 2e-38f, -3e-39f}) {
    GaussianData<float, D, 1> data{std::vector<float>(2 * D, a), {}, {signal, signal}, 1};
    std::fill(data.x.begin() + D, data.x.end(), -a);
    data.y = data.x;
    expect_gaussian_sums(data, 5e-6, {tensor});
    data.b[0] = 0;
    expect_gaussian_sums(data, 5e-6, {tensor});
  }
}

// Of rows that lie in one place a row is a term, K(x, x) = 1, wherever that is.
TEST(WarpgroupSum, FarFromTheOrigin) {
  for (const float coordinate : {3.0f, 1000.1f, -1e15f}) {
    for (const double width : {1e-30, 1.3, 1e30}) {
      constexpr int D = 40;
      const GaussianData<float, D, 1> data{std::vector<float>(3 * D, coordinate),
                                           std::vector<float>(71 * D, coordinate),
                                           std::vector<float>(71, 1.0f), width};
      expect_gaussian_sums(data, 5e-7, {tensor});
    }
  }
}

// The logarithm of sums, whose columns have no signals, and whose states are longer.
TEST(WarpgroupSum, LogSumExp) {
  constexpr int D = 24;
  const auto data = gaussian_data<float, D, 1>(261, 3 * tile<D> - 1, {-7, 2, 4});
  auto y = data.y;
  y[7] += 90;  // a tile from the differences
  const DeviceBuffer<float> x = on_device(data.x);
  const DeviceBuffer<float> device_y = on_device(y);
  std::vector<double> expected;
  for (std::size_t i = 0; i < data.x.size(); i += D) {
    double sum = 0;
    for (std::size_t j = 0; j < y.size(); j += D) {
      sum += oracle::gaussian(&data.x[i], &y[j], D, data.width);
    }
    expected.push_back(std::log(sum));
  }
  for (const Options& options : {one_part, tensor, Options{.variant = Variant::tuned_2d}}) {
    SCOPED_TRACE(name_of(options));
    expect_close(
        reduced(LogGaussian<float, D>(data.width), LogSumExp<float>(), over_i(vectors<D>(x.span())),
                over_j(vectors<D>(device_y.span())), options),
        expected, 2e-6);
  }
}

// On a GPU, large enough that stages are loaded while warps are at others: a tile that is read too
// late makes a row differ from one run to the next.
template <int D>
void expect_the_same_bits(int M, int N) {
  const auto data = gaussian_data<float, D, 1>(M, N, box<D>());
  const DeviceBuffer<float> x = on_device(data.x);
  const DeviceBuffer<float> y = on_device(data.y);
  const DeviceBuffer<float> b = on_device(data.b);
  std::vector<float> first;
  for (int run = 0; run < (is_emulated ? 2 : 20); ++run) {
    const std::vector<float> sums =
        reduced(Gaussian<float, D>(data.width), Sum<float>(), over_i(vectors<D>(x.span())),
                over_j(vectors<D>(y.span()), vectors<1>(b.span())), tensor);
    if (run == 0) first = sums;
    ASSERT_EQ(sums, first) << "D " << D << ", run " << run;
  }
}
TEST(WarpgroupSum, HasTheSameBitsInEveryRun) {
  const int M = is_emulated ? 20 : 20'011;
  const int N = is_emulated ? 301 : 60'013;
  expect_the_same_bits<10>(M, N);
  expect_the_same_bits<64>(M, is_small() ? 71 : N);
}

template <int D, int E>
Plan plan_of_sums(std::int64_t M, std::int64_t N) {
  const auto x = over_i(vectors<D>(DeviceSpan<const float>{nullptr, M * D}));
  const auto y = over_j(vectors<D>(DeviceSpan<const float>{nullptr, N * D}),
                        vectors<E>(DeviceSpan<const float>{nullptr, N * E}));
  return plan(Gaussian<float, D, E>(1), Sum<ValueOf<float, E>>(), x, y, tensor);
}

// In more than 8 dimensions, and of signals of several numbers, for code that has the instructions;
// and what it takes from the workspace: 4 bytes of each coordinate, of 16 at a time, and 4 of each
// weight, and a line or so a tile.
TEST(WarpgroupSum, IsTakenWhereItCanBe) {
  const bool has_them = has_warpgroup_code();
  EXPECT_EQ((plan_of_sums<9, 1>(1000, 1000).takes_warpgroups), has_them);
  EXPECT_EQ((plan_of_sums<128, 1>(1000, 1000).takes_warpgroups), has_them);
  EXPECT_EQ((plan_of_sums<3, 5>(1000, 1000).takes_warpgroups), has_them);
  EXPECT_FALSE((plan_of_sums<8, 1>(1000, 1000).takes_warpgroups));
  EXPECT_EQ((plan_of_sums<20, 2>(1000, 1000).takes_warpgroups), has_them);
  if (!has_them) return;
  const Plan chosen = plan_of_sums<33, 1>(100'000, 100'000);
  ASSERT_EQ(chosen.parts, 1);
  EXPECT_GE(chosen.extra_bytes, 100'000 * (4 * 48 + 4));
  EXPECT_LE(chosen.extra_bytes, 100'000 * (4 * 48 + 4) * 1.06);
}

}  // namespace
}  // namespace warpath::map_reduce::test
