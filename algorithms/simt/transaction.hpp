// The emulated twin of Hopper's transaction barrier (mbarrier) and of bulk copies that complete on
// it (cp.async.bulk).
//
// A phase of the barrier completes when `count` threads have arrived and all announced bytes have
// been copied. Copies land when a thread waits for them, never earlier; until then their
// destination holds poison.
#pragma once

#include <cstdint>

#include "site.hpp"

namespace simt {

/// Eight bytes of shared memory, as the hardware's.
struct alignas(8) TxBarrier {
  std::uint16_t count, pending;
  std::uint16_t phase, unused;
};

/// A trap where the kernels were compiled for less than this compute capability, times ten (option
/// `ptx`). For the twins of instructions that do not exist there.
void require_compiled_for(unsigned capability, SIMT_SITE);

/// By one thread; a block barrier must come before anybody else uses it. 1 <= count <= 1023.
void tx_init(TxBarrier*, unsigned count, SIMT_SITE);
/// One arrival that also announces `expected_bytes` (0: none) for this phase.
void tx_arrive(TxBarrier*, unsigned expected_bytes, SIMT_SITE);
/// Starts a copy of `bytes` that counts towards the phase. Addresses and size must be multiples
/// of 16.
void tx_copy(TxBarrier*, void* dst_shared, const void* src, unsigned bytes, SIMT_SITE);
/// Returns when the phase of that parity has completed.
void tx_wait(TxBarrier*, unsigned parity, SIMT_SITE);

}  // namespace simt
