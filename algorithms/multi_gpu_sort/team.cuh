// What swap_merge and splitter_merge work on: the parts of all devices, scratch memory of the same
// sizes, and the steps that each device does alone.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/devices.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/span.hpp"
#include "merge_sort/merge.cuh"
#include "merge_sort/merge_sort.cuh"
#include "multi_gpu_sort/variant.hpp"

namespace warpath::multi_gpu_sort {

/// The scratch memory of sorts over several devices, kept for the next one: see Workspace. That of
/// a device lies on it. The devices must outlive it. Copies share it.
class Memory {
 public:
  /// Bytes of device i; 0 of a device that no sort has used.
  [[nodiscard]] std::int64_t bytes(int i) const {
    if (first_ + i >= static_cast<int>(devices_->size())) return 0;
    const OfDevice& own = (*devices_)[static_cast<std::size_t>(first_ + i)];
    return own.elements.bytes() + own.positions.bytes() + own.segments.bytes() +
           own.borders.bytes();
  }

  struct OfDevice {
    Workspace elements;   ///< what a part's sort needs, and a copy of it after that
    Workspace positions;  ///< of merges; of radix_exchange, counts and routes
    Workspace segments;   ///< of radix_exchange; of tuples, the order of a source
    Workspace borders;    ///< likewise
  };
  OfDevice& of(int i) {
    while (static_cast<int>(devices_->size()) <= first_ + i) devices_->emplace_back();
    return (*devices_)[static_cast<std::size_t>(first_ + i)];
  }
  /// The memory of devices `first` and so on, for sorts over these alone: several host threads may
  /// use that of devices of their own, once of() was called for the last of all.
  [[nodiscard]] Memory from(int first) const {
    Memory rest = *this;
    rest.first_ += first;
    return rest;
  }

 private:
  std::shared_ptr<std::deque<OfDevice>> devices_ = std::make_shared<std::deque<OfDevice>>();
  int first_ = 0;
};

namespace detail {

/// The values of keys that have none.
struct NoValues {};

/// Elements of one device.
template <class K, class V>
struct Part {
  K* keys;
  V* values;
  std::int64_t count;

  /// `length` of its elements, from `first` on.
  [[nodiscard]] Part slice(std::int64_t first, std::int64_t length) const {
    return {keys + first, values == nullptr ? nullptr : values + first, length};
  }
};

/// Elements of one device, from place `first` of its part on.
struct Piece {
  int device;
  std::int64_t first;
  std::int64_t count;
};

/// The elements of two arrays change places.
template <class K, class V>
__global__ void swap_kernel(Part<K, V> a, Part<K, V> b) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < a.count; i += stride) {
    const K key = a.keys[i];
    a.keys[i] = b.keys[i];
    b.keys[i] = key;
    if (a.values != nullptr) {
      const V value = a.values[i];
      a.values[i] = b.values[i];
      b.values[i] = value;
    }
  }
}

/// The devices, each with a part of what is sorted.
template <class K, class V, class Less>
class Team {
 public:
  static constexpr bool has_values = !std::is_same_v<V, NoValues>;
  static constexpr bool can_swap_by_copies = true;
  using Source = const K*;
  using Order = Less;

  Team(const Devices& devices, std::vector<Part<K, V>> parts, Memory& memory, Less less,
       const Options& options)
      : devices_(devices),
        parts_(std::move(parts)),
        scratch_(parts_.size()),
        memory_(memory),
        less_(less),
        options_(options) {
    begins_.push_back(0);
    for (const Part<K, V>& part : parts_) begins_.push_back(begins_.back() + part.count);
  }

  [[nodiscard]] int count() const { return static_cast<int>(parts_.size()); }
  [[nodiscard]] const Devices& devices() const { return devices_; }
  [[nodiscard]] const Part<K, V>& part(int i) const { return parts_[at(i)]; }
  /// As many elements as the part: there once it is sorted.
  [[nodiscard]] const Part<K, V>& scratch(int i) const { return scratch_[at(i)]; }
  /// How many elements the parts before part i have; of count(), all.
  [[nodiscard]] std::int64_t begin(int i) const { return begins_[at(i)]; }
  [[nodiscard]] const Less& less() const { return less_; }
  // For swap_merge: what is compared, and how.
  [[nodiscard]] Source source(int i) const { return part(i).keys; }
  [[nodiscard]] const Order& order() const { return less_; }
  [[nodiscard]] bool is_direct() const { return options_.exchange == Exchange::direct; }
  void tell(Step step, std::int64_t moved = 0) const {
    detail::tell(options_.after_step, step, moved);
  }

  /// Sorts each part by itself.
  void sort_parts() {
    for (int i = 0; i < count(); ++i) {
      const CurrentDevice current(devices_.ordinal(i));
      const Part<K, V>& own = part(i);
      const cudaStream_t stream = devices_.stream(i);
      Workspace& workspace = memory_.of(i).elements;
      const DeviceSpan<K> keys{own.keys, own.count};
      if constexpr (has_values) {
        merge_sort::sort_pairs(keys, DeviceSpan<V>{own.values, own.count}, workspace, stream, less_,
                               options_.sort);
        const auto [copied_keys, copied_values] =
            workspace.template take<K, V>(stream, own.count, own.count);
        scratch_[at(i)] = {copied_keys, copied_values, own.count};
      } else {
        merge_sort::sort_keys(keys, workspace, stream, less_, options_.sort);
        const auto [copied_keys] = workspace.template take<K>(stream, own.count);
        scratch_[at(i)] = {copied_keys, nullptr, own.count};
      }
    }
    tell(Step::sort);
  }

  /// Scratch memory without a sort. Of keys.
  void take_scratch() {
    for (int i = 0; i < count(); ++i) {
      const CurrentDevice current(devices_.ordinal(i));
      const auto [keys] =
          memory_.of(i).elements.template take<K>(devices_.stream(i), part(i).count);
      scratch_[at(i)] = {keys, nullptr, part(i).count};
    }
  }

  /// Copies elements of one device to another, or on one, in the stream of the target's.
  void copy(const Part<K, V>& target, int to, const Part<K, V>& source, int from) const {
    devices_.copy(target.keys, to, source.keys, from, source.count);
    if constexpr (has_values) devices_.copy(target.values, to, source.values, from, source.count);
  }

  /// Two pieces of as many elements change places, in the stream of the first one's device.
  void swap(const Piece& a, const Piece& b) const {
    const CurrentDevice current(devices_.ordinal(a.device));
    const std::int64_t blocks = std::min<std::int64_t>(divide_up(a.count, 256), 1 << 16);
    launch({static_cast<unsigned>(blocks), 256, 0, devices_.stream(a.device)}, swap_kernel<K, V>,
           part(a.device).slice(a.first, a.count), part(b.device).slice(b.first, b.count));
  }
  /// The elements of `source` to the scratch memory of `target`, and from there to their places.
  void copy_to_scratch(const Piece& target, const Piece& source) const {
    copy(scratch(target.device).slice(target.first, target.count), target.device,
         part(source.device).slice(source.first, source.count), source.device);
  }
  void copy_from_scratch(const Piece& target) const {
    copy(part(target.device).slice(target.first, target.count), target.device,
         scratch(target.device).slice(target.first, target.count), target.device);
  }
  /// Sorts part i, which consists of two sorted runs: the second one from place `begin` on.
  void merge_two_runs(int i, std::int64_t begin) const {
    const Part<K, V>& own = part(i);
    merge(i, {own.slice(0, begin), own.slice(begin, own.count - begin)}, 0, scratch(i));
    copy(own, i, scratch(i), i);
  }

  /// Merges sorted runs on device i, or a slice of them: to `to`, elements `first` and so on.
  void merge(int i, const std::vector<Part<K, V>>& runs, std::int64_t first,
             const Part<K, V>& to) const {
    const CurrentDevice current(devices_.ordinal(i));
    Workspace& positions = memory_.of(i).positions;
    const DeviceSpan<K> keys{to.keys, to.count};
    if constexpr (has_values) {
      std::vector<merge_sort::PairRun<K, V>> spans;
      for (const Part<K, V>& run : runs) {
        spans.push_back({{run.keys, run.count}, {run.values, run.count}});
      }
      merge_sort::merge_pairs<K, V>(spans, first, keys, DeviceSpan<V>{to.values, to.count},
                                    positions, devices_.stream(i), less_);
    } else {
      std::vector<DeviceSpan<const K>> spans;
      for (const Part<K, V>& run : runs) spans.push_back({run.keys, run.count});
      merge_sort::merge_keys(spans, first, keys, positions, devices_.stream(i), less_);
    }
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  const Devices& devices_;
  std::vector<Part<K, V>> parts_;
  std::vector<Part<K, V>> scratch_;
  std::vector<std::int64_t> begins_;
  Memory& memory_;
  Less less_;
  const Options& options_;
};

}  // namespace detail

}  // namespace warpath::multi_gpu_sort
