#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>

#include <stdexcept>
#include <string>

#include "peers/thrust_search.hpp"

namespace warpath::experiments::thrust_search {
namespace {

struct LessOne {
  template <class T>
  __host__ __device__ std::int32_t operator()(T bound) const {
    return static_cast<std::int32_t>(bound) - 1;
  }
};

/// Whether an object has work items: its stencil is its own index.
struct HasItems {
  const std::int32_t* scan;
  std::int64_t objects;
  std::int64_t items;
  __host__ __device__ bool operator()(std::int32_t object) const {
    const std::int64_t end = object + 1 < objects ? scan[object + 1] : items;
    return scan[object] < end;
  }
};

struct Larger {
  __host__ __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return a < b ? b : a;
  }
};

template <int Bytes>
struct alignas(Bytes % 16 == 0 ? 16 : 4) Words {
  std::uint32_t words[Bytes / 4];
};

template <class T>
harness::Execution gather(const std::int32_t* objects, std::int64_t items, const void* values,
                          void* out) {
  return [=](cudaStream_t stream) {
    thrust::gather(thrust::cuda::par_nosync.on(stream), objects, objects + items,
                   static_cast<const T*>(values), static_cast<T*>(out));
  };
}

}  // namespace

harness::Execution upper_bound(const std::int32_t* scan, std::int64_t objects, std::int64_t items,
                               std::int32_t* out) {
  return [=](cudaStream_t stream) {
    const thrust::counting_iterator<std::int32_t> first(0);
    thrust::upper_bound(thrust::cuda::par_nosync.on(stream), scan, scan + objects, first,
                        first + items, thrust::make_transform_output_iterator(out, LessOne{}));
  };
}

harness::Execution scatter_scan(const std::int32_t* scan, std::int64_t objects, std::int64_t items,
                                std::int32_t* out, const std::shared_ptr<KeptStorage>& storage) {
  return [=](cudaStream_t stream) {
    const thrust::counting_iterator<std::int32_t> numbers(0);
    WARPATH_CUDA_CHECK(
        cudaMemsetAsync(out, 0, static_cast<std::size_t>(items) * sizeof(std::int32_t), stream));
    thrust::scatter_if(thrust::cuda::par_nosync.on(stream), numbers, numbers + objects, scan,
                       numbers, out, HasItems{scan, objects, items});
    thrust::inclusive_scan(thrust::cuda::par_nosync(*storage).on(stream), out, out + items, out,
                           Larger{});
  };
}

harness::Execution gather(int value_bytes, const std::int32_t* objects, std::int64_t items,
                          const void* values, void* out) {
  switch (value_bytes) {
    case 1:
      return gather<std::uint8_t>(objects, items, values, out);
    case 4:
      return gather<std::uint32_t>(objects, items, values, out);
    case 8:
      return gather<std::uint64_t>(objects, items, values, out);
    case 12:
      return gather<Words<12>>(objects, items, values, out);
    case 16:
      return gather<Words<16>>(objects, items, values, out);
    default:
      throw std::invalid_argument("value_bytes is " + std::to_string(value_bytes) +
                                  ": expected 1, 4, 8, 12 or 16");
  }
}

}  // namespace warpath::experiments::thrust_search
