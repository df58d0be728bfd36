// The example of algorithms/merge_sort/README.md. What stands between the two lines is in the
// README, word for word; a test of the documents compares them.
#include <gmock/gmock.h>

#include <limits>

#include "../message_of.hpp"
#include "merge_sort/merge_sort.cuh"
#include "support.cuh"

namespace warpath::merge_sort::test {
namespace {

// example begins
// Sorts references to all tuples (x, y, z) by y, then z, then x; ys becomes the y of each. Nothing
// synchronises until require_no_nan.
void sort_by_y(DeviceSpan<const float> points, DeviceSpan<std::uint32_t> references,
               DeviceSpan<float> ys, Workspace& workspace, cudaStream_t stream) {
  const Tuples<float> tuples{points, /*dimensions=*/3, /*primary=*/1};
  DeviceCount first_nan(stream);
  merge_sort::iota_references(references, stream);
  merge_sort::sort_superkeys(tuples, references, ys, first_nan, workspace, stream);
  merge_sort::require_no_nan(first_nan, tuples, stream);  // throws if a coordinate is NaN
}

// Sorts pairs by falling key.
void sort_falling(DeviceSpan<float> keys, DeviceSpan<std::uint32_t> values, Workspace& workspace,
                  cudaStream_t stream) {
  merge_sort::sort_pairs(keys, values, workspace, stream, std::greater<>{});
}
// example ends

TEST(Example, SortsPointsByY) {
  std::vector<float> points{1, 5, 0, /**/ 2, 4, 9, /**/ 1, 4, 9, /**/ 0, 4, 8, /**/ 1, 5, 0};
  const Stream stream;
  Workspace workspace;
  DeviceBuffer<float> device_points = on_device(points);
  Guarded<std::uint32_t> references(5);
  Guarded<float> ys(5);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  sort_by_y(device_points.span(), references.span(), ys.span(), workspace, stream);
  EXPECT_EQ(references.get(), (std::vector<std::uint32_t>{3, 2, 1, 0, 4}));
  EXPECT_EQ(ys.get(), (std::vector<float>{4, 4, 4, 5, 5}));

  points[3 * 3 + 2] = std::numeric_limits<float>::quiet_NaN();
  device_points = on_device(points);
  EXPECT_THAT(message_of<std::invalid_argument>([&] {
                sort_by_y(device_points.span(), references.span(), ys.span(), workspace, stream);
              }),
              testing::HasSubstr("coordinate 2 of tuple 3 is NaN"));
}

TEST(Example, SortsPairsByFallingKey) {
  const Stream stream;
  Workspace workspace;
  InPlace<float> keys({1, 3, 2, 3});
  InPlace<std::uint32_t> values({0, 1, 2, 3});
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  sort_falling(keys.span(), values.span(), workspace, stream);
  keys.expect("key", {3, 3, 2, 1});
  values.expect("value", {1, 3, 2, 0});
}

}  // namespace
}  // namespace warpath::merge_sort::test
