// Balanced path: where to cut two sorted inputs so that both parts of every key-rank match fall on
// the same side. Functions of one thread, on the host and on the device.
//
// Source: S. Baxter, "Modern GPU 1.1", NVIDIA Research 2013, https://moderngpu.github.io/ ,
// "Multisets", BalancedPath. Elements are ranked by how many equal ones came before in their own
// input. Merge path takes all of A's run
// of a key before B's; the balanced path takes A's and B's in turn, rank by rank, until one is at
// an end:
//
//   A: 6 6 6 6   B: 6 6    merge path     a0 a1 a2 a3 b0 b1
//                          balanced path  a0 b0 a1 b1 a2 a3
//
// A cross-diagonal that would cut between an element of A and its match in B (after a0 or a1 above)
// is starred: the part on its left also takes the match. Parts differ by one element from equal.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/biased_search.cuh"
#include "core/merge_path.cuh"

namespace warpath::balanced_path_sets {

/// Where a cross-diagonal meets the balanced path: on its left are a elements of A and
/// `b(diagonal)` of B.
template <class Index>
struct PathPoint {
  Index a;
  bool is_starred;

  [[nodiscard]] __host__ __device__ Index b(Index diagonal) const {
    return diagonal - a + (is_starred ? 1 : 0);
  }
};

namespace detail {

/// Where the run of `key` begins that ends before data[end], as the source finds it. Most runs are
/// short, so the last element is compared first: is there a run at all? Wide: type of the search's
/// sums.
template <class Wide = std::int64_t>
struct BiasedRunBegin {
  int levels;

  template <class Data, class Index, class Key, class Less>
  __host__ __device__ __forceinline__ Index operator()(Data data, Index end, const Key& key,
                                                       Less less) const {
    if (end == 0 || less(data[end - 1], key)) return end;
    return biased_search<Bound::lower, Wide>(data, static_cast<Index>(end - 1), key, levels, less);
  }
};

/// The same by galloping: steps of 1, 2, 4, ... until one leads out of the run, then back through
/// the same steps. Takes 2 log2(length) steps of few instructions, whatever lies before the run.
struct GallopingRunBegin {
  template <class Data, class Index, class Key, class Less>
  __host__ __device__ __forceinline__ Index operator()(Data data, Index end, const Key& key,
                                                       Less less) const {
    Index step = 1;
    while (end > 0) {
      const Index next = end > step ? end - step : 0;
      if (less(data[next], key)) break;
      end = next;
      step *= 2;
    }
    // The run reaches less than a step further.
    for (step = end > 0 ? step / 2 : 0; step > 0; step /= 2) {
      const Index next = end > step ? end - step : 0;
      if (!less(data[next], key)) end = next;
    }
    return end;
  }
};

/// The point of cross-diagonal `diagonal`, where merge path has taken a_merged elements of a.
/// `Duplicates` and Wide as for balanced_path.
template <bool Duplicates, class Wide = std::int64_t, class A, class B, class Index, class RunBegin,
          class Less>
__host__ __device__ __forceinline__ PathPoint<Index> balance(A a, Index a_merged, B b,
                                                             Index b_count, Index diagonal,
                                                             RunBegin run_begin, Less less) {
  const Index b_merged = diagonal - a_merged;
  if (b_merged >= b_count) return {a_merged, false};
  // A run that the diagonal cuts has the key that B would give next, since A gives its part first.
  const auto key = b[b_merged];
  if constexpr (!Duplicates) return {a_merged, a_merged > 0 && !less(a[a_merged - 1], key)};

  // The paths part where the run begins in both inputs.
  const Index a_begin = run_begin(a, a_merged, key, less);
  const Index a_run = a_merged - a_begin;    // as far as merge path has got
  if (a_run == 0) return {a_merged, false};  // nothing that could have been taken in turn
  const Index b_begin = run_begin(b, b_merged, key, less);
  const Index run = a_run + b_merged - b_begin;

  // From there on both advance by as much, unless A's run is too short, or B's is.
  Index b_advance = run / 2 > run - a_run ? run / 2 : run - a_run;
  const Index b_reach = b_begin + b_advance + 1 < b_count ? b_begin + b_advance + 1 : b_count;
  const Index b_end = b_merged + biased_search<Bound::upper, Wide>(
                                     b + b_merged, static_cast<Index>(b_reach - b_merged), key,
                                     /*levels=*/0, less);
  const Index b_run = b_end - b_begin;
  if (b_advance > b_run) b_advance = b_run;
  const Index a_advance = run - b_advance;
  return {a_begin + a_advance, a_advance == b_advance + 1 && b_advance < b_run};
}

}  // namespace detail

/// The point of cross-diagonal `diagonal`, 0 <= diagonal <= a_count + b_count. a and b are sorted
/// by `less`; without `Duplicates` no key may occur twice in one of them. levels: of the biased
/// searches for the begins of runs, 2 in shared memory, 4 in global memory; Wide: their type of
/// sums.
template <bool Duplicates, class Wide = std::int64_t, class A, class B, class Index, class Less>
__host__ __device__ __forceinline__ PathPoint<Index> balanced_path(A a, Index a_count, B b,
                                                                   Index b_count, Index diagonal,
                                                                   int levels, Less less) {
  const Index a_merged = merge_path(a, a_count, b, b_count, diagonal, less);
  return detail::balance<Duplicates, Wide>(a, a_merged, b, b_count, diagonal,
                                           detail::BiasedRunBegin<Wide>{levels}, less);
}

/// A PathPoint in one word, for any counts below 2^62: 2 a, and 1 if it is starred.
[[nodiscard]] __host__ __device__ inline std::int64_t packed(const PathPoint<std::int64_t>& point) {
  return 2 * point.a + (point.is_starred ? 1 : 0);
}
[[nodiscard]] __host__ __device__ inline PathPoint<std::int64_t> unpacked(std::int64_t word) {
  return {word / 2, word % 2 != 0};
}

}  // namespace warpath::balanced_path_sets
