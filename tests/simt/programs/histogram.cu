// Kernels as larger programs have them: templates, dynamic shared memory, a stream, a cooperative
// launch, a tile of a cooperative group.
#include <cooperative_groups.h>
#include <cuda.h>
#include <device_launch_parameters.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

// `extern __shared__` at file scope, as some programs have it; the other kernel has it inside.
extern __shared__ unsigned block_counts[];

template <typename T>
__global__ void __launch_bounds__(128)
    count_values(const T* values, int n, unsigned* counts, int bins) {
  for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) block_counts[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&block_counts[values[i] % bins], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < bins; bin += blockDim.x)
    atomicAdd(&counts[bin], block_counts[bin]);
}

struct Range {
  unsigned least, greatest, sum;
};

// The least and greatest of n counts, and their sum, by every warp of the grid.
__global__ void summarise(const unsigned* counts, int n, Range* out) {
  extern __shared__ Range partial[];
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Range range = i < n ? Range{counts[i], counts[i], counts[i]} : Range{~0u, 0, 0};
  for (int offset = 16; offset > 0; offset /= 2) {
    const Range other = tile.shfl_down(range, offset);  // 12 bytes
    range.least = umin(range.least, other.least);
    range.greatest = umax(range.greatest, other.greatest);
    range.sum += other.sum;
  }
  if (tile.thread_rank() == 0) partial[threadIdx.x / 32] = range;
  cg::this_grid().sync();
  if (threadIdx.x != 0) return;
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) {
    atomicMin(&out->least, partial[warp].least);
    atomicMax(&out->greatest, partial[warp].greatest);
    atomicAdd(&out->sum, partial[warp].sum);
  }
}

int main() {
  const int n = 10000, bins = 100;
  std::vector<unsigned> values(n);
  for (int i = 0; i < n; ++i) values[i] = i * 7;

  unsigned *device_values, *counts;
  Range* range;
  const Range none{~0u, 0, 0};
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMalloc(&device_values, n * sizeof(unsigned));
  cudaMalloc(&counts, bins * sizeof(unsigned));
  cudaMalloc(&range, sizeof(Range));
  cudaMemcpyAsync(device_values, values.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice,
                  stream);
  cudaMemcpyAsync(range, &none, sizeof none, cudaMemcpyHostToDevice, stream);
  cudaMemsetAsync(counts, 0, bins * sizeof(unsigned), stream);

  // Template arguments from the call, which stands on several lines; "a <<< in a string".
  count_values<<<4, 128, bins * sizeof(unsigned), stream>>>(device_values, n,
                                                            counts,  // of each bin, summed
                                                            bins);
  int entries = bins;
  void* arguments[] = {&counts, &entries, &range};
  cudaLaunchCooperativeKernel(summarise, 2, 64, arguments, 2 * sizeof(Range), stream);

  Range result;
  cudaMemcpyAsync(&result, range, sizeof result, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaFree(device_values);
  cudaFree(counts);
  cudaFree(range);
  cudaStreamDestroy(stream);
  if (cudaGetLastError() != cudaSuccess) return 1;
  std::printf("least %u, greatest %u, sum %u\n", result.least, result.greatest, result.sum);
}
