// Making inputs and expected results on all cores of the host: the largest have 2^28 elements and
// more. Plain C++, which shares no code with what it judges.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

namespace warpath::experiments {

/// Calls body(first, last) for parts of 0 .. n - 1, a part a core.
template <class Body>
void in_parts(std::int64_t n, const Body& body) {
  const auto parts = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (std::int64_t part = 0; part < parts; ++part) {
    threads.emplace_back(
        [&body, n, part, parts] { body(n * part / parts, n * (part + 1) / parts); });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Sorts by `less`, which calls no two elements equal: parts by std::sort, then two by two by
/// std::merge.
template <class T, class Less>
void sort_in_parts(std::vector<T>& elements, const Less& less) {
  std::vector<std::int64_t> ends = {0};
  const auto n = static_cast<std::int64_t>(elements.size());
  std::int64_t parts = 1;
  while (parts < static_cast<std::int64_t>(std::thread::hardware_concurrency())) parts *= 2;
  for (std::int64_t part = 1; part <= parts; ++part) ends.push_back(n * part / parts);
  const auto for_each_part = [](std::int64_t count, const auto& body) {
    std::vector<std::thread> threads;
    for (std::int64_t part = 0; part < count; ++part) {
      threads.emplace_back([&body, part] { body(static_cast<std::size_t>(part)); });
    }
    for (std::thread& thread : threads) thread.join();
  };
  for_each_part(parts, [&](std::size_t part) {
    std::sort(elements.begin() + ends[part], elements.begin() + ends[part + 1], less);
  });
  std::vector<T> merged(elements.size());
  for (; parts > 1; parts /= 2) {
    for_each_part(parts / 2, [&](std::size_t pair) {
      const auto first = elements.begin() + ends[2 * pair];
      const auto middle = elements.begin() + ends[2 * pair + 1];
      const auto last = elements.begin() + ends[2 * pair + 2];
      std::merge(first, middle, middle, last, merged.begin() + ends[2 * pair], less);
    });
    elements.swap(merged);
    for (std::size_t pair = 1; pair <= static_cast<std::size_t>(parts / 2); ++pair) {
      ends[pair] = ends[2 * pair];
    }
  }
}

/// Steele, Lea, Flood: SplitMix64. The i-th number of a seed, so that any number of threads can
/// draw.
inline std::uint64_t random_bits(std::int64_t seed, std::int64_t i) {
  auto x = static_cast<std::uint64_t>(seed) * 0xD1342543DE82EF95ull + static_cast<std::uint64_t>(i);
  x = (x + 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

/// Any number of the type, of all that there are: of floating-point types all bits that are neither
/// an infinity nor NaN, and 0.0 for -0.0.
template <class T>
T any_number(std::uint64_t bits) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
    constexpr Bits exponents = (Bits{1} << (8 * sizeof(T) - 1 - fraction_bits)) - 1;
    auto own = static_cast<Bits>(bits);
    // The highest exponent is that of what is no number.
    if ((own >> fraction_bits & exponents) == exponents) own ^= Bits{1} << fraction_bits;
    const T number = std::bit_cast<T>(own);
    return number == 0 ? T{0} : number;
  }
}

}  // namespace warpath::experiments
