// What the sanitizers must be told about fibers. The executor itself is compiled without
// instrumentation, so that it costs nothing under a sanitizer and every happens-before edge between
// CUDA threads is one that is written down here.
#pragma once

#ifdef SIMT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define SIMT_IF_ASAN(...) __VA_ARGS__
#else
#define SIMT_IF_ASAN(...)
#endif

#ifdef SIMT_TSAN
#include <sanitizer/tsan_interface.h>
#define SIMT_IF_TSAN(...) __VA_ARGS__
#else
#define SIMT_IF_TSAN(...)
#endif

// Around functions of headers that touch nothing but their parameters and the executor's books:
// compiled into kernels, they are not instrumented either.
#if defined(SIMT_ASAN) || defined(SIMT_TSAN)
#define SIMT_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define SIMT_BEGIN_UNOBSERVED                                                         \
  SIMT_PRAGMA(clang attribute push(__attribute__((no_sanitize("address", "thread"))), \
                                   apply_to = function))
#define SIMT_END_UNOBSERVED _Pragma("clang attribute pop")
#else
#define SIMT_BEGIN_UNOBSERVED
#define SIMT_END_UNOBSERVED
#endif

namespace simt {

#ifdef SIMT_ASAN
constexpr bool under_asan = true;
#else
constexpr bool under_asan = false;
#endif
#ifdef SIMT_TSAN
constexpr bool under_tsan = true;
#else
constexpr bool under_tsan = false;
#endif

// `object` stands for a synchronisation: who acquires it sees all that was done before others
// released it.
inline void happens_before([[maybe_unused]] void* object) {
  SIMT_IF_TSAN(__tsan_release(object);)
}
inline void happens_after([[maybe_unused]] void* object) {
  SIMT_IF_TSAN(__tsan_acquire(object);)
}

// While one of these lives, ThreadSanitizer does not look: for the executor's own books, which
// fibers of one OS thread keep together, without a race and without an order that kernels could
// rely on.
class Unobserved {
 public:
  Unobserved();
  ~Unobserved();
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;
};

#ifdef SIMT_TSAN
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
inline Unobserved::Unobserved() {
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}
inline Unobserved::~Unobserved() {
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}
#else
inline Unobserved::Unobserved() {}
inline Unobserved::~Unobserved() {}
#endif

}  // namespace simt
