// The last levels of the fast build: a block takes a segment's tuples into shared memory and
// finishes its subtree there, without sorting it.
//
//   depth 0, 1, ...   all segments at once: their keys are counted in bins, tuples go to the places
//                     of their bins, and those in the bin of a median are compared with each other
//   of 8 tuples       a thread each: ranks them by comparing each two, and so on
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
/// The most tuples of a segment that one thread finishes.
inline constexpr int most_of_thread = 8;

/// Shared memory of a block; behind it lie the columns of `capacity` tuples. Ranges of places are
/// written as their begin, and their end times 2^16.
template <class Shape, class C>
struct alignas(16) SubtreeStorage {
  static constexpr int most_segments = Shape::capacity / most_of_thread;  ///< that a block splits
  static constexpr int bins_per_thread = Shape::items / 2;
  static constexpr int bins_count = bins_per_thread * Shape::threads;
  /// An unsigned integer of the size of C that atomics take.
  using Key = std::conditional_t<sizeof(C) == 4, unsigned, unsigned long long>;

  // Of each segment: the range of the keys that are cut into bins, which word of the superkey they
  // are, the segment's places, and those of the bin that has its median.
  Key least[most_segments];
  Key greatest[most_segments];
  std::uint32_t places[most_segments];
  std::uint32_t of_median[most_segments];
  std::uint8_t words[most_segments];

  std::uint16_t tuples[2][Shape::capacity];  ///< by places, before a level and after it
  std::uint32_t bins[bins_count + 1];        ///< counts; then how many are in the bins before
  std::uint32_t sums[Shape::warps];
  std::uint32_t listed;  ///< tuples that are compared with all of their bin
};
template <class Shape, class C>
constexpr std::size_t subtree_bytes(int dimensions) {
  return sizeof(SubtreeStorage<Shape, C>) +
         static_cast<std::size_t>(dimensions) * Shape::capacity * sizeof(OrderedBits<C>);
}

/// A block's tuples.
template <class Shape, class C>
struct LocalTuples {
  const OrderedBits<C>* bits;       ///< in shared memory
  const std::uint32_t* references;  ///< in global memory, since hardly any but nodes' are needed
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
/// The segment of a depth that a place lies in, which is no median's above.
__device__ __forceinline__ std::uint32_t segment_of_place(std::uint32_t count, int depth,
                                                          std::uint32_t place) {
  partitioners::Segment segment{0, count};
  std::uint32_t number = 0;
  for (int above = 0; above < depth; ++above) {
    const bool is_greater = place > segment.median();
    segment = is_greater ? segment.greater_side() : segment.less_side();
    number = 2 * number + (is_greater ? 1 : 0);
  }
  return number;
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

  /// Finishes a segment of at most `Most` tuples: ranks them by comparing each two, then those of
  /// each side, and so on. One thread.
  template <int Most>
  __device__ __forceinline__ void finish_by_thread(int depth, std::uint32_t number,
                                                   partitioners::Segment segment,
                                                   std::uint16_t* tuples) const {
    const auto size = static_cast<int>(segment.count());
    if (size == 0) return;
    if constexpr (Most > 1) {
      int own[Most];
      OrderedBits<C> keys[Most];
      int ranks[Most] = {};
#pragma unroll
      for (int i = 0; i < Most; ++i) {
        if (i >= size) continue;
        own[i] = tuples[segment.begin + static_cast<unsigned>(i)];
        keys[i] = local.key(own[i], primary(depth), 0);
      }
#pragma unroll
      for (int i = 0; i < Most; ++i) {
#pragma unroll
        for (int j = 0; j < i; ++j) {
          if (i >= size) continue;
          const bool is_less = keys[i] == keys[j]
                                   ? local.comes_before(own[i], own[j], primary(depth), 1)
                                   : keys[i] < keys[j];
          ranks[i] += is_less ? 0 : 1;
          ranks[j] += is_less ? 1 : 0;
        }
      }
#pragma unroll
      for (int i = 0; i < Most; ++i) {
        if (i >= size) continue;
        tuples[segment.begin + static_cast<unsigned>(ranks[i])] =
            static_cast<std::uint16_t>(own[i]);
      }
    }
    store(depth, number, tuples[segment.median()]);
    if constexpr (Most > 2) {
      finish_by_thread<(Most - 1) / 2>(depth + 1, 2 * number, segment.less_side(), tuples);
    }
    if constexpr (Most > 1) {
      finish_by_thread<Most / 2>(depth + 1, 2 * number + 1, segment.greater_side(), tuples);
    }
  }
};

/// The least and the greatest key of each segment. takes_part: whether this thread's tuple is one
/// of those; segment: its own. One full warp, whose tuples are mostly of one segment.
template <class Storage, class Bits>
__device__ __forceinline__ void warp_extend_range(Storage& shared, bool takes_part, int segment,
                                                  Bits key) {
  using Key = typename Storage::Key;
  const int first = __shfl_sync(full_warp, segment, 0);
  const bool is_one = __all_sync(full_warp, takes_part && segment == first) != 0;
  Bits least = key;
  Bits greatest = key;
  if (is_one) {
    least = warp_min(key);
    greatest = warp_max(key);
  }
  if (is_one ? lane_index() == 0 : takes_part) {
    atomicMin(&shared.least[segment], static_cast<Key>(least));
    atomicMax(&shared.greatest[segment], static_cast<Key>(greatest));
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

/// Splits all segments of a depth, 2^depth, from `from` to `to`: what is less than a segment's
/// median goes before its place, what is greater after it. segments: of this thread's places, -1
/// where there is none; those of the next depth in the end. `from` is lost. The whole block; ends
/// with a barrier.
///
/// The range of a segment's keys is cut into bins, as many as its share of the block's; tuples go
/// to the places of their bins, in any order. In the bin that has the median's place, each tuple is
/// compared with all; where there are many, their range is cut into bins again, or, if they have
/// the same key, that of the superkey's next word.
template <class Shape, class C>
__device__ __forceinline__ void block_split(SubtreeStorage<Shape, C>& shared,
                                            const Subtree<Shape, C>& subtree, int depth,
                                            std::uint16_t* from, std::uint16_t* to,
                                            int (&segments)[Shape::items]) {
  using Bits = OrderedBits<C>;
  using Storage = SubtreeStorage<Shape, C>;
  static_assert(Storage::most_segments <= Shape::threads);
  const LocalTuples<Shape, C>& local = subtree.local;
  const int primary = subtree.primary(depth);
  const int bins_each = Storage::bins_count >> depth;
  const auto place_of = [](int t) { return static_cast<int>(threadIdx.x) + t * Shape::threads; };
  const auto packed = [](int begin, int end) {
    return static_cast<unsigned>(begin) | static_cast<unsigned>(end) << 16;
  };
  const auto clear = [&] {
#pragma unroll
    for (int i = 0; i < Storage::bins_per_thread; ++i) shared.bins[place_of(i)] = 0;
    if (threadIdx.x >= 1u << depth) return;
    shared.least[threadIdx.x] = static_cast<typename Storage::Key>(~0ull);
    shared.greatest[threadIdx.x] = 0;
  };
  if (threadIdx.x < 1u << depth) {
    const partitioners::Segment segment = segment_of(subtree.count, depth, threadIdx.x);
    shared.places[threadIdx.x] =
        packed(static_cast<int>(segment.begin), static_cast<int>(segment.end));
    shared.words[threadIdx.x] = 0;
  }
  if (threadIdx.x == 0) shared.listed = 0;
  clear();
  __syncthreads();  // bins and ranges are empty, segments known

  int tuples[Shape::items] = {};
  int begins[Shape::items] = {};   // of what is cut into bins
  int medians[Shape::items] = {};  // places
  unsigned open = 0;               // bit t: where tuple t goes is not known
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    if (segments[t] < 0) continue;
    tuples[t] = from[place_of(t)];
    const std::uint32_t places = shared.places[segments[t]];
    begins[t] = static_cast<int>(places & 0xFFFF);
    medians[t] = begins[t] + (static_cast<int>(places >> 16) - begins[t] - 1) / 2;
    open |= 1u << t;
  }
  std::uint16_t* const list =
      from;  // of places; all of its tuples are read before the next barrier
  const auto is_open = [&](int t) { return (open >> t & 1) != 0; };
  bool is_any_left = true;
  for (int round = 0; is_any_left; ++round) {
    Bits keys[Shape::items] = {};
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      if (is_open(t)) {
        const int word = round == 0 ? 0 : shared.words[segments[t]];
        keys[t] = local.key(tuples[t], primary, word);
      }
      warp_extend_range(shared, is_open(t), segments[t], keys[t]);
    }
    __syncthreads();  // the ranges are known
    std::uint32_t bins[Shape::items] = {};
    std::uint32_t numbers[Shape::items] = {};  // in the bin
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      if (!is_open(t)) continue;
      const Digit<Bits> digit(shared.least[segments[t]], shared.greatest[segments[t]], bins_each);
      bins[t] = static_cast<unsigned>(segments[t] * bins_each) + digit.bin(keys[t]);
      numbers[t] = atomicAdd(&shared.bins[bins[t]], 1u);
    }
    __syncthreads();  // all keys are counted
    block_scan_bins(shared);

    bool is_left = false;
    unsigned listed = 0;
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      if (!is_open(t)) continue;
      const int origin = begins[t] - static_cast<int>(shared.bins[segments[t] * bins_each]);
      begins[t] = origin + static_cast<int>(shared.bins[bins[t]]);
      const int end = origin + static_cast<int>(shared.bins[bins[t] + 1]);
      to[begins[t] + static_cast<int>(numbers[t])] = static_cast<std::uint16_t>(tuples[t]);
      if (medians[t] < begins[t] || medians[t] >= end) {
        open &= ~(1u << t);
      } else if (end - begins[t] <= most_compared) {
        open &= ~(1u << t);
        listed |= 1u << t;
        shared.of_median[segments[t]] = packed(begins[t], end);
      } else {
        is_left = true;
        if (numbers[t] == 0 &&
            Digit<Bits>(shared.least[segments[t]], shared.greatest[segments[t]], bins_each)
                .is_last()) {
          ++shared.words[segments[t]];
        }
      }
    }
    const unsigned own = static_cast<unsigned>(__popc(listed));
    const unsigned through = warp_inclusive_sum(own);
    std::uint32_t next = 0;
    if (lane_index() == warp_threads - 1 && through > 0) next = atomicAdd(&shared.listed, through);
    next = __shfl_sync(full_warp, next, warp_threads - 1) + through - own;
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      if ((listed >> t & 1) == 0) continue;
      list[next++] = static_cast<std::uint16_t>(begins[t] + static_cast<int>(numbers[t]));
    }
    is_any_left = __syncthreads_or(is_left ? 1 : 0) != 0;  // all are in the places of their bins
    if (is_any_left) {
      clear();
      __syncthreads();  // for the next round
    }
  }

  // Tuples in the bins of medians: a thread each.
  const auto count = static_cast<int>(shared.listed);
  int places[Shape::items];
  int found[Shape::items];
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    if (place_of(t) >= count) continue;
    const int place = list[place_of(t)];
    const auto segment =
        static_cast<int>(segment_of_place(subtree.count, depth, static_cast<unsigned>(place)));
    const std::uint32_t of_median = shared.of_median[segment];
    const auto begin = static_cast<int>(of_median & 0xFFFF);
    const auto end = static_cast<int>(of_median >> 16);
    found[t] = to[place];
    places[t] = begin;
    for (int other = begin; other < end; ++other) {
      places[t] += local.comes_before(to[other], found[t], primary, shared.words[segment]) ? 1 : 0;
    }
    const std::uint32_t of_segment = shared.places[segment];
    const auto first = static_cast<int>(of_segment & 0xFFFF);
    if (places[t] == first + (static_cast<int>(of_segment >> 16) - first - 1) / 2) {
      subtree.store(depth, static_cast<unsigned>(segment), found[t]);
    }
  }
  __syncthreads();  // all are compared
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    if (place_of(t) < count) to[places[t]] = static_cast<std::uint16_t>(found[t]);
    if (segments[t] < 0) continue;
    const int place = place_of(t);
    segments[t] = place == medians[t] ? -1 : 2 * segments[t] + (place > medians[t] ? 1 : 0);
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
    shared.tuples[0][i] = static_cast<std::uint16_t>(i);
  }
  __syncthreads();  // the tuples are there
  const LocalTuples<Shape, C> local{bits, in.references + segment.begin, in.dimensions};
  const Subtree<Shape, C> subtree{local, segment.count(), level.number, blockIdx.x, medians};
  int segments[Shape::items];
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    segments[t] = static_cast<int>(threadIdx.x) + t * Shape::threads < count ? 0 : -1;
  }
  int depth = 0;
  for (; partitioners::Level{segment.count(), depth}.largest_segment() > most_of_thread; ++depth) {
    block_split(shared, subtree, depth, shared.tuples[depth % 2], shared.tuples[1 - depth % 2],
                segments);
  }
  for (std::uint32_t number = threadIdx.x; number < 1u << depth; number += Shape::threads) {
    subtree.template finish_by_thread<most_of_thread>(
        depth, number, segment_of(segment.count(), depth, number), shared.tuples[depth % 2]);
  }
}

}  // namespace warpath::kd_tree::detail
