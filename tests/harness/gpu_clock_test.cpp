// One sample: what is executed for it, and what its time covers.
#include "harness/gpu_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "core/cuda_check.cuh"
#include "harness/device.hpp"

namespace warpath::harness {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

/// Work of the stream that lasts a millisecond at least, on both backends.
void pause_stream(void*) {
  std::this_thread::sleep_for(Milliseconds(1));
}

class GpuClockTest : public testing::Test {
 protected:
  Device device_ = query_device();
  GpuClock clock_{device_.l2_bytes, device_.pci_bus};
};

TEST_F(GpuClockTest, SampleIsTheTimeOfItsLaunchesDividedByTheirNumber) {
  constexpr int launches = 20;
  int executions = 0;
  const Execution execution = [&](cudaStream_t stream) {
    ++executions;
    WARPATH_CUDA_CHECK(cudaLaunchHostFunc(stream, pause_stream, nullptr));
  };
  const auto start = std::chrono::steady_clock::now();
  const double sample = clock_.sample_ms(execution, Cache::warm, launches);
  const Milliseconds wall = std::chrono::steady_clock::now() - start;
  // One execution warms the cache; a sample may be taken again with a longer spin.
  EXPECT_GT(executions, 0);
  EXPECT_EQ(executions % (1 + launches), 0) << executions;
  EXPECT_GE(sample, 0.99) << "not all launches are in the time";
  EXPECT_LE(launches * sample, wall.count()) << "the time was not divided";
}

// The host takes several times as long to enqueue as the GPU to execute, and longer than any spin
// in front of a single launch; none of it may be in the sample.
TEST_F(GpuClockTest, SpinCoversTheEnqueueingOfManyLaunches) {
  if (emulated) GTEST_SKIP() << "emulated kernels run while they are enqueued";
  constexpr Milliseconds host_share(0.010);
  void* bytes = nullptr;
  WARPATH_CUDA_CHECK(cudaMalloc(&bytes, 4));
  const Execution execution = [&](cudaStream_t stream) {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < host_share) {
    }
    WARPATH_CUDA_CHECK(cudaMemsetAsync(bytes, 0, 4, stream));
  };
  EXPECT_LT(clock_.sample_ms(execution, Cache::warm, 400), host_share.count() / 2);
  WARPATH_CUDA_CHECK(cudaFree(bytes));
}

}  // namespace
}  // namespace warpath::harness
