// What the host functions check before they launch anything.
#pragma once

#include <stdexcept>
#include <string>

#include "core/devices.cuh"
#include "core/preconditions.cuh"
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
  if (options.exchange == Exchange::direct || options.variant != Variant::splitter_merge) {
    require_access(devices, "expected options.variant splitter_merge and options.exchange copy");
  }
}

}  // namespace warpath::multi_gpu_sort::detail
