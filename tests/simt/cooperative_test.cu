// Cooperative groups: tiles, clusters with distributed shared memory, cooperative grids.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "launch.hpp"

namespace {

namespace cg = cooperative_groups;
using simt_test::Array;
using simt_test::run;
using simt_test::shape;

template <unsigned Size>
__global__ void tile_kernel(unsigned* out) {
  const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  const unsigned t = threadIdx.x;
  tile.sync();
  unsigned* mine = out + t * 6;
  mine[0] = cg::reduce(tile, t, cg::plus<unsigned>());
  mine[1] = tile.ballot(tile.thread_rank() == 0);
  mine[2] = tile.shfl(t, 0);
  mine[3] = tile.meta_group_rank() * Size + tile.thread_rank();
  mine[4] = unsigned(tile.any(t == 5)) * 2 + unsigned(tile.all(t < 64));
  mine[5] = tile.shfl_xor(t, Size / 2) + tile.shfl_up(t, 1) * 100 + tile.shfl_down(t, 1) * 10000;
}

template <unsigned Size>
void check_tiles() {
  Array<unsigned> out(64 * 6);
  run(1, 64, tile_kernel<Size>, out.data());
  const auto host = out.host();
  for (unsigned t = 0; t < 64; ++t) {
    const unsigned first = t / Size * Size, last = first + Size - 1;
    const unsigned* mine = &host[t * 6];
    EXPECT_EQ(mine[0], (first + last) * Size / 2) << Size;
    EXPECT_EQ(mine[1], 1u);
    EXPECT_EQ(mine[2], first);
    EXPECT_EQ(mine[3], t);
    EXPECT_EQ(mine[4], (first <= 5 && 5 <= last) * 2u + 1u);
    const unsigned up = t == first ? t : t - 1, down = t == last ? t : t + 1;
    EXPECT_EQ(mine[5], (t ^ Size / 2) + up * 100 + down * 10000);
  }
}

TEST(Tiles, OfAllSizes) {
  check_tiles<1>();
  check_tiles<2>();
  check_tiles<4>();
  check_tiles<8>();
  check_tiles<16>();
  check_tiles<32>();
}

// Values of 12, 16 and 32 bytes: each word of them must come from the same lane.
template <int Words>
struct Wide {
  unsigned words[Words];
};

template <int Words>
__global__ void wide_shuffle_kernel(unsigned* wrong) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const auto of = [](unsigned thread) {
    Wide<Words> value;
    for (unsigned i = 0; i < Words; ++i) value.words[i] = thread * 100 + i;
    return value;
  };
  const auto expect = [&](const Wide<Words>& value, unsigned thread) {
    for (unsigned i = 0; i < Words; ++i)
      if (value.words[i] != thread * 100 + i) atomicAdd(wrong, 1u);
  };
  const unsigned t = threadIdx.x, first = t & ~7u, last = first + 7;
  const Wide<Words> mine = of(t);
  expect(tile.shfl(mine, 3), first + 3);
  expect(tile.shfl_up(mine, 2), t < first + 2 ? t : t - 2);
  expect(tile.shfl_down(mine, 2), t + 2 > last ? t : t + 2);
  expect(tile.shfl_xor(mine, 5), t ^ 5);
  const double2 sum = cg::reduce(tile, make_double2(t, 1.0), [](double2 a, double2 b) {
    return make_double2(a.x + b.x, a.y + b.y);
  });
  if (sum.x != first * 8 + 28 || sum.y != 8) atomicAdd(wrong, 1u);
}

TEST(Tiles, ShuffleValuesOfUpTo32Bytes) {
  Array<unsigned> wrong(1);
  run(1, 64, wide_shuffle_kernel<3>, wrong.data());
  run(1, 64, wide_shuffle_kernel<4>, wrong.data());
  run(1, 64, wide_shuffle_kernel<8>, wrong.data());
  EXPECT_EQ(wrong.host()[0], 0u);
}

cudaLaunchAttribute clusters_of(unsigned x, unsigned y = 1) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {x, y, 1};
  return attribute;
}

// Each block adds to a counter of every block of its cluster, in dynamic and in static shared
// memory.
__global__ void cluster_kernel(unsigned* out) {
  __shared__ unsigned fixed;
  auto* flexible = reinterpret_cast<unsigned*>(simt::dynamic_smem);
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) fixed = flexible[0] = 0;
  cluster.sync();
  if (threadIdx.x < cluster.num_blocks()) {
    atomicAdd(cluster.map_shared_rank(&fixed, threadIdx.x), 1u);
    atomicAdd(cluster.map_shared_rank(flexible, threadIdx.x), 100u);
  }
  cluster.sync();
  if (threadIdx.x == 0) out[blockIdx.y * gridDim.x + blockIdx.x] = fixed + flexible[0];
  if (threadIdx.x == 1) out[32 + blockIdx.y * gridDim.x + blockIdx.x] = cluster.block_rank();
}

TEST(Clusters, ShareMemory) {
  Array<unsigned> out(64);
  auto config = shape(dim3(8, 4), 32, 4);
  cudaLaunchAttribute attribute = clusters_of(2, 2);
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_CUDA(cudaLaunchKernelEx(&config, cluster_kernel, out.data()));
  EXPECT_CUDA(cudaDeviceSynchronize());
  const auto host = out.host();
  for (unsigned y = 0; y < 4; ++y)
    for (unsigned x = 0; x < 8; ++x) {
      EXPECT_EQ(host[y * 8 + x], 404u);
      EXPECT_EQ(host[32 + y * 8 + x], y % 2 * 2 + x % 2);
    }
}

__global__ void rank_out_of_range_kernel() {
  cg::this_cluster().map_shared_rank(simt::dynamic_smem, 2);
}

TEST(Clusters, KnowTheirSize) {
  auto config = shape(2, 32, 4);
  cudaLaunchAttribute attribute = clusters_of(2);
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_THAT(simt_test::failure(config, rank_out_of_range_kernel),
              testing::HasSubstr("no block 2 in a cluster of 2"));
}

TEST(Clusters, MustDivideTheGrid) {
  Array<unsigned> out(64);
  auto config = shape(3, 32, 4);
  cudaLaunchAttribute attribute = clusters_of(2);
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_EQ(cudaLaunchKernelEx(&config, cluster_kernel, out.data()), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
}

// A reduction in two steps with a barrier of the whole grid between them.
__global__ void grid_kernel(int* partial, int* out) {
  const auto grid = cg::this_grid();
  if (threadIdx.x == 0) partial[blockIdx.x] = int(blockIdx.x) + 1;
  grid.sync();
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
  grid.sync();
  out[grid.thread_rank()] = sum;
}

TEST(CooperativeGrid, MeetsAtBarriers) {
  Array<int> partial(6), out(6 * 64);
  auto config = shape(6, 64);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_CUDA(cudaLaunchKernelEx(&config, grid_kernel, partial.data(), out.data()));
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_THAT(out.host(), testing::Each(21));
}

TEST(CooperativeGrid, IsLaunchedWithAnArrayOfPointersToArguments) {
  Array<int> partial(6), out(6 * 64);
  int* partial_data = partial.data();
  int* out_data = out.data();
  void* arguments[] = {&partial_data, &out_data};
  EXPECT_CUDA(cudaLaunchCooperativeKernel(grid_kernel, 6, 64, arguments));
  EXPECT_THAT(out.host(), testing::Each(21));
}

}  // namespace
