// Keys of 4 and 8 bytes, with values of other sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "../message_of.hpp"
#include "types.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

using FloatsAndUnsigned = Types<float, std::uint32_t>;
TEST_F(FloatsAndUnsigned, SymmetricDifference) {
  expect_all_inputs<SetOperation::symmetric_difference>();
}

using Longs = Types<std::int64_t, std::int64_t>;
TEST_F(Longs, Difference) {
  expect_all_inputs<SetOperation::difference>();
}

using UnsignedLongsAndShorts = Types<std::uint64_t, std::int16_t>;
TEST_F(UnsignedLongsAndShorts, Intersection) {
  expect_all_inputs<SetOperation::intersection>();
}

using DoublesAndFloats = Types<double, float>;
TEST_F(DoublesAndFloats, Union) {
  expect_all_inputs<SetOperation::set_union, /*OnKeys=*/true>();
}

// Where keys are equal but not the same, A's come out.
TEST_F(FloatsAndUnsigned, ZerosOfBothSignsMatch) {
  const std::vector<float> a = {-1, -0.0f, 0.0f, 0.0f};
  const std::vector<float> b = {0.0f, -0.0f, 1};
  expect<SetOperation::symmetric_difference, false, true>(a, b);
  expect<SetOperation::symmetric_difference, false, true>(b, a);
}

TEST_F(FloatsAndUnsigned, NaNIsNamedWhereChecksAreOn) {
  const auto said = [&](const std::vector<float>& a, const std::vector<float>& b) {
    const DeviceBuffer<float> device_a = on_device(a);
    const DeviceBuffer<float> device_b = on_device(b);
    DeviceBuffer<unsigned> values(6);
    DeviceBuffer<float> out(6);
    DeviceBuffer<unsigned> out_values(6);
    DeviceCount count;
    return message_of<std::invalid_argument>([&] {
      set_symmetric_difference_by_key(device_a.span(), {values.data(), device_a.count()},
                                      device_b.span(), {values.data() + 3, device_b.count()},
                                      out.span(), out_values.span(), count, workspace_, nullptr);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    });
  };
  EXPECT_THAT(said({1}, {1, NAN}), testing::HasSubstr("b[1] is NaN"));
  EXPECT_THAT(said({NAN}, {1}), testing::HasSubstr("a[0] is NaN"));
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
