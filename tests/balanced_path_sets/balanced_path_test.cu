// Every cross-diagonal's point, against a walk along the path.
#include <gtest/gtest.h>

#include <functional>

#include "../device_vectors.cuh"
#include "balanced_path_sets/balanced_path.cuh"
#include "balanced_path_sets/oracle.hpp"
#include "core/buffer.cuh"
#include "core/launch.cuh"
#include "inputs.hpp"
#include "int_sets.hpp"

namespace warpath::balanced_path_sets::test {
namespace {

template <bool Duplicates, class Index>
__global__ void points_kernel(const int* a, Index a_count, const int* b, Index b_count, int levels,
                              Order less, std::int64_t* points) {
  const auto diagonal = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (diagonal > a_count + b_count) return;
  const auto point = balanced_path<Duplicates>(a, a_count, b, b_count, diagonal, levels, less);
  points[diagonal] = packed({static_cast<std::int64_t>(point.a), point.is_starred});
}

template <bool Duplicates, class Index>
void expect_points(const Inputs& inputs, int levels, Order less = {}) {
  SCOPED_TRACE(inputs.name + ", levels " + std::to_string(levels));
  const std::vector<oracle::Cut> expected = oracle::cuts(inputs.a, inputs.b, less);
  const auto a_count = static_cast<Index>(inputs.a.size());
  const auto b_count = static_cast<Index>(inputs.b.size());
  const auto cut = [](const auto& point, std::size_t diagonal) {
    return oracle::Cut{static_cast<std::size_t>(point.a),
                       diagonal - static_cast<std::size_t>(point.a) + (point.is_starred ? 1 : 0)};
  };
  for (std::size_t diagonal = 0; diagonal < expected.size(); ++diagonal) {
    const auto point = balanced_path<Duplicates>(inputs.a.data(), a_count, inputs.b.data(), b_count,
                                                 static_cast<Index>(diagonal), levels, less);
    EXPECT_TRUE(cut(point, diagonal) == expected[diagonal]) << "on the host, at " << diagonal;
    EXPECT_EQ(static_cast<std::size_t>(point.b(static_cast<Index>(diagonal))),
              expected[diagonal].b);
  }

  const DeviceBuffer<int> a = on_device(inputs.a);
  const DeviceBuffer<int> b = on_device(inputs.b);
  DeviceBuffer<std::int64_t> points(static_cast<std::int64_t>(expected.size()));
  launch({static_cast<unsigned>(expected.size() / 64 + 1), 64}, points_kernel<Duplicates, Index>,
         a.data(), a_count, b.data(), b_count, levels, less, points.data());
  std::vector<std::int64_t> found(expected.size());
  WARPATH_CUDA_CHECK(cudaMemcpy(found.data(), points.data(), found.size() * sizeof(found[0]),
                                cudaMemcpyDeviceToHost));
  for (std::size_t diagonal = 0; diagonal < expected.size(); ++diagonal) {
    EXPECT_TRUE(cut(unpacked(found[diagonal]), diagonal) == expected[diagonal])
        << "on the device, at " << diagonal;
  }
}

TEST(BalancedPath, Multisets) {
  for (const Inputs& inputs : multisets()) {
    for (const int levels : {0, 2, 4}) expect_points<true, int>(inputs, levels);
    expect_points<true, std::int64_t>(inputs, 4);
  }
}

TEST(BalancedPath, KeysThatFall) {
  for (Inputs inputs : multisets()) {
    std::reverse(inputs.a.begin(), inputs.a.end());
    std::reverse(inputs.b.begin(), inputs.b.end());
    expect_points<true, int>(inputs, 2, Order{true});
  }
}

TEST(BalancedPath, Sets) {
  for (const Inputs& inputs : sets()) {
    expect_points<false, int>(inputs, 0);
    expect_points<true, int>(inputs, 2);
  }
}

// Four of each: the path cuts a pair on every other diagonal, and stars it.
TEST(BalancedPath, StarsOfTheSource) {
  const int a[] = {6, 6, 6, 6};
  const int b[] = {6, 6, 6, 6};
  for (int diagonal = 0; diagonal <= 8; ++diagonal) {
    const auto point = balanced_path<true>(a, 4, b, 4, diagonal, 2, Order{});
    EXPECT_EQ(point.a, (diagonal + 1) / 2);
    EXPECT_EQ(point.is_starred, diagonal % 2 == 1);
    EXPECT_EQ(point.b(diagonal), (diagonal + 1) / 2);
  }
}

TEST(RunBegin, BothWaysFindIt) {
  for (int before = 0; before <= 40; ++before) {
    for (int length = 0; length <= 40; ++length) {
      std::vector<int> keys(static_cast<std::size_t>(before), 3);
      keys.insert(keys.end(), static_cast<std::size_t>(length), 6);
      const int end = before + length;
      EXPECT_EQ(detail::GallopingRunBegin{}(keys.data(), end, 6, Order{}), before) << length;
      for (const int levels : {0, 2, 4}) {
        EXPECT_EQ(detail::BiasedRunBegin<>{levels}(keys.data(), end, 6, Order{}), before) << length;
      }
    }
  }
}

TEST(PathPoint, PacksAnyCount) {
  for (const std::int64_t a : {std::int64_t{0}, std::int64_t{1}, (std::int64_t{1} << 61) + 1}) {
    for (const bool is_starred : {false, true}) {
      const auto point = unpacked(packed({a, is_starred}));
      EXPECT_EQ(point.a, a);
      EXPECT_EQ(point.is_starred, is_starred);
    }
  }
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
