// OpenMP tasks on the host, where the compiler has them; where not, all is done by one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>

#ifdef _OPENMP
#include <omp.h>
#define WARPATH_OMP(directive) _Pragma(#directive)
#else
#define WARPATH_OMP(directive)
#endif

namespace warpath::kd_tree::detail {

/// How many threads there are where `threads` are asked for; 0: as many as OpenMP has.
inline int thread_count([[maybe_unused]] int threads) {
#ifdef _OPENMP
  return threads > 0 ? threads : omp_get_max_threads();
#else
  return 1;
#endif
}

/// The first exception of several tasks: none may leave a task.
class TaskFailure {
 public:
  template <class Act>
  void guard(const Act& act) noexcept {
    try {
      act();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (first_ == nullptr) first_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (first_ != nullptr) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

/// Calls act(), which may make tasks, with thread_count(threads) threads. Throws what it throws.
template <class Act>
void in_tasks([[maybe_unused]] int threads, const Act& act) {
  TaskFailure failure;
  WARPATH_OMP(omp parallel num_threads(thread_count(threads)))
  WARPATH_OMP(omp single)
  failure.guard(act);
  failure.rethrow();
}

/// Calls act(0) to act(count - 1), each in a task, and waits for all of them; throws the first
/// exception of any. Inside in_tasks().
template <class Act>
void for_each_task(std::int64_t count, const Act& act) {
  TaskFailure failure;
  for (std::int64_t i = 0; i < count; ++i) {
    WARPATH_OMP(omp task firstprivate(i) shared(act, failure) if (count > 1))
    failure.guard([&] { act(i); });
  }
  WARPATH_OMP(omp taskwait)
  failure.rethrow();
}

/// What one task takes of many elements: [begin, end).
struct Chunk {
  static constexpr std::int64_t most = 1 << 16;
  std::int64_t begin;
  std::int64_t end;

  static constexpr std::int64_t count(std::int64_t elements) {
    return (elements + most - 1) / most;
  }
  static constexpr Chunk of(std::int64_t elements, std::int64_t number) {
    return {number * most, std::min((number + 1) * most, elements)};
  }
  [[nodiscard]] constexpr std::size_t number() const {
    return static_cast<std::size_t>(begin / most);
  }
};

/// Calls act(chunk) for all chunks of `count` elements, each in a task, and waits for them.
template <class Act>
void for_each_chunk(std::int64_t count, const Act& act) {
  for_each_task(Chunk::count(count), [&](std::int64_t i) { act(Chunk::of(count, i)); });
}

}  // namespace warpath::kd_tree::detail
