// CUDA's device functions of one thread: bits, loads and stores, fences, arithmetic.
#pragma once

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's.

#include <math.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../diagnostics.hpp"
#include "../thread.hpp"
#include "conversions.hpp"

constexpr int warpSize = 32;

// ---------------------------------------------------------------- fences, time, traps
inline void __threadfence_block() {
  simt::fence();
}
inline void __threadfence() {
  simt::fence();
}
inline void __threadfence_system() {
  simt::fence();
}
inline void __nanosleep(unsigned, SIMT_SITE) {
  simt::yield(simt_file, simt_line);
}
[[noreturn]] inline void __trap(SIMT_SITE) {
  simt::fail("__trap() at %s:%d", simt_file, simt_line);
}
/// Nanoseconds of the host's clock: it grows, and says nothing about a GPU.
inline long long clock64() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// ---------------------------------------------------------------- bits
inline int __popc(unsigned v) {
  return std::popcount(v);
}
inline int __popcll(unsigned long long v) {
  return std::popcount(v);
}
inline int __clz(int v) {
  return std::countl_zero(unsigned(v));
}
inline int __clzll(long long v) {
  return std::countl_zero(static_cast<unsigned long long>(v));
}
inline int __ffs(int v) {
  return __builtin_ffs(v);
}
inline int __ffsll(long long v) {
  return __builtin_ffsll(v);
}
constexpr unsigned __brev(unsigned v) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i, v >>= 1) r = r << 1 | (v & 1);
  return r;
}
constexpr unsigned long long __brevll(unsigned long long v) {
  return static_cast<unsigned long long>(__brev(unsigned(v))) << 32 | __brev(unsigned(v >> 32));
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t both = std::uint64_t(high) << 32 | low;
  return unsigned(both << (shift & 31) >> 32);
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t both = std::uint64_t(high) << 32 | low;
  return unsigned(both >> (shift & 31));
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
/// Each nibble of the selector picks a byte of y:x; its top bit replicates that byte's sign
/// instead.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned pick = selector >> 4 * i;
    unsigned byte = unsigned(bytes >> 8 * (pick & 7)) & 0xFF;
    if (pick & 8) byte = byte & 0x80 ? 0xFF : 0;
    result |= byte << 8 * i;
  }
  return result;
}
/// The position of the offset-th set bit at or above base (offset > 0), at or below it (offset <
/// 0), or base itself if it is set (offset 0); 0xFFFFFFFF if there is none.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  int found = 0;
  if (!offset) return base < 32 && mask >> base & 1 ? base : ~0u;
  for (int i = int(base); i >= 0 && i<32; i += offset> 0 ? 1 : -1)
    if (mask >> i & 1 && ++found == (offset > 0 ? offset : -offset)) return unsigned(i);
  return ~0u;
}

// ---------------------------------------------------------------- accesses with a cache hint
template <class T>
inline T __ldg(const T* p) {
  return *p;
}
template <class T>
inline T __ldca(const T* p) {
  return *p;
}
template <class T>
inline T __ldcg(const T* p) {
  return *p;
}
template <class T>
inline T __ldcs(const T* p) {
  return *p;
}
template <class T>
inline T __ldlu(const T* p) {
  return *p;
}
template <class T>
inline T __ldcv(const T* p) {
  return *p;
}
template <class T>
inline void __stwb(T* p, T v) {
  *p = v;
}
template <class T>
inline void __stcg(T* p, T v) {
  *p = v;
}
template <class T>
inline void __stcs(T* p, T v) {
  *p = v;
}
template <class T>
inline void __stwt(T* p, T v) {
  *p = v;
}
inline std::size_t __cvta_generic_to_shared(const void* p) {
  return reinterpret_cast<std::size_t>(p);
}
inline std::size_t __cvta_generic_to_global(const void* p) {
  return reinterpret_cast<std::size_t>(p);
}

// ---------------------------------------------------------------- integers
inline int __mulhi(int a, int b) {
  return int(std::int64_t(a) * b >> 32);
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return unsigned(std::uint64_t(a) * b >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline unsigned __sad(int a, int b, unsigned c) {
  return c + (a < b ? unsigned(b) - unsigned(a) : unsigned(a) - unsigned(b));
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return c + (a < b ? b - a : a - b);
}

/// The product of the lower 24 bits of each, sign-extended.
inline int __mul24(int a, int b) {
  const auto low_24_bits = [](int v) {
    return std::int64_t{static_cast<int>(static_cast<unsigned>(v) << 8) >> 8};
  };
  return static_cast<int>(low_24_bits(a) * low_24_bits(b));
}
inline unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xFFFFFFu) * (b & 0xFFFFFFu);
}
/// The mean of both, rounded down; __rhadd and __urhadd: up.
inline int __hadd(int a, int b) {
  return static_cast<int>((std::int64_t{a} + b) >> 1);
}
inline int __rhadd(int a, int b) {
  return static_cast<int>((std::int64_t{a} + b + 1) >> 1);
}
inline unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} + b) >> 1);
}
inline unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} + b + 1) >> 1);
}

// ---------------------------------------------------------------- floating point
inline float __fmaf_rn(float a, float b, float c) {
  return fmaf(a, b, c);
}
inline double __fma_rn(double a, double b, double c) {
  return fma(a, b, c);
}
inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fsub_rn(float a, float b) {
  return a - b;
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float __fdiv_rn(float a, float b) {
  return a / b;
}
inline float __frcp_rn(float a) {
  return 1.0f / a;
}
inline float __fsqrt_rn(float a) {
  return sqrtf(a);
}
inline float __fdividef(float a, float b) {
  return a / b;
}
inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dsub_rn(double a, double b) {
  return a - b;
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}
inline double __ddiv_rn(double a, double b) {
  return a / b;
}
inline double __drcp_rn(double a) {
  return 1.0 / a;
}
inline double __dsqrt_rn(double a) {
  return sqrt(a);
}
inline float rsqrtf(float x) {
  return 1.0f / sqrtf(x);
}
inline double rsqrt(double x) {
  return 1.0 / sqrt(x);
}
inline float __frsqrt_rn(float x) {
  return rsqrtf(x);
}
inline float __expf(float x) {
  return expf(x);
}
inline float __exp10f(float x) {
  return powf(10.0f, x);
}
inline float __logf(float x) {
  return logf(x);
}
inline float __log2f(float x) {
  return log2f(x);
}
inline float __powf(float x, float y) {
  return powf(x, y);
}
inline float __sinf(float x) {
  return sinf(x);
}
inline float __cosf(float x) {
  return cosf(x);
}
inline float __tanf(float x) {
  return tanf(x);
}
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
inline float fdividef(float a, float b) {
  return a / b;
}
inline float rcbrtf(float x) {
  return 1.0f / cbrtf(x);
}
inline float norm3df(float x, float y, float z) {
  return std::hypot(x, y, z);
}
inline float rnorm3df(float x, float y, float z) {
  return 1.0f / std::hypot(x, y, z);
}
inline float __saturatef(float x) {
  return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}

// ---------------------------------------------------------------- min and max, which CUDA has in
// the global namespace
#define SIMT_MIN_MAX(T)       \
  constexpr T min(T a, T b) { \
    return b < a ? b : a;     \
  }                           \
  constexpr T max(T a, T b) { \
    return a < b ? b : a;     \
  }
SIMT_MIN_MAX(int)
SIMT_MIN_MAX(unsigned)
SIMT_MIN_MAX(long)
SIMT_MIN_MAX(unsigned long)
SIMT_MIN_MAX(long long)
SIMT_MIN_MAX(unsigned long long)
#undef SIMT_MIN_MAX
// Of two types, as CUDA has them: the result has the unsigned type.
#define SIMT_MIN_MAX_MIXED(Signed, Unsigned)     \
  constexpr Unsigned min(Signed a, Unsigned b) { \
    return min(static_cast<Unsigned>(a), b);     \
  }                                              \
  constexpr Unsigned min(Unsigned a, Signed b) { \
    return min(a, static_cast<Unsigned>(b));     \
  }                                              \
  constexpr Unsigned max(Signed a, Unsigned b) { \
    return max(static_cast<Unsigned>(a), b);     \
  }                                              \
  constexpr Unsigned max(Unsigned a, Signed b) { \
    return max(a, static_cast<Unsigned>(b));     \
  }
SIMT_MIN_MAX_MIXED(int, unsigned)
SIMT_MIN_MAX_MIXED(long, unsigned long)
SIMT_MIN_MAX_MIXED(long long, unsigned long long)
#undef SIMT_MIN_MAX_MIXED
constexpr unsigned umin(unsigned a, unsigned b) {
  return min(a, b);
}
constexpr unsigned umax(unsigned a, unsigned b) {
  return max(a, b);
}
constexpr long long llmin(long long a, long long b) {
  return min(a, b);
}
constexpr long long llmax(long long a, long long b) {
  return max(a, b);
}
constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}
inline float min(float a, float b) {
  return fminf(a, b);
}
inline float max(float a, float b) {
  return fmaxf(a, b);
}
inline double min(double a, double b) {
  return fmin(a, b);
}
inline double max(double a, double b) {
  return fmax(a, b);
}
inline double min(float a, double b) {
  return fmin(a, b);
}
inline double min(double a, float b) {
  return fmin(a, b);
}
inline double max(float a, double b) {
  return fmax(a, b);
}
inline double max(double a, float b) {
  return fmax(a, b);
}

// NOLINTEND(bugprone-reserved-identifier)
