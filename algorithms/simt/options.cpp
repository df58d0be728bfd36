#include "options.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace simt {
namespace {

// A value that is no number would silently switch a detector off, so it ends the process.
std::uint64_t number(const char* name, std::uint64_t otherwise, std::uint64_t least,
                     std::uint64_t most) {
  const char* text = std::getenv(name);
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 0);
  if (*end || *text == '-' || value < least || value > most) {
    std::fprintf(stderr, "simt: %s=%s: expected a number from %llu to %llu\n", name, text,
                 static_cast<unsigned long long>(least), static_cast<unsigned long long>(most));
    std::_Exit(2);
  }
  return value;
}

Options from_environment() {
  Options o{};
#ifdef SIMT_TSAN
  const unsigned least_workers = 2;  // a race between blocks needs two OS threads to be seen
#else
  const unsigned least_workers = 1;
#endif
#ifdef SIMT_ASAN
  const std::size_t stack_bytes = 256 << 10;  // red zones make frames larger
#else
  const std::size_t stack_bytes = 64 << 10;
#endif
  const std::size_t physical = std::size_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  o.workers = unsigned(number("SIMT_WORKERS", 0, 0, 256));
  if (!o.workers) o.workers = std::max(least_workers, std::thread::hardware_concurrency());
  o.seed = number("SIMT_SEED", 0, 0, ~0ull);
  o.strict = number("SIMT_STRICT", 1, 0, 1);
  o.guard = number("SIMT_GUARD", 0, 0, 1);
  o.lazy = number("SIMT_LAZY", 0, 0, 1);
  o.verbose = number("SIMT_VERBOSE", 0, 0, 1);
  o.devices = unsigned(number("SIMT_DEVICES", 2, 1, max_devices));
  o.arch = unsigned(number("SIMT_ARCH", 90, 80, 129));
  o.ptx = unsigned(number("SIMT_PTX", o.arch, 80, o.arch));
  o.shared_bytes = number("SIMT_SHARED_BYTES", 227 << 10, 48 << 10, 227 << 10);
  o.device_memory =
      number("SIMT_DEVICE_MEMORY", std::min<std::size_t>(physical / 2, 8ull << 30), 1, 1ull << 50);
  o.stack_bytes = number("SIMT_STACK", stack_bytes, 16 << 10, 64 << 20) & ~std::size_t{4095};
  o.watchdog_ms = unsigned(number("SIMT_WATCHDOG_MS", 10000, 1, 1u << 30));
  return o;
}

}  // namespace

Options& options() {
  static Options instance = from_environment();
  return instance;
}

std::string reproduction() {
  const Options& o = options();
  std::string text = "SIMT_SEED=" + std::to_string(o.seed);
  if (o.lazy) text += " SIMT_LAZY=1";
  if (o.guard) text += " SIMT_GUARD=1";
  if (!o.strict) text += " SIMT_STRICT=0";
  if (o.arch != 90) text += " SIMT_ARCH=" + std::to_string(o.arch);
  if (o.ptx != o.arch) text += " SIMT_PTX=" + std::to_string(o.ptx);
  if (o.shared_bytes != 227 << 10) text += " SIMT_SHARED_BYTES=" + std::to_string(o.shared_bytes);
  return text + " SIMT_WORKERS=" + std::to_string(o.workers);
}

}  // namespace simt
