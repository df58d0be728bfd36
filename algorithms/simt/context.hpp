// The stack switch: the one thing that C++ itself cannot say.
//
// A fiber is a stack with the registers of a function that was interrupted on it. Switching fibers
// means: push the registers that a function call must preserve on the old stack, remember that
// stack's address, take the other stack, pop its registers. Signal masks and floating-point modes
// are shared by all fibers of an OS thread.
#pragma once

#include <cstddef>

namespace simt {

/// A suspended stack; null: none.
using Context = void*;

/// A context that will call `entry` (which must never return) on the stack [bottom, bottom +
/// bytes).
Context new_context(unsigned char* bottom, std::size_t bytes, void (*entry)());

/// Suspends the running stack into *save and goes on with `to`. Returns when something switches
/// back to *save.
#ifdef SIMT_FAST_CONTEXT
extern "C" void simt_switch_context(Context* save, Context to);
inline void switch_context(Context* save, Context to) {
  simt_switch_context(save, to);
}
#else
void switch_context(Context* save, Context to);
#endif

}  // namespace simt
