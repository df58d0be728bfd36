// OpenMP tasks on the host, where the compiler has them; where not, all is done by one thread.
#pragma once

#include <algorithm>
#include <cstdint>

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

/// Calls act(), which may make tasks, with thread_count(threads) threads.
template <class Act>
void in_tasks([[maybe_unused]] int threads, const Act& act) {
  WARPATH_OMP(omp parallel num_threads(thread_count(threads)))
  WARPATH_OMP(omp single)
  act();
}

/// Calls act(0) to act(count - 1), each in a task, and waits for them. Inside in_tasks().
template <class Act>
void for_each_task(std::int64_t count, const Act& act) {
  for (std::int64_t i = 0; i < count; ++i) {
    WARPATH_OMP(omp task firstprivate(i) shared(act) if (count > 1))
    act(i);
  }
  WARPATH_OMP(omp taskwait)
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
};

/// Calls act(chunk) for all chunks of `count` elements, each in a task, and waits for them.
template <class Act>
void for_each_chunk(std::int64_t count, const Act& act) {
  for_each_task(Chunk::count(count), [&](std::int64_t i) { act(Chunk::of(count, i)); });
}

}  // namespace warpath::kd_tree::detail
