#include <thrust/execution_policy.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

#include "peers/thrust_sort.hpp"

namespace warpath::experiments::thrust_sort {
namespace {

template <class C>
struct Coordinate {
  const C* tuples;
  int dimensions;
  __device__ C operator()(std::uint32_t reference) const {
    return tuples[std::int64_t{reference} * dimensions];
  }
};

template <class C>
struct TupleLess {
  SuperkeyLess<C> less;
  template <class A, class B>
  __device__ bool operator()(const A& a, const B& b) const {
    return less(thrust::get<0>(a), thrust::get<1>(a), thrust::get<0>(b), thrust::get<1>(b));
  }
};

}  // namespace

template <class C>
harness::Execution by_superkey(const SuperkeyArrays<C>& arrays, const Storage& storage) {
  return [=](cudaStream_t stream) {
    const auto policy = thrust::cuda::par_nosync(*storage).on(stream);
    thrust::transform(policy, arrays.references, arrays.references + arrays.count, arrays.values,
                      Coordinate<C>{arrays.tuples, arrays.dimensions});
    const auto columns =
        thrust::make_zip_iterator(thrust::make_tuple(arrays.values, arrays.references));
    thrust::stable_sort(policy, columns, columns + arrays.count,
                        TupleLess<C>{{arrays.tuples, arrays.dimensions}});
  };
}

template harness::Execution by_superkey(const SuperkeyArrays<float>&, const Storage&);
template harness::Execution by_superkey(const SuperkeyArrays<double>&, const Storage&);
template harness::Execution by_superkey(const SuperkeyArrays<std::int32_t>&, const Storage&);
template harness::Execution by_superkey(const SuperkeyArrays<std::int64_t>&, const Storage&);

}  // namespace warpath::experiments::thrust_sort
