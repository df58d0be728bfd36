// The bits of an integer in reverse order, on host and device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace warpath {

/// x with its bits in reverse order. One instruction on the device, which the compiler finds.
__host__ __device__ constexpr std::uint32_t reversed_bits(std::uint32_t x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
  x = (x >> 8 & 0x00FF00FFu) | (x & 0x00FF00FFu) << 8;
  return x >> 16 | x << 16;
}

}  // namespace warpath
