// OpenMP tasks on the host, where the compiler has them; where not, all is done by one thread.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#define WARPATH_OMP(directive) _Pragma(#directive)
#else
#define WARPATH_OMP(directive)
#endif

namespace warpath::kd_tree::detail {

/// Calls act(), which may make tasks, with that many threads; 0: as many as OpenMP has.
template <class Act>
void in_tasks([[maybe_unused]] int threads, const Act& act) {
#ifdef _OPENMP
  const int all = threads > 0 ? threads : omp_get_max_threads();
#endif
  WARPATH_OMP(omp parallel num_threads(all))
  WARPATH_OMP(omp single)
  act();
}

}  // namespace warpath::kd_tree::detail
