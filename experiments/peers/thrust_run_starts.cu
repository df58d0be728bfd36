#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/permutation_iterator.h>

#include "peers/thrust_run_starts.hpp"

namespace warpath::experiments {

harness::Execution thrust_run_starts(const std::int32_t* keys, std::int64_t key_count,
                                     const std::int32_t* positions, std::int64_t count,
                                     std::int32_t* starts) {
  return [=](cudaStream_t stream) {
    const auto wanted = thrust::make_permutation_iterator(keys, positions);
    thrust::lower_bound(thrust::cuda::par_nosync.on(stream), keys, keys + key_count, wanted,
                        wanted + count, starts);
  };
}

}  // namespace warpath::experiments
