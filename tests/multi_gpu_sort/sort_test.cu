// Sorts over 1 to 8 devices, as many of them real as there are: keys and pairs, all variants,
// arrangements, and sizes of parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../message_of.hpp"
#include "../test_size.hpp"
#include "multi_gpu_sort/multi_gpu_sort.cuh"
#include "multi_gpu_sort/oracle.hpp"
#include "on_devices.cuh"

namespace warpath::multi_gpu_sort::test {
namespace {

std::vector<std::string> arrangements_of_parts() {
  if (is_small()) return {"few unique", "reversed", "zipf"};
  return {"uniform", "sorted", "reversed", "all equal", "few unique", "half equal", "zipf"};
}

struct Way {
  Variant variant;
  Exchange exchange;
};
std::vector<Way> ways(int devices) {
  std::vector<Way> all = {{Variant::splitter_merge, Exchange::copy},
                          {Variant::splitter_merge, Exchange::direct}};
  if ((devices & (devices - 1)) == 0) {
    all.push_back({Variant::swap_merge, Exchange::copy});
    all.push_back({Variant::swap_merge, Exchange::direct});
  }
  return all;
}
std::string name_of(const Way& way) {
  return std::string(enum_name(way.variant)) + ", " + std::string(enum_name(way.exchange));
}

class Sort : public OnSomeDevices {
 protected:
  template <class K, class Less>
  void expect_keys_sorted(const Devices& devices, const Parts<K>& parts, Less less,
                          const Options& options) {
    OnDevices<K> keys(devices, parts);
    const auto spans = keys.spans();
    Memory memory;
    sort_keys<K>(devices, spans, memory, less, options);
    EXPECT_EQ(keys.get(), oracle::in_order(parts, oracle::stable_order(parts, less)));
  }
  template <class K, class V, class Less>
  void expect_pairs_sorted(const Devices& devices, const Parts<K>& parts, Less less,
                           const Options& options) {
    Parts<V> numbered;
    int next = 0;
    for (const auto& part : parts) {
      numbered.emplace_back();
      for (std::size_t i = 0; i < part.size(); ++i) {
        numbered.back().push_back(static_cast<V>(next++));
      }
    }
    OnDevices<K> keys(devices, parts);
    OnDevices<V> values(devices, numbered);
    const auto key_spans = keys.spans();
    const auto value_spans = values.spans();
    Memory memory;
    sort_pairs<K, V>(devices, key_spans, value_spans, memory, less, options);
    const auto order = oracle::stable_order(parts, less);
    EXPECT_EQ(keys.get(), oracle::in_order(parts, order));
    EXPECT_EQ(values.get(), oracle::in_order(numbered, order));
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Sort, testing::Range(1, 9),
                         [](const auto& of) { return std::to_string(of.param); });

TEST_P(Sort, OfKeysAndPairs) {
  const Devices devices(ordinals(GetParam()));
  for (const std::int64_t n : {0, 1, 7, is_small() ? 300 : 1000, is_small() ? 2001 : 40'001}) {
    for (const std::string& arrangement : arrangements_of_parts()) {
      for (const bool is_even : {true, false}) {
        for (const Way& way : ways(GetParam())) {
          SCOPED_TRACE(std::to_string(n) + " keys, " + arrangement +
                       (is_even ? ", even, " : ", uneven, ") + name_of(way));
          const auto seed = static_cast<unsigned>(n + GetParam());
          const Options options{way.variant, way.exchange, {}, {}};
          if (n > 1000 && is_even == (arrangement == "zipf")) continue;
          expect_keys_sorted(
              devices, cut(numbers<std::uint32_t>(arrangement, n, seed), GetParam(), is_even, seed),
              std::less<>{}, options);
          if (n <= 1000) {
            expect_pairs_sorted<float, std::uint32_t>(
                devices, cut(numbers<float>(arrangement, n, seed), GetParam(), is_even, seed),
                std::greater<>{}, options);
            expect_pairs_sorted<std::int64_t, double>(
                devices,
                cut(numbers<std::int64_t>(arrangement, n, seed), GetParam(), is_even, seed),
                std::less<>{}, options);
          }
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_P(Sort, ByRadix) {
  const Devices devices(ordinals(GetParam()));
  expect_keys_sorted(devices,
                     cut(numbers<std::uint32_t>("half equal", 2000, 3), GetParam(), false, 4),
                     std::less<>{}, {Variant::radix_exchange, Exchange::direct, {}, {}});
}

TEST_P(Sort, ByWayOfTheHostWithoutAccess) {
  const Devices devices(ordinals(GetParam()), PeerAccess::never);
  const auto parts = cut(numbers<int>("few unique", 2000, 3), GetParam(), false, 4);
  expect_pairs_sorted<int, int>(devices, parts, std::less<>{},
                                {Variant::splitter_merge, Exchange::copy, {}, {}});
}

TEST(Oracle, KeepsEqualKeysInOrderAndPartsTheirSizes) {
  const Parts<int> keys = {{3, 1, 2}, {2, 5}};
  const auto order = oracle::stable_order(keys, std::less<>{});
  EXPECT_EQ(oracle::in_order(keys, order), (Parts<int>{{1, 2, 2}, {3, 5}}));
  EXPECT_EQ(oracle::in_order(Parts<int>{{0, 1, 2}, {3, 4}}, order),
            (Parts<int>{{1, 2, 3}, {0, 4}}));
}

TEST(Oracle, RejectsACorruptedResult) {
  const Devices devices(ordinals(3));
  const Parts<int> keys = {{3, 1}, {8, 2, 2}, {5}};
  const Parts<int> right = oracle::in_order(keys, oracle::stable_order(keys, std::less<>{}));
  EXPECT_EQ(OnDevices<int>(devices, right).get(), right);
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (std::size_t k = 0; k < right[i].size(); ++k) {
      Parts<int> corrupted = right;
      ++corrupted[i][k];
      EXPECT_NE(OnDevices<int>(devices, corrupted).get(), right) << "part " << i << ", place " << k;
    }
  }
}

TEST(Refuses, WhatCannotBe) {
  using Key = std::uint32_t;
  const Devices devices({0, 0, 0});
  DeviceBuffer<Key> buffer(30);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  Key* const data = buffer.data();
  Memory memory;
  const auto message = [&](const std::vector<DeviceSpan<Key>>& parts, const Options& options) {
    return message_of<std::invalid_argument>(
        [&] { sort_keys<Key>(devices, parts, memory, {}, options); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(message({{data, 3}, {data + 3, 3}}, {}),
              HasSubstr("parts has 2 elements: expected 3, as many as devices"));
  EXPECT_THAT(message({{data, 3}, {data + 2, 3}, {data + 9, 3}}, {}),
              HasSubstr("parts[1] overlaps parts[0]"));
  EXPECT_THAT(message({{data, 3}, {nullptr, 3}, {data + 9, 3}}, {}), HasSubstr("parts[1] is null"));
  const std::vector<DeviceSpan<Key>> right = {{data, 3}, {data + 3, 3}, {data + 9, 3}};
  EXPECT_THAT(message(right, {Variant::swap_merge, Exchange::copy, {}, {}}),
              HasSubstr("swap_merge on 3 devices: expected a power of two"));
  EXPECT_THAT(message(right, {static_cast<Variant>(7), Exchange::copy, {}, {}}),
              HasSubstr("options.variant"));
  EXPECT_THAT(message(right, {Variant::swap_merge, static_cast<Exchange>(7), {}, {}}),
              HasSubstr("options.exchange"));
  Options options;
  options.sort.variant = merge_sort::Variant::key_then_ties;
  EXPECT_THAT(message(right, options), HasSubstr("options.sort.variant is key_then_ties"));
  options.sort.variant = static_cast<merge_sort::Variant>(9);
  EXPECT_THAT(message(right, options), HasSubstr("options.sort.variant is 9"));
  const Devices many(std::vector<int>(33, 0));
  const std::vector<DeviceSpan<Key>> none(33);
  EXPECT_THAT(message_of<std::invalid_argument>([&] { sort_keys<Key>(many, none, memory); }),
              HasSubstr("the number of devices of a splitter_merge is 33: expected 1 to 32"));
}

TEST(Refuses, MemoryOfOtherDevices) {
  int there = 0;
  WARPATH_CUDA_CHECK(cudaGetDeviceCount(&there));
  if (there < 2) GTEST_SKIP() << "needs two devices";
  const Devices first({0, 1});
  const Devices second({1, 0});
  Memory memory;
  for (const Devices* const devices : {&first, &second}) {
    OnDevices<int> on(*devices, {{3, 1}, {2, 5}});
    const std::string message =
        message_of<std::invalid_argument>([&] { sort_keys<int>(*devices, on.spans(), memory); });
    if (devices == &first) {
      EXPECT_EQ(message, "nothing");
    } else {
      EXPECT_EQ(message,
                "memory lies on device 0 where it is to serve device 1: expected one that other "
                "devices have not used");
      EXPECT_EQ(on.get(), (Parts<int>{{3, 1}, {2, 5}}));
    }
  }
}

TEST(Refuses, RadixOfWhatIsNoNumber) {
  using detail::NoValues;
  using detail::sorts_by_radix;
  static_assert(sorts_by_radix<float, NoValues, std::less<float>>);
  static_assert(!sorts_by_radix<float, NoValues, std::greater<>>);
  static_assert(!sorts_by_radix<short, NoValues, std::less<>>);
  const Devices devices(ordinals(2));
  Memory memory;
  const std::vector<DeviceSpan<int>> parts(2);
  Options options;
  options.variant = Variant::radix_exchange;
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { sort_pairs<int, int>(devices, parts, parts, memory, {}, options); }),
            "options.variant is radix_exchange: expected keys that are numbers of 4 or 8 bytes, "
            "without values, and std::less");
}

TEST(Refuses, ToReadWhereThereIsNoAccess) {
  int there = 0;
  WARPATH_CUDA_CHECK(cudaGetDeviceCount(&there));
  if (there < 2) GTEST_SKIP() << "needs two devices";
  const Devices devices({0, 1}, PeerAccess::never);
  Memory memory;
  const std::vector<DeviceSpan<std::uint32_t>> parts(2);
  EXPECT_THAT(message_of<std::invalid_argument>([&] {
                sort_keys<std::uint32_t>(devices, parts, memory, std::less<>{},
                                         {Variant::splitter_merge, Exchange::direct, {}, {}});
              }),
              testing::HasSubstr("device 0 has no access to the memory of device 1"));
}

}  // namespace
}  // namespace warpath::multi_gpu_sort::test
