// radix_exchange: numbers of each type over 1 to 8 devices, whose bits its digits and borders have
// to cope with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../device_vectors.cuh"
#include "../number_types.hpp"
#include "../test_size.hpp"
#include "multi_gpu_sort/multi_gpu_sort.cuh"
#include "on_devices.cuh"

namespace warpath::multi_gpu_sort::test {
namespace {

template <class K>
K of_bits(std::uint64_t bits) {
  K key;
  std::memcpy(&key, &bits, sizeof key);
  return key;
}

/// RadixKey i of n.
template <class K>
K key_of(const std::string& kind, std::int64_t i, std::int64_t n, std::mt19937_64& random) {
  const std::uint64_t bits = random();
  if (kind == "any bits") {
    const K key = of_bits<K>(bits);
    return key == key ? key : K{0};
  }
  if (kind == "uniform") {
    return static_cast<K>(std::ldexp(static_cast<double>(bits >> 12), -52) *
                          (std::is_integral_v<K> ? 1e9 : 1));
  }
  if (kind == "sorted") return static_cast<K>(i);
  if (kind == "reversed") return static_cast<K>(n - i);
  if (kind == "all equal") return static_cast<K>(5);
  if (kind == "two") return static_cast<K>(bits % 2);
  if (kind == "half equal" && bits % 2 == 0) return static_cast<K>(77);
  if (kind == "zeros") return bits % 3 == 0 ? static_cast<K>(-0.0) : static_cast<K>(bits % 2);
  if (kind == "extremes") {
    const K extremes[] = {std::numeric_limits<K>::lowest(), std::numeric_limits<K>::max(),
                          std::numeric_limits<K>::min(), std::numeric_limits<K>::infinity()};
    return extremes[bits % 4];
  }
  if (kind == "few bits") return of_bits<K>(bits & 0x1F00);
  return static_cast<K>(1e6 / static_cast<double>(bits % 1'000'000 + 1));  // zipf
}
std::vector<std::string> kinds() {
  if (is_small()) return {"any bits", "reversed", "half equal", "zeros"};
  return {"any bits", "uniform",    "sorted", "reversed", "all equal", "two",
          "zipf",     "half equal", "zeros",  "extremes", "few bits"};
}

template <class K>
class RadixOf : public testing::Test {};
TYPED_TEST_SUITE(RadixOf, KeyTypes);

/// The variant alone: the public call compiles all of them for a type.
template <class K>
void sort_by_radix(const Devices& devices, const std::vector<DeviceSpan<K>>& parts,
                   Memory& memory) {
  std::vector<detail::Part<K, detail::NoValues>> all;
  for (const DeviceSpan<K>& part : parts) all.push_back({part.data, nullptr, part.count});
  const Options options;
  detail::Team<K, detail::NoValues, std::less<>> team(devices, all, memory, {}, options);
  detail::RadixExchange<K, std::less<>>(team, memory).run();
}

template <class K>
void expect_sorted(const std::vector<K>& keys, const std::vector<std::int64_t>& sizes,
                   Memory& memory, const Devices& devices) {
  std::deque<Arriving<K>> buffers;
  std::vector<DeviceSpan<K>> parts;
  std::int64_t begin = 0;
  devices.for_each([&](int i, cudaStream_t stream) {
    const std::int64_t size = sizes[static_cast<std::size_t>(i)];
    std::vector<K> part(1, K{17});  // an element before, and one after, that nothing may write
    part.insert(part.end(), keys.begin() + begin, keys.begin() + begin + size);
    part.push_back(K{17});
    buffers.emplace_back(std::move(part), stream);
    parts.push_back({buffers.back().data() + 1, size});
    begin += size;
  });
  sort_by_radix<K>(devices, parts, memory);
  std::vector<K> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  begin = 0;
  devices.for_each([&](int i, cudaStream_t stream) {
    const std::vector<K> part = on_host(buffers[static_cast<std::size_t>(i)].buffer(), stream);
    ASSERT_EQ(part.front(), K{17}) << "before part " << i;
    ASSERT_EQ(part.back(), K{17}) << "after part " << i;
    const std::vector<K> expected(sorted.begin() + begin,
                                  sorted.begin() + begin + sizes[static_cast<std::size_t>(i)]);
    ASSERT_EQ(std::vector<K>(part.begin() + 1, part.end() - 1), expected) << "part " << i;
    begin += sizes[static_cast<std::size_t>(i)];
  });
}

/// Sizes of parts with n keys in all: equal ones; or any, one of them 0.
std::vector<std::int64_t> sizes_of(std::int64_t n, int count, bool is_even,
                                   std::mt19937_64& random) {
  std::vector<std::int64_t> sizes;
  std::int64_t left = n;
  for (int i = 0; i + 1 < count; ++i) {
    std::int64_t size = n / count;
    if (!is_even) size = i == 1 ? 0 : static_cast<std::int64_t>(random() % (left + 1));
    sizes.push_back(std::min(size, left));
    left -= sizes.back();
  }
  sizes.push_back(left);
  return sizes;
}

template <class K>
void expect_sorted(const std::string& kind, std::int64_t n, int count, bool is_even,
                   const Devices& devices, Memory& memory) {
  SCOPED_TRACE(std::to_string(n) + " keys, " + kind + (is_even ? ", even, " : ", uneven, ") +
               std::to_string(count) + " devices");
  std::mt19937_64 random(static_cast<unsigned>(n + count));
  std::vector<K> keys;
  for (std::int64_t i = 0; i < n; ++i) keys.push_back(key_of<K>(kind, i, n, random));
  expect_sorted(keys, sizes_of(n, count, is_even, random), memory, devices);
}

// Large enough for every way to finish a segment.
TYPED_TEST(RadixOf, SortsNumbersOfEachKind) {
  for (const int count : {1, 3}) {
    const Devices devices(ordinals(count));
    Memory memory;
    for (const std::string& kind : kinds()) {
      expect_sorted<TypeParam>(kind, 700, count, count == 3, devices, memory);
      expect_sorted<TypeParam>(kind, is_small() ? 5000 : 60'001, count, true, devices, memory);
      if (this->HasFailure()) return;
    }
  }
}

using RadixKey = std::conditional_t<has_few_types, float, std::uint32_t>;
class RadixOnDevices : public OnSomeDevices {};
INSTANTIATE_TEST_SUITE_P(Count, RadixOnDevices, testing::Range(1, 9),
                         [](const auto& of) { return std::to_string(of.param); });

TEST_P(RadixOnDevices, SortsPartsOfAnySizes) {
  const Devices devices(ordinals(GetParam()));
  Memory memory;
  for (const std::int64_t n : {0, 1, 5}) {
    expect_sorted<float>("uniform", n, GetParam(), false, devices, memory);
  }
  for (const std::string& kind : kinds()) {
    expect_sorted<RadixKey>(kind, 700, GetParam(), true, devices, memory);
    if (GetParam() > 4) continue;
    expect_sorted<std::int64_t>(kind, 1300, GetParam(), false, devices, memory);
    if (HasFailure()) return;
  }
  expect_sorted<RadixKey>("half equal", is_small() ? 5000 : 60'001, GetParam(), false, devices,
                          memory);
}

// The borders' bins have more keys than one device sorts for the others, so that their next bits
// are counted.
TEST_P(RadixOnDevices, FindsBordersAmongKeysThatAreAlike) {
  const Devices devices(ordinals(GetParam()));
  Memory memory;
  std::mt19937_64 random(7);
  std::vector<std::int64_t> keys;
  for (int i = 0; i < 3000; ++i) {
    keys.push_back(static_cast<std::int64_t>(0xABCDEF0000000000 | random() % 2000 << 8));
  }
  expect_sorted(keys, sizes_of(3000, GetParam(), true, random), memory, devices);
}

TEST(Radix, KeepsZerosAndNan) {
  const Devices devices(ordinals(2));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> keys = {0.0F, nan, -0.0F, 1.0F, -0.0F, -nan, 0.0F, -1.0F};
  DeviceBuffer<float> parts[2];
  std::vector<DeviceSpan<float>> spans;
  devices.for_each([&](int i, cudaStream_t stream) {
    parts[i] =
        on_device(std::vector<float>(keys.begin() + 4 * i, keys.begin() + 4 * i + 4), stream);
    spans.push_back({parts[i].data(), 4});
  });
  Memory memory;
  sort_by_radix<float>(devices, spans, memory);
  std::string sorted;
  devices.for_each([&](int i, cudaStream_t stream) {
    for (const float key : on_host(parts[i], stream)) {
      sorted += std::signbit(key) ? '-' : '+';
      sorted += std::isnan(key) ? "nan" : std::to_string(std::abs(static_cast<int>(key)));
      sorted += ' ';
    }
  });
  EXPECT_EQ(sorted, "-nan -1 -0 -0 +0 +0 +1 +nan ");
}

#ifndef SIMT_EMULATION
TYPED_TEST(RadixOf, SortsMillions) {
  for (const int count : {1, 2, 5}) {
    const Devices devices(ordinals(count));
    Memory memory;
    for (const char* kind : {"any bits", "uniform", "half equal", "zipf"}) {
      expect_sorted<TypeParam>(kind, 3'000'003, count, count != 5, devices, memory);
      if (this->HasFailure()) return;
    }
  }
}
#endif

}  // namespace
}  // namespace warpath::multi_gpu_sort::test
