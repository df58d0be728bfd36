// The experiments' count of comparisons.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "../device_vectors.cuh"
#include "../stream.cuh"
#include "warp_compaction/comparisons.hpp"

namespace warpath::warp_compaction::test {
namespace {

// "The second pass redoes the compare" in the paper; in the source "the compare only needs to be
// done once". The first item has none before it.
TEST(Comparisons, OnceOrTwiceAnItem) {
  std::vector<std::uint32_t> items(70'001);
  std::iota(items.begin(), items.end(), 0u);
  for (std::uint32_t& item : items) item /= 3;
  const DeviceBuffer<std::uint32_t> in = on_device(items);
  DeviceBuffer<std::uint32_t> out(in.count());
  const Stream stream;
  DeviceCount kept(stream);
  Workspace workspace;
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
  const auto comparisons = [&](const Options& options) {
    return experiments::comparisons_of_unique({in.data(), in.count()}, out.span(), kept, workspace,
                                              stream, options);
  };
  for (const bool coalescing : {true, false}) {
    EXPECT_EQ(comparisons({Variant::two_pass_copy, coalescing}), in.count() - 1);
    EXPECT_EQ(comparisons({Variant::two_pass_recount, coalescing}), 2 * (in.count() - 1));
  }
  EXPECT_EQ(kept.get(stream), 23'334);
}

}  // namespace
}  // namespace warpath::warp_compaction::test
