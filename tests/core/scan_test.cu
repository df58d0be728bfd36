// The device-wide sum against std::exclusive_scan: sizes around a tile and around the look-back's
// rows, and many calls on one workspace.
#include <numeric>

#include "../test_size.hpp"
#include "core/scan.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

constexpr std::int64_t largest_count = (1 << 17) - 1;

void expect_scan(const std::vector<std::int64_t>& counts, Workspace& workspace,
                 cudaStream_t stream) {
  std::vector<std::int64_t> expected(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), expected.begin(), std::int64_t{0});
  DeviceBuffer<std::int64_t> device = on_device(counts, stream);
  DeviceCount total(stream);
  exclusive_sum(device.span(), total.data(), workspace, stream);
  EXPECT_EQ(total.get(stream), expected.back() + counts.back());
  EXPECT_EQ(on_host(device, stream), expected);
}

TEST(ExclusiveSum, OfEverySize) {
  const Stream stream;
  Workspace workspace;
  std::mt19937_64 random(7);
  for (const std::int64_t count : {1, 2, 31, 33, 255, 256, 257, 511, 512, 513, 256 * 31 + 1,
                                   256 * 32, 256 * 33 + 5, 100'003}) {
    if (is_small() && count > 10'000) continue;
    SCOPED_TRACE(std::to_string(count) + " counts");
    std::vector<std::int64_t> counts(static_cast<std::size_t>(count));
    for (std::int64_t& c : counts) c = static_cast<std::int64_t>(random() % (largest_count + 1));
    expect_scan(counts, workspace, stream);
  }
}

TEST(ExclusiveSum, OfTheLargestCountsAndOfNone) {
  Workspace workspace;
  for (const std::int64_t value : {largest_count, std::int64_t{0}}) {
    expect_scan(std::vector<std::int64_t>(is_small() ? 2'000 : 40'000, value), workspace, nullptr);
  }
}

// The workspace's scratch arrays may hold the counts themselves.
TEST(ExclusiveSum, LeavesScratchArraysAlone) {
  Workspace workspace;
  const auto [counts, others] = workspace.take<std::int64_t, int>(nullptr, 1000, 1000);
  WARPATH_CUDA_CHECK(cudaMemset(counts, 0, 1000 * sizeof(std::int64_t)));
  WARPATH_CUDA_CHECK(cudaMemset(others, 0x11, 1000 * sizeof(int)));
  DeviceCount total;
  exclusive_sum({counts, 1000}, total.data(), workspace, nullptr);
  EXPECT_EQ(total.get(nullptr), 0);
  EXPECT_THAT(on_host(others, 1000), testing::Each(0x11111111));
}

}  // namespace
}  // namespace warpath::core_test
