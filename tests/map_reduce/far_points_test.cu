// Clouds with a few points far out: rows and columns that the tensor kernels of sums leave to the
// differences one by one, up to the numbers at which they leave tiles, and whole blocks.
#include "gaussian.cuh"

namespace warpath::map_reduce::test {
namespace {

using testing::DeviceBuffer;

/// `data` with every step-th point, from `first` on, `count` of them, moved from the cloud to
/// `place` in all coordinates, one a little farther than the other.
template <int D>
void move_out(std::vector<float>& points, std::size_t first, std::size_t step, int count,
              float place) {
  for (int n = 0; n < count; ++n) {
    const std::size_t i = first + static_cast<std::size_t>(n) * step;
    for (std::size_t k = 0; k < D; ++k) {
      points.at(i * D + k) = place * (1 + 0.001f * static_cast<float>(n)) +
                             (k == 0 ? 0.25f * static_cast<float>(n % 3) : 0.0f);
    }
  }
}

std::vector<Options> tensor_options() {
  std::vector<Options> all;
  for (const int parts : {1, 3}) all.push_back({Variant::tensor, 192, 0, parts});
  return all;
}

/// Rows of a block by the plan of M x N points.
std::int64_t block_rows_of(std::int64_t M, std::int64_t N) {
  return plan(Gaussian<float, 3>(), Sum<float>(), over_i(Array<float, 3>{nullptr, M}),
              over_j(Array<float, 3>{nullptr, N}, Array<float, 1>{nullptr, N}),
              {Variant::tensor, 192, 0, 1})
      .block_rows;
}
TEST(FarPoints, Plans) {
  for (std::int64_t M : {100, 300, 700, 1500, 3000, 5000, 9000, 20000, 60000}) for (std::int64_t N : {300, 700}) printf("%d %d %d\n", (int)M, (int)N, (int)block_rows_of(M,N));
}

}  // namespace
}  // namespace warpath::map_reduce::test
