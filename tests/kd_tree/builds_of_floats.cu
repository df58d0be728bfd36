// Builds of floats, and what build() demands of its arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "../message_of.hpp"
#include "builds.cuh"

namespace warpath::kd_tree::test {

template Built build_on_device(const PointSet<float>&, const Options&);

namespace {

class BuildArguments : public testing::Test {
 protected:
  static constexpr std::int64_t n = 20;
  std::string of(const Points<float>& points, DeviceSpan<std::uint32_t> medians,
                 const Options& options = {}) {
    const std::string said = message_of<std::invalid_argument>(
        [&] { build(points, medians, memory_, stream_, options); });
    EXPECT_EQ(memory_.bytes(), 0);
    return said;
  }
  Stream stream_;
  BuildMemory memory_;
  DeviceBuffer<float> coordinates_ = on_device(std::vector<float>(3 * n));
  DeviceBuffer<std::uint32_t> medians_{median_entries(n)};
};

TEST_F(BuildArguments, AreNamed) {
  using testing::HasSubstr;
  const Points<float> right{coordinates_.span(), 3};
  const auto medians = medians_.span();
  for (const int dimensions : {-1, 0, 17}) {
    EXPECT_EQ(of({right.coordinates, dimensions}, medians),
              "dimensions is " + std::to_string(dimensions) + ": expected 1 to 16");
  }
  EXPECT_EQ(of({{coordinates_.data(), 59}, 3}, medians),
            "points has 59 coordinates: expected a multiple of dimensions, which is 3");
  EXPECT_EQ(of({{coordinates_.data(), -3}, 3}, medians),
            "points has -3 elements: expected 0 or more");
  EXPECT_EQ(of({{nullptr, 60}, 3}, medians),
            "points is null, but has 60 elements: expected device memory");
  EXPECT_EQ(of({{coordinates_.data(), std::int64_t{1} << 31}, 1}, medians),
            "the number of tuples of points is 2147483648: expected 0 to 2147483647");
  EXPECT_EQ(of(right, {medians.data, 30}), "medians holds 30 elements: 31 are needed");
  EXPECT_EQ(of(right, {reinterpret_cast<std::uint32_t*>(coordinates_.data()) + 59, 31}),
            "medians overlaps points: expected separate memory");
  Options options;
  options.variant = static_cast<Variant>(9);
  EXPECT_THAT(of(right, medians, options), HasSubstr("options.variant is 9"));
  options = {};
  options.sort = {.variant = static_cast<merge_sort::Variant>(9)};
  EXPECT_THAT(of(right, medians, options), HasSubstr("options.sort.variant is 9"));
  options.sort = {.low_level = static_cast<merge_sort::LowLevelMerge>(9)};
  EXPECT_THAT(of(right, medians, options), HasSubstr("options.sort.low_level is 9"));
  options = {};
  options.partition.variant = static_cast<partitioners::Variant>(9);
  EXPECT_THAT(of(right, medians, options), HasSubstr("options.partition.variant is 9"));
  options = {};
  options.partition.warps = 0;
  EXPECT_THAT(of(right, medians, options), HasSubstr("options.partition.warps is 0"));
  options = {};
  options.partition.partitioner = partitioners::Partitioner::leaf;
  EXPECT_THAT(of(right, medians, options), HasSubstr("options.partition.partitioner is leaf"));
}

}  // namespace
}  // namespace warpath::kd_tree::test
