// The GPU's ceilings, by the plainest kernels that reach them.
#include <algorithm>
#include <vector>

#include "core/cuda_check.cuh"
#include "core/launch.cuh"
#include "harness/ceilings.hpp"
#include "harness/device.hpp"
#include "harness/statistics.hpp"

namespace warpath::harness {
namespace {

constexpr unsigned threads = 256;

/// A block copies one tile of threads * vectors * 16 bytes: all of a thread's loads are in flight
/// before its first store.
template <int vectors>
__global__ void __launch_bounds__(threads) copy_kernel(const uint4* from, uint4* to) {
  const std::int64_t first = std::int64_t{blockIdx.x} * (threads * vectors) + threadIdx.x;
  uint4 held[vectors];
#pragma unroll
  for (int i = 0; i < vectors; ++i) held[i] = __ldcs(&from[first + i * threads]);
#pragma unroll
  for (int i = 0; i < vectors; ++i) __stcs(&to[first + i * threads], held[i]);
}

template <int vectors>
__global__ void __launch_bounds__(threads) fill_kernel(uint4* to, unsigned value) {
  const std::int64_t first = std::int64_t{blockIdx.x} * (threads * vectors) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < vectors; ++i) {
    __stcs(&to[first + i * threads], make_uint4(value, value, value, value));
  }
}

constexpr int chains =
    8;  ///< of independent operations a thread: more than the arithmetic's latency needs
constexpr int links = 4096;

/// Each chain goes to a fixed point, so that no number overflows or becomes denormal.
template <class Operation>
__global__ void __launch_bounds__(threads) arithmetic_kernel(Operation operation, float* result) {
  float chain[chains];
#pragma unroll
  for (int i = 0; i < chains; ++i) chain[i] = 0.001F * static_cast<float>(threadIdx.x + i);
#pragma unroll 4
  for (int link = 0; link < links; ++link) {
#pragma unroll
    for (int i = 0; i < chains; ++i) chain[i] = operation(chain[i]);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < chains; ++i) sum += chain[i];
  if (sum == 12345.0F) *result = sum;  // never so, but the compiler cannot know
}

struct FusedMultiplyAdd {
  __device__ float operator()(float value) const { return fmaf(value, 0.5F, 0.25F); }
};

/// This file is compiled with -ftz=true, which makes exp2f the one instruction.
struct PowerOfTwo {
  __device__ float operator()(float value) const { return exp2f(-value); }
};

double median_seconds(GpuClock& clock, const Execution& execution) {
  clock.run(execution);
  std::vector<double> samples_ms;
  for (int i = 0; i < 25; ++i) {
    const double sample = clock.sample(execution, {}).milliseconds;
    if (i >= 5) samples_ms.push_back(sample);
  }
  return summarize(samples_ms).median / 1000;
}

template <int vectors>
unsigned tiles(std::int64_t bytes) {
  return static_cast<unsigned>(bytes / (threads * vectors * std::int64_t{sizeof(uint4)}));
}

template <int vectors>
double copy_seconds(GpuClock& clock, const uint4* from, uint4* to, std::int64_t bytes) {
  return median_seconds(clock, [=](cudaStream_t stream) {
    launch({.blocks = tiles<vectors>(bytes), .threads = threads, .stream = stream},
           copy_kernel<vectors>, from, to);
  });
}

template <int vectors>
double fill_seconds(GpuClock& clock, uint4* to, std::int64_t bytes) {
  return median_seconds(clock, [=](cudaStream_t stream) {
    launch({.blocks = tiles<vectors>(bytes), .threads = threads, .stream = stream},
           fill_kernel<vectors>, to, 0x5EEDU);
  });
}

/// The best of a few tile sizes: which one it is differs between GPUs and array sizes.
void measure_bandwidth(GpuClock& clock, std::int64_t elements, Ceilings& ceilings) {
  const std::int64_t bytes = elements * 4;
  uint4* from = nullptr;
  uint4* to = nullptr;
  WARPATH_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&from), static_cast<std::size_t>(bytes)));
  const std::unique_ptr<uint4, void (*)(uint4*)> free_from(from, [](uint4* p) { cudaFree(p); });
  WARPATH_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&to), static_cast<std::size_t>(bytes)));
  const std::unique_ptr<uint4, void (*)(uint4*)> free_to(to, [](uint4* p) { cudaFree(p); });
  // Not zeros: a GPU may move those faster.
  WARPATH_CUDA_CHECK(cudaMemset(from, 0xA7, static_cast<std::size_t>(bytes)));
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  const double copied =
      std::min({copy_seconds<1>(clock, from, to, bytes), copy_seconds<2>(clock, from, to, bytes),
                copy_seconds<4>(clock, from, to, bytes), copy_seconds<8>(clock, from, to, bytes)});
  ceilings.copy.push_back({elements, 2 * bytes, 2e-9 * static_cast<double>(bytes) / copied});
  const double filled =
      std::min({fill_seconds<1>(clock, to, bytes), fill_seconds<2>(clock, to, bytes),
                fill_seconds<4>(clock, to, bytes)});
  ceilings.fill.push_back({elements, bytes, 1e-9 * static_cast<double>(bytes) / filled});
}

template <class Operation>
double operations_per_second(GpuClock& clock, int sm_count) {
  // Every multiprocessor is full several times over, so that the last wave does not count.
  const auto blocks = static_cast<unsigned>(sm_count * 8 * 8);
  const double seconds = median_seconds(clock, [=](cudaStream_t stream) {
    launch({.blocks = blocks, .threads = threads, .stream = stream}, arithmetic_kernel<Operation>,
           Operation(), static_cast<float*>(nullptr));
  });
  return static_cast<double>(blocks) * threads * chains * links / seconds;
}

}  // namespace

Ceilings measure_ceilings(GpuClock& clock, bool quick) {
  Ceilings ceilings;
  const std::vector<int> exponents =
      quick ? std::vector<int>{28} : std::vector<int>{20, 24, 28, 30};
  for (const int exponent : exponents) {
    const std::int64_t elements = std::int64_t{1} << exponent;
    if (2 * elements * 4 + clock.flush_bytes() > free_device_bytes()) continue;
    measure_bandwidth(clock, elements, ceilings);
  }
  const Device device = query_device();
  ceilings.fma_per_s = operations_per_second<FusedMultiplyAdd>(clock, device.sm_count);
  ceilings.ex2_per_s = operations_per_second<PowerOfTwo>(clock, device.sm_count);
  return ceilings;
}

}  // namespace warpath::harness
