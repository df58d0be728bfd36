// Latency-bound binary searches: warp-cooperative, or galloping from a guess.
#pragma once

#include <cuda_runtime.h>

#include "core/warp.cuh"

namespace warpath {

/// How many of the numbers [0, count) are before, if `is_before` holds for those and for no other:
/// std::partition_point in log(count) to the base Lanes + 1 rounds of Lanes probes. One full warp,
/// in which each aligned group of Lanes lanes has a search of its own. The first rounds probe the
/// same numbers whatever the answer, so that searches of many warps share them in a cache.
template <int Lanes = warp_threads, class Index, class IsBefore>
__device__ __forceinline__ Index warp_partition_point(Index count, IsBefore is_before) {
  static_assert(warp_threads % Lanes == 0);
  const int lane = lane_index() % Lanes;
  const unsigned group = full_warp >> (warp_threads - Lanes) << (lane_index() - lane);
  Index low = 0;
  Index high = count;
  while (__any_sync(full_warp, low < high)) {
    // Lane i probes the last number of the i-th of Lanes + 1 parts; the answer lies in the part
    // after the last probe that is before.
    const Index part = (high - low) / (Lanes + 1) + 1;
    const Index probe = low + (static_cast<Index>(lane) + 1) * part - 1;
    const bool is_probe_before = probe < high && is_before(probe);
    const auto parts =
        static_cast<Index>(__popc(__ballot_sync(full_warp, is_probe_before) & group));
    low += parts * part;
    if (low + part - 1 < high) high = low + part - 1;
  }
  return low;
}

/// The same by one thread that guesses the answer, 0 <= guess <= count: steps away from there, of
/// first_step and twice as many each time, and then halves. Takes 2 log2(distance / first_step) +
/// log2(first_step) probes.
template <class Index, class IsBefore>
__host__ __device__ __forceinline__ Index partition_point_near(Index guess, Index count,
                                                               Index first_step,
                                                               IsBefore is_before) {
  Index low = 0;
  Index high = count;
  Index step = first_step;
  if (guess < count && is_before(guess)) {
    low = guess + 1;
    for (; low + step < high && is_before(low + step); step *= 2) low += step + 1;
    if (low + step < high) high = low + step;
  } else {
    high = guess;
    for (; low + step <= high && !is_before(high - step); step *= 2) high -= step;
    if (low + step <= high) low = high - step + 1;
  }
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (is_before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace warpath
