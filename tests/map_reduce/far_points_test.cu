// Clouds with points far out, which the tensor kernels of sums leave to the differences: few rows
// and few columns one by one, up to the numbers at which whole tiles are left, and whole blocks. A
// row that is far has a column near it, so that its sum is as large as others'.
#include "gaussian.cuh"

namespace warpath::map_reduce::test {
namespace {

constexpr std::size_t tile_columns = 256;  ///< columns

/// M x N points within a width of each other.
template <int D, int E>
GaussianData<float, D, E> cloud(std::int64_t M, std::int64_t N) {
  return gaussian_data<float, D, E>(M, N, {0, 1, 1});
}

/// Moves `count` points, every step-th from `first` on, out of the cloud, to three places: just
/// beyond what the products take, and farther.
template <int D>
void move_out(std::vector<float>& points, std::size_t first, int count, std::size_t step = 1,
              double width = 1) {
  const auto beyond = static_cast<float>(0.5 + 1.75 * width / std::sqrt(D));
  for (int n = 0; n < count; ++n) {
    for (std::size_t k = 0; k < D; ++k) {
      points.at((first + static_cast<std::size_t>(n) * step) * D + k) =
          (n % 3 == 0   ? beyond
           : n % 3 == 1 ? -5
                        : 40) +
          0.01f * static_cast<float>(n % 7);
    }
  }
}

/// By tensor kernels, in one part and in three.
template <int D, int E>
void expect_sums(const GaussianData<float, D, E>& data) {
  expect_gaussian_sums(data, 2e-6, {{Variant::tensor, 192, 0, 1}, {Variant::tensor, 192, 0, 3}});
}

/// Rows of a tensor kernel's block.
std::int64_t block_rows_of(std::int64_t M, std::int64_t N) {
  return plan(Gaussian<float, 3>(), Sum<float>(), over_i(Array<float, 3>{nullptr, M}),
              over_j(Array<float, 3>{nullptr, N}, Array<float, 1>{nullptr, N}),
              {Variant::tensor, 192, 0, 1})
      .block_rows;
}

/// Up to an eighth of a block's rows, one more, and all; and of those of the last block, which has
/// fewer rows.
void expect_sums_with_far_rows(std::int64_t M, std::int64_t N, std::size_t block_rows) {
  ASSERT_EQ(block_rows_of(M, N), static_cast<std::int64_t>(block_rows));
  const auto eighth = static_cast<int>(block_rows / 8);
  const auto last_block = static_cast<std::size_t>(M) / block_rows * block_rows;
  const auto last_eighth = static_cast<int>((static_cast<std::size_t>(M) - last_block) / 8);
  for (const int more : {0, 1}) {
    SCOPED_TRACE(more);
    auto data = cloud<3, 1>(M, N);
    move_out<3>(data.y, 5, 3);
    move_out<3>(data.x, 0, 1);                                          // the first one
    move_out<3>(data.x, block_rows + 1, eighth + more, 7);              // through the block
    move_out<3>(data.x, 3 * block_rows, static_cast<int>(block_rows));  // all of a block
    move_out<3>(data.x, last_block + 3, last_eighth + more - 1, 2);
    move_out<3>(data.x, static_cast<std::size_t>(M) - 1, 1);  // the last one
    expect_sums(data);
  }
}
TEST(FarPoints, RowsOfBlocksOf256) {
  expect_sums_with_far_rows(3000, 520, 256);
}
TEST(FarPoints, RowsOfBlocksOf512) {
  if (!is_small()) expect_sums_with_far_rows(20011, 260, 512);
}

// A block of 128 rows leaves them all.
TEST(FarPoints, RowsOfBlocksOf128) {
  ASSERT_EQ(block_rows_of(300, 520), 128);
  auto data = cloud<3, 1>(300, 520);
  move_out<3>(data.y, 5, 3);
  move_out<3>(data.x, 130, 3);
  expect_sums(data);
}

// Up to an eighth of a tile, and one more; the first column and the last one, in a tile of few.
TEST(FarPoints, ColumnsOfTiles) {
  for (const int count : {1, 31, 32, 33}) {
    SCOPED_TRACE(count);
    auto data = cloud<3, 1>(140, 5 * tile_columns + 9);
    move_out<3>(data.x, 128, 3);
    move_out<3>(data.y, 0, 1);
    move_out<3>(data.y, 2 * tile_columns + 1, count, 7);
    move_out<3>(data.y, 3 * tile_columns, count);
    move_out<3>(data.y, 5 * tile_columns + 8, 1);
    expect_sums(data);
  }
}

// So many far columns that they are added in several steps, and so few that they wait for others;
// with tiles that are left between them.
TEST(FarPoints, ColumnsOfManyTiles) {
  for (const std::size_t step : {9, 43, 400}) {
    SCOPED_TRACE(step);
    constexpr std::size_t N = 35 * tile_columns + 31;
    auto data = cloud<3, 1>(140, N);
    move_out<3>(data.x, 128, 3);
    move_out<3>(data.y, 1, static_cast<int>((N - 1) / step), step);
    move_out<3>(data.y, 11 * tile_columns, tile_columns);
    move_out<3>(data.y, 20 * tile_columns, 2 * tile_columns);
    expect_sums(data);
  }
}

// Rows, columns, more tiles than are noted one by one, and then all that is left of the part.
TEST(FarPoints, OfAllKinds) {
  constexpr std::size_t N = 12 * tile_columns + 31;
  auto data = cloud<3, 1>(2300, N);
  ASSERT_EQ(block_rows_of(2300, N), 256);
  move_out<3>(data.x, 300, 9, 11);
  move_out<3>(data.y, 1, static_cast<int>((N - 1) / 50), 50);
  for (const std::size_t far : {1, 2, 4, 5, 6, 8, 10})
    move_out<3>(data.y, far * tile_columns, tile_columns);
  expect_sums(data);
}

// In the cloud, and among the points that are far; a NaN of a column enters every sum.
TEST(FarPoints, ThatAreNotFinite) {
  auto data = cloud<3, 1>(2300, 600);
  move_out<3>(data.x, 300, 9, 11);
  move_out<3>(data.y, 1, 15, 40);
  data.x[3 * 300 + 1] = nan;
  data.x[3 * 301] = infinity;
  data.x[3 * 600 + 2] = 3e38f;
  data.y[3 * 41] = -infinity;
  data.y[3 * 50 + 1] = 1e30f;
  expect_sums(data);
  data.b[41] = infinity;  // times 0
  expect_sums(data);
  data.b[41] = 1;
  data.y[3 * 50] = nan;
  expect_sums(data);
}

template <int D, int E>
void expect_few_in_other_dimensions() {
  SCOPED_TRACE("D " + std::to_string(D) + ", E " + std::to_string(E));
  auto data = cloud<D, E>(2100, 700);
  data.width = std::sqrt(D);
  move_out<D>(data.x, 257, 13, 3, data.width);
  move_out<D>(data.y, 3, 11, 60, data.width);
  expect_sums(data);
}
TEST(FarPoints, InOtherDimensions) {
  expect_few_in_other_dimensions<1, 1>();
  expect_few_in_other_dimensions<2, 2>();
  expect_few_in_other_dimensions<5, 1>();
  expect_few_in_other_dimensions<8, 3>();
  if (!is_small()) {
    expect_few_in_other_dimensions<3, 5>();  // where there are no warpgroups: products
    expect_few_in_other_dimensions<20, 1>();
    expect_few_in_other_dimensions<40, 1>();
  }
}

TEST(FarPoints, OfLogSumExp) {
  auto data = cloud<3, 1>(2300, 700);
  move_out<3>(data.x, 300, 9, 11);
  move_out<3>(data.y, 1, 15, 40);
  const PointPairs points(data.x, data.y);
  const auto expected = over_rows(points.squares, [](std::vector<double> row) {
    for (double& value : row) value = -value;
    return oracle::log_sum_exp(row);
  });
  for (const int parts : {1, 3}) {
    SCOPED_TRACE(parts);
    expect_close(reduced(LogGaussian<float, 3>(), map_reduce::LogSumExp<float>(), points.rows(),
                         points.columns(), {Variant::tensor, 192, 0, parts}),
                 expected, 2e-6);
  }
}

}  // namespace
}  // namespace warpath::map_reduce::test
