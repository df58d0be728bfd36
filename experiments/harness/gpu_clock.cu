#include <algorithm>
#include <chrono>

#include "core/cuda_check.cuh"
#include "core/launch.cuh"
#include "harness/gpu_clock.hpp"

namespace warpath::harness {
namespace {

/// Keeps the stream busy: a chain of multiplications, each of which waits for the one before.
__global__ void spin_kernel(std::int64_t spins, unsigned* result) {
  unsigned value = threadIdx.x + 1;
  for (std::int64_t i = 0; i < spins; ++i) value = value * 1664525U + 1013904223U;
  *result = value;
}

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

GpuClock::GpuClock(std::int64_t l2_bytes, const std::string& pci_bus)
    : l2_bytes_(l2_bytes), nvml_(pci_bus), max_clock_mhz_(nvml_.max_sm_clock_mhz()) {
  WARPATH_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  WARPATH_CUDA_CHECK(cudaEventCreate(&begin_));
  WARPATH_CUDA_CHECK(cudaEventCreate(&end_));
  WARPATH_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&spin_result_), sizeof(unsigned)));
}

GpuClock::~GpuClock() {
  cudaFree(spin_result_);
  cudaFree(flush_buffer_);
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
  cudaStreamDestroy(stream_);
}

void GpuClock::run(const Execution& execution) {
  execution(stream_);
  WARPATH_CUDA_CHECK(cudaGetLastError());
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_));
}

void GpuClock::calibrate() {
  // The first launch loads the kernel and wakes the clocks; the second one is measured.
  constexpr std::int64_t spins = 200'000;
  float milliseconds = 0;
  for (int round = 0; round < 2; ++round) {
    WARPATH_CUDA_CHECK(cudaEventRecord(begin_, stream_));
    launch({.stream = stream_}, spin_kernel, spins, spin_result_);
    WARPATH_CUDA_CHECK(cudaEventRecord(end_, stream_));
    WARPATH_CUDA_CHECK(cudaEventSynchronize(end_));
    WARPATH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
  }
  spins_per_microsecond_ = static_cast<double>(spins) / (1000.0 * milliseconds);
}

void GpuClock::occupy(double microseconds) {
  launch({.stream = stream_}, spin_kernel,
         static_cast<std::int64_t>(microseconds * spins_per_microsecond_), spin_result_);
}

double GpuClock::sample_ms(const Execution& execution, Cache cache, std::int64_t launches) {
  if (spins_per_microsecond_ == 0) calibrate();
  if (cache == Cache::cold && flush_buffer_ == nullptr && l2_bytes_ > 0) {
    WARPATH_CUDA_CHECK(cudaMalloc(&flush_buffer_, static_cast<std::size_t>(flush_bytes())));
  }
  // A sample counts only if the host had enqueued everything before the GPU was done with the spin;
  // where the host was slower, it is taken again with a longer one. An execution that waits for the
  // GPU is slow however long the spin. Each further launch is something more to enqueue: a
  // kernel takes the host some 4 microseconds; executions of several are granted up to 20.
  const auto further = static_cast<double>(launches - 1);
  const double longest_microseconds = 1000 + 20 * further;
  double busy_microseconds = 40 + 4 * further;
  for (;;) {
    if (cache == Cache::warm) execution(stream_);
    if (flush_buffer_ != nullptr && cache == Cache::cold) {
      WARPATH_CUDA_CHECK(
          cudaMemsetAsync(flush_buffer_, 0x5A, static_cast<std::size_t>(flush_bytes()), stream_));
    }
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_));
    const auto start = std::chrono::steady_clock::now();
    occupy(busy_microseconds);
    WARPATH_CUDA_CHECK(cudaEventRecord(begin_, stream_));
    for (std::int64_t i = 0; i < launches; ++i) execution(stream_);
    WARPATH_CUDA_CHECK(cudaGetLastError());
    WARPATH_CUDA_CHECK(cudaEventRecord(end_, stream_));
    const double enqueue_microseconds = microseconds_since(start);
    WARPATH_CUDA_CHECK(cudaEventSynchronize(end_));
    if (enqueue_microseconds < busy_microseconds) break;
    if (2 * busy_microseconds > longest_microseconds) break;
    busy_microseconds =
        std::max(2 * busy_microseconds, std::min(1.5 * enqueue_microseconds, longest_microseconds));
  }
  float milliseconds = 0;
  WARPATH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
  return milliseconds / static_cast<double>(launches);
}

}  // namespace warpath::harness
