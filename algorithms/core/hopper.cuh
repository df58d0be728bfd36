// Bulk copies, transaction barriers and early starts: the inline PTX of core, each function with a
// CPU twin of the same contract, so that a path that uses it is tested without a GPU. They need
// code compiled for compute capability 9.0, and trap in older code unless they say otherwise: the
// host asks can_run() (launch.cuh) and launches another kernel there.
//
// Bulk copies move a multiple of 16 bytes between global and shared memory, both ends aligned to 16
// bytes; one thread starts them, and no thread moves the bytes. A load completes on a transaction
// barrier; a store is tracked by the thread that started it. Source: NVIDIA, "Parallel Thread
// Execution ISA 8.0", 2023, cp.async.bulk and mbarrier,
// https://docs.nvidia.com/cuda/parallel-thread-execution/ .
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace warpath::hopper {

/// Bulk copies have this granularity, in bytes.
inline constexpr int bulk_bytes = 16;
/// A line of the caches. Bulk loads are fastest where both ends have the same place in one: by 9 %,
/// at the bandwidth of an H100.
inline constexpr int cache_line_bytes = 128;
/// The most dynamic shared memory that a block can have on compute capability 9.0 and 10.0. (12.0
/// has about 99 KiB: what a kernel can have on the device at hand, can_run() says.)
inline constexpr std::size_t max_shared_bytes = 227 * 1024;

/// A barrier in shared memory. A phase completes when all announced threads have arrived and all
/// announced bytes have been loaded; then the next phase begins.
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

/// One thread; a __syncthreads() must follow before any thread uses the barrier.
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

/// Arrives: what this thread wrote before is visible to the threads that wait for the phase.
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
/// program, but whole. (compute-sanitizer's synccheck takes that for divergence of the block.)
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
#ifdef SIMT_EMULATION
  simt::wait_for_kernel_before();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
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

/// Waits until at most `Pending` of this thread's groups still read shared memory. The shared
/// memory that the other groups stored from may then be written again.
template <unsigned Pending>
__device__ __forceinline__ void bulk_store_wait_read() {
#ifdef SIMT_EMULATION
  simt::require_compiled_for(90);
  simt::bulk_store_wait_read(Pending);
#else
  WARPATH_PTX("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
#endif
}

/// Orders this thread's ordinary accesses to shared memory before bulk copies, and products of a
/// warpgroup, that start after the next barrier, of the block or a transaction barrier.
__device__ __forceinline__ void fence_for_bulk() {
#ifdef SIMT_EMULATION
  simt::require_compiled_for(90);
#else
  WARPATH_PTX("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#if !defined(SIMT_EMULATION) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WARPATH_SM_90A 1
#endif

/// Static shared memory of code that is_compiled_for_90a() denies.
inline constexpr std::size_t mark_bytes = 2048;
/// Whether this code has been compiled for sm_90a, which alone has the instructions of a warpgroup.
/// A kernel with such instructions asks here first, and has less static shared memory than
/// mark_bytes: its code for other targets has as much, by which can_run() knows it (launch.cuh).
__device__ __forceinline__ bool is_compiled_for_90a() {
#if defined(SIMT_EMULATION)
  simt::require_compiled_for(90);
  return true;
#elif defined(WARPATH_SM_90A)
  return true;
#else
  __shared__ volatile char mark[mark_bytes];
  mark[threadIdx.x % mark_bytes] = 0;
  return false;
#endif
}

#undef WARPATH_PTX

}  // namespace warpath::hopper
