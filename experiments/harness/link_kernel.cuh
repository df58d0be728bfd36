// The kernel that moves data between GPUs: of the target it pulls, of the source it pushes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace warpath::harness {

/// The most GPUs whose links are measured.
inline constexpr int most_gpus = 16;

/// Arrays of one length that are copied at the same time.
struct Slices {
  const uint4* from[most_gpus - 1];
  uint4* to[most_gpus - 1];
  int count;
};

/// Copies `vectors` of each slice, a thread `in_flight` of them before its first store. The blocks,
/// as many as slices or a multiple, take slices in turn, so that all links are busy from begin to
/// end.
template <int in_flight>
__global__ void copy_slices_kernel(Slices slices, std::int64_t vectors) {
  const unsigned slice = blockIdx.x % slices.count;
  const uint4* const from = slices.from[slice];
  uint4* const to = slices.to[slice];
  const std::int64_t stride = std::int64_t{gridDim.x / slices.count} * blockDim.x;
  std::int64_t i = std::int64_t{blockIdx.x / slices.count} * blockDim.x + threadIdx.x;
  for (; i + (in_flight - 1) * stride < vectors; i += in_flight * stride) {
    uint4 held[in_flight];
#pragma unroll
    for (int j = 0; j < in_flight; ++j) held[j] = from[i + j * stride];
#pragma unroll
    for (int j = 0; j < in_flight; ++j) to[i + j * stride] = held[j];
  }
  for (; i < vectors; i += stride) to[i] = from[i];
}

}  // namespace warpath::harness
