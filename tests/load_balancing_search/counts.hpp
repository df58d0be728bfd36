// Work-item counts that load-balancing search may meet.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace warpath::load_balancing_search::test {

enum class Counts {
  uniform,          ///< of all objects the same
  random,           ///< 0 to twice the average
  power_law,        ///< few objects have most of the items
  one_big,          ///< one object among empty ones has all
  mostly_empty,     ///< one object in a hundred has some
  empty_ends,       ///< long runs of empty objects at both ends
  empty_run,        ///< a long run of empty objects in the middle
  ones,             ///< one item each
  empty_but_last,   ///< all items belong to the last object
  empty_but_first,  ///< all items belong to the first object
};
inline constexpr std::array all_counts = {
    Counts::uniform,        Counts::random,         Counts::power_law, Counts::one_big,
    Counts::mostly_empty,   Counts::empty_ends,     Counts::empty_run, Counts::ones,
    Counts::empty_but_last, Counts::empty_but_first};

inline const char* name_of(Counts counts) {
  constexpr std::array names = {"uniform",        "random",         "power law", "one big",
                                "mostly empty",   "empty ends",     "empty run", "ones",
                                "empty but last", "empty but first"};
  return names[static_cast<std::size_t>(counts)];
}

/// Counts of about `steps` objects and items together.
template <class Offset>
std::vector<Offset> make_counts(Counts kind, std::int64_t steps, std::mt19937_64& random) {
  const auto below = [&](std::int64_t bound) {
    return bound > 0 ? static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound)) : 0;
  };
  std::int64_t objects = steps / 4;
  if (kind == Counts::ones) objects = steps / 2;
  if (kind == Counts::mostly_empty) objects = steps - steps / 10;
  if (kind == Counts::empty_ends || kind == Counts::empty_run) objects = steps / 2;
  if (objects == 0 && steps > 0) objects = 1;
  const std::int64_t items = steps - objects;
  std::vector<Offset> counts(static_cast<std::size_t>(objects), Offset{});
  const auto at = [&](std::int64_t object) -> Offset& {
    return counts[static_cast<std::size_t>(object)];
  };
  for (std::int64_t o = 0; o < objects; ++o) {
    switch (kind) {
      case Counts::uniform:
        at(o) = static_cast<Offset>(items / objects);
        break;
      case Counts::random:
        at(o) = static_cast<Offset>(below(2 * items / objects + 1));
        break;
      case Counts::power_law:
        at(o) = static_cast<Offset>(
            std::min(static_cast<double>(items) / 4,
                     1 / std::sqrt((1 + static_cast<double>(below(1 << 20))) / (1 << 20)) - 1));
        break;
      case Counts::mostly_empty:
        at(o) = static_cast<Offset>(below(100) == 0 ? below(20) : 0);
        break;
      case Counts::empty_ends:
        at(o) = static_cast<Offset>(o < objects / 3 || o >= 2 * objects / 3 ? 0 : below(7));
        break;
      case Counts::empty_run:
        at(o) = static_cast<Offset>(o < objects / 3 || o >= 2 * objects / 3 ? below(4) : 0);
        break;
      case Counts::ones:
        at(o) = 1;
        break;
      default:
        break;
    }
  }
  if (objects > 0) {
    if (kind == Counts::one_big) at(below(objects)) = static_cast<Offset>(items);
    if (kind == Counts::empty_but_last) at(objects - 1) = static_cast<Offset>(items);
    if (kind == Counts::empty_but_first) at(0) = static_cast<Offset>(items);
  }
  return counts;
}

template <class Offset>
std::int64_t total(const std::vector<Offset>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

}  // namespace warpath::load_balancing_search::test
