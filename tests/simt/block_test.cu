// Blocks: barriers, shared memory, indices, and the order of blocks.
#include <cuda/atomic>
#include <string>
#include <vector>

#include "launch.hpp"

namespace {

using simt_test::Array;
using simt_test::run;
using simt_test::shape;

__global__ void reverse_kernel(int* data) {
  __shared__ int shared[256];
  shared[threadIdx.x] = data[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  data[blockIdx.x * 256 + threadIdx.x] = shared[255 - threadIdx.x];
}

TEST(Barrier, OrdersSharedMemory) {
  std::vector<int> values(256 * 5);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = int(i);
  Array<int> data(values);
  run(5, 256, reverse_kernel, data.data());
  const auto host = data.host();
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(host[i], int(i / 256 * 256 + 255 - i % 256));
}

[[gnu::noinline]] void fill(int* values, int first) {
  for (int i = 0; i < 4; ++i) values[i] = first + i;
}

__global__ void locals_kernel(int* out) {
  int local[4];
  fill(local, int(threadIdx.x));
  out[blockIdx.x * blockDim.x + threadIdx.x] = local[0] + local[1] + local[2] + local[3];
}

// Threads that run one after the other, and nothing orders them: under ThreadSanitizer, their
// locals are no race.
TEST(Locals, BelongToTheirThread) {
  Array<int> out(3 * 128);
  run(3, 128, locals_kernel, out.data());
  const auto host = out.host();
  for (int i = 0; i < 3 * 128; ++i) EXPECT_EQ(host[i], 4 * (i % 128) + 6);
}

__global__ void voting_kernel(int* out) {
  const int t = int(threadIdx.x);
  out[t * 5] = __syncthreads_count(t % 3 == 0);
  out[t * 5 + 1] = __syncthreads_and(t < 100);
  out[t * 5 + 2] = __syncthreads_and(t < 99);
  out[t * 5 + 3] = __syncthreads_or(t == 50);
  out[t * 5 + 4] = __syncthreads_or(t == 100);
}

TEST(Barrier, Votes) {
  Array<int> out(100 * 5);
  run(1, 100, voting_kernel, out.data());
  const auto host = out.host();
  for (int t = 0; t < 100; ++t)
    EXPECT_THAT(std::vector<int>(host.begin() + t * 5, host.begin() + t * 5 + 5),
                testing::ElementsAre(34, 1, 0, 1, 0));
}

__global__ void exit_kernel(int* out) {
  if (threadIdx.x >= 32) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}

TEST(Barrier, WithoutStrictnessThreadsThatEndedDoNotCount) {
  const bool strict = std::exchange(simt::options().strict, false);
  Array<int> out(32);
  run(1, 64, exit_kernel, out.data());
  EXPECT_THAT(out.host(), testing::Each(1));
  simt::options().strict = strict;
}

__global__ void indices_kernel(unsigned* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  atomicAdd(&out[block * blockDim.x * blockDim.y * blockDim.z + thread], 1u);
}

TEST(Indices, CoverThreeDimensions) {
  Array<unsigned> out(2 * 3 * 4 * 5 * 6 * 7);
  run(dim3(2, 3, 4), dim3(5, 6, 7), indices_kernel, out.data());
  EXPECT_THAT(out.host(), testing::Each(1u));
}

// ---------------------------------------------------------------- shared memory

template <class T, int Size>
__global__ void look_then_write_kernel(unsigned char* seen, T value) {
  __shared__ T shared[Size];
  const auto* bytes = reinterpret_cast<const volatile unsigned char*>(shared);
  if (threadIdx.x == 0)
    for (unsigned i = 0; i < Size * sizeof(T); ++i)
      seen[blockIdx.x * Size * sizeof(T) + i] = bytes[i];
  __syncthreads();
  for (int i = int(threadIdx.x); i < Size; i += int(blockDim.x)) shared[i] = value;
}

// In whatever order blocks run, none finds what another one has written.
TEST(StaticShared, IsPoisonInEveryBlock) {
  Array<unsigned char> bytes(32 * 64 * sizeof(double));
  run(32, 32, look_then_write_kernel<double, 64>, bytes.data(), 3.0);
  EXPECT_THAT(bytes.host(), testing::Each(simt::shared_poison));
  run(32, 32, look_then_write_kernel<double, 64>, bytes.data(), 4.0);
  EXPECT_THAT(bytes.host(), testing::Each(simt::shared_poison));
  Array<unsigned char> other(32 * 7);
  run(32, 32, look_then_write_kernel<unsigned char, 7>, other.data(),
      static_cast<unsigned char>(1));
  EXPECT_THAT(other.host(), testing::Each(simt::shared_poison));
}

union Overlay {
  int number;
  float fraction;
};

__global__ void overlay_kernel(int* out) {
  __shared__ Overlay shared;
  if (threadIdx.x == 0) shared.fraction = 1.0f;
  __syncthreads();
  out[threadIdx.x] = shared.number;
}

TEST(StaticShared, MayBeAUnion) {
  Array<int> out(32);
  run(1, 32, overlay_kernel, out.data());
  EXPECT_THAT(out.host(), testing::Each(0x3F800000));
}

__global__ void dynamic_kernel(unsigned char* seen, unsigned bytes) {
  if (threadIdx.x == 0)
    for (unsigned i = 0; i < bytes; ++i) seen[blockIdx.x * bytes + i] = simt::dynamic_smem[i];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) simt::dynamic_smem[i] = 1;
}

TEST(DynamicShared, IsPoisonInEveryBlockAndAligned) {
  Array<unsigned char> seen(16 * 1000);
  const auto config = shape(16, 32, 1000);
  EXPECT_CUDA(cudaLaunchKernelEx(&config, dynamic_kernel, seen.data(), 1000u));
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_THAT(seen.host(), testing::Each(simt::shared_poison));
}

// The host's own thread-local variables are not shared memory.
thread_local int host_variable = 17;
__global__ void nothing_kernel() {}

TEST(StaticShared, LeavesTheHostAlone) {
  run(8, 32, nothing_kernel);
  EXPECT_EQ(host_variable, 17);
}

// ---------------------------------------------------------------- blocks that wait for blocks

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

// The chain of a decoupled look-back: a block waits for the ticket before its own.
__global__ void chain_kernel(int* ticket, int* sums) {
  __shared__ int mine;
  if (threadIdx.x == 0) mine = atomicAdd(ticket, 1);
  __syncthreads();
  if (threadIdx.x) return;
  int before = 0;
  if (mine)
    while (!(before = Flag(sums[mine - 1]).load(cuda::std::memory_order_acquire))) simt::yield();
  Flag(sums[mine]).store(before + 1, cuda::std::memory_order_release);
}

TEST(Blocks, MayWaitForEarlierTickets) {
  constexpr int blocks = 300;
  Array<int> ticket(1), sums(blocks);
  run(blocks, 64, chain_kernel, ticket.data(), sums.data());
  const auto host = sums.host();
  for (int i = 0; i < blocks; ++i) EXPECT_EQ(host[i], i + 1);
}

// A persistent grid, as large as the occupancy API says, takes tiles by ticket and chains them.
__global__ void persistent_kernel(int* ticket, int* sums, int tiles) {
  __shared__ int tile;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    if (tile >= tiles) return;
    if (threadIdx.x == 0) {
      int before = 0;
      if (tile)
        while (!(before = Flag(sums[tile - 1]).load(cuda::std::memory_order_acquire)))
          simt::yield();
      Flag(sums[tile]).store(before + 1, cuda::std::memory_order_release);
    }
  }
}

TEST(Blocks, MayBePersistent) {
  int processors = 0, resident = 0;
  EXPECT_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, persistent_kernel, 64, 0));
  constexpr int tiles = 100;
  Array<int> ticket(1), sums(tiles);
  run(unsigned(processors * resident), 64, persistent_kernel, ticket.data(), sums.data(), tiles);
  EXPECT_EQ(sums.host()[tiles - 1], tiles);
}

// The pattern of CUDA's threadFenceReduction: fences order plain writes with relaxed atomics.
__global__ void last_block_kernel(int* partial, int* arrived, int* out) {
  partial[blockIdx.x] = 1;
  __threadfence();
  const int before = atomicAdd(arrived, 1);
  __threadfence();
  if (before != int(gridDim.x) - 1) return;
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
  out[0] = sum;
}

TEST(Blocks, AreOrderedByFences) {
  Array<int> partial(40), arrived(1), out(1);
  run(40, 1, last_block_kernel, partial.data(), arrived.data(), out.data());
  EXPECT_EQ(out.host()[0], 40);
}

// ---------------------------------------------------------------- libcu++'s atomics

__global__ void atomic_ref_kernel(unsigned* cells, float* real) {
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> first(cells[0]), second(cells[1]);
  first.fetch_add(2, cuda::std::memory_order_relaxed);
  second.fetch_or(1u << threadIdx.x, cuda::memory_order_acq_rel);
  cuda::atomic_ref<unsigned, cuda::thread_scope_block>(cells[2]).fetch_max(threadIdx.x);
  cuda::atomic_ref<unsigned, cuda::thread_scope_system>(cells[3]).fetch_min(threadIdx.x);
  cuda::atomic_ref<float, cuda::thread_scope_device>(*real).fetch_add(0.5f);
  const cuda::atomic_ref<unsigned> last(cells[4]);
  unsigned expected = last.load();
  while (!last.compare_exchange_weak(expected, expected + 1, cuda::std::memory_order_acq_rel)) {
  }
}

TEST(AtomicRef, AllThreadsCount) {
  Array<unsigned> cells(std::vector<unsigned>{0, 0, 0, 99, 0});
  Array<float> real(1);
  run(1, 32, atomic_ref_kernel, cells.data(), real.data());
  EXPECT_THAT(cells.host(), testing::ElementsAre(64, ~0u, 31, 0, 32));
  EXPECT_EQ(real.host()[0], 16.0f);
}

TEST(AtomicRef, WorksOnTheHost) {
  unsigned long long value = 5;
  const cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> ref(value);
  EXPECT_EQ(ref.exchange(7), 5u);
  EXPECT_EQ(ref.load(cuda::std::memory_order_acquire), 7u);
  unsigned long long expected = 1;
  EXPECT_FALSE(ref.compare_exchange_strong(expected, 9));
  EXPECT_EQ(expected, 7u);
  EXPECT_EQ(ref++, 7u);
  EXPECT_EQ(++ref, 9u);
  struct alignas(8) Pair {
    int a, b;
  } pair{1, 2};
  cuda::atomic_ref<Pair>(pair).store({3, 4});
  EXPECT_EQ(pair.b, 4);
  cuda::atomic<int> object(3);
  object += 4;
  EXPECT_EQ(object.load(), 7);
}

}  // namespace
