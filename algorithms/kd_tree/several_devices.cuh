// What builds on several devices are given: their options, and their scratch memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/buffer.cuh"
#include "kd_tree/memory.cuh"
#include "kd_tree/variant.hpp"
#include "multi_gpu_sort/team.cuh"
#include "multi_gpu_sort/variant.hpp"

namespace warpath::kd_tree {

/// How a tree is built on several devices.
struct DevicesOptions {
  /// four_partitioners and half_sorts are the same here: the source's refactoring. after_step is
  /// empty.
  Options build = {};
  /// How tuples are sorted over devices, by the source's variants: swap_merge (the source) or
  /// splitter_merge.
  multi_gpu_sort::Variant sort = multi_gpu_sort::Variant::splitter_merge;
};

/// The scratch memory of builds on several devices, kept for the next one. That of a device lies on
/// it. The devices must outlive it.
class DevicesMemory {
 public:
  struct OfDevice {
    Workspace tuples;   ///< its share of them
    Workspace columns;  ///< of `fast`: the same, before they go to their devices
    Workspace medians;  ///< of its subtree
    BuildMemory build;
  };
  OfDevice& of(int i) {
    while (static_cast<int>(devices_.size()) <= i) devices_.emplace_back();
    return devices_[static_cast<std::size_t>(i)];
  }
  multi_gpu_sort::Memory sort;

  /// Bytes of device i; 0 of a device that no build has used.
  [[nodiscard]] std::int64_t bytes(int i) const {
    if (i >= static_cast<int>(devices_.size())) return 0;
    const OfDevice& own = devices_[static_cast<std::size_t>(i)];
    return own.tuples.bytes() + own.columns.bytes() + own.medians.bytes() + own.build.bytes() +
           sort.bytes(i);
  }

 private:
  std::deque<OfDevice> devices_;
};

namespace detail {

/// Tuples of one device.
template <class C>
struct NumberedTuples {
  const C* coordinates = nullptr;
  std::int64_t count = 0;
  const std::uint32_t* numbers = nullptr;  ///< null: from `first` on
  std::uint32_t first = 0;
};

}  // namespace detail

}  // namespace warpath::kd_tree
