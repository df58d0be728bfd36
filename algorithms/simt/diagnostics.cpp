#include "diagnostics.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "options.hpp"
#include "worker.hpp"

namespace simt {
namespace {

struct Newest {
  std::mutex mutex;
  std::string text;
};
Newest& newest() {
  static Newest& instance = *new Newest;  // used until the very end of the process
  return instance;
}

std::string formatted(const char* format, va_list arguments) {
  char buffer[2048];
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  return buffer;
}

void report_failure_text(const std::string& what) {
  if (!self) {
    std::fprintf(stderr, "simt: a device function was called by the host: %s\n", what.c_str());
    std::abort();
  }
  const Launch& launch = *worker->grid->launch;
  const uint3 b = blockIdx, t = self->index;
  worker->grid->report(text("%s (launched at %s:%d): block (%u,%u,%u), thread (%u,%u,%u): %s [%s]",
                            kernel_name(launch.kernel).c_str(), launch.site.file, launch.site.line,
                            b.x, b.y, b.z, t.x, t.y, t.z, what.c_str(), reproduction().c_str()));
}

}  // namespace

std::string text(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string result = formatted(format, arguments);
  va_end(arguments);
  return result;
}

std::string kernel_name(const void* kernel) {
  Dl_info found;
  if (!dladdr(kernel, &found) || !found.dli_sname || found.dli_saddr != kernel) return "kernel";
  int status = 0;
  char* demangled = abi::__cxa_demangle(found.dli_sname, nullptr, nullptr, &status);
  std::string name = demangled ? demangled : found.dli_sname;
  std::free(demangled);
  return name;
}

void report_failure(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string what = formatted(format, arguments);
  va_end(arguments);
  report_failure_text(what);
}

void fail(const char* format, ...) {
  {
    va_list arguments;
    va_start(arguments, format);
    const std::string what = formatted(format, arguments);
    va_end(arguments);
    report_failure_text(what);
  }  // nothing that owns memory may be alive when the stack is given up
  worker->abandon();
}

void set_diagnostic(std::string text) {
  if (options().verbose) std::fprintf(stderr, "simt: %s\n", text.c_str());
  const std::lock_guard lock(newest().mutex);
  newest().text = std::move(text);
}

const char* last_diagnostic() {
  static thread_local std::string copy;
  const std::lock_guard lock(newest().mutex);
  copy = newest().text;
  return copy.c_str();
}

}  // namespace simt
