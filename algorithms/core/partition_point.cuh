// Latency-bound binary searches: warp-cooperative, or galloping from a guess.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/warp.cuh"

namespace warpath {

namespace detail {

/// warp_partition_point() where the answer is known to lie in [low, high].
template <int Lanes, class Index, class IsBefore>
__device__ __forceinline__ Index warp_partition_point_between(Index low, Index high,
                                                              IsBefore is_before) {
  static_assert(warp_threads % Lanes == 0);
  const int lane = lane_index() % Lanes;
  const unsigned group = full_warp >> (warp_threads - Lanes) << (lane_index() - lane);
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

}  // namespace detail

/// How many of the numbers [0, count) are before, if `is_before` holds for those and for no other:
/// std::partition_point in log(count) to the base Lanes + 1 rounds of Lanes probes. One full warp,
/// in which each aligned group of Lanes lanes has a search of its own. The first rounds probe the
/// same numbers whatever the answer, so that searches of many warps share them in a cache.
template <int Lanes = warp_threads, class Index, class IsBefore>
__device__ __forceinline__ Index warp_partition_point(Index count, IsBefore is_before) {
  return detail::warp_partition_point_between<Lanes>(Index{0}, count, is_before);
}

/// The same from a guess, 0 <= guess <= count. The first round probes at distances 1, b, b^2, ...
/// on both sides of it, b = 2^(32 / Lanes): an answer at distance d is then one of some (b - 1) d
/// numbers, and beyond the farthest probe (2^15) one of all on that side.
template <int Lanes = warp_threads, class IsBefore>
__device__ __forceinline__ std::int64_t warp_partition_point_near(std::int64_t guess,
                                                                  std::int64_t count,
                                                                  IsBefore is_before) {
  static_assert(warp_threads % Lanes == 0);
  constexpr int half = Lanes / 2;
  const int lane = lane_index() % Lanes;
  const unsigned group = full_warp >> (warp_threads - Lanes) << (lane_index() - lane);
  // Growing with the lane; numbers below 0 are before, those from `count` on are not.
  const auto probe_of = [&](int of_lane) {
    const int steps = of_lane < half ? half - 1 - of_lane : of_lane - half;
    const std::int64_t distance = std::int64_t{1} << steps * (warp_threads / Lanes);
    return of_lane < half ? guess - distance : guess + (distance - 1);
  };
  const std::int64_t probe = probe_of(lane);
  const bool is_probe_before = probe < 0 || (probe < count && is_before(probe));
  const int probes = __popc(__ballot_sync(full_warp, is_probe_before) & group);
  const std::int64_t low = probes == 0 ? 0 : max(probe_of(probes - 1) + 1, std::int64_t{0});
  const std::int64_t high = probes == Lanes ? count : min(probe_of(probes), count);
  return detail::warp_partition_point_between<Lanes>(low, high, is_before);
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
