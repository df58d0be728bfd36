#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/sort.h>

#include "peers/thrust_sort.hpp"

namespace warpath::experiments::thrust_sort {

template <class K>
harness::Execution keys(const PairArrays<K>& arrays, const Storage& storage) {
  return [=](cudaStream_t stream) {
    thrust::stable_sort(thrust::cuda::par_nosync(*storage).on(stream), arrays.keys,
                        arrays.keys + arrays.count, thrust::less<K>{});
  };
}

template <class K>
harness::Execution pairs(const PairArrays<K>& arrays, const Storage& storage) {
  return [=](cudaStream_t stream) {
    thrust::stable_sort_by_key(thrust::cuda::par_nosync(*storage).on(stream), arrays.keys,
                               arrays.keys + arrays.count, arrays.values, thrust::less<K>{});
  };
}

template harness::Execution keys(const PairArrays<std::uint32_t>&, const Storage&);
template harness::Execution pairs(const PairArrays<float>&, const Storage&);

}  // namespace warpath::experiments::thrust_sort
