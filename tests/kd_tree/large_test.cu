// Sizes next below a power of two, where a float log2 gives a level too many: 2^24 on a GPU, less
// on the emulated backend.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../stream.cuh"
#include "../test_size.hpp"
#include "core/key_order.cuh"
#include "kd_tree/build.cuh"
#include "kd_tree/verify.cuh"

namespace warpath::kd_tree::test {
namespace {

#ifdef SIMT_EMULATION
constexpr bool is_emulated = true;
#else
constexpr bool is_emulated = false;
#endif

/// Numbers without pattern; of each seven tuples, two are equal.
__global__ void fill_kernel(float* coordinates, std::int64_t tuples, int dimensions) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < tuples; i += stride) {
    const std::int64_t of = i % 7 == 3 && i > 0 ? i - 1 : i;
    for (int k = 0; k < dimensions; ++k) {
      auto x = static_cast<std::uint64_t>(of * dimensions + k + 1) * 0x9E3779B97F4A7C15ull;
      x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ull;
      coordinates[i * dimensions + k] = static_cast<float>(x >> 44) - 500'000;
    }
  }
}

/// Where a tree of n nodes has nodes, from its root on: of s tuples, (s - 1) / 2 are less.
std::vector<bool> shape_of(std::int64_t n, std::int64_t entries) {
  std::vector<std::int64_t> tuples(static_cast<std::size_t>(entries), 0);
  std::vector<bool> shape;
  if (entries > 0) tuples[0] = n;
  for (std::size_t i = 0; i < tuples.size(); ++i) {
    shape.push_back(tuples[i] > 0);
    if (tuples[i] == 0 || 2 * i + 2 >= tuples.size()) continue;
    tuples[2 * i + 1] = (tuples[i] - 1) / 2;
    tuples[2 * i + 2] = tuples[i] - 1 - tuples[2 * i + 1];
  }
  return shape;
}

TEST(LargeBuilds, AreRightNextToAPowerOfTwo) {
  const Stream stream;
  const int dimensions = 3;
  const std::int64_t most = std::int64_t{1} << (is_emulated ? (is_small() ? 9 : 13) : 24);
  DeviceBuffer<float> coordinates(dimensions * (most + 1), stream);
  launch({256, 256, 0, stream}, fill_kernel, coordinates.data(), most + 1, dimensions);
  BuildMemory memory;
  Workspace verifying;
  for (std::int64_t n = most - 11; n <= most + 1; n += is_emulated ? 4 : 1) {
    const Points<float> points{{coordinates.data(), n * dimensions}, dimensions};
    for (const bool removes_duplicates : {false, true}) {
      SCOPED_TRACE(std::to_string(n) + " tuples" + (removes_duplicates ? ", none twice" : ""));
      std::vector<std::uint32_t> first;
      for (const Variant variant :
           {Variant::fast, Variant::four_partitioners, Variant::half_sorts}) {
        Options options;
        options.variant = variant;
        options.removes_duplicates = removes_duplicates;
        DeviceBuffer<std::uint32_t> medians(median_entries(n), stream);
        const std::int64_t nodes = build(points, medians.span(), memory, stream, options);
        const auto entries = on_host(medians.data(), median_entries(nodes), stream);
        if (variant != Variant::fast) {
          EXPECT_EQ(entries, first) << enum_name(variant);
          continue;
        }
        first = entries;
        const Finding finding = verify(points, medians.span(), nodes, verifying, stream);
        EXPECT_TRUE(finding.is_right()) << describe(finding);
        // Of tuples 3, 10, 17, ... each is a copy of the one before.
        EXPECT_EQ(nodes, removes_duplicates ? n - (n + 3) / 7 : n);
        const std::vector<bool> shape = shape_of(nodes, median_entries(nodes));
        for (std::size_t i = 0; i < shape.size(); ++i) {
          ASSERT_EQ(entries[i] != no_node, shape[i]) << "entry " << i;
        }
      }
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace warpath::kd_tree::test
