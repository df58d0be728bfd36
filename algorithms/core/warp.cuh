// Collectives of one full warp. All 32 lanes call them together.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace warpath {

inline constexpr int warp_threads = 32;
inline constexpr unsigned full_warp = 0xFFFFFFFFu;

__device__ __forceinline__ int lane_index() {
  return static_cast<int>(threadIdx.x % warp_threads);
}
__device__ __forceinline__ int warp_index() {
  return static_cast<int>(threadIdx.x / warp_threads);
}

/// The lanes below this one, as a mask.
__device__ __forceinline__ unsigned lanes_below() {
  return (1u << lane_index()) - 1;
}

/// Sum over the warp, in every lane.
template <class T>
__device__ __forceinline__ T warp_sum(T value) {
#pragma unroll
  for (int distance = warp_threads / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(full_warp, value, distance);
  }
  return value;
}

// The same in one instruction, or in three: one for each digit.
__device__ __forceinline__ int warp_sum(int value) {
  return __reduce_add_sync(full_warp, value);
}
__device__ __forceinline__ unsigned warp_sum(unsigned value) {
  return __reduce_add_sync(full_warp, value);
}
__device__ __forceinline__ std::uint64_t warp_sum(std::uint64_t value) {
  constexpr unsigned digit = (1u << 21) - 1;
  const std::uint64_t low = __reduce_add_sync(full_warp, static_cast<unsigned>(value) & digit);
  const std::uint64_t middle =
      __reduce_add_sync(full_warp, static_cast<unsigned>(value >> 21) & digit);
  const std::uint64_t high = __reduce_add_sync(full_warp, static_cast<unsigned>(value >> 42));
  return low + (middle << 21) + (high << 42);
}

/// Sum of the values of this lane and of all lanes below it (Hillis and Steele).
template <class T>
__device__ __forceinline__ T warp_inclusive_sum(T value) {
#pragma unroll
  for (int distance = 1; distance < warp_threads; distance *= 2) {
    const T below = __shfl_up_sync(full_warp, value, distance);
    if (lane_index() >= distance) value += below;
  }
  return value;
}

}  // namespace warpath
