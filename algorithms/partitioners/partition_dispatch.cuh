// From a partition of plain elements to its kernels: which kernel, which shape, which grid.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "partitioners/partition.cuh"
#include "partitioners/pipeline.cuh"
#include "partitioners/tuning.hpp"

namespace warpath::partitioners::detail {

template <class T, class Classes>
using PipelineStorageOf = PipelineStorage<T, Classes::count, PipelineShape<sizeof(T)>>;

/// The kernel for n elements: the one that is asked for, if the device allows it.
template <class T, class Classes>
PartitionPath possible_path(PartitionPath asked, std::int64_t n) {
  const bool is_large = n * static_cast<std::int64_t>(sizeof(T)) >= pipeline_least_bytes;
  if (asked == PartitionPath::plain || (asked == PartitionPath::automatic && !is_large)) {
    return PartitionPath::plain;
  }
  const bool can_pipeline =
      can_run(pipeline_kernel<T, Classes, PipelineShape<sizeof(T)>>,
              {.hopper = true, .shared_bytes = sizeof(PipelineStorageOf<T, Classes>)});
  return can_pipeline ? PartitionPath::pipeline : PartitionPath::plain;
}

/// Partitions `in`, which is not empty. Leaves the workspace's scratch memory as it is.
template <class T, class Classes>
void run_partition(const Classes& classes, DeviceSpan<const T> in,
                   const ClassOutputs<T, Classes::count>& out, Workspace& workspace,
                   cudaStream_t stream, PartitionPath asked = PartitionPath::automatic) {
  const auto launch_shape = [&]<class Shape>(Shape, auto kernel, std::size_t shared_bytes) {
    const std::int64_t tiles = divide_up(in.count, Shape::tile_items);
    const std::int64_t resident = resident_blocks(kernel, Shape::threads, shared_bytes);
    launch({static_cast<unsigned>(std::min(tiles, resident)), Shape::threads, shared_bytes, stream},
           kernel, classes, in.data, in.count, out,
           workspace.look_back(stream, tiles, Classes::count - 1));
  };
  if (possible_path<T, Classes>(asked, in.count) == PartitionPath::pipeline) {
    using Shape = PipelineShape<sizeof(T)>;
    launch_shape(Shape{}, pipeline_kernel<T, Classes, Shape>,
                 sizeof(PipelineStorageOf<T, Classes>));
  } else {
    using Shape = PartitionShape<sizeof(T)>;
    launch_shape(Shape{}, partition_kernel<T, Classes, Shape>,
                 sizeof(PartitionStorage<T, Classes::count, Shape>));
  }
}

/// Counts class 0 of `in`, so that the last class can begin after it in one output.
template <class T, class Classes>
std::int64_t* run_count(const Classes& classes, DeviceSpan<const T> in, Workspace& workspace,
                        cudaStream_t stream) {
  using Shape = PartitionShape<sizeof(T)>;
  const auto kernel = count_first_class_kernel<T, Classes, Shape>;
  const auto [total] = workspace.take<std::int64_t>(stream, 1);
  WARPATH_CUDA_CHECK(cudaMemsetAsync(total, 0, sizeof(std::int64_t), stream));
  const std::int64_t resident = resident_blocks(kernel, Shape::threads, 0);
  const std::int64_t blocks = std::min(divide_up(in.count, Shape::tile_items), resident);
  launch({static_cast<unsigned>(blocks), Shape::threads, 0, stream}, kernel, classes, in.data,
         in.count, reinterpret_cast<unsigned long long*>(total));
  return total;
}

}  // namespace warpath::partitioners::detail
