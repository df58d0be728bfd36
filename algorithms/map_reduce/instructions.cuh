// The instructions of map_reduce that C++ has no name for: approximate exponentials and roots,
// halves and tensor cores, as inline PTX, each function with a CPU twin of the same contract. All
// of them run on compute capability 8.0 and later.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef SIMT_EMULATION
#include "simt/matrix.hpp"
#endif

namespace warpath::map_reduce::detail {

/// 2^x, in one instruction; relative error 2^-22. Results below 2^-126 are 0.
__device__ __forceinline__ float exp2_approx(float x) {
#ifdef SIMT_EMULATION
  const float result = exp2f(x);
  return result < 0x1p-126f ? 0.0f : result;
#else
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#endif
}

/// The square root; relative error 2^-23. That of less than 2^-126 is 0.
__device__ __forceinline__ float root_approx(float x) {
#ifdef SIMT_EMULATION
  return std::sqrt(std::fabs(x) < 0x1p-126f ? 0.0f : x);
#else
  float result;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#endif
}

/// The least of three, in one instruction from compute capability 9.0 on.
__device__ __forceinline__ int min_of_three(int a, int b, int c) {
#ifdef SIMT_EMULATION
  return min(min(a, b), c);
#else
  return __vimin3_s32(a, b, c);
#endif
}

/// A double as two words, of which the upper one has the sign, the exponent and 20 bits. (From
/// shifts of 64 bits compilers make additions with a carry.)
struct DoubleWords {
  std::uint32_t upper;
  std::uint32_t lower;
};
__device__ __forceinline__ DoubleWords words_of(double x) {
#ifdef SIMT_EMULATION
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return {static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bits)};
#else
  return {static_cast<std::uint32_t>(__double2hiint(x)),
          static_cast<std::uint32_t>(__double2loint(x))};
#endif
}
__device__ __forceinline__ double double_of(const DoubleWords& words) {
#ifdef SIMT_EMULATION
  const std::uint64_t bits = std::uint64_t{words.upper} << 32 | words.lower;
  double x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
#else
  return __hiloint2double(static_cast<int>(words.upper), static_cast<int>(words.lower));
#endif
}

/// The bits of the half (binary16) that is nearest to x; an infinity from 65520 on.
__device__ __forceinline__ std::uint32_t half_bits(float x) {
#ifdef SIMT_EMULATION
  return simt::half_bits(x);
#else
  std::uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
  return half;
#endif
}
/// The value of a half.
__device__ __forceinline__ float half_value(std::uint32_t bits) {
#ifdef SIMT_EMULATION
  return simt::half_value(bits);
#else
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<std::uint16_t>(bits)));
  return value;
#endif
}

/// The halves that are nearest to a, in the lower 16 bits, and to b.
__device__ __forceinline__ std::uint32_t pair_of_halves(float a, float b) {
#ifdef SIMT_EMULATION
  return half_bits(a) | half_bits(b) << 16;
#else
  std::uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(b), "f"(a));
  return pair;
#endif
}

/// Two halves, high + low.
struct TwoHalves {
  std::uint32_t bits;  ///< high in the lower 16, low in the upper ones
  float high;
  float low;
};
/// x = high + low but for an error of 2^-23 |x| or 2^-25, whichever is more. |x| < 65504.
__device__ __forceinline__ TwoHalves split_halves(float x) {
  const float high = half_value(half_bits(x));
  const std::uint32_t bits = pair_of_halves(x, x - high);
  return {bits, high, half_value(bits >> 16)};
}

/// Starts a copy of a 16-byte line of global memory to one of shared memory. Needs compute
/// capability 8.0. Source: PTX ISA 7.0, cp.async.
__device__ __forceinline__ void copy_async(void* shared, const void* global) {
#ifdef SIMT_EMULATION
  std::memcpy(shared, global, 16);
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(global)
               : "memory");
#endif
}
/// Closes the group of copies that this thread has started.
__device__ __forceinline__ void copies_commit() {
#ifndef SIMT_EMULATION
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits for all but the last `Pending` groups of this thread; a barrier makes what they have
/// copied visible to other threads.
template <int Pending>
__device__ __forceinline__ void copies_wait() {
#ifndef SIMT_EMULATION
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

/// One warp multiplies A (16 x 16 halves, by rows) by B (16 x 8, by columns) into single precision.
/// With g = lane / 4 and t = lane % 4, a lane holds, two neighbours in k to a register,
///   a[0], a[1]       A's rows g and g + 8 at k = 2t and 2t + 1;  a[2], a[3]: at k = 2t + 8 and on
///   b[0], b[1]       B's column g at k = 2t and 2t + 1;          at k = 2t + 8 and on
///   product[0..3]    row g at columns 2t and 2t + 1, row g + 8 at the same.
/// Needs compute capability 8.0. Source: PTX ISA 7.0, mma.m16n8k16.
__device__ __forceinline__ void multiply_16x16x8(const std::uint32_t (&a)[4],
                                                 const std::uint32_t (&b)[2], const float (&sum)[4],
                                                 float (&product)[4]) {
#ifdef SIMT_EMULATION
  simt::multiply_add_16x8x16(a, b, sum, product);
#else
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=f"(product[0]), "=f"(product[1]), "=f"(product[2]), "=f"(product[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(sum[0]), "f"(sum[1]),
        "f"(sum[2]), "f"(sum[3]));
#endif
}

/// What TF32 has of x: its upper 19 bits.
__device__ __forceinline__ float high_of_tf32(float x) {
  return __uint_as_float(__float_as_uint(x) & 0xFFFFE000u);
}

#ifdef SIMT_EMULATION
/// The product of 16 x 8 numbers of TF32 by 8 x 8 of them, of which only warpgroups have need here.
/// A lane holds a[0], a[1]: A's rows g and g + 8 at k = t; a[2], a[3]: at k = t + 4; b[0], b[1]:
/// B's column g at k = t and t + 4; and product[] as above.
inline void multiply_16x8x8_tf32(const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                                 const float (&sum)[4], float (&product)[4]) {
  simt::multiply_add_16x8x8_tf32(a, b, sum, product);
}
#endif

}  // namespace warpath::map_reduce::detail
