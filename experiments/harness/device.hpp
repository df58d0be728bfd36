// The device that is measured: what it is, how much fits, and whether it still answers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

namespace warpath::harness {

#ifdef SIMT_EMULATION
inline constexpr bool emulated = true;
#else
inline constexpr bool emulated = false;
#endif

struct Device {
  std::string name;
  std::string slug;                ///< its folder: "nvidia-h200", or "emulated"
  std::string uuid;                ///< "GPU-..."; empty where there is none
  std::string pci_bus;             ///< "0000:3b:00.0"
  std::string compute_capability;  ///< "9.0"
  std::string driver;              ///< "580.159.04", else the newest CUDA version it supports
  std::string cuda_version;        ///< of the runtime: "13.0"
  int sm_count = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  int count = 1;
  std::vector<std::vector<bool>> peer_access;  ///< [from][to], where there are several GPUs
};

/// Throws UserError on the cuda backend where there is no usable GPU.
Device query_device();

/// Bytes that may be allocated: on the device, or on the emulated backend in the host's memory.
std::int64_t free_device_bytes();

/// Clears a pending error. False if the device refuses all further work of this process.
bool device_is_usable();

}  // namespace warpath::harness
