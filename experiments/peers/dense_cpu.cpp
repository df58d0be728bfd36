#include "peers/dense_cpu.hpp"

#include <cmath>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace warpath::experiments::dense_cpu {

bool has_openmp() {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

int gaussian_sums(const Pairs& pairs, bool is_parallel) {
  const auto rows = static_cast<std::int64_t>(pairs.out.size());
  const auto columns = static_cast<std::int64_t>(pairs.b.size());
  const int dimension = pairs.dimension;
  int threads = 1;
#ifdef _OPENMP
  if (is_parallel) threads = omp_get_max_threads();
#else
  (void)is_parallel;
#endif
  const auto for_each_row = [&](auto step) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static)
#endif
    for (std::int64_t i = 0; i < rows; ++i) step(i, pairs.matrix.data() + i * columns);
  };
  for (int k = 0; k < dimension; ++k) {
    for_each_row([&](std::int64_t i, float* row) {
      const float x = pairs.x[static_cast<std::size_t>(i * dimension + k)];
      for (std::int64_t j = 0; j < columns; ++j) {
        const float difference = x - pairs.y[static_cast<std::size_t>(j * dimension + k)];
        row[j] = (k == 0 ? 0.0f : row[j]) + difference * difference;
      }
    });
  }
  for_each_row([&](std::int64_t, float* row) {
    for (std::int64_t j = 0; j < columns; ++j) row[j] = std::exp(-row[j]);
  });
  for_each_row([&](std::int64_t i, const float* row) {
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      sum += static_cast<double>(row[j] * pairs.b[static_cast<std::size_t>(j)]);
    }
    pairs.out[static_cast<std::size_t>(i)] = static_cast<float>(sum);
  });
  return threads;
}

}  // namespace warpath::experiments::dense_cpu
