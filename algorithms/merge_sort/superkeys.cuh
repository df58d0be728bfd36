// Sorts references to tuples by superkey: the value array of the source, and what finds NaN.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/superkey.cuh"
#include "merge_sort/dispatch.cuh"
#include "merge_sort/items.cuh"
#include "merge_sort/orders.cuh"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::detail {

/// The items that are sorted first: of each reference, the tuple's coordinate `primary`. Looks at
/// all of the tuple's coordinates for NaN; the least index of one goes to `first_nan`.
template <class C>
struct GatheredItems {
  const C* coordinates;  // tuple r begins at coordinate r * dimensions
  int dimensions;
  int primary;
  const std::uint32_t* references;
  unsigned long long* first_nan;

  __device__ __forceinline__ SuperkeyItem<C> load(std::int64_t i) const {
    const std::uint32_t reference = references[i];
    const std::int64_t begin = std::int64_t{reference} * dimensions;
    if constexpr (std::is_floating_point_v<C>) {
      for (int k = 0; k < dimensions; ++k) {
        const C coordinate = coordinates[begin + k];
        if (coordinate != coordinate) {
          atomicMin(first_nan, static_cast<unsigned long long>(begin + k));
        }
      }
    }
    return SuperkeyItem<C>::of(coordinates[begin + primary], reference);
  }
};

/// sort_superkeys() of arguments that are right.
template <class Tuning, class C>
void run_sort_superkeys(const Tuples<C>& tuples, DeviceSpan<std::uint32_t> references,
                        DeviceSpan<C> values, DeviceCount& first_nan, Workspace& workspace,
                        cudaStream_t stream, const Options& options) {
  const std::int64_t n = references.count;
  WARPATH_CUDA_CHECK(cudaMemsetAsync(first_nan.data(), 0xFF, sizeof(std::int64_t), stream));
  if (n == 0) return;
  const std::int64_t spare = spare_items<Tuning>(n, options);
  const auto [spare_values, spare_references, positions] =
      workspace.template take<C, std::uint32_t, unsigned char>(stream, spare, spare,
                                                               position_bytes<Tuning>(n, options));
  const GatheredItems<C> items{tuples.coordinates.data, tuples.dimensions, tuples.primary,
                               references.data,
                               reinterpret_cast<unsigned long long*>(first_nan.data())};
  sort_columns<Tuning>(items, SuperkeyColumns<C>{values.data, references.data},
                       SuperkeyColumns<C>{spare_values, spare_references}, positions, n,
                       BySuperkey<C>{tuples.coordinates.data, tuples.dimensions, tuples.primary},
                       stream, options);
}

/// references[i] becomes i.
template <class Reference>
__global__ void iota_kernel(Reference* references, std::int64_t n) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    references[i] = static_cast<Reference>(i);
  }
}

}  // namespace warpath::merge_sort::detail
