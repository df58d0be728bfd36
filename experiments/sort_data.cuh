// What the sorts of the experiments are given, shared with their peers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/superkey.cuh"

namespace warpath::experiments {

/// Keys, and a value for each; device memory.
template <class K, class V = std::uint32_t>
struct PairArrays {
  K* keys;
  V* values;
  std::int64_t count;
};

/// References to tuples, to be sorted by superkeys that begin with coordinate 0; device memory.
template <class C>
struct SuperkeyArrays {
  const C* tuples;  ///< tuple r begins at coordinate r * dimensions
  int dimensions;
  std::uint32_t* references;  ///< 0, 1, 2, ...: what is stable is sorted by reference, too
  C* values;                  ///< become the coordinates 0 of the referenced tuples
  std::int64_t count;
};

/// Which of two tuples comes first, for peers: each is given as its coordinate 0 and its reference,
/// and is read only if these coordinates tie.
template <class C>
struct SuperkeyLess {
  const C* tuples;
  int dimensions;
  __host__ __device__ bool operator()(C a, std::uint32_t a_reference, C b,
                                      std::uint32_t b_reference) const {
    if (a != b) return a < b;
    return compare_superkeys(tuples + std::int64_t{a_reference} * dimensions,
                             tuples + std::int64_t{b_reference} * dimensions, dimensions, 0, 1) < 0;
  }
};

}  // namespace warpath::experiments
