// For tests on the emulated backend: devices that are older or smaller than the usual one.
#pragma once

#include "core/launch.cuh"  // which says whether the backend is the emulated one

#ifdef SIMT_EMULATION

#include "simt/options.hpp"

namespace warpath {

/// What the emulated devices can be.
struct DeviceKind {
  const char* name;
  unsigned arch;             ///< compute capability of the device, times ten
  unsigned ptx;              ///< what the kernels were compiled for
  std::size_t shared_bytes;  ///< the most that a block can have
};
/// Devices on which kernels for Hopper do not run: each must get another kernel, and right answers.
inline constexpr DeviceKind other_devices[] = {
    {"compute capability 8.0", 80, 80, 163 * 1024},
    {"compute capability 8.6", 86, 86, 99 * 1024},
    {"compute capability 9.0, code compiled for 8.0", 90, 80, 227 * 1024},
    {"compute capability 12.0", 120, 120, 99 * 1024},
};

/// While it lives, the emulated devices are of this kind.
class EmulatedDevice {
 public:
  explicit EmulatedDevice(const DeviceKind& kind) {
    simt::options().arch = kind.arch;
    simt::options().ptx = kind.ptx;
    simt::options().shared_bytes = kind.shared_bytes;
    detail::kernel_codes().forget();
    detail::shared_limits().forget();
  }
  ~EmulatedDevice() {
    simt::options() = before_;
    detail::kernel_codes().forget();
    detail::shared_limits().forget();
  }
  EmulatedDevice(const EmulatedDevice&) = delete;
  EmulatedDevice& operator=(const EmulatedDevice&) = delete;

 private:
  simt::Options before_ = simt::options();
};

}  // namespace warpath

#endif
