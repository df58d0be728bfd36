// Biased binary search: the first splits lie close to the end, because that is where the answer is
// expected. Functions of one thread, on the host and on the device.
//
// Source: S. Baxter, "Modern GPU 1.1", NVIDIA Research 2013, https://moderngpu.github.io/ ,
// "Multisets", BinarySearchIt and BiasedBinarySearch. Balanced path asks where a run of duplicates
// begins that ends right where the searched range ends: if runs are short, a split at 511/512
// leaves a 512th of the range, for which a search by halves needs nine steps.
//
//   level   4        3        2      1      then
//   split   511/512  127/128  31/32  15/16  1/2 until nothing is left
//
// A split that fails costs a step and leaves nearly all of the range: for long runs the bias loses.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace warpath {

/// What is searched: the first element that is not less than the key (std::lower_bound), or the
/// first that is greater (std::upper_bound).
enum class Bound { lower, upper };

/// The most biased steps of a search.
inline constexpr int max_bias_levels = 4;
/// In shared memory, where ranges are short and probes cheap, the source takes 2 levels, in global
/// memory 4.
inline constexpr int shared_bias_levels = 2;
inline constexpr int global_bias_levels = 4;

/// One step: splits [begin, end), which is not empty, at (2^shift - 1)/2^shift, compares, and keeps
/// the side with the answer. `Wide` must hold 2^shift * end: 64 bits, unless the range is short.
template <Bound bound, class Wide, class Data, class Index, class Key, class Less>
__host__ __device__ __forceinline__ void binary_search_step(Data data, Index& begin, Index& end,
                                                            const Key& key, int shift, Less less) {
  const Wide scale = (Wide{1} << shift) - 1;
  const auto middle =
      static_cast<Index>((static_cast<Wide>(begin) + scale * static_cast<Wide>(end)) >> shift);
  const bool is_after = bound == Bound::upper ? !less(key, data[middle]) : less(data[middle], key);
  if (is_after) {
    begin = middle + 1;
  } else {
    end = middle;
  }
}

/// The bound of `key` among data[0, count), sorted by `less`; `count` if there is none. `levels`: 0
/// (by halves alone) to 4 biased steps first. `data` is a pointer, or any type with an operator[].
template <Bound bound, class Wide = std::int64_t, class Data, class Index, class Key, class Less>
__host__ __device__ __forceinline__ Index biased_search(Data data, Index count, const Key& key,
                                                        int levels, Less less) {
  Index begin = 0;
  Index end = count;
  const auto step = [&](int shift) {
    binary_search_step<bound, Wide>(data, begin, end, key, shift, less);
  };
  if (levels >= 4 && begin < end) step(9);
  if (levels >= 3 && begin < end) step(7);
  if (levels >= 2 && begin < end) step(5);
  if (levels >= 1 && begin < end) step(4);
  while (begin < end) step(1);
  return begin;
}

}  // namespace warpath
