// Stable sorts by Thrust, as peers of merge_sort: the cuda backend only.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/technique.hpp"
#include "scratch.cuh"
#include "sort_data.cuh"

namespace warpath::experiments::thrust_sort {

// Each makes the execution, which sorts in place. Temporary storage is kept from call to call; no
// call waits for the GPU (par_nosync).
using Storage = std::shared_ptr<KeptStorage>;

/// thrust::stable_sort by thrust::less: of numbers, a radix sort. Of std::uint32_t.
template <class K>
harness::Execution keys(const PairArrays<K>& arrays, const Storage& storage);
/// thrust::stable_sort_by_key by thrust::less: of numbers, a radix sort. Of float keys.
template <class K>
harness::Execution pairs(const PairArrays<K>& arrays, const Storage& storage);

/// thrust::transform, which reads the coordinates through the references, then thrust::stable_sort
/// of coordinates and references as one sequence of two columns. C: float, double, std::int32_t or
/// std::int64_t.
template <class C>
harness::Execution by_superkey(const SuperkeyArrays<C>& arrays, const Storage& storage);

}  // namespace warpath::experiments::thrust_sort
