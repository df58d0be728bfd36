// Bits of unsigned integers. Not std::bit_width on the device: nvcc 13.0 compiles that, of a 64-bit
// value in device code, to 0, without a word.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace warpath {

/// How many bits x needs: floor(log2(x)) + 1; none if it is 0.
__device__ __forceinline__ int bit_width(std::uint32_t x) {
  return 32 - __clz(static_cast<int>(x));
}
__device__ __forceinline__ int bit_width(std::uint64_t x) {
  return 64 - __clzll(static_cast<long long>(x));
}

/// x with its bits in reverse order. One instruction on the device, which the compiler finds.
__host__ __device__ constexpr std::uint32_t reversed_bits(std::uint32_t x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
  x = (x >> 8 & 0x00FF00FFu) | (x & 0x00FF00FFu) << 8;
  return x >> 16 | x << 16;
}

}  // namespace warpath
