// The fast build with blocks so small that few tuples take many levels; and what it does where a
// sample misleads it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../number_types.hpp"
#include "../stream.cuh"
#include "../test_size.hpp"
#include "core/key_order.cuh"
#include "kd_tree/fast_build.cuh"
#include "kd_tree/oracle.hpp"
#include "output.cuh"
#include "points.hpp"

namespace warpath::kd_tree::test {
namespace {

using oracle::PointSet;
using oracle::References;
using Small = detail::BlockShape<64, 2>;
/// So few that lists of some thousand tuples take several rounds.
constexpr std::int64_t most_read = 300;
/// So few that some of the levels are searched by smaller blocks.
constexpr unsigned many_segments = 8;
template <class C>
using SmallBuild = detail::FastBuild<Small, C, most_read, many_segments>;

class FastBuild : public testing::Test {
 protected:
  template <class C>
  void expect_the_oracles_tree(std::int64_t n, int dimensions, Distribution distribution) {
    const auto points = make_points<C>(n, dimensions, distribution, static_cast<std::uint64_t>(n));
    const DeviceBuffer<C> coordinates = on_device(points.coordinates);
    Output<std::uint32_t> medians(median_entries(n));
    DeviceCount first_nan(stream_);
    SmallBuild<C>({coordinates.span(), dimensions}, nullptr, n, medians.span().data, memory_,
                  stream_)
        .run(first_nan);
    EXPECT_EQ(first_nan.get(stream_), -1);
    EXPECT_EQ(medians.get(), oracle::median_stores(points, oracle::numbers(points, false)))
        << n << " tuples of " << dimensions << ", " << name_of(distribution);
  }
  Stream stream_;
  BuildMemory memory_;
};

TEST_F(FastBuild, IsTheOraclesOverManyLevels) {
  for (const Distribution distribution : all_distributions) {
    for (const std::int64_t n : {129, 257, is_small() ? 700 : 5001}) {
      expect_the_oracles_tree<float>(n, 3, distribution);
      if (HasFailure()) return;
    }
    expect_the_oracles_tree<std::int64_t>(is_small() ? 500 : 2100, 2, distribution);
    if constexpr (is_tested<double>) {
      expect_the_oracles_tree<double>(is_small() ? 300 : 1300, 1, distribution);
    }
    if (HasFailure()) return;
  }
}

/// The columns of points in the order of their numbers.
template <class C>
std::vector<OrderedBits<C>> columns_of(const PointSet<C>& points) {
  std::vector<OrderedBits<C>> bits;
  for (int k = 0; k < points.dimensions; ++k) {
    for (std::uint32_t i = 0; i < points.count(); ++i) {
      bits.push_back(key_bits(points.tuple(i)[k]));
    }
  }
  return bits;
}

template <int Threads, class C>
__global__ void select_in_segments_kernel(detail::LevelGroup<C> group, std::uint32_t* medians) {
  auto& shared = dynamic_shared<detail::SelectStorage<Threads, C>>();
  const detail::SegmentItems<C> items(group, 0, blockIdx.x);
  std::uint32_t rank[1] = {(items.count - 1) / 2};
  detail::block_select(shared, items, group.tuples.dimensions, rank, OrderedBits<C>{0},
                       static_cast<OrderedBits<C>>(~OrderedBits<C>{0}));
  if (threadIdx.x == 0) medians[blockIdx.x] = items.place(shared.chosen[0]);
}

// What serves a segment whose bracket has missed its median.
TEST(Selection, FindsTheMedianOfAWholeSegment) {
  constexpr int dimensions = 3;
  constexpr int threads = 128;
  for (const Distribution distribution : all_distributions) {
    const PointSet<float> points = make_points<float>(900, dimensions, distribution, 3);
    DeviceBuffer<std::uint32_t> bits = on_device(columns_of(points));
    References numbers = oracle::numbers(points, false);
    DeviceBuffer<std::uint32_t> references = on_device(numbers);
    for (int number = 0; number < dimensions; ++number) {
      const partitioners::Level level{900, number};
      DeviceBuffer<std::uint32_t> places(level.segments());
      std::vector<std::uint32_t> begin_of;
      for (std::uint32_t k = 0; k < level.segments(); ++k)
        begin_of.push_back(level.segment(k).begin);
      const DeviceBuffer<std::uint32_t> begins = on_device(begin_of);
      launch({level.segments(), threads, sizeof(detail::SelectStorage<threads, float>)},
             select_in_segments_kernel<threads, float>,
             detail::LevelGroup<float>{{bits.data(), references.data(), 900, dimensions},
                                       level,
                                       number == 0 ? nullptr : begins.data(),
                                       number,
                                       {nullptr, dimensions}},
             places.data());
      const auto found = on_host(places);
      for (std::uint32_t k = 0; k < level.segments(); ++k) {
        const partitioners::Segment segment = level.segment(k);
        References part(numbers.begin() + segment.begin, numbers.begin() + segment.end);
        std::sort(part.begin(), part.end(), [&](std::uint32_t a, std::uint32_t b) {
          return points.comes_before(a, b, number % dimensions);
        });
        EXPECT_EQ(found[k], part[(part.size() - 1) / 2]) << name_of(distribution);
      }
    }
  }
}

// Of uniform points no bracket misses, and what rounds copy has room: the slow way is not taken.
TEST(Selection, HardlyEverMisses) {
  constexpr int dimensions = 2;
  const std::int64_t n = 20'000;
  const PointSet<float> points = make_points<float>(n, dimensions, Distribution::uniform, 8);
  const DeviceBuffer<float> coordinates = on_device(points.coordinates);
  DeviceBuffer<std::uint32_t> medians(median_entries(n));
  BuildMemory memory;
  DeviceCount first_nan;
  SmallBuild<float> build({coordinates.span(), dimensions}, nullptr, n, medians.data(), memory,
                          nullptr);
  build.run(first_nan);
  const auto parts = on_host(build.parts(), 1 << 7);
  const auto missed = std::count_if(parts.begin(), parts.end(),
                                    [](const auto& part) { return part.has_missed != 0; });
  EXPECT_LE(missed, 2) << "of the " << parts.size() << " segments of the last level";
}

}  // namespace
}  // namespace warpath::kd_tree::test
