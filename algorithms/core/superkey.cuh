// The order of k-d tuples by superkey.
//
// Source: R. A. Brown, "Building a Balanced k-d Tree in O(kn log n) Time", Journal of Computer
// Graphics Techniques 4(1), 2015, http://jcgt.org/published/0004/01/03/ . The superkey of a tuple
// is the cyclic permutation of its coordinates that begins with one of them: x:y:z, y:z:x, z:x:y.
#pragma once

#include <cuda_runtime.h>

namespace warpath {

/// Compares the superkeys of two tuples of `dimensions` coordinates that begin with coordinate
/// `primary`: negative if a's is less, positive if it is greater, 0 if the tuples are equal. The
/// first `known_equal` coordinates of the superkeys are known to be equal and are not read.
template <class Coordinate>
__host__ __device__ __forceinline__ int compare_superkeys(const Coordinate* a, const Coordinate* b,
                                                          int dimensions, int primary,
                                                          int known_equal = 0) {
  int order = 0;
  for (int k = known_equal; k < dimensions && order == 0; ++k) {
    const int turned = primary + k;
    const int coordinate = turned < dimensions ? turned : turned - dimensions;
    order = (b[coordinate] < a[coordinate] ? 1 : 0) - (a[coordinate] < b[coordinate] ? 1 : 0);
  }
  return order;
}

}  // namespace warpath
