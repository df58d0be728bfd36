// How evenly parts of the merge path divide the work of a load-balancing search, counted from its
// answer: which step of the path each work item and each object is.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/span.hpp"

namespace warpath::experiments {

/// Parts of the merge path, like tiles and threads.
struct Balance {
  std::int64_t parts;
  std::int64_t uneven;      ///< those but the last that have more or fewer steps than they should
  std::int64_t last_steps;  ///< of the last one
};

/// steps[p] counts the work items and objects of part p. On the path a work item comes after its
/// own object and all before, an object after all work items of those before.
template <class Offset, class Index>
__global__ void count_steps_kernel(DeviceSpan<const Offset> scan, DeviceSpan<const Index> objects,
                                   std::int64_t part_steps, int* steps) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < scan.count + objects.count; i += stride) {
    const std::int64_t object = i - objects.count;
    const auto place = object < 0 ? i + static_cast<std::int64_t>(objects.data[i]) + 1
                                  : object + static_cast<std::int64_t>(scan.data[object]);
    atomicAdd(&steps[place / part_steps], 1);
  }
}

template <class Count>
__global__ void count_others_kernel(DeviceSpan<const Count> counts, Count expected,
                                    unsigned long long* others) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < counts.count; i += stride) {
    if (counts.data[i] != expected) atomicAdd(others, 1ull);
  }
}

/// Of a right answer `objects`, the object of each work item; there is at least one object. Waits
/// for the stream.
template <class Offset, class Index>
Balance balance_of(DeviceSpan<const Offset> scan, DeviceSpan<const Index> objects, int part_steps,
                   cudaStream_t stream) {
  const std::int64_t parts = divide_up(scan.count + objects.count, part_steps);
  DeviceBuffer<int> steps(parts, stream);
  DeviceCount uneven(stream);
  uneven.set_zero(stream);
  WARPATH_CUDA_CHECK(
      cudaMemsetAsync(steps.data(), 0, static_cast<std::size_t>(parts) * sizeof(int), stream));
  launch({1024, 256, 0, stream}, count_steps_kernel<Offset, Index>, scan, objects,
         static_cast<std::int64_t>(part_steps), steps.data());
  launch({1024, 256, 0, stream}, count_others_kernel<int>,
         DeviceSpan<const int>{steps.data(), parts - 1}, part_steps,
         reinterpret_cast<unsigned long long*>(uneven.data()));
  int last = 0;
  WARPATH_CUDA_CHECK(cudaMemcpyAsync(&last, steps.data() + parts - 1, sizeof last,
                                     cudaMemcpyDeviceToHost, stream));
  return {parts, uneven.get(stream), last};
}

}  // namespace warpath::experiments
