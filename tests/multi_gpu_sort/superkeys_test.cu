// Sorts of tuples by superkey over 1 to 8 devices: it is the tuples that come to other devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../message_of.hpp"
#include "../number_types.hpp"
#include "../test_size.hpp"
#include "multi_gpu_sort/oracle.hpp"
#include "multi_gpu_sort/sort_superkeys.cuh"
#include "on_devices.cuh"

namespace warpath::multi_gpu_sort::test {
namespace {

std::int64_t sum(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// An array in parts of so many tuples, with so many elements each.
template <class T>
Parts<T> parts_of(const std::vector<T>& all, const std::vector<std::int64_t>& counts, int each) {
  Parts<T> parts;
  auto next = all.begin();
  for (const std::int64_t count : counts) {
    parts.emplace_back(next, next + count * each);
    next += count * each;
  }
  return parts;
}

/// Numbers first, first + 1, ...; or backwards, down to 0.
std::vector<std::uint32_t> numbers_of(std::int64_t n, bool are_backwards) {
  std::vector<std::uint32_t> all(static_cast<std::size_t>(n));
  are_backwards ? std::iota(all.rbegin(), all.rend(), 0u) : std::iota(all.begin(), all.end(), 5u);
  return all;
}

/// Tuples on devices, with numbers backwards, or without any, from 5 on.
template <class C>
struct Given {
  OnDevices<C> coordinates;
  OnDevices<std::uint32_t> numbers;
  std::vector<SourceTuples<C>> sources;

  Given(const Devices& devices, const std::vector<C>& all, const std::vector<std::int64_t>& counts,
        int dimensions, bool are_numbered)
      : coordinates(devices, parts_of(all, counts, dimensions)),
        numbers(devices, parts_of(numbers_of(sum(counts), true), counts, 1)) {
    std::uint32_t first = 5;
    const auto of_tuples = coordinates.spans();
    const auto own_numbers = numbers.spans();
    for (std::size_t i = 0; i < counts.size(); ++i) {
      sources.push_back({of_tuples[i], {}, first});
      if (are_numbered) sources.back().numbers = own_numbers[i];
      first += static_cast<std::uint32_t>(counts[i]);
    }
  }
};

/// What they become.
template <class C>
struct Taken {
  OnDevices<C> coordinates;
  OnDevices<std::uint32_t> numbers;
  OnDevices<std::uint32_t> references;
  OnDevices<C> values;

  Taken(const Devices& devices, const std::vector<std::int64_t>& counts, int dimensions)
      : coordinates(devices, parts_of(filled<C>(counts, dimensions), counts, dimensions)),
        numbers(devices, parts_of(filled<std::uint32_t>(counts, 1), counts, 1)),
        references(devices, parts_of(filled<std::uint32_t>(counts, 1), counts, 1)),
        values(devices, parts_of(filled<C>(counts, 1), counts, 1)) {}

  [[nodiscard]] std::vector<TuplePart<C>> parts() {
    const auto c = coordinates.spans();
    const auto n = numbers.spans();
    const auto r = references.spans();
    const auto v = values.spans();
    std::vector<TuplePart<C>> all;
    for (std::size_t i = 0; i < c.size(); ++i) all.push_back({c[i], n[i], r[i], v[i]});
    return all;
  }

 private:
  template <class T>
  static std::vector<T> filled(const std::vector<std::int64_t>& counts, int each) {
    return std::vector<T>(static_cast<std::size_t>(sum(counts) * each), static_cast<T>(99));
  }
};

/// The tuples of parts of so many each, sorted, in parts of others.
template <class C>
void expect_sorted(const Devices& devices, const std::vector<C>& all,
                   const std::vector<std::int64_t>& counts,
                   const std::vector<std::int64_t>& new_counts, int dimensions, int primary,
                   const Options& options, bool are_numbered) {
  Given<C> given(devices, all, counts, dimensions, are_numbered);
  Taken<C> taken(devices, new_counts, dimensions);
  Memory memory;
  sort_superkeys<C>(devices, given.sources, taken.parts(), dimensions, primary, memory, options);
  const auto numbers = numbers_of(sum(counts), are_numbered);
  const std::vector<std::size_t> order = oracle::superkey_order(all, dimensions, primary);
  EXPECT_EQ(given.coordinates.get(), parts_of(all, counts, dimensions)) << "a source was written";
  const Parts<C> coordinates = taken.coordinates.get();
  const Parts<std::uint32_t> moved_numbers = taken.numbers.get();
  const Parts<std::uint32_t> references = taken.references.get();
  const Parts<C> values = taken.values.get();
  const auto d = static_cast<std::size_t>(dimensions);
  std::size_t next = 0;
  for (std::size_t i = 0; i < references.size(); ++i) {
    for (std::size_t k = 0; k < references[i].size(); ++k, ++next) {
      const std::size_t place = references[i][k];
      ASSERT_LT(place, references[i].size()) << "part " << i << ", " << k;
      ASSERT_EQ(moved_numbers[i][place], numbers[order[next]]) << "part " << i << ", " << k;
      for (std::size_t j = 0; j < d; ++j) {
        ASSERT_EQ(coordinates[i][place * d + j], all[order[next] * d + j])
            << "part " << i << ", " << k << ", coordinate " << j;
      }
      ASSERT_EQ(values[i][k], all[order[next] * d + static_cast<std::size_t>(primary)]);
    }
  }
}

/// Coordinates of n tuples from 0 to range - 1: the fewer, the more ties.
template <class C>
std::vector<C> coordinates(std::int64_t n, int dimensions, unsigned range, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<C> all;
  for (std::int64_t i = 0; i < n * dimensions; ++i) {
    all.push_back(static_cast<C>(static_cast<int>(random() % range) - 1));
  }
  return all;
}

std::vector<std::int64_t> sizes(std::int64_t n, int devices, bool is_even, unsigned seed) {
  std::vector<std::int64_t> all;
  for (const auto& part :
       cut(std::vector<char>(static_cast<std::size_t>(n)), devices, is_even, seed)) {
    all.push_back(static_cast<std::int64_t>(part.size()));
  }
  return all;
}

std::vector<Options> ways_of_superkeys(int devices) {
  std::vector<Options> all = {{Variant::splitter_merge, Exchange::direct, {}, {}}};
  if ((devices & (devices - 1)) == 0) {
    all.push_back({Variant::swap_merge, Exchange::direct, {}, {}});
  }
  return all;
}

class Superkeys : public OnSomeDevices {};
INSTANTIATE_TEST_SUITE_P(Devices, Superkeys, testing::Range(1, 9),
                         [](const auto& of) { return std::to_string(of.param); });

TEST_P(Superkeys, OfTuplesThatTie) {
  const Devices devices(ordinals(GetParam()));
  for (const std::int64_t n : {0, 1, 5, 700, is_small() ? 1500 : 20'011}) {
    for (const unsigned range : {3u, 1u, 1'000'000u}) {
      if (is_small() && range == 1) continue;
      for (const bool is_even : {true, false}) {
        const auto seed = static_cast<unsigned>(n) + range + static_cast<unsigned>(GetParam());
        const auto counts = sizes(n, GetParam(), is_even, seed);
        const auto new_counts = sizes(n, GetParam(), seed % 2 == 0, seed + 1);
        for (const Options& options : ways_of_superkeys(GetParam())) {
          SCOPED_TRACE(std::to_string(n) + " tuples of coordinates below " + std::to_string(range) +
                       (is_even ? ", even, " : ", uneven, ") +
                       std::string(enum_name(options.variant)));
          expect_sorted(devices, coordinates<float>(n, 3, range, seed), counts, new_counts, 3, 1,
                        options, is_even);
          if (n == 700) {
            expect_sorted(devices, coordinates<float>(n, 1, range, seed), counts, counts, 1, 0,
                          options, !is_even);
            if constexpr (is_tested<double>) {
              expect_sorted(devices, coordinates<double>(n, 5, range, seed), counts, new_counts, 5,
                            4, options, true);
            }
            expect_sorted(devices, coordinates<std::int64_t>(n, 16, 2, seed), counts, counts, 16,
                          15, options, false);
          }
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(SuperkeysRefuse, WhatCannotBe) {
  const Devices devices(ordinals(3));
  const Given<float> given(devices, coordinates<float>(9, 2, 5, 1), {3, 3, 3}, 2, true);
  Taken<float> taken(devices, {2, 4, 3}, 2);
  Memory memory;
  const auto message = [&](const std::vector<SourceTuples<float>>& sources,
                           const std::vector<TuplePart<float>>& parts, int dimensions, int primary,
                           const Options& options) {
    return message_of<std::invalid_argument>([&] {
      sort_superkeys<float>(devices, sources, parts, dimensions, primary, memory, options);
    });
  };
  using testing::HasSubstr;
  const auto from = given.sources;
  const auto to = taken.parts();
  EXPECT_THAT(message({from[0]}, to, 2, 0, {}), HasSubstr("sources has 1 elements: expected 3"));
  EXPECT_THAT(message(from, {to[0]}, 2, 0, {}), HasSubstr("parts has 1 elements: expected 3"));
  EXPECT_THAT(message(from, to, 2, 2, {}), HasSubstr("primary is 2"));
  EXPECT_THAT(message(from, to, 17, 0, {}), HasSubstr("dimensions is 17"));
  EXPECT_THAT(
      message(from, to, 4, 0, {}),
      HasSubstr("sources[0].coordinates has 6 coordinates: expected a multiple of dimensions"));
  EXPECT_THAT(message(from, {to[0], to[0], to[2]}, 2, 0, {}),
              HasSubstr("parts[1].coordinates overlaps parts[0].coordinates"));
  EXPECT_THAT(message(from, {to[0], to[1], {}}, 2, 0, {}),
              HasSubstr("parts have room for 6 tuples: expected 9, as many as sources have"));
  auto wrong = to;
  wrong[1].references.count = 2;
  EXPECT_THAT(message(from, wrong, 2, 0, {}), HasSubstr("parts[1].references has 2 elements"));
  auto numbered = from;
  numbered[2].numbers.count = 1;
  EXPECT_THAT(message(numbered, to, 2, 0, {}), HasSubstr("sources[2].numbers has 1 elements"));
  wrong = to;
  wrong[0].coordinates.data = const_cast<float*>(from[2].coordinates.data) + 2;
  EXPECT_THAT(message(from, wrong, 2, 0, {}),
              HasSubstr("parts[0].coordinates overlaps sources[2].coordinates"));
  EXPECT_THAT(message(from, to, 2, 0, {Variant::radix_exchange, Exchange::direct, {}, {}}),
              HasSubstr("expected swap_merge or splitter_merge"));
  EXPECT_THAT(message(from, to, 2, 0, {Variant::splitter_merge, Exchange::copy, {}, {}}),
              HasSubstr("options.exchange is copy"));
  EXPECT_THAT(message(from, to, 2, 0, {Variant::swap_merge, Exchange::direct, {}, {}}),
              HasSubstr("swap_merge on 3 devices"));
}

TEST(SuperkeysRefuse, Nan) {
  const Devices devices(ordinals(2));
  std::vector<float> all = coordinates<float>(900, 3, 7, 1);
  all[3 * 700 + 2] = std::numeric_limits<float>::quiet_NaN();
  Memory memory;
  for (const Options& options : ways_of_superkeys(2)) {
    for (const bool are_numbered : {true, false}) {
      const Given<float> given(devices, all, {400, 500}, 3, are_numbered);
      Taken<float> taken(devices, {500, 400}, 3);
      EXPECT_THAT(message_of<std::invalid_argument>([&] {
                    sort_superkeys<float>(devices, given.sources, taken.parts(), 3, 0, memory,
                                          options);
                  }),
                  testing::HasSubstr("coordinate 2 of the tuple with number " +
                                     std::string(are_numbered ? "199" : "705") + " is NaN"));
    }
  }
}

}  // namespace
}  // namespace warpath::multi_gpu_sort::test
