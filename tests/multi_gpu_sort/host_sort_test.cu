// Sorts of host memory, over 1 to 5 devices: all at once on the devices, or staged in chunks by
// small limits of device memory, merged in one pass or two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../message_of.hpp"
#include "../ordinals.cuh"
#include "../test_size.hpp"
#include "arrays.hpp"
#include "multi_gpu_sort/multi_gpu_sort.cuh"
#include "multi_gpu_sort/oracle.hpp"

namespace warpath::multi_gpu_sort::test {
namespace {

using testing::HasSubstr;

std::vector<std::string> arrangements() {
  if (is_small()) return {"uniform", "few unique"};
  return {"uniform", "sorted", "reversed", "all equal", "few unique", "half equal"};
}

/// The bytes of a device that allow chunks of so many elements, and no larger ones: 4 1/8 chunks,
/// and 64 KiB.
std::int64_t limit_for(std::int64_t chunk, std::size_t element_bytes) {
  return (1 << 16) + chunk * static_cast<std::int64_t>(element_bytes) * 33 / 8;
}

/// An array on the host between elements that nothing may write.
template <class T>
class OnHost {
 public:
  explicit OnHost(const std::vector<T>& elements) : guarded_(elements.size() + 2 * guard, fill()) {
    std::copy(elements.begin(), elements.end(), guarded_.begin() + guard);
  }
  [[nodiscard]] std::span<T> span() { return std::span(guarded_).subspan(guard).first(count()); }
  [[nodiscard]] std::vector<T> get() {
    const auto is_fill = [](const T& element) { return element == fill(); };
    EXPECT_TRUE(std::all_of(guarded_.begin(), guarded_.begin() + guard, is_fill)) << "before";
    EXPECT_TRUE(std::all_of(guarded_.end() - guard, guarded_.end(), is_fill)) << "after";
    return {span().begin(), span().end()};
  }

 private:
  static constexpr std::size_t guard = 64;
  static T fill() { return static_cast<T>(113); }
  [[nodiscard]] std::size_t count() const { return guarded_.size() - 2 * guard; }
  std::vector<T> guarded_;
};

/// What a sort did.
struct Did {
  int merges = 0;  ///< passes
  bool is_staged = false;
};

class HostSorts : public testing::TestWithParam<int> {
 protected:
  explicit HostSorts(PeerAccess access = PeerAccess::where_possible)
      : devices_(ordinals(GetParam()), access) {}

  template <class K, class Less>
  Did expect_keys_sorted(const std::vector<K>& keys, Less less, HostOptions options) {
    HostMemory memory(devices_);
    OnHost<K> sorted(keys);
    const Did did =
        observed(memory, &options, [&] { sort_host_keys(sorted.span(), memory, less, options); });
    const oracle::Parts<K> all = {keys};
    EXPECT_EQ(sorted.get(), oracle::in_order(all, oracle::stable_order(all, less))[0]);
    return did;
  }
  template <class K, class V, class Less>
  Did expect_pairs_sorted(const std::vector<K>& keys, Less less, HostOptions options) {
    std::vector<V> numbered;
    for (std::size_t i = 0; i < keys.size(); ++i) numbered.push_back(static_cast<V>(i));
    HostMemory memory(devices_);
    OnHost<K> sorted(keys);
    OnHost<V> values(numbered);
    const Did did = observed(memory, &options, [&] {
      sort_host_pairs(sorted.span(), values.span(), memory, less, options);
    });
    const oracle::Parts<K> all = {keys};
    const auto order = oracle::stable_order(all, less);
    EXPECT_EQ(sorted.get(), oracle::in_order(all, order)[0]);
    EXPECT_EQ(values.get(), oracle::in_order(oracle::Parts<V>{numbered}, order)[0]);
    return did;
  }

  const Devices devices_;

 private:
  template <class Act>
  Did observed(HostMemory& memory, HostOptions* options, const Act& act) {
    Did did;
    options->after_step = [&](Step step, std::int64_t) { did.merges += step == Step::merge; };
    act();
    for (int i = 0; i < devices_.count() && options->bytes_per_device > 0; ++i) {
      EXPECT_LE(memory.bytes(i), options->bytes_per_device) << "device " << i;
    }
    did.is_staged = memory.host_bytes() > 0;
    return did;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, HostSorts, testing::Values(1, 2, 3, 5),
                         [](const auto& of) { return std::to_string(of.param); });

TEST_P(HostSorts, WhatFitsOnTheDevices) {
  for (const std::string& arrangement : arrangements()) {
    for (const std::int64_t n : {0, 1, 2, 7, 1000, 9001}) {
      for (const std::int64_t chunk : {0, 321}) {
        SCOPED_TRACE(std::to_string(n) + " keys, " + arrangement + ", chunks of " +
                     std::to_string(chunk));
        const Did did =
            expect_keys_sorted(numbers<float>(arrangement, n, 7), std::greater<>{}, {0, chunk, {}});
        EXPECT_FALSE(did.is_staged);
        EXPECT_EQ(did.merges, n > 0 ? 1 : 0);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(HostSorts, WhatIsStagedInOnePassAndInTwo) {
  const std::int64_t n = 20'011;
  for (const std::string& arrangement : arrangements()) {
    for (const std::int64_t chunk : {1024, 512}) {  // 20 and 40 runs
      SCOPED_TRACE(arrangement + ", chunks of " + std::to_string(chunk));
      const Did did = expect_keys_sorted(numbers<float>(arrangement, n, 8), std::greater<>{},
                                         {limit_for(chunk, 4), 0, {}});
      EXPECT_TRUE(did.is_staged);
      EXPECT_EQ(did.merges, chunk == 1024 ? 1 : 2);
      if (HasFailure()) return;
    }
  }
}

TEST_P(HostSorts, Integers) {
  for (const std::string arrangement : {"uniform", "half equal"}) {
    for (const std::int64_t limit : {std::int64_t{0}, limit_for(1024, 4)}) {
      SCOPED_TRACE(arrangement + ", " + std::to_string(limit) + " bytes");
      const Did did = expect_keys_sorted(numbers<std::uint32_t>(arrangement, 15'001, 8),
                                         std::less<>{}, {limit, 0, {}});
      EXPECT_EQ(did.is_staged, limit > 0);
    }
  }
}

/// By its remainder: 16 bytes, equal where the others differ.
struct Wide {
  std::int64_t number = 0;
  std::int64_t other = 0;
  Wide() = default;
  explicit Wide(std::int64_t from) : number(from), other(-from) {}
  bool operator==(const Wide&) const = default;
};
struct ByRemainder {
  __host__ __device__ bool operator()(const Wide& a, const Wide& b) const {
    return a.number % 100 < b.number % 100;
  }
};

TEST_P(HostSorts, KeysOfOtherTypesAndPairs) {
  for (const std::string arrangement : {"uniform", "few unique", "reversed"}) {
    for (const std::int64_t chunk : {0, 256, 512}) {  // resident, and 24 or 12 runs
      SCOPED_TRACE(arrangement + ", chunks of " + std::to_string(chunk));
      const std::int64_t n = 6001;
      const auto limit = [&](std::size_t bytes) {
        return chunk == 0 ? 0 : limit_for(chunk, bytes);
      };
      if (arrangement == "uniform") {
        expect_keys_sorted(numbers<double>(arrangement, n, 1), std::less<>{}, {limit(8), 0, {}});
      }
      expect_pairs_sorted<float, std::uint32_t>(numbers<float>(arrangement, n, 3), std::greater<>{},
                                                {limit(8), 0, {}});
      const Did did = expect_pairs_sorted<Wide, std::uint8_t>(numbers<Wide>(arrangement, n, 5),
                                                              ByRemainder{}, {limit(17), 0, {}});
      EXPECT_EQ(did.is_staged, chunk > 0);
      if (HasFailure()) return;
    }
  }
}

class HostSortsOfManyRuns : public HostSorts {};
INSTANTIATE_TEST_SUITE_P(Devices, HostSortsOfManyRuns, testing::Values(2));

TEST_P(HostSortsOfManyRuns, TakeThreePasses) {
  const auto keys = numbers<float>("few unique", 1025 * 32 + 5, 9);
  const Did did = expect_keys_sorted(keys, std::greater<>{}, {limit_for(256, 4), 32, {}});
  EXPECT_TRUE(did.is_staged);
  EXPECT_EQ(did.merges, 3);
}

class HostSortsWithoutAccess : public HostSorts {
 protected:
  HostSortsWithoutAccess() : HostSorts(PeerAccess::never) {}
};
INSTANTIATE_TEST_SUITE_P(Devices, HostSortsWithoutAccess, testing::Values(2, 3),
                         [](const auto& of) { return std::to_string(of.param); });

TEST_P(HostSortsWithoutAccess, AreStaged) {
  for (const std::int64_t chunk : {0, 700, 1504, 3008}) {  // the last: one run, not merged
    SCOPED_TRACE(chunk);
    const Did did = expect_pairs_sorted<float, std::uint32_t>(numbers<float>("few unique", 3001, 3),
                                                              std::greater<>{}, {0, chunk, {}});
    EXPECT_EQ(did.is_staged, !devices_.all_have_access());
    if (!did.is_staged) continue;
    EXPECT_EQ(did.merges, chunk == 3008 ? 0 : 1);
  }
}

TEST(HostMemoryOfSorts, IsKeptForTheNext) {
  const Devices devices(ordinals(2));
  HostMemory memory(devices);
  std::int64_t bytes = 0;
  std::int64_t host_bytes = 0;
  for (const std::int64_t n : {20'011, 12'007, 20'000}) {
    auto keys = numbers<std::uint32_t>("uniform", n, 5);
    auto expected = keys;
    std::sort(expected.begin(), expected.end());
    sort_host_keys(std::span(keys), memory, {}, {limit_for(1024, 4), 0, {}});
    EXPECT_EQ(keys, expected);
    if (bytes == 0) {
      bytes = memory.bytes(1);
      host_bytes = memory.host_bytes();
    }
    EXPECT_EQ(memory.bytes(1), bytes);
    EXPECT_EQ(memory.host_bytes(), host_bytes);
  }
}

TEST(HostMemoryOfSorts, IsGivenBackToKeepALimit) {
  const Devices devices(ordinals(2));
  HostMemory memory(devices);
  for (const std::int64_t limit : {std::int64_t{0}, limit_for(1024, 4), limit_for(512, 4)}) {
    auto keys = numbers<std::uint32_t>("uniform", 20'011, 5);
    auto expected = keys;
    std::sort(expected.begin(), expected.end());
    sort_host_keys(std::span(keys), memory, {}, {limit, 0, {}});
    EXPECT_EQ(keys, expected);
    for (int i = 0; i < 2 && limit > 0; ++i) EXPECT_LE(memory.bytes(i), limit) << "device " << i;
    EXPECT_EQ(memory.host_bytes() > 0, limit > 0);
  }
}

TEST(HostMemoryOfSorts, IsPageLockedOrNot) {
  const Devices devices(ordinals(2));
  HostMemory memory(devices);
  const auto keys = numbers<std::uint32_t>("uniform", 20'011, 6);
  PinnedMemory pinned;
  const auto own = reinterpret_cast<std::uint32_t*>(
      pinned.take(static_cast<std::int64_t>(keys.size() * sizeof(std::uint32_t))));
  auto expected = keys;
  std::sort(expected.begin(), expected.end());
  for (const std::int64_t limit : {std::int64_t{0}, limit_for(1024, 4)}) {
    std::copy(keys.begin(), keys.end(), own);
    sort_host_keys(std::span(own, keys.size()), memory, {}, {limit, 0, {}});
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), own));
  }
}

/// Keys in this memory of the host count as its calls of `less`; kernels have none there.
struct Watched {
  const std::uint32_t* begin;
  const std::uint32_t* end;
  std::atomic<int> calls_left;
};
struct ThrowsOnTheHost {
  Watched* watched;
  __host__ __device__ bool operator()(const std::uint32_t& a, const std::uint32_t& b) const {
#if defined(SIMT_EMULATION) || !defined(__CUDA_ARCH__)
    const bool is_watched = !std::less<>{}(&a, watched->begin) && std::less<>{}(&a, watched->end);
    if (is_watched && watched->calls_left-- == 0) throw std::runtime_error("less threw");
#endif
    return a < b;
  }
};

TEST(AfterAnError, TheKeysAreAPermutation) {
  const Devices devices(ordinals(3));
  const auto keys = numbers<std::uint32_t>("uniform", 20'011, 11);
  auto expected = keys;
  std::sort(expected.begin(), expected.end());
  for (const std::int64_t chunk : {1024, 512}) {
    if (is_small() && chunk != 1024) continue;
    bool is_partial = false;
    for (int calls = 0;; calls = 3 * calls + 1) {
      SCOPED_TRACE(std::to_string(calls) + " calls, chunks of " + std::to_string(chunk));
      HostMemory memory(devices);
      const auto* const second = reinterpret_cast<const std::uint32_t*>(
          memory.pinned().take(static_cast<std::int64_t>(4 * keys.size() + 256)));
      Watched watched{second, second + keys.size(), calls};
      auto own = keys;
      const std::string message = message_of<std::runtime_error>([&] {
        sort_host_keys(std::span(own), memory, ThrowsOnTheHost{&watched},
                       {limit_for(chunk, 4), 0, {}});
      });
      if (message == "nothing") {
        EXPECT_EQ(own, expected);
        break;
      }
      EXPECT_EQ(message, "less threw");
      is_partial = true;
      std::sort(own.begin(), own.end());
      EXPECT_EQ(own, expected);
    }
    EXPECT_TRUE(is_partial);
  }
}

/// No order: each number comes before all others, and after them.
struct Differs {
  __host__ __device__ bool operator()(float a, float b) const { return a != b; }
};
/// A sort by `less` ends, and writes nothing but the keys; an error names what is wrong.
template <class Less>
void expect_end(HostMemory& memory, const std::vector<float>& keys, Less less,
                const HostOptions& options) {
  OnHost<float> guarded(keys);
  try {
    sort_host_keys(guarded.span(), memory, less, options);
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr("expected a strict weak ordering"),
                                             HasSubstr("is NaN: expected numbers")));
  }
  EXPECT_EQ(guarded.get().size(), keys.size());
}
TEST(WithoutAnOrder, ASortEndsAndWritesNothingElse) {
  const Devices devices(ordinals(2));
  HostMemory memory(devices);
  std::mt19937 random(3);
  for (int i = 0; i < (is_small() ? 10 : 60); ++i) {
    SCOPED_TRACE(i);
    const std::int64_t chunk = i % 2 == 0 ? 32 : 64;
    const std::size_t n = 100 + random() % 2000;
    std::vector<float> keys;
    for (std::size_t k = 0; k < n; ++k) keys.push_back(static_cast<float>(random() % 1000));
    HostOptions staged{limit_for(chunk, 4), chunk, {}};
    expect_end(memory, keys, Differs{}, staged);
    for (int k = 0; k <= i % 20; ++k) keys[random() % n] = std::nanf("");
    expect_end(memory, keys, std::less<>{}, staged);
    expect_end(memory, keys, std::less<>{}, {});
  }
}

TEST(Chunks, AreNoLargerThanTheKeys) {
  const Devices devices(ordinals(1));
  HostMemory memory(devices);
  for (const std::int64_t chunk : {std::int64_t{1} << 22, std::int64_t{1} << 56}) {
    auto keys = numbers<std::uint32_t>("uniform", 1000, 5);
    auto expected = keys;
    std::sort(expected.begin(), expected.end());
    sort_host_keys(std::span(keys), memory, {}, {0, chunk, {}});
    EXPECT_EQ(keys, expected);
    EXPECT_LT(memory.bytes(0), 1 << 17);
  }
}

TEST(AfterAnError, TheKeysOfTheDevicesComeBack) {
  const Devices devices(ordinals(2));
  HostMemory memory(devices);
  const auto keys = numbers<std::uint32_t>("uniform", 5000, 12);
  for (const Step last : {Step::sort, Step::merge}) {
    auto own = keys;
    const StepObserver throws = [&](Step step, std::int64_t) {
      if (step != last) return;
      // As if the result had been copied in part.
      if (step == Step::merge) std::fill(own.begin(), own.end() - 1000, 0);
      throw std::runtime_error("observer threw");
    };
    EXPECT_EQ(message_of<std::runtime_error>([&] {
                sort_host_keys(std::span(own), memory, {}, {0, 700, throws});
              }),
              "observer threw");
    if (last == Step::sort) {
      EXPECT_EQ(own, keys);
    } else {
      auto expected = keys;
      std::sort(own.begin(), own.end());
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(own, expected);
    }
  }
}

TEST(HostSplitsOfRuns, AreThoseOfAStableMerge) {
  std::mt19937 random(3);
  for (const int different : {1, 3, 50, 1'000'000}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<std::vector<int>> runs(1 + random() % 9);
      struct Of {
        int key;
        std::size_t run;
      };
      std::vector<Of> merged;
      for (std::size_t r = 0; r < runs.size(); ++r) {
        runs[r].resize(random() % 4 == 0 ? 0 : random() % 60);
        for (int& key : runs[r]) key = static_cast<int>(random() % different);
        std::sort(runs[r].begin(), runs[r].end());
        for (const int key : runs[r]) merged.push_back({key, r});
      }
      std::stable_sort(merged.begin(), merged.end(),
                       [](const Of& a, const Of& b) { return a.key < b.key; });
      std::vector<std::span<const int>> spans(runs.begin(), runs.end());
      const detail::HostSplits<int, std::less<>> splits(spans, {});
      std::vector<std::int64_t> expected(runs.size(), 0);
      std::vector<std::int64_t> known = expected;
      std::size_t rank = 0;
      while (rank < merged.size()) {
        const std::size_t next = std::min(merged.size(), rank + random() % 25);
        for (; rank < next; ++rank) ++expected[merged[rank].run];
        ASSERT_EQ(splits.before(static_cast<std::int64_t>(rank), known), expected)
            << "before element " << rank << " of " << merged.size();
        if (random() % 2 == 0) known = expected;
      }
    }
  }
}

TEST(Refuses, HostMemoryThatCannotBeSorted) {
  const Devices devices(ordinals(2));
  HostMemory memory(devices);
  std::vector<int> keys(1000, 1);
  std::vector<int> values(1000, 1);
  const auto message = [&](std::span<int> own, const HostOptions& options) {
    return message_of<std::invalid_argument>([&] { sort_host_keys(own, memory, {}, options); });
  };
  const auto of_pairs = [&](std::span<int> own, std::span<int> of_keys) {
    return message_of<std::invalid_argument>([&] { sort_host_pairs(own, of_keys, memory); });
  };
  const std::string small = message(keys, {(1 << 16) + 4223, 0, {}});
  EXPECT_THAT(small, HasSubstr("options.bytes_per_device allows 69759 bytes of each device"));
  EXPECT_THAT(small, HasSubstr("expected at least 69760 for sorting 1000 elements of 4 bytes"));
  EXPECT_THAT(small, HasSubstr("free for it: device 0 "));
  EXPECT_THAT(small, HasSubstr(", device " + std::to_string(devices.ordinal(1)) + " "));
  EXPECT_EQ(message(keys, {(1 << 16) + 4224, 0, {}}), "nothing");
  EXPECT_THAT(message(keys, {-1, 0, {}}), HasSubstr("options.bytes_per_device is -1"));
  EXPECT_THAT(message(keys, {0, -2, {}}), HasSubstr("options.chunk_elements is -2"));
  EXPECT_THAT(of_pairs(keys, std::span(values).first(999)),
              HasSubstr("values has 999 elements: expected 1000, as many as keys"));
  EXPECT_THAT(of_pairs(std::span(keys).first(600), std::span(keys).last(600)),
              HasSubstr("values overlaps keys"));
  DeviceBuffer<int> buffer(30);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  EXPECT_THAT(message({buffer.data(), 30}, {}),
              HasSubstr("keys is memory of device 0: expected host memory"));
  EXPECT_THAT(message({static_cast<int*>(nullptr), 30}, {}),
              HasSubstr("keys is null: expected host memory"));
  EXPECT_THAT(message({reinterpret_cast<int*>(reinterpret_cast<char*>(keys.data()) + 1), 30}, {}),
              HasSubstr("keys is not aligned: expected an address that 4 divides"));
}

}  // namespace
}  // namespace warpath::multi_gpu_sort::test
