// A tree of tuples on 1 to 8 devices, as many of them real as there are, asked on each of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../message_of.hpp"
#include "kd_tree/oracle.hpp"
#include "kd_tree/tree_on_devices.cuh"
#include "output.cuh"
#include "parts_of_points.cuh"
#include "points.hpp"

namespace warpath::kd_tree::test {
namespace {

using oracle::PointSet;
using oracle::References;

class TreesOnDevices : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Devices, TreesOnDevices, testing::Values(1, 2, 3, 8),
                         [](const auto& of) { return std::to_string(of.param); });

TEST_P(TreesOnDevices, AnswerAlike) {
  const Devices devices(ordinals(GetParam()));
  for (const std::int64_t n : {0, 1, 5, 301}) {
    for (const bool distinct : {false, true}) {
      SCOPED_TRACE(std::to_string(n) + " tuples" + (distinct ? ", none twice" : ""));
      const int dimensions = 3;
      const int queries = 37;
      const PointSet<float> points =
          make_points<float>(n, dimensions, Distribution::few_values, 21);
      const References tuples = oracle::numbers(points, distinct);
      const PointSet<float> asked =
          make_points<float>(queries, dimensions, Distribution::few_values, 22);
      std::vector<std::uint32_t> nearest_tuples;
      for (int q = 0; q < queries; ++q) {
        const auto found = oracle::k_nearest(points, tuples, &asked.coordinates[3 * q], 1);
        nearest_tuples.push_back(found.empty() ? no_node : found[0].tuple);
      }

      const PartsOfPoints<float> input(devices, points, false);
      const CurrentDevice first(devices.ordinal(0));
      const Arriving<std::uint32_t> medians(oracle::median_stores(points, tuples),
                                            devices.stream(0));
      const TreeOnDevices<float> tree(devices, input.parts, medians.buffer().span(),
                                      static_cast<std::int64_t>(tuples.size()));
      devices.for_each([&](int i, cudaStream_t stream) {
        Output<std::uint32_t> found(queries);
        Output<float> distances(queries);
        const Arriving<float> own(asked.coordinates, stream);
        QueryMemory memory;
        nearest(tree.on(i), own.buffer().span(), found.span(), distances.span(), memory, stream);
        WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
        EXPECT_EQ(found.get(), nearest_tuples) << "device " << i;
      });
    }
  }
}

TEST(TreesOnDevicesRefuse, WhatCannotBe) {
  const Devices devices(ordinals(2));
  const PartsOfPoints<float> input(devices, make_points<float>(9, 2, Distribution::uniform, 1),
                                   true);
  const CurrentDevice current(devices.ordinal(0));
  const Arriving<std::uint32_t> medians(std::vector<std::uint32_t>(15), devices.stream(0));
  const auto message = [&](const std::vector<Points<float>>& parts, std::int64_t entries,
                           std::int64_t nodes) {
    return message_of<std::invalid_argument>([&] {
      const TreeOnDevices<float> tree(devices, parts, {medians.buffer().data(), entries}, nodes);
    });
  };
  using testing::HasSubstr;
  EXPECT_THAT(message({input.parts[0]}, 15, 9), HasSubstr("parts has 1 elements"));
  EXPECT_THAT(message(input.parts, 15, 10), HasSubstr("nodes is 10"));
  EXPECT_THAT(message(input.parts, 14, 9), HasSubstr("medians"));
  const TreeOnDevices<float> tree(devices, input.parts, medians.buffer().span(), 9);
  EXPECT_THAT(message_of<std::invalid_argument>([&] { (void)tree.on(2); }), HasSubstr("i is 2"));
}

}  // namespace
}  // namespace warpath::kd_tree::test
