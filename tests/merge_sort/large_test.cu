// More than 2^32 elements where memory has room for them; on the executor, fewer.
#include "../test_size.hpp"
#include "core/launch.cuh"
#include "merge_sort/merge_sort.cuh"
#include "support.cuh"

namespace warpath::merge_sort::test {
namespace {

/// Keys that fall from 255 to 0, `run` of each.
__global__ void write_falling_kernel(std::uint8_t* keys, std::int64_t n, std::int64_t run) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    keys[i] = static_cast<std::uint8_t>(255 - i / run);
  }
}
/// Counts the keys that do not rise as those have fallen.
__global__ void count_wrong_kernel(const std::uint8_t* keys, std::int64_t n, std::int64_t run,
                                   unsigned long long* wrong) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    if (keys[i] != 255 - (n - 1 - i) / run) atomicAdd(wrong, 1ull);
  }
}

TEST(LargeSorts, OfBytes) {
  std::int64_t n = 100'003;
#ifndef SIMT_EMULATION
  std::size_t free = 0;
  std::size_t all = 0;
  WARPATH_CUDA_CHECK(cudaMemGetInfo(&free, &all));
  if (free > std::size_t{10} << 30 && !is_small()) n = (std::int64_t{1} << 32) + 100'003;
#endif
  const std::int64_t run = n / 255;
  DeviceBuffer<std::uint8_t> keys(n);
  Workspace workspace;
  for (const Variant variant : {Variant::binary_merge, Variant::multiway_merge}) {
    launch({1024, 256}, write_falling_kernel, keys.data(), n, run);
    sort_keys(keys.span(), workspace, nullptr, Options{variant, LowLevelMerge::merge_path});
    DeviceCount wrong;
    wrong.set_zero(nullptr);
    launch({1024, 256}, count_wrong_kernel, keys.data(), n, run,
           reinterpret_cast<unsigned long long*>(wrong.data()));
    EXPECT_EQ(wrong.get(nullptr), 0) << enum_name(variant);
  }
}

}  // namespace
}  // namespace warpath::merge_sort::test
