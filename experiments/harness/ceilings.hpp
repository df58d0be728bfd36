// What this machine can do at best, measured: percentages refer to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/gpu_clock.hpp"

namespace warpath::harness {

/// Bandwidth of one array size.
struct Bandwidth {
  std::int64_t elements = 0;  ///< of 4 bytes
  std::int64_t bytes = 0;     ///< that were read plus those that were written
  double gb_per_s = 0;        ///< 10^9 bytes a second
};

struct Ceilings {
  std::vector<Bandwidth> copy;
  std::vector<Bandwidth> fill;
  std::optional<double> fma_per_s;  ///< fused multiply-adds; GPU only
  std::optional<double> ex2_per_s;  ///< GPU only
};

/// On the emulated backend of the host's memory (std::memcpy, std::fill), else of the GPU. `quick`
/// measures only the sizes that decide best(): what a run needs. Throws CudaError.
Ceilings measure_ceilings(GpuClock& clock, bool quick);

/// The highest value of `ceiling`: "copy" and "fill" in GB/s, "fma" and "ex2" in operations a
/// second.
std::optional<double> best(const Ceilings& ceilings, const std::string& ceiling);

}  // namespace warpath::harness
