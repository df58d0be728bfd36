// Widths of unsigned integers on the device. Not std::bit_width: nvcc 13.0 compiles that, of a
// 64-bit value in device code, to 0, without a word.
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

}  // namespace warpath
