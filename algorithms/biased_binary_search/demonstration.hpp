// The source's worked example (S. Baxter, "Modern GPU 1.1", NVIDIA Research 2013,
// https://moderngpu.github.io/ , "Multisets", BiasedBinarySearch): the start of the last run among
// 5,000,000 keys. `warpath demo biased_binary_search` prints it.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "biased_binary_search/biased_search.cuh"

namespace warpath::biased_binary_search {

/// The sorted array 0, 0, ..., 1, 1, ...: runs of equal length, which need no memory. Counts reads.
struct CountedRuns {
  std::int64_t run;
  std::int64_t* probes;
  __host__ __device__ std::int64_t operator[](std::int64_t i) const {
    ++*probes;
    return i / run;
  }
};

/// How many probes find the first element of data[0, count) whose key is at least `key`.
inline std::int64_t probes_of(std::int64_t count, std::int64_t key, std::int64_t run, int levels) {
  std::int64_t probes = 0;
  biased_search<Bound::lower>(CountedRuns{run, &probes}, count, key, levels, std::less<>{});
  return probes;
}

/// How deep a search by halves goes among `count` elements, at most.
inline int levels_of(std::int64_t count) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count)));
}

/// What one biased split leaves of a search, and what it saves.
struct BiasedSplit {
  int shift;  ///< it splits at (2^shift - 1) / 2^shift
  std::int64_t begin;
  std::int64_t end;
  std::int64_t reach;  ///< it leads to the right if fewer elements equal the key
  int levels_saved;    ///< of a search by halves, less its own step
};

/// The biased splits with which the search for the first of data[0, count) whose key is at least
/// `key` begins, in runs of equal length.
inline std::vector<BiasedSplit> biased_splits(std::int64_t count, std::int64_t key,
                                              std::int64_t run, int levels) {
  constexpr int shifts[max_bias_levels] = {9, 7, 5, 4};
  std::vector<BiasedSplit> splits;
  std::int64_t probes = 0;
  std::int64_t begin = 0;
  std::int64_t end = count;
  for (int i = max_bias_levels - levels; i < max_bias_levels && begin < end; ++i) {
    const int before = levels_of(end - begin);
    const std::int64_t end_before = end;
    binary_search_step<Bound::lower, std::int64_t>(CountedRuns{run, &probes}, begin, end, key,
                                                   shifts[i], std::less<>{});
    const std::int64_t split = end == end_before ? begin - 1 : end;
    splits.push_back(
        {shifts[i], begin, end, end_before - split, before - 1 - levels_of(end - begin)});
  }
  return splits;
}

/// Each biased split of the example, and the probes with 0 to 4 levels.
inline std::string demonstration() {
  constexpr std::int64_t count = 5'000'000;
  constexpr std::int64_t run = 3;
  std::ostringstream text;
  text << "\n\nBIASED BINARY SEARCH DEMONSTRATION:\n\nWhere, among " << count
       << " keys, begins the run of the last one, of " << run << " at most?\n";
  for (const BiasedSplit& split : biased_splits(count, (count - 1) / run, run, max_bias_levels)) {
    const int parts = 1 << split.shift;
    text << "  split at " << parts - 1 << "/" << parts << ": [" << split.begin << ", " << split.end
         << ") is left, " << split.levels_saved << " levels are saved\n";
  }
  text << "\nProbes with 0 to " << max_bias_levels << " levels, for runs of\n";
  for (const std::int64_t length : {1, 100, 10'000, 1'000'000}) {
    text << "  " << length << ":";
    for (int levels = 0; levels <= max_bias_levels; ++levels) {
      text << ' ' << probes_of(count, (count - 1) / length, length, levels);
    }
    text << '\n';
  }
  return text.str();
}

}  // namespace warpath::biased_binary_search
