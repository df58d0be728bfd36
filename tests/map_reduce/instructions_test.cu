// Powers of two, roots, halves and tensor cores. The same tests judge the instructions and their
// emulated twins.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "../device_vectors.cuh"
#include "../test_size.hpp"
#include "core/launch.cuh"
#include "map_reduce/arithmetic.cuh"
#include "map_reduce/instructions.cuh"
#include "support.cuh"

namespace warpath::map_reduce::test {
namespace {

// ---------------------------------------------------------------- powers of two

__global__ void exp2_kernel(const float* x, float* powers, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) powers[i] = detail::exp2_approx(x[i]);
}
std::vector<float> powers_of(const std::vector<float>& x) {
  const DeviceBuffer<float> in = on_device(x);
  DeviceBuffer<float> out(in.count());
  const int count = static_cast<int>(in.count());
  launch({static_cast<unsigned>(count + 127) / 128, 128}, exp2_kernel, in.data(), out.data(),
         count);
  return on_host(out);
}

TEST(Exp2Approx, IsAccurateFromTheLeastExponentToTheGreatest) {
  std::vector<float> x = {0.0f, -0.0f, 1e-30f, -1e-30f, 0x1p-24f, -0x1p-25f};
  for (int i = -126; i <= 127; ++i) {
    const auto whole = static_cast<float>(i);
    x.push_back(whole);
    if (i > -126) x.push_back(std::nextafter(whole, -infinity));
    if (i < 127) x.push_back(std::nextafter(whole, infinity));
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> anywhere(-126, 127);
  for (int i = 0; i < (is_small() ? 2000 : 100'000); ++i) x.push_back(anywhere(random));
  const std::vector<float> powers = powers_of(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = std::exp2(static_cast<double>(x[i]));
    ASSERT_NEAR(powers[i], expected, 0x1p-21 * expected) << "2^" << x[i];
  }
}

TEST(Exp2Approx, EndsInZeroAndInfinity) {
  const std::vector<float> none =
      powers_of({std::nextafter(-126.0f, -infinity), -126.5f, -127, -149, -150, -1000,
                 std::numeric_limits<float>::lowest(), -infinity});
  EXPECT_THAT(none, testing::Each(0.0f));
  EXPECT_THAT(powers_of({128, 1000, std::numeric_limits<float>::max(), infinity}),
              testing::Each(infinity));
}

// ---------------------------------------------------------------- powers of two in double

__global__ void exp2_kernel_of_doubles(const double* x, double* powers, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) powers[i] = exp2_of(x[i]);
}
/// x has pairs a, b: 2^-(a b).
__global__ void exp2_of_minus_product_kernel(const double* x, double* powers, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) powers[i] = exp2_of_minus_product(x[2 * i], x[2 * i + 1]);
}
template <class Kernel>
std::vector<double> powers_by(Kernel kernel, const std::vector<double>& x, std::size_t count) {
  const DeviceBuffer<double> in = on_device(x);
  DeviceBuffer<double> out(count);
  launch({static_cast<unsigned>(count + 127) / 128, 128}, kernel, in.data(), out.data(),
         static_cast<int>(count));
  return on_host(out);
}
std::vector<double> double_powers_of(const std::vector<double>& x) {
  return powers_by(exp2_kernel_of_doubles, x, x.size());
}
std::vector<double> powers_of_minus_products(const std::vector<double>& pairs) {
  return powers_by(exp2_of_minus_product_kernel, pairs, pairs.size() / 2);
}

TEST(Exp2OfDouble, IsAccurateFromTheLeastExponentToTheGreatest) {
  std::vector<double> x = {0.0, -0.0, 1e-300, -1e-300, 0x1p-53, -0x1p-54};
  // Each number of the table, with each exponent; and where the choice among them changes.
  for (int n = -1022 * 32; n < 1024 * 32; n += is_small() ? 37 : 1) {
    for (const double offset : {0.0, 0x1p-6 - 0x1p-30, 0x1p-6, 0x1p-6 + 0x1p-30}) {
      x.push_back(n / 32.0 + offset);
    }
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<double> anywhere(-1022, 1023.98);
  for (int i = 0; i < (is_small() ? 2000 : 100'000); ++i) x.push_back(anywhere(random));
  const std::vector<double> powers = double_powers_of(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] > 1023.98) continue;
    const long double expected = std::exp2(static_cast<long double>(x[i]));
    ASSERT_NEAR(powers[i], expected, 3.2e-16L * expected) << "2^" << x[i];
  }
}

TEST(Exp2OfDouble, EndsInZeroAndInfinityAndKeepsNaNs) {
  constexpr double most = std::numeric_limits<double>::max();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(double_powers_of({-1022}).at(0), 0x1p-1022);
  EXPECT_THAT(double_powers_of({-1022.02, -1022.5, -1023, -1074, -1e5, -0x1p26, -0x1p27 - 5,
                                -0x1p31, -0x1p46, -0x1p47, -0x1p48, -1e300, -most, -infinity}),
              testing::Each(0.0));
  EXPECT_THAT(double_powers_of({1024.0, 1e5, 0x1p26, 0x1p27 + 5, 0x1p31, 0x1p46, 0x1p47, 0x1p48,
                                1e300, most, infinity}),
              testing::Each(infinity));
  EXPECT_THAT(double_powers_of({nan, -nan}), testing::Each(testing::IsNan()));
}

TEST(Exp2OfMinusProductOfDoubles, DoesNotRoundTheProduct) {
  std::vector<double> pairs;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> anywhere(0, 31);
  for (int i = 0; i < (is_small() ? 2000 : 100'000); ++i) pairs.push_back(anywhere(random));
  const std::vector<double> powers = powers_of_minus_products(pairs);
  for (std::size_t i = 0; i < powers.size(); ++i) {
    const long double product = static_cast<long double>(pairs[2 * i]) * pairs[2 * i + 1];
    const long double expected = std::exp2(-product);
    ASSERT_NEAR(powers[i], expected, 3.2e-16L * expected) << "2^-" << product;
  }
}

TEST(Exp2OfMinusProductOfDoubles, EndsInZeroAndKeepsNaNs) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(powers_of_minus_products({0, 5, 5, 0, 1e-300, 1e-300, 0.0, -0.0}), testing::Each(1));
  EXPECT_THAT(powers_of_minus_products({1, 1022.02, 2, 1e5, 1, 0x1p27 + 5, 1e300, 1e300, 1,
                                        infinity, infinity, infinity}),
              testing::Each(0.0));
  EXPECT_THAT(powers_of_minus_products({nan, 1, 1, nan, 0, infinity}),
              testing::Each(testing::IsNan()));
}

// ---------------------------------------------------------------- square roots

__global__ void root_kernel(const float* x, float* roots, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) roots[i] = detail::root_approx(x[i]);
}
std::vector<float> roots_of(const std::vector<float>& x) {
  const DeviceBuffer<float> in = on_device(x);
  DeviceBuffer<float> out(in.count());
  const int count = static_cast<int>(in.count());
  launch({static_cast<unsigned>(count + 127) / 128, 128}, root_kernel, in.data(), out.data(),
         count);
  return on_host(out);
}

TEST(RootApprox, IsAccurateFromTheLeastNumberToTheGreatest) {
  std::vector<float> x = {0x1p-126f, 1, 2, 3, std::numeric_limits<float>::max()};
  std::mt19937 random(1);
  std::uniform_real_distribution<float> exponents(-126, 127);
  for (int i = 0; i < (is_small() ? 2000 : 100'000); ++i) x.push_back(std::exp2(exponents(random)));
  const std::vector<float> roots = roots_of(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = std::sqrt(static_cast<double>(x[i]));
    ASSERT_NEAR(roots[i], expected, 0x1p-22 * expected) << "of " << x[i];
  }
}

TEST(RootApprox, OfNothingOfInfinityAndOfLessThanNothing) {
  EXPECT_THAT(roots_of({0, 0x1p-149f, std::nextafter(0x1p-126f, 0.0f)}), testing::Each(0.0f));
  EXPECT_THAT(roots_of({infinity}), testing::Each(infinity));
  EXPECT_THAT(roots_of({-1, -infinity}), testing::Each(testing::IsNan()));
}

// ---------------------------------------------------------------- halves

/// What a finite half stands for: IEEE 754, binary16.
double value_of_half(std::uint32_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(bits / 1024 % 32);
  const double fraction = (bits % 1024) / 1024.0;
  return exponent == 0 ? sign * fraction * std::exp2(-14)
                       : sign * (1 + fraction) * std::exp2(exponent - 15);
}
constexpr std::uint32_t half_infinity = 0x7C00;

/// The half that is nearest to x, of two the even one: found among all of them.
std::uint32_t nearest_half(float x) {
  static const std::vector<double> halves = [] {
    std::vector<double> values;
    for (std::uint32_t bits = 0; bits < half_infinity; ++bits) {
      values.push_back(value_of_half(bits));
    }
    return values;
  }();
  const double size = std::abs(static_cast<double>(x));
  auto bits = static_cast<std::uint32_t>(std::lower_bound(halves.begin(), halves.end(), size) -
                                         halves.begin());  // the least one that is not below x
  if (bits > 0) {
    const double above = halves.at(bits) - size;
    const double below = size - halves[bits - 1];
    if (below < above || (below == above && bits % 2 != 0)) --bits;
  }
  return bits | (std::signbit(x) ? 0x8000u : 0u);
}

__global__ void split_kernel(const float* x, std::uint32_t* both, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) both[i] = detail::split_halves(x[i]).bits;
}

TEST(TensorCores, AFloatIsTheSumOfTwoHalves) {
  std::vector<float> x = {0, 65000, 0x1p-24f, 0x1p-25f, 0x1.8p-25f, 0x1p-26f, 1e-30f, 1e-45f};
  for (int exponent = -30; exponent <= 15; ++exponent) {
    const float power = std::ldexp(1.0f, exponent);
    x.insert(x.end(), {power, std::nextafter(power, 0.0f), std::nextafter(power, infinity)});
    // Halfway between two halves and beside it; and as much as two halves can lose.
    for (const float factor : {1 + 0x1p-11f, 1 + 0x3p-11f, 1 - 0x1p-12f, 1 + 0x801p-23f}) {
      const float middle = power * factor;
      x.insert(x.end(), {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, infinity)});
    }
  }
  for (std::uint32_t bits = 1; bits < half_infinity; bits += is_small() ? 97 : 7) {
    x.push_back(static_cast<float>(value_of_half(bits)));
  }
  std::mt19937 random(2);
  std::uniform_real_distribution<float> anywhere(-65000, 65000);
  std::uniform_real_distribution<float> exponents(-30, 15.9f);
  for (int i = 0; i < (is_small() ? 1000 : 50'000); ++i) {
    x.push_back(anywhere(random));
    x.push_back(std::exp2(exponents(random)));
  }
  for (std::size_t i = 0, positive = x.size(); i < positive; ++i) x.push_back(-x[i]);

  const DeviceBuffer<float> in = on_device(x);
  DeviceBuffer<std::uint32_t> out(in.count());
  const int count = static_cast<int>(in.count());
  launch({static_cast<unsigned>(count + 127) / 128, 128}, split_kernel, in.data(), out.data(),
         count);
  const std::vector<std::uint32_t> both = on_host(out);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t high = both[i] & 0xFFFF;
    const std::uint32_t low = both[i] >> 16;
    ASSERT_EQ(high, nearest_half(x[i])) << testing::PrintToString(x[i]);
    ASSERT_LT(low & 0x7FFF, half_infinity) << testing::PrintToString(x[i]);
    const double most = std::max(0x1p-23 * std::abs(static_cast<double>(x[i])), 0x1p-25);
    ASSERT_NEAR(value_of_half(high) + value_of_half(low), x[i], most)
        << testing::PrintToString(x[i]);
  }
}

__global__ void half_kernel(const float* x, std::uint32_t* halves, float* values) {
  halves[threadIdx.x] = detail::half_bits(x[threadIdx.x]);
  values[threadIdx.x] = detail::half_value(halves[threadIdx.x]);
}

TEST(TensorCores, HalvesOfWhatIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const DeviceBuffer<float> in =
      on_device(std::vector{infinity, -infinity, nan, 65520.0f, 65519.0f, -0.0f});
  DeviceBuffer<std::uint32_t> halves(in.count());
  DeviceBuffer<float> values(in.count());
  launch({1, static_cast<unsigned>(in.count())}, half_kernel, in.data(), halves.data(),
         values.data());
  const std::uint32_t negative = 0x8000;
  const std::vector<std::uint32_t> found = on_host(halves);
  EXPECT_THAT(found, testing::ElementsAre(half_infinity, half_infinity | negative,
                                          testing::Gt(half_infinity), half_infinity,
                                          half_infinity - 1, negative));
  EXPECT_THAT(on_host(values), testing::ElementsAre(infinity, -infinity, testing::IsNan(), infinity,
                                                    65504.0f, 0.0f));
}

// ---------------------------------------------------------------- products of matrices

constexpr int product_rows = 16;
constexpr int product_columns = 8;
constexpr int depth = 16;

/// A product and what goes into it, as a person would write it.
struct SmallProduct {
  std::uint32_t a[product_rows][depth];  ///< halves
  std::uint32_t b[depth][product_columns];
  float sum[product_rows][product_columns];
};
/// The registers of a lane.
struct Lane {
  std::uint32_t a[4];
  std::uint32_t b[2];
  float sum[4];
};

Lane lane_of(const SmallProduct& product, int lane) {
  const int g = lane / 4;
  const int t = lane % 4;
  const auto pair = [](std::uint32_t first, std::uint32_t second) { return first | second << 16; };
  const auto a = [&](int row, int k) { return pair(product.a[row][k], product.a[row][k + 1]); };
  const auto b = [&](int k) { return pair(product.b[k][g], product.b[k + 1][g]); };
  return {{a(g, 2 * t), a(g + 8, 2 * t), a(g, 2 * t + 8), a(g + 8, 2 * t + 8)},
          {b(2 * t), b(2 * t + 8)},
          {product.sum[g][2 * t], product.sum[g][2 * t + 1], product.sum[g + 8][2 * t],
           product.sum[g + 8][2 * t + 1]}};
}

/// A warp a product.
__global__ void multiply_kernel(const Lane* lanes, float* products) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const Lane own = lanes[thread];
  float product[4];
  detail::multiply_16x16x8(own.a, own.b, own.sum, product);
  for (int i = 0; i < 4; ++i) products[4 * thread + i] = product[i];
}

/// Runs them, three warps a block: what every lane gets.
std::vector<float> multiplied(const std::vector<SmallProduct>& products) {
  constexpr unsigned warps = 3;
  std::vector<Lane> lanes;
  for (const SmallProduct& product : products) {
    for (int lane = 0; lane < 32; ++lane) lanes.push_back(lane_of(product, lane));
  }
  const DeviceBuffer<Lane> in = on_device(lanes);
  DeviceBuffer<float> out(4 * in.count());
  launch({static_cast<unsigned>(products.size()) / warps, 32 * warps}, multiply_kernel, in.data(),
         out.data());
  return on_host(out);
}

/// Compares every number with the sum of its 16 products. The error is relative to the sum of their
/// sizes. products: a multiple of three.
void expect_products(const std::vector<SmallProduct>& products, double most_error) {
  const std::vector<float> found = multiplied(products);
  ASSERT_EQ(found.size(), products.size() * product_rows * product_columns);
  for (std::size_t p = 0; p < products.size(); ++p) {
    for (int row = 0; row < product_rows; ++row) {
      for (int column = 0; column < product_columns; ++column) {
        double expected = products[p].sum[row][column];
        double size = std::abs(expected);
        for (int k = 0; k < depth; ++k) {
          const double one =
              value_of_half(products[p].a[row][k]) * value_of_half(products[p].b[k][column]);
          expected += one;
          size += std::abs(one);
        }
        const int lane = row % 8 * 4 + column / 2;
        const int place = row / 8 * 2 + column % 2;
        ASSERT_NEAR(found[(p * 32 + lane) * 4 + place], expected, most_error * size)
            << "product " << p << ", row " << row << ", column " << column;
      }
    }
  }
}

template <class Half, class Sum>
SmallProduct product_of(Half half, Sum sum) {
  SmallProduct product;
  for (auto& row : product.a) std::generate(std::begin(row), std::end(row), half);
  for (auto& row : product.b) std::generate(std::begin(row), std::end(row), half);
  for (auto& row : product.sum) std::generate(std::begin(row), std::end(row), sum);
  return product;
}

TEST(TensorCores, MultiplyIntegersExactly) {
  std::mt19937 random(3);
  const auto half = [&] { return nearest_half(static_cast<float>(random() % 31) - 15); };
  const auto sum = [&] { return static_cast<float>(random() % 2001) - 1000; };
  std::vector<SmallProduct> products;
  for (int i = 0; i < (is_small() ? 3 : 30); ++i) products.push_back(product_of(half, sum));
  expect_products(products, 0);
}

// Subnormal halves and large ones, of both signs.
TEST(TensorCores, MultiplyAnyHalves) {
  std::mt19937 random(4);
  const auto half = [&] {
    std::uint32_t bits = 0;
    do {
      bits = random() % 0x10000;
    } while ((bits & 0x7FFF) >= half_infinity);
    return bits;
  };
  std::uniform_real_distribution<float> sum(-1e6f, 1e6f);
  std::vector<SmallProduct> products;
  for (int i = 0; i < (is_small() ? 3 : 300); ++i) {
    products.push_back(product_of(half, [&] { return sum(random); }));
  }
  // Halves below 2^-14 alone, whose products are small, but not lost.
  const auto subnormal = [&] { return random() % 1024 | (random() % 2 << 15); };
  for (int i = 0; i < 3; ++i) products.push_back(product_of(subnormal, [] { return 0x1p-30f; }));
  expect_products(products, 0x1p-20);
}

// Sums are cut off, not rounded: errors of many sums add up. 1 + 0x3p-24 is nearest to 1 + 0x1p-22.
TEST(TensorCores, CutOffWhatAFloatCannotHold) {
  for (const float sign : {1.0f, -1.0f}) {
    SmallProduct product{};
    for (auto& row : product.sum) std::fill(std::begin(row), std::end(row), sign);
    for (auto& row : product.a) {
      row[3] = nearest_half(sign * 0x1p-12f);
      row[14] = nearest_half(sign * 0x1p-13f);
    }
    for (auto& row : product.b) std::fill(std::begin(row), std::end(row), nearest_half(0x1p-11f));
    EXPECT_THAT(multiplied({product, product, product}), testing::Each(sign * (1 + 0x1p-23f)));
  }
}

}  // namespace
}  // namespace warpath::map_reduce::test
