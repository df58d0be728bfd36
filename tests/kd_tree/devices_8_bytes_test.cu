// Builds on several devices of coordinates of 8 bytes.
#include <gtest/gtest.h>

#include <cstdint>

#include "devices.cuh"
#include "points.hpp"

namespace warpath::kd_tree::test {
namespace {

class OnDevicesOf8Bytes : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Devices, OnDevicesOf8Bytes, testing::Values(1, 2, 4, 8),
                         [](const auto& of) { return std::to_string(of.param); });

TEST_P(OnDevicesOf8Bytes, TheTreeOfOne) {
  expect_trees<std::int64_t>(500, 2, Distribution::extremes);
  expect_trees<double>(300, 16, Distribution::few_values);
}

}  // namespace
}  // namespace warpath::kd_tree::test
