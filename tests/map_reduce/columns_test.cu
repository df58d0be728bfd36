// The kernel of few rows, threads over the columns: every shape of its blocks, with as many parts
// as the test says and not as the cost model does.
#include "../test_size.hpp"
#include "support.cuh"

namespace warpath::map_reduce::test {
namespace {

struct Case {
  int rows_of_block;
  std::int64_t M;
  std::int64_t N;
  std::int64_t parts;
};

/// All shapes; rows and columns that fill blocks and batches, and that do not; one part and more.
std::vector<Case> cases() {
  std::vector<Case> all;
  const std::int64_t many = is_small() ? 2 * 1024 + 7 : 4 * 1024 + 7;
  for (const int rows_of_block : {1, 4, 16}) {
    for (const std::int64_t M : {1, 4, 17}) {
      for (const std::int64_t N : {std::int64_t{1}, std::int64_t{30}, many}) {
        for (const std::int64_t parts : {1, 3}) all.push_back({rows_of_block, M, N, parts});
      }
    }
  }
  return all;
}

/// The result of the kernel.
template <class Formula, class Reduction, class X, class Y>
std::vector<typename Reduction::Result> reduced_by_columns(const Formula& formula,
                                                           const Reduction& reduction, const X& x,
                                                           const Y& y, const Case& of) {
  const Stream stream;
  Workspace workspace;
  Guarded<typename Reduction::Result> out(x.count);
  const detail::Problem<Formula, Reduction, decltype(x.arrays), decltype(y.arrays)> problem{
      formula, reduction, x.arrays, y.arrays, x.count, y.count, out.span().data};
  Choice choice{
      .variant = Variant::tuned_2d, .is_over_columns = true, .block_rows = of.rows_of_block};
  choice.span = divide_up(divide_up(of.N, of.parts), 1024) * 1024;
  choice.parts = divide_up(of.N, choice.span);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
  detail::run_columns(problem, choice, workspace, stream);
  return out.get();
}

template <int D>
struct Points {
  explicit Points(const Case& of, bool on_grid = false)
      : x(on_grid ? grid_points(of.M * D, 1) : uniform<float>(of.M * D, 1)),
        y(on_grid ? grid_points(of.N * D, 2) : uniform<float>(of.N * D, 2)),
        b(uniform<float>(of.N, 3, 0.5)),
        device_x(on_device(x)),
        device_y(on_device(y)),
        device_b(on_device(b)) {}
  [[nodiscard]] auto rows() const { return over_i(vectors<D>(device_x.span())); }
  [[nodiscard]] auto columns() const { return over_j(vectors<D>(device_y.span())); }
  [[nodiscard]] double square(std::int64_t i, std::int64_t j) const {
    return oracle::squared_distance(&x[static_cast<std::size_t>(i * D)],
                                    &y[static_cast<std::size_t>(j * D)], D);
  }

  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> b;
  DeviceBuffer<float> device_x;
  DeviceBuffer<float> device_y;
  DeviceBuffer<float> device_b;
};

/// act(case) for each, with a trace.
template <class Act>
void for_each_case(Act act) {
  for (const Case& of : cases()) {
    SCOPED_TRACE("rows of a block " + std::to_string(of.rows_of_block) + ", M " +
                 std::to_string(of.M) + ", N " + std::to_string(of.N) + ", parts " +
                 std::to_string(of.parts));
    act(of);
  }
}

TEST(ColumnsKernel, SumsInGroups) {
  for_each_case([](const Case& of) {
    const Points<3> points(of);
    const auto expected = over_rows(rows_of(of.M, of.N,
                                            [&](std::int64_t i, std::int64_t j) {
                                              return std::exp(-points.square(i, j)) *
                                                     points.b[static_cast<std::size_t>(j)];
                                            }),
                                    oracle::sum);
    const auto columns =
        over_j(vectors<3>(points.device_y.span()), vectors<1>(points.device_b.span()));
    EXPECT_LE(oracle::relative_error(reduced_by_columns(Gaussian<float, 3>(), Sum<float>(),
                                                        points.rows(), columns, of),
                                     expected),
              2e-6);
    EXPECT_LE(oracle::relative_error(
                  reduced_by_columns(Gaussian<float, 3>(), Sum<float, Accuracy::kahan>(),
                                     points.rows(), columns, of),
                  expected),
              2e-6);
  });
}

// Sums over columns that begin `place` numbers into their arrays.
template <int D>
void expect_sums(std::int64_t place) {
  for_each_case([&](const Case& of) {
    const Points<D> points(of);
    DeviceBuffer<float> shifted(of.N * D + place);
    DeviceBuffer<float> shifted_b(of.N + place);
    WARPATH_CUDA_CHECK(cudaMemcpy(shifted.data() + place, points.y.data(),
                                  points.y.size() * sizeof(float), cudaMemcpyHostToDevice));
    WARPATH_CUDA_CHECK(cudaMemcpy(shifted_b.data() + place, points.b.data(),
                                  points.b.size() * sizeof(float), cudaMemcpyHostToDevice));
    const auto columns =
        over_j(vectors<D>(DeviceSpan<const float>{shifted.data() + place, of.N * D}),
               vectors<1>(DeviceSpan<const float>{shifted_b.data() + place, of.N}));
    const auto expected = over_rows(rows_of(of.M, of.N,
                                            [&](std::int64_t i, std::int64_t j) {
                                              return std::exp(-points.square(i, j)) *
                                                     points.b[static_cast<std::size_t>(j)];
                                            }),
                                    oracle::sum);
    EXPECT_LE(oracle::relative_error(reduced_by_columns(Gaussian<float, D>(), Sum<float>(),
                                                        points.rows(), columns, of),
                                     expected),
              2e-6);
  });
}
// Columns that a thread loads one by one: in accesses of 16 bytes, of 8 and of 4, and number by
// number; with 16 rows a block, those of up to 6 numbers by fours.
TEST(ColumnsKernel, SumsOfSingleColumns) {
  expect_sums<4>(0);
  expect_sums<8>(0);
}
TEST(ColumnsKernel, SumsOfSingleColumnsThatBeginAnywhere) {
  expect_sums<8>(1);
}
#ifndef WARPATH_TEST_FEW_TYPES
TEST(ColumnsKernel, SumsOfSingleColumnsInNarrowAccesses) {
  expect_sums<6>(0);
  expect_sums<7>(0);
  expect_sums<11>(0);  // 16 rows a block: through shared memory
}
#endif
// Columns of many numbers, which come through shared memory: of whole 16-byte lines with padding
// and without, of parts of lines, and in arrays that begin within a line.
TEST(ColumnsKernel, SumsOfPaddedColumns) {
  expect_sums<16>(0);
}
TEST(ColumnsKernel, SumsOfColumnsThatBeginWithinALine) {
  expect_sums<16>(1);
}
TEST(ColumnsKernel, SumsOfColumnsOfPartsOfLines) {
  expect_sums<13>(0);
}

// Numbers whose size does not divide a line's 16 bytes: the last of an array that ends within a
// line may begin in the line before. (AddressSanitizer sees what is read beyond it.)
template <int Bytes>
struct Record {
  unsigned char bytes[Bytes];
};
/// Every byte of the column, by its place.
template <int Bytes, int D>
struct WeightedBytes {
  __host__ __device__ float operator()(const Vector<float, 1>& x,
                                       const Vector<Record<Bytes>, D>& y) const {
    int sum = 0;
    for (int d = 0; d < D; ++d) {
      for (int k = 0; k < Bytes; ++k) sum += (d + k % 3) * y[d].bytes[k];
    }
    return x[0] * static_cast<float>(sum);
  }
};
template <int Bytes, int D>
void expect_weighted_bytes() {
  for_each_case([](const Case& of) {
    const std::vector<float> x(static_cast<std::size_t>(of.M), 0.5F);
    std::vector<Record<Bytes>> y(static_cast<std::size_t>(of.N * D));
    std::vector<double> of_columns;
    for (std::size_t j = 0; j < y.size(); ++j) {
      for (int k = 0; k < Bytes; ++k) {
        y[j].bytes[k] = static_cast<unsigned char>((7 * j + static_cast<std::size_t>(k)) % 5);
      }
    }
    for (std::size_t j = 0; j < y.size(); j += D) {
      Vector<Record<Bytes>, D> column;
      for (int d = 0; d < D; ++d) column[d] = y[j + static_cast<std::size_t>(d)];
      of_columns.push_back(WeightedBytes<Bytes, D>()(Vector<float, 1>{0.5F}, column));
    }
    const DeviceBuffer<float> device_x = on_device(x);
    const DeviceBuffer<Record<Bytes>> device_y = on_device(y);
    const std::vector<double> expected(static_cast<std::size_t>(of.M), oracle::sum(of_columns));
    EXPECT_LE(oracle::relative_error(reduced_by_columns(WeightedBytes<Bytes, D>(), Sum<float>(),
                                                        over_i(vectors<1>(device_x.span())),
                                                        over_j(vectors<D>(device_y.span())), of),
                                     expected),
              2e-6);
  });
}
TEST(ColumnsKernel, NumbersThatDoNotDivideALine) {
  expect_weighted_bytes<20, 3>();
#ifndef WARPATH_TEST_FEW_TYPES
  expect_weighted_bytes<12, 5>();
  expect_weighted_bytes<3, 21>();
#endif
}

// Groups of neighbouring columns, and of equal distances the lowest column.
template <int D>
void expect_arg_min() {
  for_each_case([](const Case& of) {
    const Points<D> points(of, true);
    std::vector<std::int64_t> expected;
    for (std::int64_t i = 0; i < of.M; ++i) {
      std::int64_t least = 0;
      for (std::int64_t j = 1; j < of.N; ++j) {
        if (points.square(i, j) < points.square(i, least)) least = j;
      }
      expected.push_back(least);
    }
    EXPECT_EQ(reduced_by_columns(SquaredDistance<float, D>(), ArgMin<float>(), points.rows(),
                                 points.columns(), of),
              expected);
  });
}
TEST(ColumnsKernel, ArgMin) {
  expect_arg_min<3>();
}
TEST(ColumnsKernel, ArgMinOfSingleColumns) {
  expect_arg_min<10>();
}
#ifndef WARPATH_TEST_FEW_TYPES
// Four rows of twelve numbers, with their states, do not fit into a thread's registers: they come
// through shared memory, while one row does not.
TEST(ColumnsKernel, ArgMinOfRowsThatAreStaged) {
  expect_arg_min<12>();
}
#endif
TEST(ColumnsKernel, ArgMinOfPaddedColumns) {
  expect_arg_min<20>();
}

// A group of one column, which is summed again wherever it passes those before it by far.
TEST(ColumnsKernel, LogSumExpOfSingleColumns) {
  for_each_case([](const Case& of) {
    const Points<8> points(of);
    const auto rows =
        rows_of(of.M, of.N, [&](std::int64_t i, std::int64_t j) { return -points.square(i, j); });
    const auto found = reduced_by_columns(LogGaussian<float, 8>(), LogSumExp<float>(),
                                          points.rows(), points.columns(), of);
    EXPECT_LE(oracle::relative_error(found, over_rows(rows, oracle::log_sum_exp)), 2e-6);
  });
}

// Long states, for which there are no four rows a thread: one row a block.
TEST(ColumnsKernel, KMin) {
  for_each_case([](const Case& of) {
    if (of.rows_of_block > 1) return;
    const Points<3> points(of, true);
    const auto found = numbers_of<float>(reduced_by_columns(
        SquaredDistance<float, 3>(), KMin<float, 10>(), points.rows(), points.columns(), of));
    const auto rows =
        rows_of(of.M, of.N, [&](std::int64_t i, std::int64_t j) { return points.square(i, j); });
    std::vector<float> expected;
    for (std::vector<double> row : rows) {
      row.resize(std::max<std::size_t>(row.size(), 10), std::numeric_limits<double>::infinity());
      std::partial_sort(row.begin(), row.begin() + 10, row.end());
      expected.insert(expected.end(), row.begin(), row.begin() + 10);
    }
    EXPECT_EQ(found, expected);
  });
}

}  // namespace
}  // namespace warpath::map_reduce::test
