// Subtrees that blocks finish in shared memory, against the oracle's trees.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "core/key_order.cuh"
#include "kd_tree/oracle.hpp"
#include "kd_tree/subtree.cuh"
#include "output.cuh"
#include "points.hpp"

namespace warpath::kd_tree::test {
namespace {

using oracle::PointSet;
using oracle::References;

/// The tuples of all segments of a level, each segment's in the order of their numbers.
template <class C>
References tuples_of_level(const PointSet<C>& points, int level) {
  References tuples = oracle::numbers(points, false);
  for (int above = 0; above < level; ++above) {
    const partitioners::Level of{static_cast<std::uint32_t>(tuples.size()), above};
    for (std::uint32_t k = 0; k < of.segments(); ++k) {
      const partitioners::Segment segment = of.segment(k);
      std::sort(tuples.begin() + segment.begin, tuples.begin() + segment.end, [&](auto a, auto b) {
        return points.comes_before(a, b, above % points.dimensions);
      });
    }
  }
  const partitioners::Level of{static_cast<std::uint32_t>(tuples.size()), level};
  for (std::uint32_t k = 0; k < of.segments(); ++k) {
    std::sort(tuples.begin() + of.segment(k).begin, tuples.begin() + of.segment(k).end);
  }
  return tuples;
}

template <class Shape, class C>
void expect_the_oracles_subtrees(std::int64_t n, int dimensions, int level,
                                 Distribution distribution) {
  const auto points = make_points<C>(n, dimensions, distribution, static_cast<std::uint64_t>(n));
  const References tuples = tuples_of_level(points, level);
  std::vector<OrderedBits<C>> bits;
  for (int k = 0; k < dimensions; ++k) {
    for (const std::uint32_t tuple : tuples) bits.push_back(key_bits(points.tuple(tuple)[k]));
  }
  References expected = oracle::median_stores(points, oracle::numbers(points, false));
  // Those above the level are not written.
  std::fill(expected.begin(), expected.begin() + first_entry(level), 77u);

  DeviceBuffer<OrderedBits<C>> columns = on_device(bits);
  DeviceBuffer<std::uint32_t> references = on_device(tuples);
  Output<std::uint32_t> medians(median_entries(n));
  References before(expected.size(), no_node);
  std::fill(before.begin(), before.begin() + first_entry(level), 77u);
  WARPATH_CUDA_CHECK(cudaMemcpy(medians.span().data, before.data(),
                                before.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice));
  const partitioners::Level of{static_cast<std::uint32_t>(n), level};
  ASSERT_LE(of.largest_segment(), static_cast<std::uint32_t>(Shape::capacity));
  launch({of.segments(), Shape::threads, detail::subtree_bytes<Shape, C>(dimensions)},
         detail::finish_subtrees_kernel<Shape, C>,
         detail::TupleColumns<C>{columns.data(), references.data(), n, dimensions}, of,
         medians.span().data);
  EXPECT_EQ(medians.get(), expected)
      << n << " tuples of " << dimensions << ", level " << level << ", " << name_of(distribution);
}

using Small = detail::BlockShape<64, 2>;
using Middle = detail::BlockShape<128, 4>;

TEST(Subtrees, AreTheOraclesForEachSize) {
  for (std::int64_t n = 1; n <= Small::capacity; n += n < 40 || n > 120 ? 1 : 7) {
    expect_the_oracles_subtrees<Small, float>(n, 3, 0, Distribution::few_values);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Subtrees, AreTheOraclesForEachDistribution) {
  for (const Distribution distribution : all_distributions) {
    expect_the_oracles_subtrees<Middle, float>(512, 4, 0, distribution);
    expect_the_oracles_subtrees<Middle, double>(500, 2, 0, distribution);
    expect_the_oracles_subtrees<Middle, std::int32_t>(301, 1, 0, distribution);
    expect_the_oracles_subtrees<Small, std::int64_t>(127, 16, 0, distribution);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Subtrees, BeginAtAnyLevel) {
  for (const int level : {1, 2, 3, 5}) {
    for (const std::int64_t n :
         {std::int64_t{1} << level, std::int64_t{65} << level, (std::int64_t{126} << level) + 5}) {
      expect_the_oracles_subtrees<Small, float>(n, 3, level, Distribution::uniform);
      expect_the_oracles_subtrees<Small, float>(n, 2, level, Distribution::all_equal);
    }
  }
}

}  // namespace
}  // namespace warpath::kd_tree::test
