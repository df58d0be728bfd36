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

#include "core/bits.cuh"
#include "core/hopper.cuh"
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

/// A segment that is searched for its median.
template <class C>
struct SegmentSearch {
  OrderedBits<C> least;     ///< a bound of the keys that are cut into bins
  std::uint8_t shift;       ///< a bin has 2^shift values
  std::uint8_t word;        ///< which of the superkey the keys are
  std::uint16_t first;      ///< of the segment's places
  std::uint16_t begin;      ///< of the places of what is cut into bins
  std::uint16_t median;     ///< its place
  std::uint16_t bin;        ///< that has the median's place,
  std::uint16_t bin_begin;  ///< and its places
  std::uint16_t bin_end;

  /// Searches among the keys from `least_key` to `greatest`.
  __device__ __forceinline__ void begin_word(int number, OrderedBits<C> least_key,
                                             OrderedBits<C> greatest, int bins) {
    least = least_key;
    shift = static_cast<std::uint8_t>(Digit<OrderedBits<C>>(least, greatest, bins).shift);
    word = static_cast<std::uint8_t>(number);
  }
  /// Whether the bin is so small that its tuples are compared with each other.
  [[nodiscard]] __device__ __forceinline__ bool is_found() const {
    return bin_end - bin_begin <= most_compared;
  }
  [[nodiscard]] __device__ __forceinline__ unsigned bin_of(OrderedBits<C> key) const {
    return static_cast<unsigned>((key - least) >> shift);
  }
};

/// Shared memory of a block; behind it lie the columns of `capacity` tuples.
template <class Shape, class C>
struct alignas(16) SubtreeStorage {
  static constexpr int most_segments = Shape::capacity / most_of_thread;  ///< that a block splits
  static constexpr int bins_per_thread = Shape::items / 2;
  static constexpr int bins_count = bins_per_thread * Shape::threads;
  /// An unsigned integer of the size of C that atomics take.
  using Key = std::conditional_t<sizeof(C) == 4, unsigned, unsigned long long>;

  SegmentSearch<C> searches[most_segments];
  std::uint16_t nodes[2 * most_segments];    ///< entry i of a depth's 2^depth: 2^depth + i
  std::uint16_t tuples[2][Shape::capacity];  ///< by places, before a depth and after it
  std::uint32_t bins[bins_count + 1];        ///< counts; then how many are in the bins before
  std::uint32_t sums[Shape::warps];
  std::uint32_t listed;        ///< tuples that are compared with all of their bin
  Key least[most_dimensions];  ///< of all tuples, of each coordinate
  Key greatest[most_dimensions];
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

/// Bounds of the keys of segment `number` of a depth: those of the medians above that were by the
/// same coordinate.
template <class Shape, class C>
__device__ __forceinline__ void find_key_bounds(const SubtreeStorage<Shape, C>& shared,
                                                const LocalTuples<Shape, C>& local, int primary,
                                                int depth, std::uint32_t number,
                                                OrderedBits<C>& least, OrderedBits<C>& greatest) {
  least = shared.least[primary];
  greatest = shared.greatest[primary];
  for (int above = depth % local.dimensions; above < depth; above += local.dimensions) {
    const std::uint32_t path = number >> (depth - above - 1);  // the side below that median
    const int median = shared.nodes[(1u << above) + path / 2];
    (path % 2 == 0 ? greatest : least) = local.key(median, primary, 0);
  }
}

/// Begins to search in the bin that has a segment's median: by finer bins; or, if its keys are the
/// same, by the next word of the superkey.
template <class Shape, class C>
__device__ __forceinline__ void begin_next_search(const SubtreeStorage<Shape, C>& shared,
                                                  const LocalTuples<Shape, C>& local, int primary,
                                                  int bins, SegmentSearch<C>& search) {
  using Bits = OrderedBits<C>;
  search.begin = search.bin_begin;
  if (search.shift > 0) {
    const Bits least = search.least + (static_cast<Bits>(search.bin) << search.shift);
    search.begin_word(search.word, least, least + ((Bits{1} << search.shift) - 1), bins);
    return;
  }
  const int word = search.word + 1;
  if (word == local.dimensions) {
    search.begin_word(word, Bits{0}, Bits{0xFFFFFFFF}, bins);
  } else {
    const int coordinate = superkey_word(local.dimensions, primary, word);
    search.begin_word(word, shared.least[coordinate], shared.greatest[coordinate], bins);
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
  const bool has_search = threadIdx.x < 1u << depth;
  const auto clear_bins = [&] {
#pragma unroll
    for (int i = 0; i < Storage::bins_per_thread; ++i) shared.bins[place_of(i)] = 0;
  };
  if (has_search) {
    SegmentSearch<C>& search = shared.searches[threadIdx.x];
    const partitioners::Segment segment = segment_of(subtree.count, depth, threadIdx.x);
    search.first = static_cast<std::uint16_t>(segment.begin);
    search.begin = search.first;
    search.median = static_cast<std::uint16_t>(segment.median());
    Bits least = 0;
    Bits greatest = 0;
    find_key_bounds(shared, local, primary, depth, threadIdx.x, least, greatest);
    search.begin_word(0, least, greatest, bins_each);
  }
  if (threadIdx.x == 0) shared.listed = 0;
  clear_bins();
  __syncthreads();  // bins are empty, searches begun

  int tuples[Shape::items] = {};
  unsigned open = 0;  // bit t: where tuple t goes is not known
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    if (segments[t] < 0) continue;
    tuples[t] = from[place_of(t)];
    open |= 1u << t;
  }
  const Bits* const column = local.bits + primary * Shape::capacity;
  std::uint16_t* const list = from;  // of places; before it is written a barrier follows
  const auto is_open = [&](int t) { return (open >> t & 1) != 0; };
  bool is_any_left = true;
  for (bool is_first = true; is_any_left; is_first = false) {
    constexpr int shift = 16;
    static_assert(Storage::bins_count <= 1 << shift);
    std::uint32_t bins[Shape::items] = {};  // and, times 2^16, numbers in them
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      if (!is_open(t)) continue;
      const SegmentSearch<C>& search = shared.searches[segments[t]];
      const Bits key = is_first ? column[tuples[t]] : local.key(tuples[t], primary, search.word);
      bins[t] = static_cast<unsigned>(segments[t] * bins_each) + search.bin_of(key);
      bins[t] |= atomicAdd(&shared.bins[bins[t]], 1u) << shift;
    }
    __syncthreads();  // all keys are counted
    block_scan_bins(shared);

    unsigned listed = 0;
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      if (!is_open(t)) continue;
      SegmentSearch<C>& search = shared.searches[segments[t]];
      const std::uint32_t bin = bins[t] % (1u << shift);
      const std::uint32_t number = bins[t] >> shift;
      const auto first_bin = static_cast<std::uint32_t>(segments[t] * bins_each);
      const std::uint32_t origin = search.begin - shared.bins[first_bin];
      const std::uint32_t begin = origin + shared.bins[bin];
      const std::uint32_t end = origin + shared.bins[bin + 1];
      to[begin + number] = static_cast<std::uint16_t>(tuples[t]);
      bins[t] = begin + number;
      if (search.median < begin || search.median >= end) {
        open &= ~(1u << t);
        continue;
      }
      if (number == 0) {
        search.bin = static_cast<std::uint16_t>(bin - first_bin);
        search.bin_begin = static_cast<std::uint16_t>(begin);
        search.bin_end = static_cast<std::uint16_t>(end);
      }
      if (end - begin <= most_compared) {
        open &= ~(1u << t);
        listed |= 1u << t;
      }
    }
    const auto own = static_cast<unsigned>(__popc(listed));
    const unsigned through = warp_inclusive_sum(own);
    std::uint32_t next = 0;
    if (lane_index() == warp_threads - 1 && through > 0) next = atomicAdd(&shared.listed, through);
    next = __shfl_sync(full_warp, next, warp_threads - 1) + through - own;
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      if ((listed >> t & 1) != 0) list[next++] = static_cast<std::uint16_t>(bins[t]);
    }
    is_any_left = __syncthreads_or(open != 0 ? 1 : 0) != 0;  // all are in the places of their bins
    if (!is_any_left) break;
    if (has_search && !shared.searches[threadIdx.x].is_found()) {
      begin_next_search(shared, local, primary, bins_each, shared.searches[threadIdx.x]);
    }
    clear_bins();
    __syncthreads();  // bins are empty, searches begun
  }

  // Tuples in the bins of medians: a thread each.
  const auto count = static_cast<int>(shared.listed);
  const float shares = static_cast<float>(1u << depth) / static_cast<float>(subtree.count + 1);
  int places[Shape::items];
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    if (place_of(t) >= count) continue;
    const int place = list[place_of(t)];
    // A segment and the gap after it are an equal share of count + 1 places, rounded.
    auto segment = static_cast<std::uint32_t>(static_cast<float>(place) * shares);
    if (place < shared.searches[segment].first) {
      --segment;
    } else if (segment + 1 < 1u << depth && place >= shared.searches[segment + 1].first) {
      ++segment;
    }
    const SegmentSearch<C>& search = shared.searches[segment];
    tuples[t] = to[place];
    places[t] = search.bin_begin;
    const int word = search.word;
    const Bits key = local.key(tuples[t], primary, word);
#pragma unroll 4
    for (int i = search.bin_begin; i < search.bin_end; ++i) {
      const int other = to[i];
      const Bits other_key = local.key(other, primary, word);
      places[t] += other_key < key ? 1 : 0;
      if (other_key == key && other != tuples[t]) {
        places[t] += local.comes_before(other, tuples[t], primary, word + 1) ? 1 : 0;
      }
    }
    if (places[t] == search.median) {
      shared.nodes[(1u << depth) + segment] = static_cast<std::uint16_t>(tuples[t]);
    }
  }
  __syncthreads();  // all are compared
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    if (place_of(t) < count) to[places[t]] = static_cast<std::uint16_t>(tuples[t]);
    if (segments[t] < 0) continue;
    const int median = shared.searches[segments[t]].median;
    segments[t] = place_of(t) == median ? -1 : 2 * segments[t] + (place_of(t) > median ? 1 : 0);
  }
  __syncthreads();  // all tuples are in their places
}

/// Finishes the subtrees of all segments of a level, a block each: writes their nodes to the median
/// stores, from that level's on. Segments have at most Shape::capacity tuples.
template <class Shape, class C>
__global__ void __launch_bounds__(Shape::threads, 2)
    finish_subtrees_kernel(TupleColumns<C> in, partitioners::Level level, std::uint32_t* medians) {
  auto& shared = dynamic_shared<SubtreeStorage<Shape, C>>();
  hopper::wait_for_kernel_before();
  const partitioners::Segment segment = level.segment(blockIdx.x);
  const auto count = static_cast<int>(segment.count());
  auto* const bits = reinterpret_cast<OrderedBits<C>*>(&shared + 1);
  using Key = typename SubtreeStorage<Shape, C>::Key;
  if (threadIdx.x < most_dimensions) {
    shared.least[threadIdx.x] = static_cast<Key>(~0ull);
    shared.greatest[threadIdx.x] = 0;
  }
  __syncthreads();  // the ranges are empty
  for (int k = 0; k < in.dimensions; ++k) {
    OrderedBits<C> least = static_cast<OrderedBits<C>>(~0ull);
    OrderedBits<C> greatest = 0;
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      const int i = static_cast<int>(threadIdx.x) + t * Shape::threads;
      if (i >= count) continue;
      const OrderedBits<C> key = in.column(k)[segment.begin + static_cast<unsigned>(i)];
      bits[k * Shape::capacity + i] = key;
      least = min(least, key);
      greatest = max(greatest, key);
    }
    least = warp_min(least);
    greatest = warp_max(greatest);
    if (lane_index() == 0) {
      atomicMin(&shared.least[k], static_cast<Key>(least));
      atomicMax(&shared.greatest[k], static_cast<Key>(greatest));
    }
  }
  for (auto i = static_cast<int>(threadIdx.x); i < count; i += Shape::threads) {
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
  for (std::uint32_t i = threadIdx.x; i < 1u << depth; i += Shape::threads) {
    const int above = bit_width(i) - 1;
    if (i > 0) subtree.store(above, i - (1u << above), shared.nodes[i]);
    subtree.template finish_by_thread<most_of_thread>(
        depth, i, segment_of(segment.count(), depth, i), shared.tuples[depth % 2]);
  }
}

}  // namespace warpath::kd_tree::detail
