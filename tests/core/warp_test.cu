// Collectives of one warp, against sums on the host, in blocks of several warps that must not meet;
// and widths of integers.
#include <bit>
#include <numeric>

#include "../test_size.hpp"
#include "core/bits.cuh"
#include "core/launch.cuh"
#include "core/reversed_bits.cuh"
#include "core/warp.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

constexpr int warps = 3;
constexpr int all_threads = warps * warp_threads;

template <class T>
__global__ void warp_sums_kernel(const T* values, T* sums, T* inclusive) {
  const T value = values[threadIdx.x];
  sums[threadIdx.x] = warp_sum(value);
  inclusive[threadIdx.x] = warp_inclusive_sum(value);
}

/// Runs both collectives over one value a thread, and compares every lane's results.
template <class T>
void expect_sums(const std::vector<T>& values) {
  ASSERT_EQ(values.size(), std::size_t{all_threads});
  const DeviceBuffer<T> in = on_device(values);
  DeviceBuffer<T> sums(all_threads);
  DeviceBuffer<T> inclusive(all_threads);
  launch({1, all_threads}, warp_sums_kernel<T>, in.data(), sums.data(), inclusive.data());

  std::vector<T> expected_sums(all_threads);
  std::vector<T> expected_inclusive(all_threads);
  for (int first = 0; first < all_threads; first += warp_threads) {
    std::partial_sum(values.begin() + first, values.begin() + first + warp_threads,
                     expected_inclusive.begin() + first);
    std::fill_n(expected_sums.begin() + first, +warp_threads,
                expected_inclusive[first + warp_threads - 1]);
  }
  EXPECT_EQ(on_host(sums), expected_sums);
  EXPECT_EQ(on_host(inclusive), expected_inclusive);
}

template <class T>
class WarpSums : public testing::Test {};
using Integers = testing::Types<int, unsigned, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(WarpSums, Integers);

TYPED_TEST(WarpSums, OfRandomValues) {
  for (std::uint64_t seed = 1; seed <= (is_small() ? 3 : 20); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_sums(random_values<TypeParam>(all_threads, seed));
  }
}

TYPED_TEST(WarpSums, OfOneLaneAlone) {
  for (int lane = 0; lane < all_threads; lane += is_small() ? 7 : 1) {
    SCOPED_TRACE("thread " + std::to_string(lane));
    std::vector<TypeParam> values(all_threads, 0);
    values[lane] = 1000 + lane;
    expect_sums(values);
  }
}

// The digits of the 64-bit sum: each full, each carrying into the next, and sums up to 2^62.
TEST(WarpSumOfLargeValues, CarriesFromDigitToDigit) {
  const std::uint64_t two_to_62 = std::uint64_t{1} << 62;
  for (const std::uint64_t value :
       {(std::uint64_t{1} << 21) - 1, std::uint64_t{1} << 21, (std::uint64_t{1} << 42) - 1,
        std::uint64_t{1} << 42, two_to_62 / 32 - 1, two_to_62 / 32}) {
    SCOPED_TRACE("32 times " + std::to_string(value));
    expect_sums(std::vector<std::uint64_t>(all_threads, value));
  }
}

TEST(WarpSumOfLargeValues, OneLargeAmongSmall) {
  const std::uint64_t large = (std::uint64_t{1} << 62) - 32;
  for (int lane = 0; lane < warp_threads; ++lane) {
    SCOPED_TRACE("lane " + std::to_string(lane));
    std::vector<std::uint64_t> values(all_threads, 1);
    values[lane] = large;
    expect_sums(values);
  }
}

__global__ void places_kernel(int* lanes, int* warp_indices, unsigned* below) {
  lanes[threadIdx.x] = lane_index();
  warp_indices[threadIdx.x] = warp_index();
  below[threadIdx.x] = lanes_below();
}

TEST(Warp, KnowsItsPlaces) {
  DeviceBuffer<int> lanes(all_threads);
  DeviceBuffer<int> warp_indices(all_threads);
  DeviceBuffer<unsigned> below(all_threads);
  launch({1, all_threads}, places_kernel, lanes.data(), warp_indices.data(), below.data());
  const std::vector<int> lane = on_host(lanes);
  const std::vector<int> warp = on_host(warp_indices);
  const std::vector<unsigned> mask = on_host(below);
  for (int thread = 0; thread < all_threads; ++thread) {
    EXPECT_EQ(lane[thread], thread % 32);
    EXPECT_EQ(warp[thread], thread / 32);
    EXPECT_EQ(mask[thread], static_cast<unsigned>((std::uint64_t{1} << thread % 32) - 1));
  }
}

template <class T>
__global__ void bit_widths_kernel(const T* values, int* widths) {
  widths[threadIdx.x] = bit_width(values[threadIdx.x]);
}
template <class T>
class BitWidth : public testing::Test {};
using Words = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(BitWidth, Words);

// On a GPU above all: what std::bit_width is there was 0 of each 64-bit value.
TYPED_TEST(BitWidth, OfEachWidth) {
  std::vector<TypeParam> values = {0};
  for (TypeParam one = 1; one != 0; one <<= 1) {
    values.insert(values.end(), {one, static_cast<TypeParam>(one | one / 3)});
  }
  const DeviceBuffer<TypeParam> in = on_device(values);
  DeviceBuffer<int> widths(in.count());
  launch({1, static_cast<unsigned>(values.size())}, bit_widths_kernel<TypeParam>, in.data(),
         widths.data());
  std::vector<int> expected;
  for (const TypeParam value : values) expected.push_back(std::bit_width(value));
  EXPECT_EQ(on_host(widths), expected);
}

__global__ void reversed_bits_kernel(const std::uint32_t* values, std::uint32_t* reversed) {
  reversed[threadIdx.x] = reversed_bits(values[threadIdx.x]);
}
TEST(ReversedBits, AreTheSameOnBothSides) {
  std::vector<std::uint32_t> values = {0, 0xFFFFFFFFu, 0x12345678u, 0x80000001u};
  for (int bit = 0; bit < 32; ++bit) values.push_back(std::uint32_t{1} << bit);
  const DeviceBuffer<std::uint32_t> in = on_device(values);
  DeviceBuffer<std::uint32_t> reversed(in.count());
  launch({1, static_cast<unsigned>(values.size())}, reversed_bits_kernel, in.data(),
         reversed.data());
  std::vector<std::uint32_t> expected;
  for (const std::uint32_t value : values) {
    std::uint32_t turned = 0;
    for (int bit = 0; bit < 32; ++bit) turned |= (value >> bit & 1) << (31 - bit);
    expected.push_back(turned);
    EXPECT_EQ(reversed_bits(value), turned);
  }
  EXPECT_EQ(on_host(reversed), expected);
}

}  // namespace
}  // namespace warpath::core_test
