#include "context.hpp"

#include <cstdint>

#ifdef SIMT_FAST_CONTEXT

// Ends in `ret`, not in a jump through a register as Boost's jump_fcontext does: the call that
// brought us here and this return stay paired, so the processor predicts the return address. Half
// the cost of a switch.
asm(R"(
.text
.globl simt_switch_context
.type simt_switch_context,@function
simt_switch_context:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size simt_switch_context, .-simt_switch_context
.section .note.GNU-stack,"",@progbits
.text
)");

namespace simt {

Context new_context(unsigned char* bottom, std::size_t bytes, void (*entry)()) {
  constexpr int saved_registers = 6;
  auto top = reinterpret_cast<std::uintptr_t>(bottom + bytes) & ~std::uintptr_t{15};
  void** stack = reinterpret_cast<void**>(top);
  *--stack = nullptr;  // entry's return address: it never returns, and a backtrace ends here
  *--stack = reinterpret_cast<void*>(entry);
  for (int i = 0; i < saved_registers; ++i) *--stack = nullptr;
  return stack;
}

}  // namespace simt

#else

#include <atomic>
#include <boost/context/detail/fcontext.hpp>

namespace simt {
namespace {

namespace boost_context = boost::context::detail;

// Every fiber of the executor has the same entry, so one place for it will do.
std::atomic<void (*)()> common_entry{nullptr};

// Boost hands the suspended stack to what runs next, which stores it where the suspender wanted
// it.
void arrived(boost_context::transfer_t from) {
  *static_cast<Context*>(from.data) = from.fctx;
}

}  // namespace

Context new_context(unsigned char* bottom, std::size_t bytes, void (*entry)()) {
  common_entry.store(entry, std::memory_order_relaxed);
  return boost_context::make_fcontext(bottom + bytes, bytes, [](boost_context::transfer_t from) {
    arrived(from);
    common_entry.load(std::memory_order_relaxed)();
  });
}

void switch_context(Context* save, Context to) {
  arrived(boost_context::jump_fcontext(static_cast<boost_context::fcontext_t>(to), save));
}

}  // namespace simt

#endif
