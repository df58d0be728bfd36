// Where sorted parts are cut, over 1 to 8 devices, with so few samples that it takes several
// rounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../message_of.hpp"
#include "../ordinals.cuh"
#include "multi_gpu_sort/splitters.cuh"
#include "on_devices.cuh"

namespace warpath::multi_gpu_sort::test {
namespace {

using detail::Splitters;

/// For each rank, how many elements of each part come before it.
template <class K, class Less>
std::vector<std::vector<std::int64_t>> expected_cuts(const Parts<K>& parts,
                                                     const std::vector<std::int64_t>& ranks,
                                                     Less less) {
  struct Element {
    K key;
    std::size_t part;
  };
  std::vector<Element> all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const K& key : parts[i]) all.push_back({key, i});
  }
  std::stable_sort(all.begin(), all.end(),
                   [&](const Element& a, const Element& b) { return less(a.key, b.key); });
  std::vector<std::vector<std::int64_t>> rows;
  for (const std::int64_t rank : ranks) {
    rows.emplace_back(parts.size(), 0);
    for (std::int64_t i = 0; i < rank; ++i) ++rows.back()[all[static_cast<std::size_t>(i)].part];
  }
  return rows;
}

template <class K, class Less>
void expect_cuts(const Devices& devices, Parts<K> parts, const std::vector<std::int64_t>& ranks,
                 Less less) {
  for (auto& part : parts) std::sort(part.begin(), part.end(), less);
  OnDevices<K> on(devices, parts);
  std::vector<DeviceSpan<const K>> spans;
  for (const DeviceSpan<K>& span : on.spans()) spans.push_back({span.data, span.count});
  Splitters<K, Less, 4> splitters(devices, spans, less);
  EXPECT_EQ(splitters.before(ranks), expected_cuts(parts, ranks, less));
}

/// Ranks in order, the least and the most among them.
std::vector<std::int64_t> some_ranks(std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> ranks = {0, n / 2, n};
  for (int i = 0; i < 6; ++i) {
    ranks.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n + 1)));
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

class CutsOnDevices : public OnSomeDevices {};

TEST_P(CutsOnDevices, AreThoseOfTheMergedSequence) {
  const Devices devices(ordinals(GetParam()));
  for (const std::int64_t n : {0, 1, 9, 300, 3'001}) {
    for (const unsigned values : {1u, 3u, 1u << 31}) {  // how many different ones
      std::mt19937 random(values + static_cast<unsigned>(n));
      std::vector<std::uint32_t> keys;
      for (std::int64_t i = 0; i < n; ++i)
        keys.push_back(static_cast<std::uint32_t>(random()) % values);
      for (const bool is_even : {true, false}) {
        const Parts<std::uint32_t> parts = cut(keys, GetParam(), is_even, 3);
        expect_cuts(devices, parts, some_ranks(n, 7), std::less<>{});
        expect_cuts(devices, parts, some_ranks(n, 8), std::greater<>{});
      }
    }
  }
}
TEST_P(CutsOnDevices, OfPartsInOrderOrInReverse) {
  const Devices devices(ordinals(GetParam()));
  std::vector<double> keys;
  for (int i = 0; i < 2'000; ++i) keys.push_back(i / 3);
  expect_cuts(devices, cut(keys, GetParam(), false, 1), some_ranks(2'000, 1), std::less<>{});
  std::reverse(keys.begin(), keys.end());
  expect_cuts(devices, cut(keys, GetParam(), false, 2), some_ranks(2'000, 2), std::less<>{});
}
TEST_P(CutsOnDevices, OfNoRanksAreNone) {
  const Devices devices(ordinals(GetParam()));
  expect_cuts(devices, cut(std::vector<int>(100, 7), GetParam(), true, 1), {}, std::less<>{});
}
INSTANTIATE_TEST_SUITE_P(Devices, CutsOnDevices, testing::Range(1, 9));

/// Of any two keys, either may come before the other one.
struct NoOrder {
  __host__ __device__ bool operator()(int a, int b) const {
    return ((static_cast<unsigned>(a) * 1'000u + static_cast<unsigned>(b)) * 2'654'435'761u >> 20 &
            1) != 0;
  }
};

TEST(Splitters, AreNotFoundWithoutAnOrder) {
  const Devices devices(ordinals(2));
  std::vector<int> keys(1'000);
  std::iota(keys.begin(), keys.end(), 0);
  OnDevices<int> on(devices, cut(keys, 2, true, 1));
  std::vector<DeviceSpan<const int>> spans;
  for (const DeviceSpan<int>& span : on.spans()) spans.push_back({span.data, span.count});
  Splitters<int, NoOrder, 4> splitters(devices, spans, {});
  EXPECT_THAT(message_of<std::invalid_argument>([&] { splitters.before({500}); }),
              testing::HasSubstr("expected a strict weak ordering"));
}

}  // namespace
}  // namespace warpath::multi_gpu_sort::test
