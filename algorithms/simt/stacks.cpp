#include "stacks.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "options.hpp"
#include "sanitizer.hpp"
#include "thread.hpp"

namespace simt {
namespace {
constexpr std::size_t guard_bytes = 4096;
}

Stacks::~Stacks() {
  if (region_) munmap(region_, distance_ * max_block_threads);
}

// Addresses are reserved at once; memory is used page by page, when a fiber first touches it.
void Stacks::reserve() {
  bytes_ = options().stack_bytes;
  distance_ = bytes_ + guard_bytes;
  void* region = mmap(nullptr, distance_ * max_block_threads, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) {
    std::fprintf(stderr, "simt: no address space for %u stacks of %zu bytes: lower SIMT_STACK\n",
                 max_block_threads, bytes_);
    std::abort();
  }
  region_ = static_cast<unsigned char*>(region);
  free_.reserve(max_block_threads);  // fibers give stacks back, and should not allocate
}

unsigned char* Stacks::take() {
  if (!free_.empty()) {
    unsigned char* stack = free_.back();
    free_.pop_back();
    return stack;
  }
  if (!region_) reserve();
  unsigned char* guard = region_ + carved_++ * distance_;
  // The system may be out of mappings when very many blocks are resident: then this stack has no
  // guard.
  (void)mprotect(guard, guard_bytes, PROT_NONE);
  return guard + guard_bytes;
}

void Stacks::reset() {
  free_.clear();
  for (unsigned i = carved_; i--;) free_.push_back(region_ + i * distance_ + guard_bytes);
  SIMT_IF_ASAN(for (unsigned char* stack : free_) __asan_unpoison_memory_region(stack, bytes_);)
}

void Stacks::trim() {
  if (region_) madvise(region_, distance_ * max_block_threads, MADV_DONTNEED);
}

}  // namespace simt
