// Merge path: where a cross-diagonal meets the path of a merge, so that any number of workers merge
// equal parts.
//
// Source: O. Green, R. McColl, D. Bader, "GPU Merge Path: A GPU Merging Algorithm", ICS 2012. The
// path walks through the matrix of a x b, right with every element that it takes from a, down with
// every one from b. Cross-diagonal d is where d elements have been taken; a binary search along it
// finds how many of them came from a.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <utility>

namespace warpath {

/// The natural numbers from 0 on, as a sorted sequence to merge with.
template <class T>
struct Naturals {
  __host__ __device__ __forceinline__ T operator[](T i) const { return i; }
};

/// Of the first `diagonal` elements of the stable merge of a and b (a's before b's, where equal),
/// how many come from a. a and b are sorted by `less`; 0 <= diagonal <= a_count + b_count. Takes
/// log2(min(a_count, b_count)) steps. a and b are pointers, or whatever has an operator[].
template <class A, class B, class Index, class Less>
__host__ __device__ __forceinline__ Index merge_path(A a, Index a_count, B b, Index b_count,
                                                     Index diagonal, Less less) {
  Index low = diagonal > b_count ? diagonal - b_count : 0;
  Index high = diagonal < a_count ? diagonal : a_count;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    // Is a[middle] among the first `diagonal`? Then it comes before the last of b's that would be
    // taken without it.
    if (less(b[diagonal - 1 - middle], a[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// The same where a has `Most` elements at most, for many searches in shared memory: the steps are
/// constants, and so half of the instructions. They are not powers of two, by which the threads of
/// a warp would all probe the same banks.
template <int Most, class Key, class Less>
__host__ __device__ __forceinline__ int bounded_merge_path(const Key* a, int a_count, const Key* b,
                                                           int b_count, int diagonal, Less less) {
  const int low = diagonal > b_count ? diagonal - b_count : 0;
  int left = (diagonal < a_count ? diagonal : a_count) - low;  // the answer lies so far on at most
  // In bytes, so that a place is an address but for a constant.
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
