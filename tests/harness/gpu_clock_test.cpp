// One sample: what is executed for it, and what its time covers.
#include "harness/gpu_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
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
  const double sample =
      clock_.sample(execution, {.cache = Cache::warm, .launches = launches}).milliseconds;
  const Milliseconds wall = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(executions, 1 + launches) << "one execution warms the cache";
  EXPECT_GE(sample, 0.99) << "not all launches are in the time";
  EXPECT_LE(launches * sample, wall.count()) << "the time was not divided";
}

// The host takes several times as long to enqueue as the GPU to execute; none of it may be in the
// sample.
TEST_F(GpuClockTest, GpuIsHeldBackUntilManyLaunchesAreEnqueued) {
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
  const SampleShape shape{.cache = Cache::warm, .launches = 200};
  EXPECT_LT(clock_.sample(execution, shape).milliseconds, host_share.count() / 2);
  WARPATH_CUDA_CHECK(cudaFree(bytes));
}

TEST_F(GpuClockTest, EveryExecutionFindsWhatTheOneBeforeDestroyed) {
  std::string steps;
  const Execution execution = [&](cudaStream_t stream) {
    steps += 'x';
    WARPATH_CUDA_CHECK(cudaLaunchHostFunc(stream, pause_stream, nullptr));
  };
  SampleShape shape{.cache = Cache::cold, .restore = [&](cudaStream_t stream) {
                      steps += 'r';
                      for (int i = 0; i < 100; ++i) {
                        WARPATH_CUDA_CHECK(cudaLaunchHostFunc(stream, pause_stream, nullptr));
                      }
                    }};
  EXPECT_LT(clock_.sample(execution, shape).milliseconds, 90) << "the restoring is in the time";
  EXPECT_EQ(steps, "rx");
  shape.cache = Cache::warm;
  clock_.sample(execution, shape);
  EXPECT_EQ(steps, "rxrxrx") << "the execution that warms the cache destroys it, too";
  shape.launches = 2;
  EXPECT_THROW(clock_.sample(execution, shape), std::invalid_argument);
  EXPECT_EQ(steps, "rxrxrx") << "nothing was enqueued";
}

// More than the GPU's queue takes: the GPU must start before all is enqueued.
TEST_F(GpuClockTest, ManyLaunchesDoNotFillTheQueueOfAGpuThatIsHeldBack) {
  void* bytes = nullptr;
  WARPATH_CUDA_CHECK(cudaMalloc(&bytes, 4));
  const Execution execution = [&](cudaStream_t stream) {
    for (int i = 0; i < 3; ++i) WARPATH_CUDA_CHECK(cudaMemsetAsync(bytes, 0, 4, stream));
  };
  EXPECT_GT(clock_.sample(execution, {.cache = Cache::warm, .launches = 1000}).milliseconds, 0);
  WARPATH_CUDA_CHECK(cudaFree(bytes));
}

TEST_F(GpuClockTest, ExecutionThatWaitsForTheGpuMustSaySo) {
  void* bytes = nullptr;
  WARPATH_CUDA_CHECK(cudaMalloc(&bytes, 4));
  const Execution execution = [&](cudaStream_t stream) {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(bytes, 0, 4, stream));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  };
  EXPECT_GT(clock_.sample(execution, {.waits_for_gpu = true}).milliseconds, 0);
  if (!emulated) {
    EXPECT_THROW(clock_.sample(execution, {}), std::logic_error);
  }
  EXPECT_GT(clock_.sample(execution, {.waits_for_gpu = true}).milliseconds, 0) << "still usable";
  WARPATH_CUDA_CHECK(cudaFree(bytes));
}

TEST_F(GpuClockTest, SampleHasTheClockThatItWasTakenAt) {
  const Execution nothing = [](cudaStream_t) {};
  const Sample sample = clock_.sample(nothing, {});
  ASSERT_EQ(sample.sm_clock_mhz.has_value(), !emulated);
  if (emulated) return;
  EXPECT_GT(*sample.sm_clock_mhz, 100);
  if (const auto highest = clock_.max_sm_clock_mhz()) {
    EXPECT_LT(*sample.sm_clock_mhz, 1.05 * *highest);
  }
}

}  // namespace
}  // namespace warpath::harness
