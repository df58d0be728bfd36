// What build_on_device() does; include it where a type of coordinates is compiled.
#pragma once

#include "../device_vectors.cuh"
#include "../stream.cuh"
#include "builds.hpp"
#include "kd_tree/build.cuh"
#include "output.cuh"

namespace warpath::kd_tree::test {

template <class C>
Built build_on_device(const PointSet<C>& points, const Options& options) {
  const Stream stream;
  const DeviceBuffer<C> coordinates = on_device(points.coordinates);
  const auto n = static_cast<std::int64_t>(points.count());
  Output<std::uint32_t> medians(median_entries(n));
  BuildMemory memory;
  Built built;
  built.nodes = build(Points<C>{coordinates.span(), points.dimensions}, medians.span(), memory,
                      stream, options);
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  built.medians = medians.get();
  return built;
}

}  // namespace warpath::kd_tree::test
