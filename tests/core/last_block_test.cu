// The last of several blocks: exactly one, and it sees what all the others have written.
#include <numeric>

#include "core/last_block.cuh"
#include "core/launch.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

// Each block leaves a number; the last one of each group of `parts` adds them up.
__global__ void sum_of_blocks_kernel(unsigned parts, unsigned* tickets, int* partials, int* sums,
                                     int* lasts) {
  const unsigned group = blockIdx.x / parts;
  if (threadIdx.x == blockDim.x - 1) partials[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
  if (!is_last_block(&tickets[group], parts)) return;
  atomicAdd(&lasts[group], 1);
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned part = 0; part < parts; ++part) sum += partials[group * parts + part];
  sums[group] = sum;
}

TEST(IsLastBlock, IsTrueInOneBlockThatSeesAllParts) {
  constexpr unsigned threads = 64;
  constexpr unsigned groups = 3;
  Workspace workspace;
  for (const unsigned parts : {1u, 2u, 3u, 17u, 64u}) {
    SCOPED_TRACE(std::to_string(parts) + " parts");
    for (int round = 0; round < 3; ++round) {  // the tickets are 0 again
      DeviceBuffer<int> partials = on_device(std::vector<int>(groups * parts, -1000));
      DeviceBuffer<int> sums(groups);
      DeviceBuffer<int> lasts = on_device(std::vector<int>(groups, 0));
      launch({groups * parts, threads}, sum_of_blocks_kernel, parts,
             workspace.tickets(nullptr, groups), partials.data(), sums.data(), lasts.data());
      std::vector<int> expected;
      for (unsigned group = 0; group < groups; ++group) {
        int sum = 0;
        for (unsigned part = 0; part < parts; ++part)
          sum += static_cast<int>(group * parts + part) + 1;
        expected.push_back(sum);
      }
      EXPECT_EQ(on_host(sums), expected);
      EXPECT_THAT(on_host(lasts), testing::Each(static_cast<int>(threads)));
    }
  }
}

}  // namespace
}  // namespace warpath::core_test
