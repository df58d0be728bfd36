// Exact splitters of sorted parts: which elements of each part lie before an element of the
// sequence that they are merged to. Each device looks at its own part only, and the host at a key
// at a time: so the devices need no access to each other.
//
// All parts keep an interval that the splitter lies in. The middle of the widest one is the pivot;
// each device counts, in its interval, what comes before it; and all intervals end or begin there.
// As long as some part has more than half of what is left in all intervals, or all are spread
// alike, a round halves that.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/devices.cuh"
#include "core/launch.cuh"

namespace warpath::multi_gpu_sort::detail {

/// Places [low, high) of a sorted part.
struct Interval {
  std::int64_t low;
  std::int64_t high;
};

/// found becomes the first place of the interval whose key comes after the pivot, or, of a part
/// behind the pivot's, does not come before it; high if there is none. One thread.
template <class K, class Less>
__global__ void count_before_kernel(const K* keys, Interval interval, K pivot,
                                    bool equal_come_before, Less less, std::int64_t* found) {
  while (interval.low < interval.high) {
    const std::int64_t middle = interval.low + (interval.high - interval.low) / 2;
    const bool is_before =
        equal_come_before ? !less(pivot, keys[middle]) : less(keys[middle], pivot);
    if (is_before) {
      interval.low = middle + 1;
    } else {
      interval.high = middle;
    }
  }
  *found = interval.low;
}

/// Finds splitters. parts: sorted, one a device, complete in the devices' streams.
template <class K, class Less>
class Splitters {
 public:
  Splitters(const Devices& devices, std::vector<DeviceSpan<const K>> parts, Less less)
      : devices_(devices), parts_(std::move(parts)), less_(less) {
    for (int i = 0; i < devices_.count(); ++i) {
      const CurrentDevice current(devices_.ordinal(i));
      counts_.emplace_back(devices_.stream(i));
    }
  }

  /// How many elements of each part come before element `rank` of all: of equal ones, those of
  /// earlier parts do. Blocks the host.
  std::vector<std::int64_t> before(std::int64_t rank) {
    std::vector<Interval> intervals;
    for (const DeviceSpan<const K>& part : parts_) intervals.push_back({0, part.count});
    for (;;) {
      const std::size_t widest = widest_of(intervals);
      const Interval& of_pivot = intervals[widest];
      if (of_pivot.low == of_pivot.high) return lows(intervals);
      const std::int64_t place = of_pivot.low + (of_pivot.high - of_pivot.low) / 2;
      const std::vector<std::int64_t> counts = before_pivot(intervals, widest, place);
      std::int64_t sum = 0;
      for (const std::int64_t count : counts) sum += count;
      if (sum == rank) return counts;
      for (std::size_t i = 0; i < intervals.size(); ++i) {
        if (sum < rank) {
          intervals[i].low = counts[i] + (i == widest ? 1 : 0);  // the pivot is before it, too
        } else {
          intervals[i].high = counts[i];
        }
      }
    }
  }

 private:
  static std::size_t widest_of(const std::vector<Interval>& intervals) {
    std::size_t widest = 0;
    const auto width = [&](std::size_t i) { return intervals[i].high - intervals[i].low; };
    for (std::size_t i = 1; i < intervals.size(); ++i) {
      if (width(i) > width(widest)) widest = i;
    }
    return widest;
  }
  static std::vector<std::int64_t> lows(const std::vector<Interval>& intervals) {
    std::vector<std::int64_t> all;
    for (const Interval& interval : intervals) all.push_back(interval.low);
    return all;
  }

  /// How many elements of each part come before the one at a place of part `own`.
  std::vector<std::int64_t> before_pivot(const std::vector<Interval>& intervals, std::size_t own,
                                         std::int64_t place) {
    const K pivot = key_at(own, place);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (i == own) continue;
      const int device = static_cast<int>(i);
      const CurrentDevice current(devices_.ordinal(device));
      launch({1, 1, 0, devices_.stream(device)}, count_before_kernel<K, Less>, parts_[i].data,
             intervals[i], pivot, i < own, less_, counts_[i].data());
    }
    std::vector<std::int64_t> counts;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const int device = static_cast<int>(i);
      const CurrentDevice current(devices_.ordinal(device));
      counts.push_back(i == own ? place : counts_[i].get(devices_.stream(device)));
    }
    return counts;
  }
  [[nodiscard]] K key_at(std::size_t part, std::int64_t place) const {
    const int device = static_cast<int>(part);
    const CurrentDevice current(devices_.ordinal(device));
    K key;
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(static_cast<void*>(&key), parts_[part].data + place,
                                       sizeof key, cudaMemcpyDeviceToHost,
                                       devices_.stream(device)));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(devices_.stream(device)));
    return key;
  }

  const Devices& devices_;
  std::vector<DeviceSpan<const K>> parts_;
  Less less_;
  std::vector<DeviceCount> counts_;
};

}  // namespace warpath::multi_gpu_sort::detail
