// The Hopper fence: the only inline PTX of the house. Each function has an emulated twin of the
// same contract, so that a path that uses it is tested without a GPU. On a device older than sm_90
// they trap, but for what says otherwise: the host chooses another path there.
//
// (Of the functions at the end, exp2_approx() and root_approx() run everywhere, and the tensor
// cores' from sm_80 on.)
//
// Bulk copies move a multiple of 16 bytes between global and shared memory, both ends aligned to 16
// bytes, without the threads: one thread starts them. A load completes on a transaction barrier; a
// store is tracked by the thread that started it. Source: PTX ISA 8.0, cp.async.bulk and mbarrier.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>

namespace warpath::hopper {

/// Bulk copies have this granularity, in bytes.
inline constexpr int bulk_bytes = 16;
/// The most dynamic shared memory that a block can have on compute capability 9.0 and 10.0. (12.0
/// has about 99 KiB: what a kernel can have on the device at hand, can_run() says.)
inline constexpr std::size_t max_shared_bytes = 227 * 1024;

/// In shared memory. A phase completes once all announced arrivals and all announced bytes have
/// come; then the next begins.
#ifdef SIMT_EMULATION
using TransactionBarrier = simt::TxBarrier;
#else
struct alignas(8) TransactionBarrier {
  std::uint64_t word;
};
#endif

#if !defined(SIMT_EMULATION) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WARPATH_PTX(...) asm volatile(__VA_ARGS__)
#else
#define WARPATH_PTX(...) __trap()
#endif

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// One thread; __syncthreads must follow before anybody uses the barrier.
__device__ __forceinline__ void init(TransactionBarrier& barrier, unsigned arrivals) {
#ifdef SIMT_EMULATION
  simt::require_compiled_for(90);
  simt::tx_init(&barrier, arrivals);
#else
  WARPATH_PTX("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
              "r"(arrivals)
              : "memory");
  WARPATH_PTX("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

/// Arrives: what this thread did before is visible to whoever waits for the phase.
__device__ __forceinline__ void arrive(TransactionBarrier& barrier) {
#ifdef SIMT_EMULATION
  simt::require_compiled_for(90);
  simt::tx_arrive(&barrier, 0);
#else
  WARPATH_PTX("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
              : "memory");
#endif
}

/// Arrives, and announces `bytes` that bulk loads will bring in this phase.
__device__ __forceinline__ void arrive_expect(TransactionBarrier& barrier, unsigned bytes) {
#ifdef SIMT_EMULATION
  simt::require_compiled_for(90);
  simt::tx_arrive(&barrier, bytes);
#else
  WARPATH_PTX(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
      "r"(bytes)
      : "memory");
#endif
}

/// Waits until the phase of this parity (0 first, then 1, 0, ...) has completed; what was loaded is
/// then visible.
__device__ __forceinline__ void wait(TransactionBarrier& barrier, unsigned parity) {
#ifdef SIMT_EMULATION
  simt::require_compiled_for(90);
  simt::tx_wait(&barrier, parity);
#else
  WARPATH_PTX(
      "{\n.reg .pred complete;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n"
      "@!complete bra again;\n}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
#endif
}

/// __syncthreads() for warps in different roles, each of which comes to it at its own place of the
/// program.
__device__ __forceinline__ void block_barrier() {
#ifdef SIMT_EMULATION
  simt::require_compiled_for(90);
  __syncthreads();
#else
  WARPATH_PTX("barrier.cta.sync.aligned 0;" ::: "memory");
#endif
}

/// Lets the stream's next kernel start, if it was launched to start early: this block's part of it.
__device__ __forceinline__ void let_next_kernel_start() {
#ifdef SIMT_EMULATION
  simt::require_compiled_for(90);
#else
  WARPATH_PTX("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// In a kernel that was launched to start early: waits until the kernel before has ended; what it
/// and all before it have written is visible then. On an older device no kernel starts early.
__device__ __forceinline__ void wait_for_kernel_before() {
#if !defined(SIMT_EMULATION) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  WARPATH_PTX("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Starts a copy of global memory into shared memory, which completes on `barrier`.
__device__ __forceinline__ void bulk_load(void* shared, const void* global, unsigned bytes,
                                          TransactionBarrier& barrier) {
#ifdef SIMT_EMULATION
  simt::require_compiled_for(90);
  simt::tx_copy(&barrier, shared, global, bytes);
#else
  WARPATH_PTX(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(shared)),
      "l"(global), "r"(bytes), "r"(shared_address(&barrier))
      : "memory");
#endif
}

/// Starts a copy of shared memory to global memory. Ordinary writes to the source need
/// fence_for_bulk() in the writing threads and a block barrier before it.
__device__ __forceinline__ void bulk_store(void* global, const void* shared, unsigned bytes) {
#ifdef SIMT_EMULATION
  simt::require_compiled_for(90);
  simt::bulk_store(global, shared, bytes);
#else
  WARPATH_PTX("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
              "r"(shared_address(shared)), "r"(bytes)
              : "memory");
#endif
}

/// Closes the group of bulk stores that this thread has started.
__device__ __forceinline__ void bulk_store_commit() {
#ifdef SIMT_EMULATION
  simt::require_compiled_for(90);
  simt::bulk_store_commit();
#else
  WARPATH_PTX("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

/// Waits until at most `Pending` of this thread's groups still read shared memory: the others'
/// sources may be written again.
template <unsigned Pending>
__device__ __forceinline__ void bulk_store_wait_read() {
#ifdef SIMT_EMULATION
  simt::require_compiled_for(90);
  simt::bulk_store_wait_read(Pending);
#else
  WARPATH_PTX("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
#endif
}

/// Orders this thread's ordinary accesses to shared memory before bulk copies that start after the
/// next barrier, of the block or a transaction barrier.
__device__ __forceinline__ void fence_for_bulk() {
#ifdef SIMT_EMULATION
  simt::require_compiled_for(90);
#else
  WARPATH_PTX("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#undef WARPATH_PTX

// ---------------------------------------------------------------- arithmetic

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

#if defined(SIMT_EMULATION) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

#ifdef SIMT_EMULATION
/// The bits of the half that is nearest to x; an infinity from 65520 on.
inline std::uint32_t half_bits(float x) {
  const std::uint32_t sign = std::signbit(x) ? 0x8000u : 0u;
  if (x == 0) return sign;
  if (!(std::fabs(x) < 65520.0f)) return sign | 0x7C00u;
  int exponent = 0;
  std::frexp(x, &exponent);
  exponent = exponent < -13 ? -13 : exponent;  // from here on subnormal: multiples of 2^-24
  const auto digits = static_cast<std::uint32_t>(
      std::nearbyint(std::ldexp(std::fabs(x), 11 - exponent)));  // at most 2^11
  // The leading digit is not stored, but adds one to the exponent's field.
  return sign | ((static_cast<std::uint32_t>(exponent + 13) << 10) + digits);
}
inline float half_value(std::uint32_t bits) {
  const int field = static_cast<int>(bits >> 10 & 31);
  const auto digits = static_cast<float>(bits & 1023);
  if (field == 31) return (bits & 0x8000u) != 0 ? -INFINITY : INFINITY;
  const float value = field == 0 ? std::ldexp(digits, -24) : std::ldexp(digits + 1024, field - 25);
  return (bits & 0x8000u) != 0 ? -value : value;
}
#endif

/// x = high + low, two halves (binary16), but for an error of 2^-23 |x| or 2^-25, whichever is
/// more: high in the lower 16 bits, low in the upper ones. |x| < 65504.
__device__ __forceinline__ std::uint32_t split_halves(float x) {
#ifdef SIMT_EMULATION
  const std::uint32_t high = half_bits(x);
  return high | half_bits(x - half_value(high)) << 16;
#else
  std::uint16_t high;
  float rest;
  std::uint32_t both;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(high) : "f"(x));
  asm("cvt.f32.f16 %0, %1;" : "=f"(rest) : "h"(high));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(x - rest), "f"(x));
  return both;
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
  const int lane = static_cast<int>(threadIdx.x % 32);
  const auto join = [](std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint64_t>(high) << 32 | low;
  };
  const auto dot = [](std::uint64_t x, std::uint64_t y) {
    double result = 0;
    for (int shift = 0; shift < 64; shift += 16) {
      result += static_cast<double>(half_value(static_cast<std::uint32_t>(x >> shift & 0xFFFF))) *
                half_value(static_cast<std::uint32_t>(y >> shift & 0xFFFF));
    }
    return result;
  };
  double sums[4] = {sum[0], sum[1], sum[2], sum[3]};
  for (int t = 0; t < 4; ++t) {
    const int row = lane / 4 * 4 + t;
    const int column = lane % 4 * 8 + t;
    const std::uint64_t upper = __shfl_sync(~0u, join(a[0], a[2]), row);
    const std::uint64_t lower = __shfl_sync(~0u, join(a[1], a[3]), row);
    const std::uint64_t left = __shfl_sync(~0u, join(b[0], b[1]), column);
    const std::uint64_t right = __shfl_sync(~0u, join(b[0], b[1]), column + 4);
    sums[0] += dot(upper, left);
    sums[1] += dot(upper, right);
    sums[2] += dot(lower, left);
    sums[3] += dot(lower, right);
  }
  for (int i = 0; i < 4; ++i) product[i] = static_cast<float>(sums[i]);
#else
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=f"(product[0]), "=f"(product[1]), "=f"(product[2]), "=f"(product[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(sum[0]), "f"(sum[1]),
        "f"(sum[2]), "f"(sum[3]));
#endif
}

#else

// An older device has no such tensor cores: the host chooses another path there.
__device__ __forceinline__ std::uint32_t split_halves(float) {
  __trap();
  return 0;
}
__device__ __forceinline__ void multiply_16x16x8(const std::uint32_t (&)[4],
                                                 const std::uint32_t (&)[2], const float (&)[4],
                                                 float (&)[4]) {
  __trap();
}

#endif

}  // namespace warpath::hopper
