// Builds on several devices, as many of them real as there are, and what they must leave.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../number_types.hpp"
#include "../test_size.hpp"
#include "builds.hpp"
#include "kd_tree/build_on_devices.cuh"
#include "output.cuh"
#include "parts_of_points.cuh"
#include "points.hpp"

namespace warpath::kd_tree::test {

template <class C>
Built build_on(const Devices& devices, const PointSet<C>& points, bool is_even,
               const DevicesOptions& options) {
  const CurrentDevice current(devices.ordinal(0));
  Output<std::uint32_t> medians(median_entries(static_cast<std::int64_t>(points.count())));
  const PartsOfPoints<C> input(devices, points, is_even);  // last: Output waits for its device
  DevicesMemory memory;
  Built built;
  built.nodes = build_on_devices<C>(devices, input.parts, medians.span(), memory, options);
  devices.synchronize();
  built.medians = medians.get();
  return built;
}

inline std::vector<DevicesOptions> all_ways() {
  using Sort = multi_gpu_sort::Variant;
  std::vector<DevicesOptions> all;
  for (const bool removes : {false, true}) {
    Options source;
    source.variant = Variant::four_partitioners;
    source.removes_duplicates = removes;
    source.partition.warps = 4;
    all.push_back({source, Sort::splitter_merge});
    all.push_back({source, Sort::swap_merge});
    Options fast;
    fast.removes_duplicates = removes;
    all.push_back({fast, Sort::splitter_merge});
  }
  return all;
}
inline std::string describe(const DevicesOptions& options) {
  return test::describe(options.build) + ", " + std::string(enum_name(options.sort));
}

class OnDevices : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const bool is_in_short_runs = GetParam() == 2 || GetParam() == 4;
    if (is_small() && !is_in_short_runs) GTEST_SKIP() << "left out of short runs";
  }
  template <class C>
  void expect_trees(std::int64_t n, int dimensions, Distribution distribution) {
    if constexpr (is_tested<C>) {
      const Devices devices(ordinals(GetParam()));
      const PointSet<C> points = make_points<C>(n, dimensions, distribution, 11);
      const bool is_even = n % 3 == 0;
      for (const DevicesOptions& options : all_ways()) {
        SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(dimensions) + "D, " +
                     name_of(distribution) + (is_even ? ", even, " : ", uneven, ") +
                     describe(options));
        const Built right = expected(points, options.build.removes_duplicates);
        const Built built = build_on(devices, points, is_even, options);
        EXPECT_EQ(built.nodes, right.nodes);
        EXPECT_EQ(built.medians, right.medians);
        if (HasFailure()) return;
      }
    }
  }
};

}  // namespace warpath::kd_tree::test
