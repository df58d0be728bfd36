// Exact splitters of sorted parts: where each part is cut, so that each device gets its slice of
// the sequence that they are merged to. No device looks into another one's memory: what they need
// of each other is copied.
//
// Of every part, an interval is left that the cut lies in. In a round, for all cuts at once,
//
//   each device      takes samples of its intervals, evenly, which are copied to the first device
//   the first one    finds how many elements of all parts come before each sample: at least those
//                    up to the last sample before it, at most those up to the first one after it
//
// A sample that has fewer elements before it than the slices before the cut is before the cut, one
// that has as many is not: the cut lies between such samples. So of W elements in all intervals, a
// round with s samples of each leaves at most 4 (W / (s + 1) + parts), however the keys lie: 2^30
// elements take five rounds, and nothing is awaited before the last.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/devices.cuh"
#include "core/launch.cuh"
#include "core/span.hpp"
#include "multi_gpu_sort/host_splits.hpp"

namespace warpath::multi_gpu_sort::detail {

/// Places [low, high) of a sorted part.
struct Interval {
  std::int64_t low;
  std::int64_t high;
};

/// An interval's samples: all elements of a short one, else so many, as far from each other and
/// from both ends.
struct Samples {
  Interval interval;
  std::int64_t most;  ///< of an interval

  [[nodiscard]] __device__ std::int64_t count() const {
    const std::int64_t all = interval.high - interval.low;
    return all < most ? all : most;
  }
  /// The place of sample k.
  [[nodiscard]] __device__ std::int64_t place(std::int64_t k) const {
    const std::int64_t all = interval.high - interval.low;
    return interval.low + (all <= most ? k : (k + 1) * all / (most + 1));
  }
};

/// samples[cut * most + k] becomes sample k of part `part` for a cut. A block a cut.
template <class K>
__global__ void take_samples_kernel(const K* keys, const Interval* intervals, int parts, int part,
                                    int most, K* samples) {
  const std::int64_t cut = blockIdx.x;
  const Samples own{intervals[cut * parts + part], most};
  for (std::int64_t k = threadIdx.x; k < own.count(); k += blockDim.x) {
    samples[cut * most + k] = keys[own.place(k)];
  }
}

/// How many sorted samples come before a key; of equal ones, those that `come_first` do.
template <class K, class Less>
__device__ std::int64_t samples_before(const K* samples, std::int64_t count, const K& key,
                                       bool come_first, Less& less) {
  std::int64_t low = 0;
  while (low < count) {
    const std::int64_t middle = low + (count - low) / 2;
    const bool is_before = come_first ? !less(key, samples[middle]) : less(samples[middle], key);
    if (is_before) {
      low = middle + 1;
    } else {
      count = middle;
    }
  }
  return low;
}

/// The intervals of each cut shrink to what lies between samples before the cut and behind it.
/// samples: [part][cut][most]; ranks: how many elements come before each cut. A block a cut, with
/// an interval a part of shared memory.
template <class K, class Less>
__global__ void narrow_kernel(const K* samples, int most, int parts, const std::int64_t* ranks,
                              Less less, Interval* intervals) {
  Interval* const next = &dynamic_shared<Interval>();
  const int cut = static_cast<int>(blockIdx.x);
  Interval* const own = intervals + std::int64_t{cut} * parts;
  for (int i = static_cast<int>(threadIdx.x); i < parts; i += static_cast<int>(blockDim.x)) {
    next[i] = own[i];
  }
  __syncthreads();  // the intervals are there
  const auto samples_of = [&](int part) {
    return samples + (std::int64_t{part} * gridDim.x + cut) * most;
  };
  for (int x = static_cast<int>(threadIdx.x); x < parts * most; x += static_cast<int>(blockDim.x)) {
    const int part = x / most;
    const int k = x % most;
    const Samples of_part{own[part], most};
    if (k >= of_part.count()) continue;
    const K key = samples_of(part)[k];
    const std::int64_t place = of_part.place(k);
    std::int64_t fewest = place;
    std::int64_t most_before = place;
    for (int i = 0; i < parts; ++i) {
      if (i == part) continue;
      const Samples other{own[i], most};
      const std::int64_t before = samples_before(samples_of(i), other.count(), key, i < part, less);
      fewest += before == 0 ? own[i].low : other.place(before - 1) + 1;
      most_before += before == other.count() ? own[i].high : other.place(before);
    }
    // Places are no less than 0, so that their order is that of unsigned ones.
    if (most_before < ranks[cut]) {
      atomicMax(reinterpret_cast<unsigned long long*>(&next[part].low),
                static_cast<unsigned long long>(place + 1));
    } else if (fewest >= ranks[cut]) {
      atomicMin(reinterpret_cast<unsigned long long*>(&next[part].high),
                static_cast<unsigned long long>(place));
    }
  }
  __syncthreads();  // all samples are asked, and the intervals read
  for (int i = static_cast<int>(threadIdx.x); i < parts; i += static_cast<int>(blockDim.x)) {
    own[i] = next[i];
  }
}

/// Finds splitters. Least: of the samples that an interval has.
template <class K, class Less, int Least = 256>
class Splitters {
 public:
  /// parts: sorted, one a device, complete in the devices' streams.
  Splitters(const Devices& devices, std::vector<DeviceSpan<const K>> parts, Less less)
      : devices_(devices), parts_(std::move(parts)), less_(less) {}

  /// For each rank (row), how many elements of each part (column) come before that element of all:
  /// of equal ones, those of earlier parts do. Blocks the host. Throws std::invalid_argument if
  /// there is no such cut, since `less` is no order of the keys.
  std::vector<std::vector<std::int64_t>> before(const std::vector<std::int64_t>& ranks) {
    if (ranks.empty()) return {};
    const std::vector<Interval> whole = take_memory(ranks);
    for (int round = 0; round < rounds(); ++round) narrow(static_cast<int>(ranks.size()));
    std::vector<Interval> cuts(whole.size());
    {
      const CurrentDevice current(devices_.ordinal(0));
      WARPATH_CUDA_CHECK(cudaMemcpyAsync(cuts.data(), own_[0].intervals.data(),
                                         cuts.size() * sizeof(Interval), cudaMemcpyDeviceToHost,
                                         devices_.stream(0)));
    }
    devices_.synchronize();  // `whole` and `ranks` are read, too
    std::vector<std::vector<std::int64_t>> rows;
    for (std::size_t c = 0; c < ranks.size(); ++c) {
      rows.emplace_back();
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        rows.back().push_back(cuts[c * parts_.size() + i].low);
      }
      require_cut(rows, ranks[c]);
    }
    return rows;
  }

 private:
  struct OfDevice {
    DeviceBuffer<Interval> intervals;  ///< [cut][part]
    DeviceBuffer<K> samples;           ///< [cut][sample]
  };

  [[nodiscard]] int parts() const { return static_cast<int>(parts_.size()); }
  /// Enough for each round to leave much less than it found.
  [[nodiscard]] int samples() const { return std::max(Least, 8 * parts()); }
  /// After so many, nothing is left of any interval: the last one sees all elements.
  [[nodiscard]] int rounds() const {
    std::int64_t left = 0;
    for (const DeviceSpan<const K>& part : parts_) left += part.count;
    int rounds = 1;
    for (; left > samples(); ++rounds) left = 4 * (left / (samples() + 1) + parts());
    return rounds;
  }

  /// Returns what the devices read: the intervals before the first round, to be kept until then.
  std::vector<Interval> take_memory(const std::vector<std::int64_t>& ranks) {
    std::vector<Interval> whole;
    for (std::size_t c = 0; c < ranks.size(); ++c) {
      for (const DeviceSpan<const K>& part : parts_) whole.push_back({0, part.count});
    }
    const auto cuts = static_cast<std::int64_t>(ranks.size());
    const auto intervals = static_cast<std::int64_t>(whole.size());
    devices_.for_each([&](int i, cudaStream_t stream) {
      own_.push_back(
          {DeviceBuffer<Interval>(intervals, stream), DeviceBuffer<K>(cuts * samples(), stream)});
      WARPATH_CUDA_CHECK(cudaMemcpyAsync(own_.back().intervals.data(), whole.data(),
                                         whole.size() * sizeof(Interval), cudaMemcpyHostToDevice,
                                         stream));
      if (i > 0) return;
      all_samples_ = DeviceBuffer<K>(parts() * cuts * samples(), stream);
      ranks_ = DeviceBuffer<std::int64_t>(cuts, stream);
      WARPATH_CUDA_CHECK(cudaMemcpyAsync(ranks_.data(), ranks.data(),
                                         ranks.size() * sizeof(std::int64_t),
                                         cudaMemcpyHostToDevice, stream));
    });
    return whole;
  }

  void narrow(int cuts) {
    const std::int64_t of_part = std::int64_t{cuts} * samples();
    const auto blocks = static_cast<unsigned>(cuts);
    devices_.for_each([&](int i, cudaStream_t stream) {
      OfDevice& own = own_[static_cast<std::size_t>(i)];
      launch({blocks, 256, 0, stream}, take_samples_kernel<K>,
             parts_[static_cast<std::size_t>(i)].data, own.intervals.data(), parts(), i, samples(),
             own.samples.data());
    });
    for (int i = 0; i < parts(); ++i) {
      devices_.wait(0, i);
      devices_.copy(all_samples_.data() + i * of_part, 0,
                    own_[static_cast<std::size_t>(i)].samples.data(), i, of_part);
    }
    {
      const CurrentDevice current(devices_.ordinal(0));
      launch({blocks, 256, parts() * sizeof(Interval), devices_.stream(0)}, narrow_kernel<K, Less>,
             all_samples_.data(), samples(), parts(), ranks_.data(), less_,
             own_[0].intervals.data());
    }
    for (int i = 1; i < parts(); ++i) {
      devices_.wait(i, 0);
      devices_.copy(own_[static_cast<std::size_t>(i)].intervals.data(), i, own_[0].intervals.data(),
                    0, std::int64_t{cuts} * parts());
    }
  }

  /// The last of the rows is a cut before element `rank`, and not before the cut above it.
  static void require_cut(const std::vector<std::vector<std::int64_t>>& rows, std::int64_t rank) {
    bool is_cut = true;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < rows.back().size(); ++i) {
      sum += rows.back()[i];
      if (rows.size() > 1) is_cut = is_cut && rows.back()[i] >= rows[rows.size() - 2][i];
    }
    if (!is_cut || sum != rank) throw_of_no_cut(rank);
  }

  const Devices& devices_;
  std::vector<DeviceSpan<const K>> parts_;
  Less less_;
  std::vector<OfDevice> own_;
  // On the first device:
  DeviceBuffer<K> all_samples_;  ///< [part][cut][sample]
  DeviceBuffer<std::int64_t> ranks_;
};

}  // namespace warpath::multi_gpu_sort::detail
