// How map_reduce's experiments make their points. peers/peer_inputs.py makes the same for the peers
// in Python, bit by bit; tests/plots/test_peers.py compares the two, and so this file needs no
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace warpath::experiments::pairs {

/// Uniform in [low, low + extent), multiples of 2^-24 extent: exact in float for an extent of 1. Or
/// the means of so many such numbers.
template <class T>
std::vector<T> uniform(std::int64_t count, std::uint64_t seed, double low, std::int64_t extent = 1,
                       std::int64_t averaged = 1) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) {
    std::uint64_t sum = 0;
    for (std::int64_t n = 0; n < averaged; ++n) sum += random() >> 40;
    value = static_cast<T>(static_cast<double>(sum) * 0x1p-24 * static_cast<double>(extent) /
                               static_cast<double>(averaged) +
                           low);
  }
  return values;
}

/// How many different rows the oracle computes for M x N pairs of D dimensions, once for each of E
/// numbers of a signal: all, or as many as take some 16 core-seconds (2^31 pairs in three
/// dimensions, one second on 16 cores); then an odd number, so that the same point never comes at
/// the same place of two tiles that follow each other.
inline std::int64_t different_rows(std::int64_t M, std::int64_t N, std::int64_t D, std::int64_t E) {
  constexpr double most_work = 0x1p31 * (18 + 3);  // a pair takes 18 units, a dimension one
  const double affordable =
      most_work / (static_cast<double>(N) * static_cast<double>((18 + D) * E));
  if (static_cast<double>(M) <= affordable) return M;
  return static_cast<std::int64_t>(affordable) | 1;
}

/// Appends the numbers of `values` again and again, until there are `count`.
template <class T>
void repeat(std::vector<T>& values, std::int64_t count) {
  const auto numbers = static_cast<std::size_t>(count);
  values.reserve(numbers);
  for (std::size_t k = 0; values.size() < numbers; ++k) values.push_back(values[k]);
}

}  // namespace warpath::experiments::pairs
