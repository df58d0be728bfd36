// The C library's function that a failed assert() calls, replaced: in a kernel an assertion ends
// the grid with cudaErrorAssert, as on a GPU; on the host it ends the process, as ever.
#include <assert.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "diagnostics.hpp"
#include "thread.hpp"

extern "C" void __assert_fail(const char* expression, const char* file, unsigned line,
                              const char* function) noexcept {
  if (simt::self)
    simt::fail_with(cudaErrorAssert, "assertion `%s` failed at %s:%u in %s", expression, file, line,
                    function);
  using AssertFail = void (*)(const char*, const char*, unsigned, const char*);
  if (const auto original = reinterpret_cast<AssertFail>(dlsym(RTLD_NEXT, "__assert_fail")))
    original(expression, file, line, function);
  std::abort();
}
