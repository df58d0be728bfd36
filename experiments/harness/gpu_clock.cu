#include <atomic>
#include <cuda/atomic>
#include <stdexcept>
#include <string>

#include "core/cuda_check.cuh"
#include "core/launch.cuh"
#include "harness/device.hpp"
#include "harness/gpu_clock.hpp"

namespace warpath::harness {

/// The cycles of one multiprocessor, and the time, at one moment.
struct ClockStamp {
  unsigned long long cycles;
  unsigned long long nanoseconds;
};

namespace {

/// Executions that are enqueued while the GPU is held back. The queue takes about a thousand
/// kernels: a full one would deadlock, the host waiting for room and the GPU for the host.
constexpr std::int64_t most_held_back = 250;

}  // namespace

struct GpuClock::Shared {
  ClockStamp stamps[2];
  unsigned released;  ///< the number of the last sample that the host has released
  unsigned gave_up;   ///< that of the last one that was never released
};

#ifndef SIMT_EMULATION
namespace {

constexpr unsigned long long longest_wait_nanoseconds = 5'000'000'000;

__device__ unsigned multiprocessor() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

__device__ unsigned long long nanoseconds_now() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

/// Each multiprocessor counts its own cycles, so all stamps are of the first: of one block there,
/// the one that finds *taken still zero.
__global__ void stamp_kernel(ClockStamp* stamp, unsigned* taken) {
  if (multiprocessor() != 0 || atomicExch(taken, 1U) != 0) return;
  stamp->nanoseconds = nanoseconds_now();
  stamp->cycles = static_cast<unsigned long long>(clock64());
}

/// Ends when the host has written `sample` to *released. Gives up after some seconds, so that an
/// execution that waits for this kernel is an error and not a hang.
__global__ void hold_back_kernel(unsigned* released, unsigned* gave_up, unsigned sample) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_system> flag(*released);
  const unsigned long long start = nanoseconds_now();
  wait_until([&] {
    if (flag.load(cuda::memory_order_acquire) == sample) return true;
    if (nanoseconds_now() - start < longest_wait_nanoseconds) return false;
    *gave_up = sample;
    return true;
  });
}

}  // namespace
#endif

GpuClock::GpuClock(std::int64_t l2_bytes, const std::string& pci_bus)
    : l2_bytes_(l2_bytes), max_clock_mhz_(Nvml(pci_bus).max_sm_clock_mhz()) {
  WARPATH_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  WARPATH_CUDA_CHECK(cudaEventCreate(&begin_));
  WARPATH_CUDA_CHECK(cudaEventCreate(&end_));
#ifndef SIMT_EMULATION
  WARPATH_CUDA_CHECK(cudaMallocHost(reinterpret_cast<void**>(&shared_), sizeof(Shared)));
  *shared_ = {};
  WARPATH_CUDA_CHECK(cudaMalloc(&stamp_taken_, sizeof(unsigned)));
#endif
}

GpuClock::~GpuClock() {
#ifndef SIMT_EMULATION
  cudaFreeHost(shared_);
#endif
  cudaFree(stamp_taken_);
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

// On the emulated backend kernels run while they are enqueued, and no clock is worth reading.
#ifdef SIMT_EMULATION

void GpuClock::stamp(int) {}
void GpuClock::hold_back() {}
void GpuClock::release() {}

#else

void GpuClock::stamp(int which) {
  WARPATH_CUDA_CHECK(cudaMemsetAsync(stamp_taken_, 0, sizeof(unsigned), stream_));
  // More blocks than any GPU has multiprocessors, so that the first gets one.
  launch({.blocks = 512, .threads = 1, .stream = stream_}, stamp_kernel, &shared_->stamps[which],
         stamp_taken_);
}

void GpuClock::hold_back() {
  ++held_back_;
  launch({.stream = stream_}, hold_back_kernel, &shared_->released, &shared_->gave_up, held_back_);
}

void GpuClock::release() {
  std::atomic_ref(shared_->released).store(held_back_, std::memory_order_release);
}

#endif

Sample GpuClock::sample(const Execution& execution, const SampleShape& shape) {
  if (shape.restore && shape.launches > 1) {
    throw std::invalid_argument("only the first of " + std::to_string(shape.launches) +
                                " launches would find its input as it was: set \"launches\": 1");
  }
  if (shape.cache == Cache::cold && flush_buffer_ == nullptr && l2_bytes_ > 0) {
    WARPATH_CUDA_CHECK(cudaMalloc(&flush_buffer_, static_cast<std::size_t>(flush_bytes())));
  }
  if (shape.cache == Cache::warm) {
    if (shape.restore) shape.restore(stream_);
    execution(stream_);
  }
  if (shape.restore) shape.restore(stream_);
  if (flush_buffer_ != nullptr && shape.cache == Cache::cold) {
    WARPATH_CUDA_CHECK(
        cudaMemsetAsync(flush_buffer_, 0x5A, static_cast<std::size_t>(flush_bytes()), stream_));
  }
  // Work that the preparation enqueued must not occupy the queue while the GPU is held back.
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_));
  stamp(0);
  if (!shape.waits_for_gpu) hold_back();
  try {
    WARPATH_CUDA_CHECK(cudaEventRecord(begin_, stream_));
    for (std::int64_t i = 0; i < shape.launches; ++i) {
      if (i == most_held_back) release();
      execution(stream_);
    }
    WARPATH_CUDA_CHECK(cudaGetLastError());
    WARPATH_CUDA_CHECK(cudaEventRecord(end_, stream_));
  } catch (...) {
    release();
    throw;
  }
  release();
  stamp(1);
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_));

  Sample sample;
  float milliseconds = 0;
  WARPATH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
  sample.milliseconds = milliseconds / static_cast<double>(shape.launches);
  if constexpr (emulated) return sample;
  if (!shape.waits_for_gpu && shared_->gave_up == held_back_) {
    throw std::logic_error(
        "it waits for the GPU, or has more kernels than the GPU's queue takes, while the GPU is "
        "held back until its work is enqueued: a variant whose every call waits must say "
        "waits_for_gpu");
  }
  const ClockStamp& first = shared_->stamps[0];
  const ClockStamp& last = shared_->stamps[1];
  if (last.nanoseconds == first.nanoseconds) return sample;
  sample.sm_clock_mhz = 1000 * static_cast<double>(last.cycles - first.cycles) /
                        static_cast<double>(last.nanoseconds - first.nanoseconds);
  return sample;
}

}  // namespace warpath::harness
