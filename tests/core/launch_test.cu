// Launches: arguments, shared memory, grids of persistent kernels, and shapes that cannot be.
#include <algorithm>
#include <atomic>
#include <cuda/atomic>
#include <numeric>
#include <thread>

#include "../emulated_device.cuh"
#include "../test_size.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

using testing::HasSubstr;

struct Arguments {
  std::int64_t wide;
  double real;
  const int* pointer;
  bool operator==(const Arguments&) const = default;
};

__global__ void store_arguments_kernel(Arguments* out, std::int64_t wide, double real,
                                       const int* pointer) {
  *out = {wide, real, pointer};
}

TEST(Launch, ConvertsArgumentsToTheKernelsTypes) {
  DeviceBuffer<Arguments> out(1);
  DeviceBuffer<int> target(1);
  const int narrow = -3;
  int* const pointer = target.data();
  launch({1, 1}, store_arguments_kernel, out.data(), narrow, 0.5f, pointer);
  EXPECT_TRUE(on_host(out)[0] == (Arguments{-3, 0.5, pointer}));
  launch({1, 1}, store_arguments_kernel, out.data(), 7u, 2, nullptr);
  EXPECT_TRUE(on_host(out)[0] == (Arguments{7, 2.0, nullptr}));
}

__global__ void count_threads_kernel(unsigned* counts) {
  atomicAdd(&counts[blockIdx.x], 1u);
}

TEST(Launch, RunsAllThreadsOfAllBlocksInItsStream) {
  const Stream stream;
  DeviceBuffer<unsigned> counts = on_device(std::vector<unsigned>(5, 0), stream);
  launch({5, 96, 0, stream}, count_threads_kernel, counts.data());
  EXPECT_THAT(on_host(counts, stream), testing::Each(96u));
}

template <int Count>
struct Values {
  int of[Count];
};

// Each thread reads what others have written, at the far end of the storage.
template <int Count>
__global__ void reverse_kernel(int* values, int* misaligned) {
  int* staged = dynamic_shared<Values<Count>>().of;
  if (reinterpret_cast<std::uintptr_t>(staged) % 128 != 0) atomicAdd(misaligned, 1);
  for (unsigned i = threadIdx.x; i < Count; i += blockDim.x) staged[i] = values[i];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < Count; i += blockDim.x) values[i] = staged[Count - 1 - i];
}

template <int Count>
void expect_reversed() {
  std::vector<int> values(Count);
  std::iota(values.begin(), values.end(), 0);
  DeviceBuffer<int> device = on_device(values);
  DeviceBuffer<int> misaligned = on_device(std::vector<int>{0});
  launch({1, 256, sizeof(Values<Count>)}, reverse_kernel<Count>, device.data(), misaligned.data());
  std::reverse(values.begin(), values.end());
  EXPECT_EQ(on_host(device), values);
  EXPECT_EQ(on_host(misaligned)[0], 0) << "dynamic shared memory is not aligned to 128 bytes";
}

TEST(DynamicShared, HoldsAStruct) {
  expect_reversed<1000>();
}

TEST(DynamicShared, MayPass48KiB) {
  expect_reversed<60 * 1024 / sizeof(int)>();
}

template <int Count>
__global__ void sum_with_own_kernel(int* sum) {
  __shared__ int own;
  int* staged = dynamic_shared<Values<Count>>().of;
  if (threadIdx.x == 0) own = 1;
  if (threadIdx.x == 1) staged[Count - 1] = 2;
  __syncthreads();
  if (threadIdx.x == 0) *sum = own + staged[Count - 1];
}

// The limit is that of both together. (On the emulated backend a kernel's own does not count.)
TEST(DynamicShared, MayReach48KiBBesideTheKernelsOwn) {
  constexpr int count = 48 * 1024 / sizeof(int);
  DeviceBuffer<int> sum = on_device(std::vector<int>{0});
  launch({1, 32, sizeof(Values<count>)}, sum_with_own_kernel<count>, sum.data());
  EXPECT_EQ(on_host(sum)[0], 3);
}

TEST(ResidentBlocks, FillTheDevice) {
  int processors = 0;
  WARPATH_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  const unsigned small = resident_blocks(count_threads_kernel, 128, 0);
  const unsigned large = resident_blocks(count_threads_kernel, 1024, 0);
  const unsigned greedy = resident_blocks(reverse_kernel<1000>, 128, 60 * 1024);
  EXPECT_GE(large, static_cast<unsigned>(processors));
  EXPECT_GE(small, large);
  EXPECT_GE(greedy, static_cast<unsigned>(processors));
  EXPECT_LE(greedy, small);
  EXPECT_EQ(small % processors, 0u);
}

struct Impossible {
  const char* name;
  LaunchShape shape;
};
const Impossible impossible[] = {{"too many threads", {1, 2048}},
                                 {"too much shared memory", {1, 32, 1024 * 1024}},
                                 {"no blocks", {0, 32}},
                                 {"no threads", {1, 0}}};

TEST(Launch, RefusesWhatCannotBe) {
  DeviceBuffer<unsigned> counts = on_device(std::vector<unsigned>{0});
  for (const Impossible& tried : impossible) {
    SCOPED_TRACE(tried.name);
    EXPECT_THAT(
        message_of<CudaError>([&] { launch(tried.shape, count_threads_kernel, counts.data()); }),
        testing::AllOf(HasSubstr("launch_test.cu:"), testing::Not(HasSubstr("launch.cuh"))));
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
  launch({1, 32}, count_threads_kernel, counts.data());
  EXPECT_EQ(on_host(counts)[0], 32u) << "a refused launch ran, or spoilt the next one";
}

TEST(ResidentBlocks, RefusesWhatCannotBe) {
  EXPECT_THROW(resident_blocks(count_threads_kernel, 2048, 0), CudaError);
  EXPECT_THROW(resident_blocks(count_threads_kernel, 32, 1024 * 1024), CudaError);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

// The first warp waits for a word that the last warp writes after it has written the values.
__global__ void hand_over_kernel(int* values, unsigned* flag, int* received) {
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> ready(*flag);
  const unsigned thread = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    wait_until([&] { return ready.load(cuda::std::memory_order_acquire) == 32; });
    received[thread] = values[31 - thread];
  } else {
    values[thread] = static_cast<int>(100 + thread);
    ready.fetch_add(1, cuda::std::memory_order_release);
  }
}

TEST(WaitUntil, LetsTheOthersRun) {
  DeviceBuffer<int> values(32);
  DeviceBuffer<unsigned> flag = on_device(std::vector<unsigned>{0});
  DeviceBuffer<int> received(32);
  launch({1, 64}, hand_over_kernel, values.data(), flag.data(), received.data());
  std::vector<int> expected(32);
  std::iota(expected.rbegin(), expected.rend(), 100);
  EXPECT_EQ(on_host(received), expected);
}

// ---------------------------------------------------------------- the choice between kernels

TEST(CanRun, AsksForSharedMemoryOfTheDevice) {
  int most = 0;
  WARPATH_CUDA_CHECK(
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, current_device()));
  const auto bytes = static_cast<std::size_t>(most);
  EXPECT_EQ(device_shared_bytes(), bytes);
  EXPECT_TRUE(can_run(count_threads_kernel, {}));
  EXPECT_TRUE(can_run(count_threads_kernel, {.shared_bytes = bytes}));
  EXPECT_FALSE(can_run(count_threads_kernel, {.shared_bytes = bytes + 1}));
}

// What it allows can be launched.
TEST(CanRun, SaysWhatLaunchRefuses) {
  DeviceBuffer<unsigned> counts = on_device(std::vector<unsigned>{0});
  const std::size_t most = device_shared_bytes();
  launch({1, 32, most}, count_threads_kernel, counts.data());
  EXPECT_EQ(on_host(counts)[0], 32u);
  EXPECT_THROW(launch({1, 32, most + 1}, count_threads_kernel, counts.data()), CudaError);
}

TEST(CanRun, MeansTheCodeThatWasLoaded) {
  cudaFuncAttributes attributes{};
  WARPATH_CUDA_CHECK(cudaFuncGetAttributes(&attributes, count_threads_kernel));
  const bool is_for_hopper = attributes.ptxVersion >= 90 && attributes.binaryVersion >= 90;
  EXPECT_EQ(can_run(count_threads_kernel, {.hopper = true}), is_for_hopper);
}

/// Stores whether it is code for sm_90a.
__global__ void ask_for_90a_kernel(unsigned* answer) {
  *answer = hopper::is_compiled_for_90a();
}
TEST(CanRun, KnowsCodeFor90a) {
  const bool can = can_run(ask_for_90a_kernel, {.hopper = true, .sm_90a = true});
  cudaFuncAttributes attributes{};
  WARPATH_CUDA_CHECK(cudaFuncGetAttributes(&attributes, ask_for_90a_kernel));
  if (attributes.ptxVersion != 90 || attributes.binaryVersion != 90) {
    EXPECT_FALSE(can);
  }
#ifdef SIMT_EMULATION
  if (attributes.ptxVersion < 90 || attributes.binaryVersion < 90) return;  // it would stop there
#endif
  DeviceBuffer<unsigned> answer = on_device(std::vector<unsigned>{7});
  launch({1, 1, 0}, ask_for_90a_kernel, answer.data());
  EXPECT_EQ(on_host(answer)[0], can ? 1u : 0u);
}

TEST(CanRun, MayBeAskedByManyThreads) {
  detail::kernel_codes().forget();
  std::vector<std::thread> threads;
  std::atomic<int> yes = 0;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        yes += can_run(count_threads_kernel, {}) && can_run(store_arguments_kernel, {}) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(yes, 800);
}

// What one thread was allowed, another does not take back.
TEST(Launch, MayBeCalledByManyThreadsWithAnySharedMemory) {
  detail::shared_limits().forget();
  const std::size_t most = device_shared_bytes();
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (std::size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        const Stream stream;
        DeviceBuffer<unsigned> counts(1, stream);
        for (std::size_t i = 0; i < (is_small() ? 20 : 300); ++i) {
          const std::size_t bytes = most - ((thread + i) % 4) * 8192;
          launch({1, 32, bytes, stream}, count_threads_kernel, counts.data());
        }
        WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
      } catch (const CudaError&) {
        ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

#ifdef SIMT_EMULATION
TEST(CanRun, RefusesHopperWhereDeviceOrCodeIsOlder) {
  for (const DeviceKind& kind : other_devices) {
    SCOPED_TRACE(kind.name);
    const EmulatedDevice device(kind);
    EXPECT_EQ(can_run(count_threads_kernel, {.hopper = true}), kind.ptx >= 90);
    EXPECT_TRUE(can_run(count_threads_kernel, {.shared_bytes = kind.shared_bytes}));
    EXPECT_FALSE(can_run(count_threads_kernel, {.shared_bytes = kind.shared_bytes + 1}));
    // Each of them lacks one of the two.
    const KernelNeeds both{.hopper = true, .shared_bytes = hopper::max_shared_bytes};
    EXPECT_FALSE(can_run(count_threads_kernel, both));
  }
}
#endif

}  // namespace
}  // namespace warpath::core_test
