// What the host functions check before they launch anything.
#pragma once

#include <stdexcept>
#include <string>

#include "core/devices.cuh"
#include "core/preconditions.cuh"
#include "merge_sort/merge.cuh"
#include "multi_gpu_sort/team.cuh"
#include "multi_gpu_sort/variant.hpp"

namespace warpath::multi_gpu_sort::detail {

/// Throws unless all devices have access to each other's memory.
inline void require_access(const Devices& devices, const std::string& expected) {
  for (int i = 0; i < devices.count(); ++i) {
    for (int j = 0; j < devices.count(); ++j) {
      if (devices.has_access(i, j)) continue;
      throw std::invalid_argument("device " + std::to_string(devices.ordinal(i)) +
                                  " has no access to the memory of device " +
                                  std::to_string(devices.ordinal(j)) + ": " + expected);
    }
  }
}

/// Throws if the devices cannot do what the options say.
inline void require_options(const Devices& devices, const Options& options) {
  require_enum("options.variant", options.variant);
  require_enum("options.exchange", options.exchange);
  require_enum("options.sort.variant", options.sort.variant);
  require_enum("options.sort.low_level", options.sort.low_level);
  if (options.variant == Variant::splitter_merge) {
    require_in_range("the number of devices of a splitter_merge", devices.count(), 1,
                     merge_sort::most_runs);
  }
  if (options.exchange == Exchange::direct || options.variant != Variant::splitter_merge) {
    require_access(devices, "expected options.variant splitter_merge and options.exchange copy");
  }
}

/// Throws if a part's sort is one of superkeys.
inline void require_sort_of_keys(const Options& options) {
  if (options.sort.variant != merge_sort::Variant::key_then_ties) return;
  throw std::invalid_argument(
      "options.sort.variant is key_then_ties, which sorts superkeys only: expected binary_merge or "
      "multiway_merge");
}

/// Throws if the memory belongs to other devices.
inline void require_memory(const Devices& devices, Memory& memory) {
  for (int i = 0; i < devices.count(); ++i) {
    const Memory::OfDevice& own = memory.of(i);
    for (const Workspace* one : {&own.elements, &own.positions, &own.segments, &own.borders}) {
      if (one->device() < 0 || one->device() == devices.ordinal(i)) continue;
      throw std::invalid_argument("memory lies on device " + std::to_string(one->device()) +
                                  " where it is to serve device " +
                                  std::to_string(devices.ordinal(i)) +
                                  ": expected one that other devices have not used");
    }
  }
}

}  // namespace warpath::multi_gpu_sort::detail
