// The tensorized way on the CPU, as a yardstick of map_reduce: every step is a pass over a matrix
// of all M x N pairs, as array libraries do it.
#pragma once

#include <cstdint>
#include <vector>

namespace warpath::experiments::dense_cpu {

/// out[i] = sum over j of exp(-|x_i - y_j|^2) b_j, in float. x, y: `dimension` numbers a point; b:
/// one for each y; out: one for each x. matrix: room for all pairs.
struct Pairs {
  const std::vector<float>& x;
  const std::vector<float>& y;
  const std::vector<float>& b;
  int dimension;
  std::vector<float>& matrix;
  std::vector<float>& out;
};

/// With one thread, or with as many as OpenMP has. Returns how many that were.
int gaussian_sums(const Pairs& pairs, bool is_parallel);

/// Whether the program was built with OpenMP.
bool has_openmp();

}  // namespace warpath::experiments::dense_cpu
