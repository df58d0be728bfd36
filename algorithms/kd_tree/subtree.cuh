// The last levels of the fast build: a block takes a segment's tuples into shared memory and
// finishes its subtree there, without sorting it.
//
//   depth     segments   of at most   served by
//   0                1   capacity     all warps: count keys in bins
//   1, 2, ...     2, 4   half, ...    half of them each, ...
//   log2 warps   warps   32 x items   a warp each, likewise
//   ...                  32           a warp, ranked by lanes
//   ...                  16, 8, ...   16, 8, ... lanes each, ranked
//
// The columns stay where they are; what moves are 16-bit numbers of tuples.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/key_order.cuh"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "kd_tree/columns.cuh"
#include "kd_tree/digit.cuh"
#include "kd_tree/tree.cuh"
#include "partitioners/levels.cuh"

namespace warpath::kd_tree::detail {

/// The most tuples in a bin that are compared each with all.
inline constexpr int most_compared = warp_threads;

/// How a segment is searched.
template <class C>
struct SegmentSearch {
  /// An unsigned integer of the size of C that atomics take.
  using Key = std::conditional_t<sizeof(C) == 4, unsigned, unsigned long long>;

  partitioners::Segment segment;
  Key least;  ///< of the keys that are cut into bins
  Key greatest;
  int word;  ///< of the superkey, which they are
};

/// Shared memory of a block; behind it lie the columns of `capacity` tuples.
template <class Shape, class C>
struct alignas(16) SubtreeStorage {
  static constexpr int most_segments = Shape::capacity / warp_threads;  ///< that a block splits
  static constexpr int bins_per_thread = Shape::items / 2;
  static constexpr int bins_count = bins_per_thread * Shape::threads;

  std::uint16_t tuples[2][Shape::capacity];  ///< by places, before a level and after it
  std::uint32_t references[Shape::capacity];
  std::uint32_t bins[bins_count + 1];  ///< counts; then how many are in the bins before
  std::uint32_t sums[Shape::warps];
  SegmentSearch<C> searches[most_segments];
};
template <class Shape, class C>
constexpr std::size_t subtree_bytes(int dimensions) {
  return sizeof(SubtreeStorage<Shape, C>) +
         static_cast<std::size_t>(dimensions) * Shape::capacity * sizeof(OrderedBits<C>);
}

/// A block's tuples.
template <class Shape, class C>
struct LocalTuples {
  const OrderedBits<C>* bits;
  const std::uint32_t* references;
  int dimensions;

  /// Word k of the superkey of a tuple.
  [[nodiscard]] __device__ __forceinline__ OrderedBits<C> key(int tuple, int primary, int k) const {
    if (k == dimensions) return references[tuple];
    return bits[superkey_word(dimensions, primary, k) * Shape::capacity + tuple];
  }
  /// By superkey, the first k words of which are known to tie.
  [[nodiscard]] __device__ __forceinline__ bool comes_before(int a, int b, int primary,
                                                             int k) const {
    for (; k <= dimensions; ++k) {
      const auto key_a = key(a, primary, k);
      const auto key_b = key(b, primary, k);
      if (key_a != key_b) return key_a < key_b;
    }
    return false;
  }
};

/// Segment `number` of a depth of a subtree of `count` tuples: empty where the subtree does not
/// reach that deep.
__device__ __forceinline__ partitioners::Segment segment_of(std::uint32_t count, int depth,
                                                            std::uint32_t number) {
  partitioners::Segment segment{0, count};
  for (int bit = depth - 1; bit >= 0 && segment.count() > 0; --bit) {
    segment = (number >> bit & 1) != 0 ? segment.greater_side() : segment.less_side();
  }
  return segment;
}

/// A block's subtree: its tuples, and where its nodes go.
template <class Shape, class C>
struct Subtree {
  LocalTuples<Shape, C> local;
  std::uint32_t count;  ///< of tuples
  int level;            ///< of its root
  std::uint32_t entry;  ///< of its root
  std::uint32_t* medians;

  [[nodiscard]] __device__ __forceinline__ int primary(int depth) const {
    return (level + depth) % local.dimensions;
  }
  /// The node of segment `number` of a depth.
  __device__ __forceinline__ void store(int depth, std::uint32_t number, int tuple) const {
    const std::int64_t first = first_entry(level + depth) + (std::int64_t{entry} << depth);
    medians[first + number] = local.references[tuple];
  }

  /// Finishes a segment of at most 32 tuples, a lane each: ranks them by comparing each with all,
  /// then those of each side, and so on. One full warp.
  __device__ __forceinline__ void finish_by_lanes(int depth, std::uint32_t number,
                                                  std::uint16_t* tuples) const {
    using Bits = OrderedBits<C>;
    partitioners::Segment segment = segment_of(count, depth, number);
#pragma unroll
    for (int lanes = warp_threads, step = 0; lanes > 0; lanes /= 2, ++step) {
      // Each `lanes` lanes in a row have a segment; the first of them its tuples.
      const int size = static_cast<int>(segment.count());
      const int place = lane_index() % lanes;
      const bool exists = place < size;
      const int tuple = exists ? tuples[segment.begin + static_cast<unsigned>(place)] : 0;
      const Bits key =
          exists ? local.key(tuple, primary(depth + step), 0) : static_cast<Bits>(~Bits{0});
      int less = 0;
#pragma unroll
      for (int i = 0; i < lanes; ++i) {
        less += __shfl_sync(full_warp, key, i, lanes) < key ? 1 : 0;
      }
      // Ranks are places in another order, unless keys tie: then they are less.
      if (warp_sum(exists ? place - less : 0) != 0) {
        for (int i = 0; i < lanes; ++i) {
          const int other = __shfl_sync(full_warp, tuple, i, lanes);
          const Bits other_key = __shfl_sync(full_warp, key, i, lanes);
          if (exists && i < size && other_key == key &&
              local.comes_before(other, tuple, primary(depth + step), 1)) {
            ++less;
          }
        }
      }
      const int median = (size - 1) / 2;
      if (exists && less == median) {
        store(depth + step, (number << step) + static_cast<unsigned>(lane_index() / lanes), tuple);
      }
      __syncwarp();  // all tuples are read
      if (exists)
        tuples[segment.begin + static_cast<unsigned>(less)] = static_cast<std::uint16_t>(tuple);
      __syncwarp();  // and sorted
      if (size > 0) {
        segment = place < lanes / 2 ? segment.less_side() : segment.greater_side();
      }
    }
  }
};

/// Adds the key of this thread's tuple, if it takes part, to the range of its segment. One full
/// warp, whose tuples are mostly of one segment.
template <class C>
__device__ __forceinline__ void warp_extend_range(SegmentSearch<C>* searches, bool takes_part,
                                                  int segment, OrderedBits<C> key) {
  using Bits = OrderedBits<C>;
  const unsigned lanes = __ballot_sync(full_warp, takes_part);
  if (lanes == 0) return;
  const int first = __shfl_sync(full_warp, segment, __ffs(static_cast<int>(lanes)) - 1);
  const bool is_one = __all_sync(full_warp, !takes_part || segment == first) != 0;
  Bits least = key;
  Bits greatest = key;
  if (is_one) {
    least = warp_min(takes_part ? key : static_cast<Bits>(~Bits{0}));
    greatest = warp_max(takes_part ? key : Bits{0});
  }
  if (is_one ? lane_index() == 0 : takes_part) {
    SegmentSearch<C>& search = searches[is_one ? first : segment];
    atomicMin(&search.least, static_cast<typename SegmentSearch<C>::Key>(least));
    atomicMax(&search.greatest, static_cast<typename SegmentSearch<C>::Key>(greatest));
  }
}

/// Turns the counts of bins into how many are in the bins before each. The whole block; ends with a
/// barrier.
template <class Shape, class C>
__device__ __forceinline__ void block_scan_bins(SubtreeStorage<Shape, C>& shared) {
  constexpr int own = SubtreeStorage<Shape, C>::bins_per_thread;
  std::uint32_t* const bins = shared.bins + own * threadIdx.x;
  std::uint32_t counts[own];
  std::uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < own; ++i) {
    counts[i] = bins[i];
    sum += counts[i];
  }
  const std::uint32_t through = warp_inclusive_sum(sum);
  if (lane_index() == warp_threads - 1) shared.sums[warp_index()] = through;
  __syncthreads();  // the sums of all warps are there
  std::uint32_t before =
      warp_sum(lane_index() < warp_index() ? shared.sums[lane_index()] : 0u) + through - sum;
#pragma unroll
  for (int i = 0; i < own; ++i) {
    bins[i] = before;
    before += counts[i];
  }
  if (threadIdx.x == Shape::threads - 1) bins[own] = before;
  __syncthreads();  // the bins begin where they say
}

/// Splits all segments of a depth, 2^depth of more than 32 tuples, from `from` to `to`: what is
/// less than a segment's median goes before its place, what is greater after it. segments: of this
/// thread's places, -1 where there is none; those of the next depth in the end. The whole block;
/// ends with a barrier.
///
/// The range of a segment's keys is cut into bins, as many as its share of the block's; tuples go
/// to the places of their bins, in any order. In the bin that has the median's place, each tuple is
/// compared with all; where there are many, their range is cut into bins again, or, if they have
/// the same key, that of the superkey's next word.
template <class Shape, class C>
__device__ __forceinline__ void block_split(SubtreeStorage<Shape, C>& shared,
                                            const Subtree<Shape, C>& subtree, int depth,
                                            const std::uint16_t* from, std::uint16_t* to,
                                            int (&segments)[Shape::items]) {
  using Bits = OrderedBits<C>;
  using Storage = SubtreeStorage<Shape, C>;
  const LocalTuples<Shape, C>& local = subtree.local;
  const int primary = subtree.primary(depth);
  const int bins_each = Storage::bins_count >> depth;
  const auto place_of = [](int t) { return static_cast<int>(threadIdx.x) + t * Shape::threads; };
  const bool has_search = threadIdx.x < 1u << depth;
  const auto clear = [&] {
#pragma unroll
    for (int i = 0; i < Storage::bins_per_thread; ++i) shared.bins[place_of(i)] = 0;
    if (has_search) {
      shared.searches[threadIdx.x].least = static_cast<typename SegmentSearch<C>::Key>(~0ull);
      shared.searches[threadIdx.x].greatest = 0;
    }
  };
  if (has_search) {
    shared.searches[threadIdx.x].segment = segment_of(subtree.count, depth, threadIdx.x);
    shared.searches[threadIdx.x].word = 0;
  }
  clear();
  __syncthreads();  // bins and ranges are empty, segments known

  int tuples[Shape::items] = {};
  int begins[Shape::items] = {};  // of what is cut into bins
  unsigned open = 0;              // bit t: where tuple t goes is not known
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    if (segments[t] < 0) continue;
    tuples[t] = from[place_of(t)];
    begins[t] = static_cast<int>(shared.searches[segments[t]].segment.begin);
    open |= 1u << t;
  }
  for (bool is_any_left = true; is_any_left;) {
    Bits keys[Shape::items] = {};
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      const bool is_open = (open >> t & 1) != 0;
      if (is_open) keys[t] = local.key(tuples[t], primary, shared.searches[segments[t]].word);
      warp_extend_range(shared.searches, is_open, segments[t], keys[t]);
    }
    __syncthreads();  // the ranges are known
    std::uint32_t bins[Shape::items] = {};
    std::uint32_t numbers[Shape::items] = {};  // in the bin
    unsigned is_last = 0;                      // bit t: the bin has one key only
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      if ((open >> t & 1) == 0) continue;
      const SegmentSearch<C>& search = shared.searches[segments[t]];
      const Digit<Bits> digit(search.least, search.greatest, bins_each);
      bins[t] = static_cast<unsigned>(segments[t] * bins_each) + digit.bin(keys[t]);
      numbers[t] = atomicAdd(&shared.bins[bins[t]], 1u);
      if (digit.is_last()) is_last |= 1u << t;
    }
    __syncthreads();  // all keys are counted
    block_scan_bins(shared);

    int ends[Shape::items] = {};
    unsigned listed = 0;  // bit t: tuple t is compared with all of its bin
    bool is_left = false;
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      if ((open >> t & 1) == 0) continue;
      SegmentSearch<C>& search = shared.searches[segments[t]];
      const int origin = begins[t] - static_cast<int>(shared.bins[segments[t] * bins_each]);
      begins[t] = origin + static_cast<int>(shared.bins[bins[t]]);
      ends[t] = origin + static_cast<int>(shared.bins[bins[t] + 1]);
      to[begins[t] + static_cast<int>(numbers[t])] = static_cast<std::uint16_t>(tuples[t]);
      const auto median = static_cast<int>(search.segment.median());
      if (median < begins[t] || median >= ends[t]) {
        open &= ~(1u << t);
      } else if (ends[t] - begins[t] <= most_compared) {
        listed |= 1u << t;
      } else {
        is_left = true;
        if (numbers[t] == 0 && (is_last >> t & 1) != 0) ++search.word;
      }
    }
    is_any_left = __syncthreads_or(is_left ? 1 : 0) != 0;  // all are in the places of their bins
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      if ((listed >> t & 1) == 0) continue;
      const int word = shared.searches[segments[t]].word;
      int place = begins[t];
      for (int other = begins[t]; other < ends[t]; ++other) {
        place += local.comes_before(to[other], tuples[t], primary, word) ? 1 : 0;
      }
      begins[t] = place;
    }
    if (is_any_left) clear();
    __syncthreads();  // all are compared
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      if ((listed >> t & 1) == 0) continue;
      to[begins[t]] = static_cast<std::uint16_t>(tuples[t]);
      if (begins[t] == static_cast<int>(shared.searches[segments[t]].segment.median())) {
        subtree.store(depth, static_cast<unsigned>(segments[t]), tuples[t]);
      }
    }
    open &= ~listed;
  }
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    if (segments[t] < 0) continue;
    const auto median = static_cast<int>(shared.searches[segments[t]].segment.median());
    segments[t] = place_of(t) == median ? -1 : 2 * segments[t] + (place_of(t) > median ? 1 : 0);
  }
  __syncthreads();  // all tuples are in their places
}

/// Finishes the subtrees of all segments of a level, a block each: writes their nodes to the median
/// stores, from that level's on. Segments have at most Shape::capacity tuples.
template <class Shape, class C>
__global__ void __launch_bounds__(Shape::threads)
    finish_subtrees_kernel(TupleColumns<C> in, partitioners::Level level, std::uint32_t* medians) {
  auto& shared = dynamic_shared<SubtreeStorage<Shape, C>>();
  const partitioners::Segment segment = level.segment(blockIdx.x);
  const auto count = static_cast<int>(segment.count());
  auto* const bits = reinterpret_cast<OrderedBits<C>*>(&shared + 1);
  for (auto i = static_cast<int>(threadIdx.x); i < count; i += Shape::threads) {
    for (int k = 0; k < in.dimensions; ++k) {
      bits[k * Shape::capacity + i] = in.column(k)[segment.begin + static_cast<unsigned>(i)];
    }
    shared.references[i] = in.references[segment.begin + static_cast<unsigned>(i)];
    shared.tuples[0][i] = static_cast<std::uint16_t>(i);
  }
  __syncthreads();  // the tuples are there
  const LocalTuples<Shape, C> local{bits, shared.references, in.dimensions};
  const Subtree<Shape, C> subtree{local, segment.count(), level.number, blockIdx.x, medians};
  int segments[Shape::items];
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    segments[t] = static_cast<int>(threadIdx.x) + t * Shape::threads < count ? 0 : -1;
  }
  int depth = 0;
  for (; partitioners::Level{segment.count(), depth}.largest_segment() > warp_threads; ++depth) {
    block_split(shared, subtree, depth, shared.tuples[depth % 2], shared.tuples[1 - depth % 2],
                segments);
  }
  for (auto number = static_cast<std::uint32_t>(warp_index()); number < 1u << depth;
       number += Shape::warps) {
    subtree.finish_by_lanes(depth, number, shared.tuples[depth % 2]);
  }
}

}  // namespace warpath::kd_tree::detail
