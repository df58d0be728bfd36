// Selection by digits: keys are counted in the bins of a histogram, and what lies in the bin of the
// rank that is searched for is counted again, by a finer digit.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/bits.cuh"
#include "core/warp.cuh"

namespace warpath::kd_tree::detail {

/// The least and the greatest key of a warp, in every lane.
__device__ __forceinline__ std::uint32_t warp_min(std::uint32_t key) {
  return __reduce_min_sync(full_warp, key);
}
__device__ __forceinline__ std::uint32_t warp_max(std::uint32_t key) {
  return __reduce_max_sync(full_warp, key);
}
__device__ __forceinline__ std::uint64_t warp_min(std::uint64_t key) {
  const std::uint32_t high = warp_min(static_cast<std::uint32_t>(key >> 32));
  const std::uint32_t low =
      warp_min(key >> 32 == high ? static_cast<std::uint32_t>(key) : ~std::uint32_t{0});
  return std::uint64_t{high} << 32 | low;
}
__device__ __forceinline__ std::uint64_t warp_max(std::uint64_t key) {
  return ~warp_min(~key);
}

/// A digit of keys: those from `least` on, in bins of 2^shift values each.
template <class Bits>
struct Digit {
  Bits least;
  int shift;

  /// The keys from `least` to `greatest`, in at most `bins` bins, a power of two.
  __device__ __forceinline__ Digit(Bits least_key, Bits greatest, int bins) : least(least_key) {
    const int width = bit_width(static_cast<Bits>(greatest - least_key));
    const int digit_bits = bit_width(static_cast<unsigned>(bins)) - 1;
    shift = width > digit_bits ? width - digit_bits : 0;
  }
  [[nodiscard]] __device__ __forceinline__ unsigned bin(Bits key) const {
    return static_cast<unsigned>((key - least) >> shift);
  }
  /// Whether a bin has one value only.
  [[nodiscard]] __device__ __forceinline__ bool is_last() const { return shift == 0; }
};

/// The bin of a histogram that the item of a rank lies in.
struct FoundBin {
  unsigned bin;
  unsigned below;   ///< items in the bins before it
  unsigned inside;  ///< items in it
};

}  // namespace warpath::kd_tree::detail
