// The source's worked example (S. Baxter, "Modern GPU 1.1", NVIDIA Research 2013,
// https://moderngpu.github.io/ , "Multisets", BiasedBinarySearch): the start of the last run among
// 5,000,000 keys. `warpath demo biased_binary_search` prints it.
#pragma once

#include <cstdint>
#include <functional>
#include <sstream>
#include <string>

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

/// Each biased split of the example, and the probes with 0 to 4 levels.
inline std::string demonstration() {
  constexpr std::int64_t count = 5'000'000;
  constexpr std::int64_t run = 3;
  constexpr int shifts[] = {9, 7, 5, 4};
  std::ostringstream text;
  text << "\n\nBIASED BINARY SEARCH DEMONSTRATION:\n\nWhere, among " << count
       << " keys, begins the run of the last one, of " << run << " at most?\n";
  std::int64_t begin = 0;
  std::int64_t end = count;
  std::int64_t probes = 0;
  for (const int shift : shifts) {
    const int parts = 1 << shift;
    binary_search_step<Bound::lower, std::int64_t>(CountedRuns{run, &probes}, begin, end,
                                                   (count - 1) / run, shift, std::less<>{});
    text << "  split at " << parts - 1 << "/" << parts << ": [" << begin << ", " << end
         << ") is left\n";
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
