// How equal the parts are that the source's search cuts along the balanced path, and how many slots
// they have: what its figures NV +- 1, VT +- 1 and VT / 2 say of tiles and threads.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>

#include "balanced_path_sets/two_pass.cuh"
#include "core/buffer.cuh"
#include "core/launch.cuh"

namespace warpath::experiments {

/// Of the parts that the inputs fill.
struct PartSizes {
  std::int64_t parts;
  int least_elements;  ///< of both inputs
  int most_elements;
  int least_slots;  ///< elements that match in key and rank share one
  int most_slots;
};

/// A thread a part: goes through it slot by slot. sizes: the last four numbers of PartSizes.
template <class Key>
__global__ void part_sizes_kernel(balanced_path_sets::Input<Key, balanced_path_sets::NoValue> a,
                                  balanced_path_sets::Input<Key, balanced_path_sets::NoValue> b,
                                  std::int64_t part_items, std::int64_t parts,
                                  const std::int64_t* points, int* sizes) {
  const std::int64_t part = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (part >= parts) return;
  const auto from = balanced_path_sets::unpacked(points[part]);
  const auto to = balanced_path_sets::unpacked(points[part + 1]);
  std::int64_t i = from.a;
  std::int64_t j = from.b(part * part_items);
  const std::int64_t b_end = to.b((part + 1) * part_items);
  const auto elements = static_cast<int>(to.a - i + b_end - j);
  int slots = 0;
  for (; i < to.a || j < b_end; ++slots) {
    const bool has_a = i < to.a;
    const bool has_b = j < b_end;
    const bool only_a = !has_b || (has_a && a.keys[i] < b.keys[j]);
    const bool only_b = !has_a || (has_b && b.keys[j] < a.keys[i]);
    if (!only_b) ++i;
    if (!only_a) ++j;
  }
  atomicMin(&sizes[0], elements);
  atomicMax(&sizes[1], elements);
  atomicMin(&sizes[2], slots);
  atomicMax(&sizes[3], slots);
}

/// Parts of `part_items` elements of two sorted inputs on the device; the last part, if it is not
/// full, does not count. Waits for the stream.
template <class Key>
PartSizes part_sizes(const balanced_path_sets::Input<Key, balanced_path_sets::NoValue>& a,
                     const balanced_path_sets::Input<Key, balanced_path_sets::NoValue>& b,
                     int part_items, cudaStream_t stream) {
  const std::int64_t parts = (a.count + b.count) / part_items;
  std::array<int, 4> sizes = {std::numeric_limits<int>::max(), 0, std::numeric_limits<int>::max(),
                              0};
  DeviceBuffer<std::int64_t> points(parts + 1, stream);
  DeviceBuffer<int> device_sizes(4, stream);
  WARPATH_CUDA_CHECK(cudaMemcpyAsync(device_sizes.data(), sizes.data(), sizeof sizes,
                                     cudaMemcpyHostToDevice, stream));
  const auto blocks = static_cast<unsigned>(parts / 128 + 1);
  launch({blocks, 128, 0, stream},
         balanced_path_sets::find_set_partitions_kernel<true, Key, balanced_path_sets::NoValue,
                                                        std::less<Key>>,
         a, b, static_cast<std::int64_t>(part_items), parts, std::less<Key>{}, points.data());
  launch({blocks, 128, 0, stream}, part_sizes_kernel<Key>, a, b,
         static_cast<std::int64_t>(part_items), parts, points.data(), device_sizes.data());
  WARPATH_CUDA_CHECK(cudaMemcpyAsync(sizes.data(), device_sizes.data(), sizeof sizes,
                                     cudaMemcpyDeviceToHost, stream));
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  return {parts, sizes[0], sizes[1], sizes[2], sizes[3]};
}

}  // namespace warpath::experiments
