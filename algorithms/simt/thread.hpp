// A CUDA thread (one fiber) and a warp (32 of them), as the executor's rooms and the shim's inline
// functions see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "async_copy.hpp"
#include "context.hpp"
#include "cuda/vector_types.hpp"
#include "site.hpp"

namespace simt {

constexpr unsigned warp_size = 32;
constexpr unsigned max_block_threads = 1024;
constexpr unsigned max_warps = max_block_threads / warp_size;

struct alignas(64) Thread {
  Context context = nullptr;       // suspended; null: not started
  unsigned char* stack = nullptr;  // lowest address of the stack in use
  uint3 index{};                   // threadIdx
  std::uint16_t rank = 0;          // within the block
  std::uint8_t lane = 0, warp = 0;
  Site site{};              // where it waits, or waited last
  bool has_waited = false;  // for the kernel before
  void* fake_stack = nullptr;
  void* tsan_fiber = nullptr;
  AsyncCopies pipeline, bulk_stores;
};

// A collective is computed by the lane that arrives last, from everybody's `in` and `argument` to
// everybody's `out`.
struct Warp {
  using Combine = void (*)(Warp&, std::uint32_t lanes);

  std::uint32_t ready = 0;       // lanes that can run
  std::uint32_t live = 0;        // lanes that exist and have not ended
  std::uint32_t collecting = 0;  // lanes that wait in a collective
  std::uint32_t at_barrier = 0;  // lanes that wait at the block barrier
  bool uniform = true;           // all waiting lanes agree on mask and operation: the common case
  std::uint32_t uniform_mask = 0;
  Combine uniform_combine = nullptr;
  std::uint32_t mask[warp_size];
  std::int32_t argument[warp_size];
  std::uint64_t in[warp_size], out[warp_size];
  Combine combine[warp_size];
};

extern __thread Thread* self;  // the running CUDA thread; null: this OS thread runs the host's code
extern __thread bool random_schedule;

inline unsigned lane() {
  return self->lane;
}

/// griddepcontrol.wait: kernels run one after the other here, so what is checked is that some
/// thread of each block of a kernel that may start early calls it. (Others may wait for that one.)
inline void wait_for_kernel_before() {
  self->has_waited = true;
}

/// Lets other threads run: what a polling loop must call, in every round.
void yield(SIMT_SITE);

/// Under SIMT_SEED lets the scheduler choose again; called wherever other threads could notice.
void reschedule();
inline void schedule_point() {
  if (__builtin_expect(random_schedule, 0)) reschedule();
}

/// __threadfence and its kin. Orders all that went before, in this thread, before all that comes
/// after.
void fence();

}  // namespace simt

extern __thread uint3 threadIdx, blockIdx;
extern __thread dim3 blockDim, gridDim;
