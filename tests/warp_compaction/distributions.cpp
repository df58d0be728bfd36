#include "distributions.hpp"

#include <algorithm>

namespace warpath::warp_compaction::test {

namespace {

constexpr std::uint64_t key_range = 1u << 20;

bool is_about_flags(Distribution distribution) {
  return distribution >= Distribution::nothing;
}

/// Numbers the runs 0, 1, 2, ... of random lengths.
std::vector<std::uint64_t> make_runs(std::int64_t n, std::int64_t tile, Random& random) {
  std::vector<std::uint64_t> runs;
  for (std::uint64_t run = 0; static_cast<std::int64_t>(runs.size()) < n; ++run) {
    const auto length = static_cast<std::int64_t>(random() % (2 * tile)) + 1;
    const std::int64_t left = n - static_cast<std::int64_t>(runs.size());
    runs.insert(runs.end(), static_cast<std::size_t>(std::min(length, left)), run);
  }
  return runs;
}

}  // namespace

std::string to_string(Distribution distribution) {
  static constexpr std::array names = {
      "uniform", "sorted",     "reversed",   "all_equal", "few_unique",  "long_runs", "organ_pipe",
      "nothing", "everything", "only_first", "only_last", "alternating", "every_33rd"};
  static_assert(names.size() == all_distributions.size());
  return names[static_cast<std::size_t>(distribution)];
}

std::vector<std::uint64_t> make_keys(Distribution distribution, std::int64_t n, std::int64_t tile,
                                     Random& random) {
  if (distribution == Distribution::long_runs) return make_runs(n, tile, random);
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(n));
  if (is_about_flags(distribution)) {  // a new key wherever one is to be kept
    const std::vector<unsigned char> flags = make_flags(distribution, n, tile, random);
    std::uint64_t key = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = key += flags[i];
    return keys;
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    switch (distribution) {
      case Distribution::all_equal:
        keys[i] = 12345;
        break;
      case Distribution::few_unique:
        keys[i] = random() % 4;
        break;
      case Distribution::organ_pipe:
        keys[i] = std::min(i, keys.size() - 1 - i) / 3;
        break;
      default:
        keys[i] = random() % key_range;
    }
  }
  if (distribution == Distribution::sorted) std::sort(keys.begin(), keys.end());
  if (distribution == Distribution::reversed) std::sort(keys.rbegin(), keys.rend());
  return keys;
}

std::vector<unsigned char> make_flags(Distribution distribution, std::int64_t n, std::int64_t tile,
                                      Random& random) {
  std::vector<unsigned char> flags(static_cast<std::size_t>(n));
  if (!is_about_flags(distribution)) {  // the keys above the middle one
    const std::vector<std::uint64_t> keys = make_keys(distribution, n, tile, random);
    std::vector<std::uint64_t> ordered = keys;
    std::sort(ordered.begin(), ordered.end());
    const bool is_alternating = distribution == Distribution::long_runs;
    for (std::size_t i = 0; i < flags.size(); ++i) {
      flags[i] = is_alternating ? keys[i] % 2 : keys[i] > ordered[ordered.size() / 2];
    }
    return flags;
  }
  for (std::size_t i = 0; i < flags.size(); ++i) {
    flags[i] = distribution == Distribution::everything ||
               (distribution == Distribution::only_first && i == 0) ||
               (distribution == Distribution::only_last && i + 1 == flags.size()) ||
               (distribution == Distribution::alternating && i % 2 == 1) ||
               (distribution == Distribution::every_33rd && i % 33 == 32);
  }
  return flags;
}

}  // namespace warpath::warp_compaction::test
