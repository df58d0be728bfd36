#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <cub/device/device_merge_sort.cuh>

#include "peers/cub_call.hpp"
#include "peers/cub_sort.hpp"

namespace warpath::experiments::cub_sort {
namespace {

/// A reference, with the coordinate 0 of its tuple before it.
template <class C>
struct WithCoordinate {
  const C* tuples;
  int dimensions;
  __device__ thrust::tuple<C, std::uint32_t> operator()(std::uint32_t reference) const {
    return {tuples[std::int64_t{reference} * dimensions], reference};
  }
};

template <class C>
struct TupleLess {
  SuperkeyLess<C> less;
  __device__ bool operator()(const thrust::tuple<C, std::uint32_t>& a,
                             const thrust::tuple<C, std::uint32_t>& b) const {
    return less(thrust::get<0>(a), thrust::get<1>(a), thrust::get<0>(b), thrust::get<1>(b));
  }
};

}  // namespace

// The fastest of three forms (H200, 2^24 tuples with few ties): what gathers the values is the
// input, and the two arrays are the output (1.73 ms); 64-bit numbers of bits and reference,
// unpacked by one more kernel (1.74); structures of value and reference, split likewise (1.88).
template <class C>
harness::Execution by_superkey(const SuperkeyArrays<C>& arrays, const Storage& storage) {
  const auto in = thrust::make_transform_iterator(
      arrays.references, WithCoordinate<C>{arrays.tuples, arrays.dimensions});
  const auto out = thrust::make_zip_iterator(thrust::make_tuple(arrays.values, arrays.references));
  const TupleLess<C> less{{arrays.tuples, arrays.dimensions}};
  return cub_call(storage, [=, n = static_cast<std::uint32_t>(arrays.count)](
                               void* memory, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceMergeSort::StableSortKeysCopy(memory, bytes, in, out, n, less, stream);
  });
}

template harness::Execution by_superkey(const SuperkeyArrays<float>&, const Storage&);
template harness::Execution by_superkey(const SuperkeyArrays<double>&, const Storage&);
template harness::Execution by_superkey(const SuperkeyArrays<std::int32_t>&, const Storage&);
template harness::Execution by_superkey(const SuperkeyArrays<std::int64_t>&, const Storage&);

}  // namespace warpath::experiments::cub_sort
