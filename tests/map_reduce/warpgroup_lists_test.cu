// Several nearest columns by the products of warpgroups: lists of every length, in one part and
// several; columns that are alike, far, or not finite; and where the kernel is taken. Results are
// exactly those of the differences.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "warpgroups.cuh"

namespace warpath::map_reduce::test {
namespace {

/// The columns of the K least distances of each row, one row after the other: in floats, so that
/// the same ones are equal, and the first one comes first; -1 where there are no more numbers.
template <int D, int K>
std::vector<std::int64_t> k_nearest(const Points& points) {
  std::vector<std::int64_t> all;
  const std::size_t N = points.y.size() / D;
  for (std::size_t i = 0; i < points.x.size() / D; ++i) {
    std::vector<float> squares(N);
    std::vector<std::int64_t> order;
    for (std::size_t j = 0; j < N; ++j) {
      squares[j] = squared_distance_in_floats<D>(points, i, j);
      if (!std::isnan(squares[j])) order.push_back(static_cast<std::int64_t>(j));
    }
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return squares[static_cast<std::size_t>(a)] < squares[static_cast<std::size_t>(b)];
    });
    order.resize(K, -1);
    all.insert(all.end(), order.begin(), order.end());
  }
  return all;
}

template <int D, int K>
void expect_the_k_nearest(const Points& points, const std::vector<Options>& options = few_parts()) {
  const DeviceBuffer<float> x = on_device(points.x);
  const DeviceBuffer<float> y = on_device(points.y);
  const std::vector<std::int64_t> columns = k_nearest<D, K>(points);
  const auto rows = over_i(vectors<D>(x.span()));
  const auto all = over_j(vectors<D>(y.span()));
  for (const Options& of : options) {
    SCOPED_TRACE(name_of(of));
    const auto found = reduced(SquaredDistance<float, D>(), ArgKMin<float, K>(), rows, all, of);
    EXPECT_EQ(numbers_of<std::int64_t>(found), columns);
  }
}

const Options three_parts{.variant = Variant::tensor, .splits = 3};

// Tiles through all stages, in one part and several; the last one has few columns. Several blocks
// of rows, the last one with one row.
TEST(WarpgroupLists, PointsAnywhere) {
  expect_the_k_nearest<20, 10>(uniform_points<20>(257, 71), {tensor});
  expect_the_k_nearest<20, 10>(uniform_points<20>(1, least_tile<20> + 1, -1e6, 2e6), {tensor});
  expect_the_k_nearest<20, 10>(uniform_points<20>(19, least_tile<20> * 4 - 1), {three_parts});
  if (!is_small()) {
    expect_the_k_nearest<20, 10>(uniform_points<20>(257, least_tile<20> * 5 + 3));
    expect_the_k_nearest<20, 10>(uniform_points<20>(19, 999, 1e-9, 1e-9), {three_parts});
  }
}

// Lists of one, two and four entries a lane, in blocks of 256, 128 and 64 rows; of dimensions that
// are no multiple of anything, and of one more than 16.
TEST(WarpgroupLists, OfEveryLength) {
  const bool is_large = !is_small();
  expect_the_k_nearest<17, 2>(uniform_points<17>(is_large ? 257 : 19, 301, -1000, 1), {tensor});
  expect_the_k_nearest<33, 100>(uniform_points<33>(is_large ? 131 : 17, 401, 30, 2), {one_part});
  if (is_large) {
    expect_the_k_nearest<33, 100>(uniform_points<33>(131, 1500), {three_parts});
    expect_the_k_nearest<128, 40>(uniform_points<128>(131, least_tile<128> * 7 + 1),
                                  {one_part, three_parts});
  }
}

// The values themselves, of one dimension more than 16; from tiles that are far, too.
TEST(WarpgroupLists, LeastDistances) {
  constexpr int D = 17;
  constexpr int K = 3;
  Points points = uniform_points<D>(71, 301);
  // Of no column, of one, and of so many that all rows are undecided.
  for (const int far : {0, 1, 40}) {
    SCOPED_TRACE(far);
    for (int j = 0; j < far; ++j) points.y[static_cast<std::size_t>(7 * j * D + 5)] = 1e30f;
    const std::vector<std::int64_t> columns = k_nearest<D, K>(points);
    std::vector<float> values;
    for (std::size_t n = 0; n < columns.size(); ++n) {
      values.push_back(
          squared_distance_in_floats<D>(points, n / K, static_cast<std::size_t>(columns[n])));
    }
    const DeviceBuffer<float> x = on_device(points.x);
    const DeviceBuffer<float> y = on_device(points.y);
    const auto found = reduced(SquaredDistance<float, D>(), KMin<float, K>(),
                               over_i(vectors<D>(x.span())), over_j(vectors<D>(y.span())), tensor);
    EXPECT_EQ(numbers_of<float>(found), values);
  }
}

// Lists of one column, which are found as the nearest column is: of points anywhere, all alike, far
// from some rows, and of columns that are not finite.
TEST(WarpgroupLists, OfOneColumn) {
  constexpr int D = 20;
  const int N = is_small() ? 133 : least_tile<D> * 4 + 5;
  Points points = uniform_points<D>(41, N);
  expect_the_k_nearest<D, 1>(points);
  points.x[7 * D + 19] = 1e30f;
  points.y[D * 5 + 3] = nan;
  expect_the_k_nearest<D, 1>(points);
  std::fill(points.y.begin(), points.y.end(), 0.5f);
  expect_the_k_nearest<D, 1>(points);
  for (std::size_t k = 0; k < points.y.size(); k += D) points.y[k] = nan;
  expect_the_k_nearest<D, 1>(points);
  expect_the_k_nearest<D, 1>(points_infinitely_far_from_some_rows<D>(19, 71));
}

// No more columns than are wanted, or than a list has, or one more.
TEST(WarpgroupLists, FewColumns) {
  for (const int N : {1, 9, 10, 25, 26, 27}) {
    SCOPED_TRACE(N);
    expect_the_k_nearest<20, 10>(uniform_points<20>(19, N), {tensor});
  }
}

// Distances that are exact, and often equal: the first columns count. More are alike than a list
// has room for.
TEST(WarpgroupLists, ManyEqualDistances) {
  constexpr int D = 20;
  const int N = is_small() ? 133 : least_tile<D> * 4 + 5;
  Points points{grid_points(41 * D, 4, 1000), grid_points(N * D, 5, 1000)};
  for (float& number : points.x) number = std::min(number, 1002.0f);
  for (float& number : points.y) number = std::min(number, 1002.0f);
  expect_the_k_nearest<D, 10>(points);
  std::fill(points.y.begin(), points.y.end(), 1001.0f);
  expect_the_k_nearest<D, 10>(points, {one_part});
}

// No part has more columns that are alike than it has room for, but all parts together have.
TEST(WarpgroupLists, ColumnsThatAreAlikeInManyParts) {
  constexpr int D = 20;
  constexpr int parts = 5;
  constexpr int span = least_tile<D>;
  Points points = uniform_points<D>(19, parts * span);
  for (int j = 0; j < parts * span; ++j) {
    float* const y = &points.y[static_cast<std::size_t>(j * D)];
    if (j % span % 9 == 3) {
      for (int k = 0; k < D; ++k) y[k] = 0.5f + 1e-6f * static_cast<float>((j * 37 + k) % 90);
    } else {
      y[0] += 4;
    }
  }
  expect_the_k_nearest<D, 10>(points, {{.variant = Variant::tensor, .splits = parts}});
}

// So many columns are alike that a row has room for them while it notes them, but not at the end of
// a part.
TEST(WarpgroupLists, ColumnsThatAreAlikeInOnePart) {
  constexpr int D = 20;
  Points points = uniform_points<D>(19, 71);
  for (int j = 0; j < 71; ++j) {
    float* const y = &points.y[static_cast<std::size_t>(j * D)];
    for (int k = 0; k < D; ++k) {
      y[k] = j % 7 < 4 ? 0.5f + 1e-6f * static_cast<float>((j * 37 + k) % 90) : y[k] + 4;
    }
  }
  expect_the_k_nearest<D, 10>(points, {one_part});
}

// Columns that come nearer and nearer, so that each of them is listed.
TEST(WarpgroupLists, DescendingDistances) {
  constexpr int D = 20;
  const int N = is_small() ? 301 : least_tile<D> * 5 + 3;
  Points points = uniform_points<D>(41, N, -1e-3, 2e-3);
  for (int j = 0; j < N; ++j) {
    points.y[static_cast<std::size_t>(j * D)] += static_cast<float>(N - j) / 100;
  }
  expect_the_k_nearest<D, 10>(points);
}

// So many rows that a product cannot decide that all blocks search some of all columns, the last
// one fewer than the others; and then more of parts of them.
TEST(WarpgroupLists, ManyRowsThatAreUndecided) {
  constexpr int D = 9;
  const int blocks = 2 * device_processors();
  for (const int more : {-15, 70}) {
    const int M = 64 * blocks + more;
    SCOPED_TRACE(M);
    Points points = uniform_points<D>(M, 71);
    for (std::size_t k = 0; k < points.y.size(); ++k) points.y[k] = k < 70 * D ? 0.5f : 0.75f;
    expect_the_k_nearest<D, 2>(points, {one_part});
  }
}

// Rows that have all columns at the same distance, beside others: columns on a sphere around the
// former.
TEST(WarpgroupLists, RowsThatLackColumnsBesideOthers) {
  constexpr int D = 20;
  const int N = is_small() ? least_tile<D> + 5 : least_tile<D> * 4 + 3;
  Points points = uniform_points<D>(is_small() ? 67 : 256, N, -1, 2);
  for (int j = 0; j < N; ++j) {
    float* const y = &points.y[static_cast<std::size_t>(j * D)];
    double square = 0;
    for (int k = 0; k < D; ++k) square += static_cast<double>(y[k]) * y[k];
    for (int k = 0; k < D; ++k) y[k] = static_cast<float>(y[k] / std::sqrt(square));
  }
  for (const int row : {3, 32, 47, 66}) std::fill_n(points.x.begin() + row * D, D, 0.0f);
  expect_the_k_nearest<D, 10>(points);
}

// Halves lose as much as they may, and all in one direction: the nearest column seems farther than
// others, fewer or more than a list has room for.
TEST(WarpgroupLists, RoundingThatAddsUp) {
  constexpr int D = 20;
  constexpr float down = 1 + 0x1p-11f - 0x1p-16f;  // a half loses nearly 2^-11 of it
  for (const int others : {12, 30}) {
    Points points;
    for (int i = 0; i < 16; ++i) points.x.insert(points.x.end(), D, i % 2 == 0 ? down : -down);
    for (int n = 0; n < 70; ++n) {
      points.y.insert(points.y.end(), D, n < others ? -2 * down : 30.0f);
    }
    points.y.insert(points.y.end(), D, 4 * (down - 0x1p-14f));  // when others have been listed
    expect_the_k_nearest<D, 10>(points, {one_part});
  }
}

// The same when the rows' limits are as low as they can be: the last column seems farther than the
// ten nearest ones so far, which are hardly nearer than others.
TEST(WarpgroupLists, RoundingBeyondATightLimit) {
  constexpr int D = 20;
  constexpr float down = 1 + 0x1p-11f - 0x1p-16f;
  Points points;
  for (int i = 0; i < 16; ++i) points.x.insert(points.x.end(), D, i % 2 == 0 ? down : -down);
  for (int n = 0; n < 70; ++n) {
    const float farther =
        n < 10 ? 3e-5f * static_cast<float>(n) : 2e-4f * static_cast<float>(n - 8);
    points.y.insert(points.y.end(), D, -2 * down * (1 + farther));
  }
  points.y.insert(points.y.end(), D, 4 * (down - 0x1p-14f));
  expect_the_k_nearest<D, 10>(points, {one_part});
}

// The nearest columns are far: those of several parts, and in tiles whose other columns are near.
TEST(WarpgroupLists, FarColumnsThatAreTheNearest) {
  constexpr int D = 20;
  const Points points = points_and_far_columns<D>(21, least_tile<D> * 2 + 9);
  expect_the_k_nearest<D, 3>(points, {one_part, three_parts});
}

// One row and one column lie so far away that for the others all columns are alike.
TEST(WarpgroupLists, ScaleOfDistantPoints) {
  constexpr int D = 20;
  Points points = uniform_points<D>(40, is_small() ? 133 : least_tile<D> * 2);
  points.x[D * 0] = 3000;
  points.y[D * 0] = -4000;
  expect_the_k_nearest<D, 10>(points);
  points.x[D * 39 + 7] = 1e6f;
  points.y[D * 100 + 7] = 1e7f;
  expect_the_k_nearest<D, 10>(points);
}

// Tiles and rows that are far, and numbers that are not finite.
TEST(WarpgroupLists, PointsThatAreFarAwayOrNotFinite) {
  constexpr int D = 20;
  const Points points = uniform_points<D>(is_small() ? 21 : 131, least_tile<D> * 2 - 5);
  for (const float number : {nan, 1e5f, 1e19f, 1e30f, infinity, -infinity}) {
    SCOPED_TRACE(number);
    Points some = points;
    some.y[(least_tile<D> + 7) * D + 3] = number;
    some.x[7 * D + 19] = number;
    expect_the_k_nearest<D, 10>(some);
    if (is_small()) break;
    Points all_columns = points;
    for (std::size_t j = 0; j < all_columns.y.size(); j += D) all_columns.y[j] = number;
    expect_the_k_nearest<D, 10>(all_columns, {one_part});
    Points all_rows = points;
    for (std::size_t i = 0; i < all_rows.x.size(); i += D) all_rows.x[i] = number;
    expect_the_k_nearest<D, 10>(all_rows, {one_part});
  }
  if (is_small()) return;
  Points of_left_over = uniform_points<17>(131, 301);
  of_left_over.y[5] = 1e30f;
  of_left_over.x[7 * 17] = 1e5f;
  expect_the_k_nearest<17, 2>(of_left_over, {tensor});
}

// Squares that pass the range of floats: those that are infinite are equal, and those that are 0.
TEST(WarpgroupLists, SquaresBeyondTheRangeOfFloats) {
  constexpr int D = 20;
  std::vector<double> spans = {1e-24, 6e18};
  if (!is_small()) spans.insert(spans.end(), {1e-30, 1e-22, 1e-19, 1e17, 3e18, 1e19, 1e25, 3e38});
  for (const double span : spans) {
    SCOPED_TRACE(span);
    expect_the_k_nearest<D, 10>(
        uniform_points<D>(19, is_small() ? 71 : least_tile<D> + 9, -span / 2, span));
  }
}

// Rows that are beyond what a half holds, and rows to which all distances are infinite.
TEST(WarpgroupLists, ColumnsThatAreEquallyFarInFloats) {
  constexpr int D = 20;
  expect_the_k_nearest<D, 10>(points_and_a_row_beyond_halves<D>(17, 71), {one_part});
  expect_the_k_nearest<D, 10>(points_infinitely_far_from_some_rows<D>(19, 71), {one_part});
}

template <int D, class Reduction>
bool takes_warpgroups(const Reduction& reduction) {
  const auto x = over_i(vectors<D>(DeviceSpan<const float>{nullptr, 1000 * D}));
  const auto y = over_j(vectors<D>(DeviceSpan<const float>{nullptr, 1000 * D}));
  return plan(SquaredDistance<float, D>(), reduction, x, y, tensor).takes_warpgroups;
}

// As the README says: split columns, what is noted of 3 parts, or the states of the undecided rows
// that can be, and the numbers of those.
TEST(WarpgroupLists, ExtraMemory) {
  if (!has_warpgroup_code()) GTEST_SKIP() << "warpgroups' code is not taken here";
  constexpr int D = 20;
  const auto bytes_of = [](std::int64_t M) {
    const auto x = over_i(vectors<D>(DeviceSpan<const float>{nullptr, M * D}));
    const auto y = over_j(vectors<D>(DeviceSpan<const float>{nullptr, 3 * least_tile<D> * D}));
    const Plan made = plan(SquaredDistance<float, D>(), ArgKMin<float, 10>(), x, y, three_parts);
    EXPECT_EQ(made.parts, 3);
    return made.extra_bytes - 3 * static_cast<std::int64_t>(sizeof(detail::LeastTile<D>));
  };
  const std::int64_t many = 1000 * device_processors();
  EXPECT_EQ(bytes_of(many), many * 3 * (16 + 8 * 32) + 8 * (many + 1));
  EXPECT_EQ(bytes_of(2), 2 * 4 * device_processors() * 12 * 10 + 8 * 3);
}

template <int D, int K>
struct Listing {
  using Formula = SquaredDistance<float, D>;
  using Reduction = ArgKMin<float, K>;
};

// In more than 8 dimensions, of lists that have room beside what is wanted, for code that has the
// instructions.
TEST(WarpgroupLists, AreTakenWhereTheyCanBe) {
  EXPECT_EQ((takes_warpgroups<20>(ArgKMin<float, 10>())), has_warpgroup_code());
  EXPECT_EQ((takes_warpgroups<17>(KMin<float, 3>())), has_warpgroup_code());
  EXPECT_EQ((takes_warpgroups<33>(ArgKMin<float, 100>())), has_warpgroup_code());
  EXPECT_FALSE((takes_warpgroups<3>(ArgKMin<float, 100>())));
  EXPECT_TRUE((detail::has_warpgroup_lists<Listing<9, 128>>));
  EXPECT_FALSE((detail::has_warpgroup_lists<Listing<8, 10>>));
}

}  // namespace
}  // namespace warpath::map_reduce::test
