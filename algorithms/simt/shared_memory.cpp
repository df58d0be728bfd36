#include "shared_memory.hpp"

#include <cxxabi.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#include "sanitizer.hpp"

#ifdef SIMT_SHARED_SECTION
// Bounds of the section that clang gathers all `__shared__` variables in, in the executable's image
// of thread-local storage.
// The linker chose the names.
extern "C" {  // NOLINTBEGIN(bugprone-reserved-identifier)
extern char __start_simt_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_simt_shared[] __attribute__((weak, visibility("hidden")));
}  // NOLINTEND(bugprone-reserved-identifier)
#endif

namespace simt {

__thread unsigned char* dynamic_smem;
__thread std::size_t dynamic_smem_size;

namespace {

constexpr std::size_t arena_alignment = 128;
constexpr std::size_t zone_bytes = 128;  // watched bytes beyond the end
constexpr unsigned char zone_fill = 0xFD, expired_fill = 0xDE;
thread_local unsigned char anchor;

struct Range {
  unsigned char* begin = nullptr;
  std::size_t bytes = 0;
};

// The calling thread's part of thread-local storage that belongs to the main program (the first
// object of the list).
struct ThreadLocalImage {
  Range range;
  std::uintptr_t image = 0;  // where the initial values lie
};

ThreadLocalImage main_program() {
  ThreadLocalImage found;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* out) {
        auto& result = *static_cast<ThreadLocalImage*>(out);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& header = object->dlpi_phdr[i];
          if (header.p_type != PT_TLS || !object->dlpi_tls_data) continue;
          result.range = {static_cast<unsigned char*>(object->dlpi_tls_data), header.p_memsz};
          result.image = object->dlpi_addr + header.p_vaddr;
        }
        return 1;  // only the main program
      },
      &found);
  return found;
}

}  // namespace

DynamicArena::DynamicArena(std::size_t bytes)
    : bytes_(bytes),
      storage_bytes_(bytes + zone_bytes + arena_alignment),
      storage_(new unsigned char[storage_bytes_]) {
  const auto address = reinterpret_cast<std::uintptr_t>(storage_.get());
  begin_ = storage_.get() + (-address & (arena_alignment - 1));
  std::memset(begin_, shared_poison, bytes);
  std::memset(begin_ + bytes, zone_fill, zone_bytes);
  SIMT_IF_ASAN(__asan_poison_memory_region(begin_ + bytes, zone_bytes);)
}

DynamicArena::~DynamicArena() {
  SIMT_IF_ASAN(__asan_unpoison_memory_region(storage_.get(), storage_bytes_);)
}

std::ptrdiff_t DynamicArena::overrun() const {
  if (under_asan) return -1;  // it has told already
  const unsigned char* zone = begin_ + bytes_;
  for (std::size_t i = 0; i < zone_bytes; ++i)
    if (zone[i] != zone_fill) return std::ptrdiff_t(i);
  return -1;
}

void DynamicArena::expire() {
  std::memset(begin_, expired_fill, bytes_);
  SIMT_IF_ASAN(__asan_poison_memory_region(begin_, bytes_);)
}

#ifdef SIMT_SHARED_SECTION

// clang puts each `__shared__` variable in a section of its own name, templates included.
void poison_static_shared() {
  static const std::size_t bytes = __stop_simt_shared - __start_simt_shared;
  if (!bytes) return;
  const ThreadLocalImage tls = main_program();
  const auto offset = reinterpret_cast<std::uintptr_t>(__start_simt_shared) - tls.image;
  std::memset(tls.range.begin + offset, shared_poison, bytes);
}

#else

// g++ cannot gather variables of templates in a section. But a worker runs nothing except kernels
// and the executor, so all thread-local variables of the program are shared memory there, or are
// set up by run_block after this. (A statically linked C++ library keeps its list of caught
// exceptions here, too.)
void poison_static_shared() {
  struct CaughtExceptions {
    void* newest;
    unsigned count;
  };
  const Range tls = main_program().range;
  auto* caught = reinterpret_cast<CaughtExceptions*>(abi::__cxa_get_globals());
  const CaughtExceptions kept = *caught;
  std::memset(tls.begin, shared_poison, tls.bytes);
  *caught = kept;
}

#endif

unsigned char* thread_local_anchor() {
  return &anchor;
}

}  // namespace simt
