#include "diagnostics.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "everlasting.hpp"
#include "options.hpp"
#include "worker.hpp"

namespace simt {
namespace {

struct Newest {
  std::mutex mutex;
  std::string text;
};
Newest& newest() {
  return everlasting<Newest>();
}

std::string formatted(const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  std::string result(std::size_t(std::vsnprintf(nullptr, 0, format, arguments)), ' ');
  std::vsnprintf(result.data(), result.size() + 1, format, again);
  va_end(again);
  return result;
}

void report_failure_text(cudaError_t error, const std::string& what) {
  if (!self) {
    std::fprintf(stderr, "simt: a device function was called by the host: %s\n", what.c_str());
    std::abort();
  }
  const uint3 b = blockIdx, t = self->index;
  worker->grid->report(
      launch_message(*worker->grid->launch, what,
                     text("block (%u,%u,%u), thread (%u,%u,%u)", b.x, b.y, b.z, t.x, t.y, t.z)),
      error);
}

}  // namespace

std::string text(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string result = formatted(format, arguments);
  va_end(arguments);
  return result;
}

std::string name_of(const Launch& launch) {
  return launch.name ? launch.name : kernel_name(launch.kernel);
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

std::string launch_message(const Launch& launch, const std::string& what, const std::string& part) {
  return text("%s; %s%s%s, launched at %s:%d [%s]", what.c_str(), part.c_str(),
              part.empty() ? "" : " of ", name_of(launch).c_str(), launch.site.file,
              launch.site.line, reproduction().c_str());
}

void report_failure(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string what = formatted(format, arguments);
  va_end(arguments);
  report_failure_text(cudaErrorLaunchFailure, what);
}

// In both, nothing that owns memory may be alive when the stack is given up.
void fail(const char* format, ...) {
  {
    va_list arguments;
    va_start(arguments, format);
    const std::string what = formatted(format, arguments);
    va_end(arguments);
    report_failure_text(cudaErrorLaunchFailure, what);
  }
  worker->abandon();
}

void fail_with(cudaError_t error, const char* format, ...) {
  {
    va_list arguments;
    va_start(arguments, format);
    const std::string what = formatted(format, arguments);
    va_end(arguments);
    report_failure_text(error, what);
  }
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
