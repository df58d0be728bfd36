#include "exit_report.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "everlasting.hpp"
#include "memory.hpp"
#include "runtime.hpp"
#include "streams.hpp"

namespace simt {
namespace {

struct Unread {
  std::mutex mutex;
  cudaError_t error = cudaSuccess;
  std::string explanation;
};
Unread& unread() {
  return everlasting<Unread>();
}

// A program that ends with an error code has noticed that something is wrong: it keeps its code.
// Its leaks, and those after the failure of a kernel, are a consequence, and not worth a line.
void report(int status, void*) {
  int code = 0;
  if (unread().error) {
    std::fprintf(stderr, "simt: the program never read this error: %s (%s)\n",
                 unread().explanation.c_str(), error_name(unread().error));
    code = unread_error_exit_code;
  } else if (!status && !any_sticky_error()) {
    const std::string leaks = leak_report();
    std::fputs(leaks.c_str(), stderr);
    if (!leaks.empty()) code = leak_exit_code;
  }
  if (status || !code) return;
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace

void report_at_exit() {
  static const int once = on_exit(report, nullptr);
  (void)once;
}

void note_unread(cudaError_t error, const std::string& explanation) {
  report_at_exit();
  const std::lock_guard lock(unread().mutex);
  if (unread().error) return;
  unread().error = error;
  unread().explanation = explanation;
}

void note_read() {
  const std::lock_guard lock(unread().mutex);
  unread().error = cudaSuccess;
}

}  // namespace simt
