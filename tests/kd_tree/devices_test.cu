// Builds on 1, 2, 4 and 8 devices, as many of them real as there are: the trees of one device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../message_of.hpp"
#include "../test_size.hpp"
#include "devices.cuh"
#include "kd_tree/build_on_devices.cuh"
#include "points.hpp"

namespace warpath::kd_tree::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Devices, OnDevices, testing::Values(1, 2, 4, 8),
                         [](const auto& of) { return std::to_string(of.param); });

TEST_P(OnDevices, TheTreeOfOne) {
  for (const std::int64_t n : {0, 1, 2, 3, 4, 7, 9, 17, 100, 777}) {
    if (is_small() && n > 2 && n != 17 && n != 100) continue;
    for (const Distribution distribution : all_distributions) {
      const bool is_usual =
          distribution == Distribution::uniform || distribution == Distribution::few_values;
      if ((is_small() || n != 100) && !is_usual) continue;
      expect_trees<float>(n, 3, distribution);
      if (HasFailure()) return;
    }
  }
  expect_trees<float>(500, 1, Distribution::few_values);
}

/// Medians are found digit by digit, where so few tuples come to the host.
TEST_P(OnDevices, OfMediansByDigits) {
  const Devices devices(ordinals(GetParam()));
  const int dimensions = 3;
  for (const Distribution distribution : all_distributions) {
    for (const std::int64_t n : {5, 40, is_small() ? 600 : 3000}) {
      SCOPED_TRACE(std::to_string(n) + ", " + name_of(distribution));
      const PointSet<float> points = make_points<float>(n, dimensions, distribution, 5);
      const PartsOfPoints<float> input(devices, points, false);
      std::vector<detail::NumberedTuples<float>> tuples;
      std::uint32_t first = 0;
      for (const Points<float>& part : input.parts) {
        tuples.push_back({part.coordinates.data, part.count(), nullptr, first});
        first += static_cast<std::uint32_t>(part.count());
      }
      const CurrentDevice current(devices.ordinal(0));
      Output<std::uint32_t> medians(median_entries(n));
      detail::clear_entries(medians.span().data, 0, median_entries(n), nullptr);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
      DevicesMemory memory;
      detail::FastTop<detail::BlockShape<128, 4>, float, 4>(devices, tuples, n, dimensions,
                                                            medians.span().data, memory)
          .run();
      devices.synchronize();
      ASSERT_EQ(medians.get(), expected(points, false).medians);
    }
  }
}

TEST(OnDevicesRefuses, WhatCannotBe) {
  const Devices devices(ordinals(2));
  const PointSet<float> points = make_points<float>(20, 2, Distribution::uniform, 1);
  const PartsOfPoints<float> input(devices, points, true);
  DeviceBuffer<std::uint32_t> medians(median_entries(20));
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  DevicesMemory memory;
  const auto message = [&](const Devices& of, const std::vector<Points<float>>& parts,
                           std::int64_t room, const DevicesOptions& options) {
    return message_of<std::invalid_argument>([&] {
      build_on_devices<float>(of, parts, {medians.data(), room}, memory, options);
    });
  };
  using testing::HasSubstr;
  DevicesOptions source;
  source.build.variant = Variant::half_sorts;
  const std::int64_t room = medians.count();
  EXPECT_THAT(message(devices, {input.parts[0]}, room, source), HasSubstr("parts has 1 elements"));
  EXPECT_THAT(message(devices, input.parts, 30, source), HasSubstr("medians"));
  const Devices three(ordinals(3));
  EXPECT_THAT(message(three, {input.parts[0], input.parts[1], input.parts[1]}, room, source),
              HasSubstr("a tree on 3 devices: expected a power of two"));
  auto parts = input.parts;
  parts[1].dimensions = 4;
  EXPECT_THAT(message(devices, parts, room, source),
              HasSubstr("parts[1].dimensions is 4: expected 2, that of parts[0]"));
  DevicesOptions wrong = source;
  wrong.sort = multi_gpu_sort::Variant::radix_exchange;
  EXPECT_THAT(message(devices, input.parts, room, wrong), HasSubstr("radix_exchange"));
  wrong.build.variant = Variant::fast;
  EXPECT_THAT(message(devices, input.parts, room, wrong),
              HasSubstr("options.sort is radix_exchange"));
  wrong = source;
  wrong.build.partition.warps = 0;
  EXPECT_THAT(message(devices, input.parts, room, wrong),
              HasSubstr("options.build.partition.warps is 0"));
  parts = input.parts;
  --parts[1].coordinates.count;
  EXPECT_THAT(message(devices, parts, room, source), HasSubstr("parts[1] has "));
  wrong = source;
  wrong.build.after_step = [](Step, int) {};
  EXPECT_THAT(message(devices, input.parts, room, wrong), HasSubstr("options.build.after_step"));
}

TEST(OnDevicesRefuses, Nan) {
  const Devices devices(ordinals(2));
  PointSet<float> points = make_points<float>(101, 3, Distribution::uniform, 1);
  points.coordinates[3 * 71 + 1] = std::numeric_limits<float>::quiet_NaN();
  points.coordinates[3 * 90] = std::numeric_limits<float>::quiet_NaN();
  for (const bool is_even : {true, false}) {
    for (const DevicesOptions& options : all_ways()) {
      EXPECT_THAT(
          message_of<std::invalid_argument>([&] { build_on(devices, points, is_even, options); }),
          testing::HasSubstr("coordinate 1 of the tuple with number 71 is NaN"))
          << describe(options);
    }
  }
}

}  // namespace
}  // namespace warpath::kd_tree::test
