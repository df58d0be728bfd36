// Hints that bring global memory to L2 before somebody asks for it. They change no result: on the
// emulated backend they do nothing.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/hopper.cuh"

namespace warpath {

/// Has the 32 bytes around `address` brought to L2.
__device__ __forceinline__ void prefetch_to_l2([[maybe_unused]] const void* address) {
#ifndef SIMT_EMULATION
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

/// Has an array brought to L2, but for what is no whole line of 16 bytes. One thread. In code for
/// Hopper, where this is one instruction; elsewhere it does nothing.
template <class T>
__device__ __forceinline__ void prefetch_array_to_l2([[maybe_unused]] const T* array,
                                                     [[maybe_unused]] int count) {
#if !defined(SIMT_EMULATION) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  constexpr std::uintptr_t line = hopper::bulk_bytes;
  const auto begin = (reinterpret_cast<std::uintptr_t>(array) + line - 1) / line * line;
  const auto end = reinterpret_cast<std::uintptr_t>(array + count) / line * line;
  if (begin < end) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(begin),
                 "r"(static_cast<unsigned>(end - begin)));
  }
#endif
}

}  // namespace warpath
