// What is sorted, and what must come out. Shares no code with what it judges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "host_inputs.hpp"

namespace warpath::experiments::sorting {

/// The names of distributions().
inline const std::vector<std::string>& distributions() {
  static const std::vector<std::string> names = {"few",    "uniform24", "many",      "equal",
                                                 "sorted", "reversed",  "organ_pipe"};
  return names;
}

/// n tuples of d coordinates. few: any numbers; uniform24: as 24 random bits give them (floats in
/// [0, 1), as std::uniform_real_distribution<float> does); many: one of 1000 numbers; equal: all of
/// them 1; sorted, reversed and organ_pipe (rising, then falling): coordinate 0 is a place in that
/// order, and the others are any numbers.
template <class T>
std::vector<T> make_tuples(const std::string& distribution, std::int64_t n, int d,
                           std::int64_t seed) {
  const auto coordinate = [=](std::int64_t i, int k) -> T {
    const std::uint64_t bits = random_bits(seed, i * d + k);
    constexpr T unit = std::is_integral_v<T> ? T{1} : static_cast<T>(0x1p-24);
    if (distribution == "uniform24") return static_cast<T>(bits >> 40) * unit;
    if (distribution == "many") return static_cast<T>(bits % 1000);
    if (distribution == "equal") return T{1};
    if (k == 0 && distribution == "sorted") return static_cast<T>(i);
    if (k == 0 && distribution == "reversed") return static_cast<T>(n - 1 - i);
    if (k == 0 && distribution == "organ_pipe") return static_cast<T>(std::min(i, n - 1 - i));
    return any_number<T>(bits);
  };
  std::vector<T> tuples(static_cast<std::size_t>(n * d));
  in_parts(n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      for (int k = 0; k < d; ++k) tuples[static_cast<std::size_t>(i * d + k)] = coordinate(i, k);
    }
  });
  return tuples;
}

/// A tuple's coordinate 0 (or a key), and the tuple's number (or the key's value).
template <class T>
struct Entry {
  T value;
  std::uint32_t reference;
};

/// All tuples in the order of their superkeys from coordinate 0 on; equal ones, by reference. With
/// d = 1: keys and where they were, in the order of a stable sort.
template <class T>
std::vector<Entry<T>> sorted_tuples(const std::vector<T>& tuples, int d) {
  std::vector<Entry<T>> entries(tuples.size() / static_cast<std::size_t>(d));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i] = {tuples[i * static_cast<std::size_t>(d)], static_cast<std::uint32_t>(i)};
  }
  const T* const coordinates = tuples.data();
  sort_in_parts(entries, [coordinates, d](const Entry<T>& a, const Entry<T>& b) {
    if (a.value != b.value) return a.value < b.value;
    for (int k = 1; k < d; ++k) {
      const T x = coordinates[std::int64_t{a.reference} * d + k];
      const T y = coordinates[std::int64_t{b.reference} * d + k];
      if (x != y) return x < y;
    }
    return a.reference < b.reference;
  });
  return entries;
}

/// How often sorted values are equal.
struct Ties {
  double neighbours_percent = 0;  ///< of all entries, those whose value is that of the one before
  double entries_percent = 0;     ///< of all entries, those whose value any other one has
};

template <class T>
Ties ties_of(const std::vector<Entry<T>>& sorted) {
  std::int64_t neighbours = 0;
  std::int64_t tied = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool as_before = i > 0 && sorted[i].value == sorted[i - 1].value;
    const bool as_after = i + 1 < sorted.size() && sorted[i].value == sorted[i + 1].value;
    neighbours += as_before ? 1 : 0;
    tied += as_before || as_after ? 1 : 0;
  }
  const double share = 100.0 / static_cast<double>(sorted.size());
  return {share * static_cast<double>(neighbours), share * static_cast<double>(tied)};
}

/// Runs of entries that have one value, and are not in the order of their references.
struct UnorderedRuns {
  std::int64_t entries = 0;  ///< of all runs
  std::int64_t longest = 0;
};

/// Those of more than `most` entries.
template <class T>
UnorderedRuns unordered_runs(const std::vector<Entry<T>>& sorted, std::int64_t most) {
  UnorderedRuns runs;
  std::size_t begin = 0;
  bool is_unordered = false;
  for (std::size_t i = 1; i <= sorted.size(); ++i) {
    if (i < sorted.size() && sorted[i].value == sorted[begin].value) {
      is_unordered |= sorted[i].reference < sorted[i - 1].reference;
      continue;
    }
    const auto count = static_cast<std::int64_t>(i - begin);
    if (is_unordered && count > most) {
      runs.entries += count;
      runs.longest = std::max(runs.longest, count);
    }
    begin = i;
    is_unordered = false;
  }
  return runs;
}

}  // namespace warpath::experiments::sorting
