// Merge path: finds where a cross-diagonal meets the path of a merge, so that a merge can be split
// into any number of equal parts.
//
// Source: O. Green, R. McColl, D. Bader, "GPU Merge Path: A GPU Merging Algorithm", ICS 2012. The
// path runs through the matrix of a x b: one step right for each element that the merge takes from
// a, one step down for each element from b. On cross-diagonal d, d elements have been taken; a
// binary search along it finds how many of them came from a.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <utility>

namespace warpath {

/// The sequence 0, 1, 2, ...: element i is i.
template <class T>
struct Naturals {
  __host__ __device__ __forceinline__ T operator[](T i) const { return i; }
};

/// How many of the first `diagonal` elements of the stable merge of a and b come from a. Of equal
/// elements, those of a come first. a and b are sorted by `less`; 0 <= diagonal <= a_count +
/// b_count. Takes log2(min(a_count, b_count)) steps. a and b are pointers, or types with an
/// operator[].
template <class A, class B, class Index, class Less>
__host__ __device__ __forceinline__ Index merge_path(A a, Index a_count, B b, Index b_count,
                                                     Index diagonal, Less less) {
  Index low = diagonal > b_count ? diagonal - b_count : 0;
  Index high = diagonal < a_count ? diagonal : a_count;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    // a[middle] is among the first `diagonal` elements unless b[diagonal - 1 - middle], the last
    // element of b that would be taken without it, is less.
    if (less(b[diagonal - 1 - middle], a[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// The same for an a of at most `Most` elements, for many searches in shared memory. The step sizes
/// are compile-time constants, which saves half of the instructions. They are not powers of two,
/// since the threads of a warp would then all probe the same banks.
template <int Most, class Key, class Less>
__host__ __device__ __forceinline__ int bounded_merge_path(const Key* a, int a_count, const Key* b,
                                                           int b_count, int diagonal, Less less) {
  const int low = diagonal > b_count ? diagonal - b_count : 0;
  int left = (diagonal < a_count ? diagonal : a_count) - low;  // the result is low + left at most
  // Places in bytes: an address is then a place plus a constant.
  constexpr int size = sizeof(Key);
  const auto at = [](const Key* keys, int place) {
    return *reinterpret_cast<const Key*>(reinterpret_cast<const char*>(keys) + place);
  };
  int a_place = low * size;
  int b_place = (diagonal - low) * size;
  const auto take = [&](int step) {
    if (step <= left && !less(at(b, b_place - step * size), at(a, a_place + (step - 1) * size))) {
      a_place += step * size;
      b_place -= step * size;
      left -= step;
    }
  };
  const auto take_all = [&]<int... i>(std::integer_sequence<int, i...>) {
    (take((Most >> (i + 1)) + 1), ...);
  };
  take_all(std::make_integer_sequence<int, std::bit_width(static_cast<unsigned>(Most))>{});
  return a_place / size;
}

}  // namespace warpath
