// The last levels of the fast build: a block takes a segment's tuples into shared memory and
// finishes its subtree there, without sorting it.
//
//   depth     segments   of at most   served by
//   0                1   capacity     all warps: count how many keys lie below a value, bit by bit
//   1, 2, ...     2, 4   half, ...    half of them each, ...
//   log2 warps   warps   32 x items   a warp each, likewise
//   ...                  32           a warp, sorted by lanes
//   ...                  16, 8, ...   16, 8, ... lanes each, sorted
//
// The columns stay where they are; what moves are 16-bit numbers of tuples.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/key_order.cuh"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "kd_tree/tree.cuh"
#include "partitioners/levels.cuh"

namespace warpath::kd_tree::detail {

/// A block of Threads threads for subtrees of up to Threads x Items tuples.
template <int Threads, int Items>
struct SubtreeShape {
  static constexpr int threads = Threads;
  static constexpr int items = Items;
  static constexpr int warps = Threads / warp_threads;
  static constexpr int capacity = Threads * Items;
  static_assert((warps & (warps - 1)) == 0 && warps <= warp_threads && capacity <= 1 << 15);
};

/// The tuples of all segments: coordinate k of the tuple at place i is bits[k * stride + i], in the
/// order-preserving form; references[i] is its number.
template <class C>
struct TupleColumns {
  OrderedBits<C>* bits;
  std::uint32_t* references;
  std::int64_t stride;
  int dimensions;
};

/// Shared memory of a block; behind it lie the columns of `capacity` tuples.
template <class Shape>
struct alignas(16) SubtreeStorage {
  std::uint16_t tuples[2][Shape::capacity];  ///< by places, before a level and after it
  std::uint32_t references[Shape::capacity];
  std::uint32_t sums[2][Shape::warps];  ///< of each warp, in turn
  std::uint64_t bits[2][2][Shape::warps];
};
template <class Shape, class C>
constexpr std::size_t subtree_bytes(int dimensions) {
  return sizeof(SubtreeStorage<Shape>) +
         static_cast<std::size_t>(dimensions) * Shape::capacity * sizeof(OrderedBits<C>);
}

/// A block's tuples.
template <class Shape, class C>
struct LocalTuples {
  const OrderedBits<C>* bits;
  const std::uint32_t* references;
  int dimensions;

  /// Coordinate `primary` + k, around, of a tuple; its number after all coordinates.
  [[nodiscard]] __device__ __forceinline__ OrderedBits<C> key(int tuple, int primary, int k) const {
    if (k == dimensions) return references[tuple];
    const int turned = primary + k;
    return bits[(turned < dimensions ? turned : turned - dimensions) * Shape::capacity + tuple];
  }
  /// By superkey, the first coordinate of which is known to tie.
  [[nodiscard]] __device__ bool tie_comes_before(int a, int b, int primary) const {
    for (int k = 1; k <= dimensions; ++k) {
      const auto key_a = key(a, primary, k);
      const auto key_b = key(b, primary, k);
      if (key_a != key_b) return key_a < key_b;
    }
    return false;
  }
};

/// A block's tuples in shared memory, taken from places of columns.
template <class Shape, class C>
struct LocalCopy {
  SubtreeStorage<Shape>& shared;
  OrderedBits<C>* bits;

  __device__ __forceinline__ explicit LocalCopy(SubtreeStorage<Shape>& storage)
      : shared(storage), bits(reinterpret_cast<OrderedBits<C>*>(&storage + 1)) {}

  /// Takes the tuples at place_of(0), place_of(1), ... The whole block; ends with a barrier.
  template <class PlaceOf>
  __device__ __forceinline__ LocalTuples<Shape, C> take(const TupleColumns<C>& from, int count,
                                                        const PlaceOf& place_of) const {
    for (auto i = static_cast<int>(threadIdx.x); i < count; i += Shape::threads) {
      const std::int64_t place = place_of(i);
      for (int k = 0; k < from.dimensions; ++k) {
        bits[k * Shape::capacity + i] = from.bits[k * from.stride + place];
      }
      shared.references[i] = from.references[place];
    }
    __syncthreads();  // the tuples are there
    return {bits, shared.references, from.dimensions};
  }
};

/// The bits that any lane has. One full warp.
__device__ __forceinline__ std::uint32_t warp_or(std::uint32_t bits) {
  return __reduce_or_sync(full_warp, bits);
}
__device__ __forceinline__ std::uint64_t warp_or(std::uint64_t bits) {
  const std::uint64_t high = __reduce_or_sync(full_warp, static_cast<unsigned>(bits >> 32));
  return high << 32 | __reduce_or_sync(full_warp, static_cast<unsigned>(bits));
}

/// The warps of a block that share a segment: 2, 4, ... in a row. All warps of the block call its
/// functions together.
template <class Shape>
struct WarpGroup {
  SubtreeStorage<Shape>& shared;
  int warps;
  int turn = 0;
  int bits_turn = 0;

  [[nodiscard]] __device__ __forceinline__ int warp() const { return warp_index() % warps; }
  [[nodiscard]] __device__ __forceinline__ int first_item() const {
    return warp() * warp_threads + lane_index();
  }
  [[nodiscard]] __device__ __forceinline__ int stride() const { return warps * warp_threads; }
  /// The sum over the group, in every thread; `before` becomes that over the warps before this one,
  /// and `holds` whether it has held in a thread of any group.
  __device__ __forceinline__ unsigned sum(unsigned of_warp, unsigned& before, bool& holds) {
    auto& sums = shared.sums[turn];
    turn = 1 - turn;  // the next call writes others, so that one barrier is enough
    if (lane_index() == 0) sums[warp_index()] = of_warp;
    holds = __syncthreads_or(holds ? 1 : 0) != 0;  // the sums of all warps are there
    const int first = warp_index() - warp();
    const unsigned one = lane_index() < warps ? sums[first + lane_index()] : 0;
    before = warp_sum(lane_index() < warp() ? one : 0u);
    return warp_sum(one);
  }
  __device__ __forceinline__ unsigned sum(unsigned of_warp, unsigned& before) {
    bool ignored = false;
    return sum(of_warp, before, ignored);
  }
  [[nodiscard]] __device__ __forceinline__ bool any(bool holds) const {
    return __syncthreads_or(holds ? 1 : 0) != 0;
  }
  /// The bits that some thread of the group sets or clears: each thread's own before.
  template <class Bits>
  __device__ __forceinline__ void merge_bits(Bits& set, Bits& cleared) {
    auto& bits = shared.bits[bits_turn];
    bits_turn = 1 - bits_turn;
    set = warp_or(set);
    cleared = warp_or(cleared);
    if (lane_index() == 0) {
      bits[0][warp_index()] = set;
      bits[1][warp_index()] = cleared;
    }
    __syncthreads();  // the bits of all warps are there
    const int own = warp_index() - warp() + lane_index() % warps;
    set = warp_or(static_cast<Bits>(bits[0][own]));
    cleared = warp_or(static_cast<Bits>(bits[1][own]));
  }
};
/// One warp alone.
struct OneWarp {
  [[nodiscard]] __device__ __forceinline__ int first_item() const { return lane_index(); }
  [[nodiscard]] __device__ __forceinline__ int stride() const { return warp_threads; }
  __device__ __forceinline__ unsigned sum(unsigned of_warp, unsigned& before, bool&) {
    return sum(of_warp, before);
  }
  __device__ __forceinline__ unsigned sum(unsigned of_warp, unsigned& before) {
    before = 0;
    return of_warp;
  }
  [[nodiscard]] __device__ __forceinline__ bool any(bool holds) const { return holds; }
  template <class Bits>
  __device__ __forceinline__ void merge_bits(Bits& set, Bits& cleared) {
    set = warp_or(set);
    cleared = warp_or(cleared);
  }
};

/// Where a tuple lies, of the median of its segment.
enum class Side : unsigned char { none, less, median, greater };

/// Finds the median of a segment of `count` tuples by the superkey that begins with coordinate
/// `primary`, and on which side of it each of this thread's tuples lies. rank: of the median;
/// tuples: -1 where there is none.
///
/// The key of that rank is found bit by bit, from the first one in which keys differ: of the keys
/// that share all bits so far, are more than `rank` below the value with the next bit set? The
/// search ends with a single key that shares them. Where several tuples have the same, the next
/// coordinate decides between them, and in the end their numbers.
template <class Shape, class C, class Group>
__device__ __forceinline__ void find_sides(const LocalTuples<Shape, C>& local, int primary,
                                           unsigned count, unsigned rank,
                                           const int (&tuples)[Shape::items],
                                           Side (&sides)[Shape::items], Group& group) {
  using Bits = OrderedBits<C>;
  bool is_open[Shape::items];
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    is_open[t] = tuples[t] >= 0;
    sides[t] = Side::none;
  }
  for (int k = 0;; ++k) {
    Bits keys[Shape::items];
    Bits set = 0;
    Bits cleared = 0;
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      keys[t] = is_open[t] ? local.key(tuples[t], primary, k) : Bits{0};
      set |= keys[t];
      if (is_open[t]) cleared |= ~keys[t];
    }
    group.merge_bits(set, cleared);
    Bits unit = max(std::bit_floor(static_cast<Bits>(set & cleared)), Bits{1});
    Bits median = set & ~(unit | (unit - 1));
    // `below` keys are less than `median`, and `up_to` are less than median + unit.
    unsigned below = 0;
    unsigned up_to = count;
    bool is_searching = count > 1;
    for (;;) {
      const Bits larger = median | unit;
      unsigned less = 0;
#pragma unroll
      for (int t = 0; t < Shape::items; ++t) less += is_open[t] && keys[t] < larger ? 1 : 0;
      unsigned before = 0;
      bool is_any_searching = is_searching;
      less = group.sum(warp_sum(less), before, is_any_searching);
      if (!is_any_searching) break;
      if (!is_searching) continue;
      if (less <= rank) {
        median = larger;
        below = less;
      } else {
        up_to = less;
      }
      is_searching = up_to - below > 1 && unit > 1;
      if (is_searching) unit >>= 1;
    }
    if (count > 1) {
#pragma unroll
      for (int t = 0; t < Shape::items; ++t) {
        if (!is_open[t] || (keys[t] >= median && keys[t] - median < unit)) continue;
        is_open[t] = false;
        sides[t] = keys[t] < median ? Side::less : Side::greater;
      }
      count = up_to - below;
      rank -= below;
    }
    if (!group.any(count > 1)) break;
  }
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    if (is_open[t]) sides[t] = Side::median;
  }
}

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

  /// Splits segment `number` of a depth, whose tuples are in `from`: what is less goes to the front
  /// of its places in `to`, what is greater after its median's, in any order. `from` and `to` may
  /// be one array where one warp alone splits.
  template <class Group>
  __device__ __forceinline__ void split(int depth, std::uint32_t number, const std::uint16_t* from,
                                        std::uint16_t* to, Group& group) const {
    const partitioners::Segment segment = segment_of(count, depth, number);
    int tuples[Shape::items];
    Side sides[Shape::items];
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      const std::uint32_t i =
          segment.begin + static_cast<std::uint32_t>(group.first_item() + t * group.stride());
      tuples[t] = i < segment.end ? from[i] : -1;
    }
    const unsigned rank = segment.count() == 0 ? 0 : (segment.count() - 1) / 2;
    find_sides<Shape, C>(local, primary(depth), segment.count(), rank, tuples, sides, group);

    // Below 2^16 each, so that one sum has both.
    constexpr int shift = 16;
    unsigned counts = 0;
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      counts += sides[t] == Side::less ? 1u : sides[t] == Side::greater ? 1u << shift : 0u;
    }
    const unsigned through = warp_inclusive_sum(counts);
    unsigned before = 0;
    group.sum(__shfl_sync(full_warp, through, warp_threads - 1), before);
    before += through - counts;
    std::uint32_t less = segment.begin + before % (1u << shift);
    std::uint32_t greater = segment.begin + rank + 1 + before / (1u << shift);
    __syncwarp();  // all tuples are read
#pragma unroll
    for (int t = 0; t < Shape::items; ++t) {
      if (sides[t] == Side::less) to[less++] = static_cast<std::uint16_t>(tuples[t]);
      if (sides[t] == Side::greater) to[greater++] = static_cast<std::uint16_t>(tuples[t]);
      if (sides[t] == Side::median) store(depth, number, tuples[t]);
    }
    __syncwarp();  // and written
  }

  /// Finishes a segment of at most 32 tuples, a lane each. One full warp.
  __device__ __forceinline__ void finish_by_lanes(int depth, std::uint32_t number,
                                                  const std::uint16_t* from) const {
    const partitioners::Segment segment = segment_of(count, depth, number);
    int size = static_cast<int>(segment.count());
    int tuple = lane_index() < size ? from[segment.begin + lane_index()] : -1;
    for (int lanes = warp_threads, step = 0; lanes > 0; lanes /= 2, ++step) {
      // Lanes [first, first + lanes) have the `size` tuples of one segment, the first of them.
      const int first = lane_index() / lanes * lanes;
      tuple = sorted(tuple, primary(depth + step), lanes);
      const int median = (size - 1) / 2;
      if (size > 0 && lane_index() == first + median) {
        store(depth + step, (number << step) + static_cast<unsigned>(lane_index() / lanes), tuple);
      }
      // What is greater goes to the second half of the lanes.
      const bool is_second = lane_index() - first >= lanes / 2 && lanes > 1;
      const int source = is_second ? lane_index() - lanes / 2 + median + 1 : lane_index();
      const int moved = __shfl_sync(full_warp, tuple, source % warp_threads);
      const int less = size == 0 ? 0 : median;
      const int greater = size == 0 ? 0 : size - 1 - median;
      size = is_second ? greater : less;
      const int place = is_second ? lane_index() - first - lanes / 2 : lane_index() - first;
      tuple = place < size ? moved : -1;
    }
  }

  /// Sorts each `lanes` tuples in a row by superkey, those that are there first: bitonic. One full
  /// warp; lanes: a power of two.
  [[nodiscard]] __device__ __forceinline__ int sorted(int tuple, int primary, int lanes) const {
    using Bits = OrderedBits<C>;
    Bits key = tuple >= 0 ? local.key(tuple, primary, 0) : Bits{0};
    for (int size = 2; size <= lanes; size *= 2) {
      for (int distance = size / 2; distance > 0; distance /= 2) {
        const int other = __shfl_xor_sync(full_warp, tuple, distance);
        const Bits other_key = __shfl_xor_sync(full_warp, key, distance);
        const bool is_ascending = (lane_index() & (lanes - 1) & size) == 0;
        const bool takes_first = ((lane_index() & distance) == 0) == is_ascending;
        if (comes_before(other, other_key, tuple, key, primary) == takes_first && other != tuple) {
          tuple = other;
          key = other_key;
        }
      }
    }
    return tuple;
  }
  [[nodiscard]] __device__ __forceinline__ bool comes_before(int a, OrderedBits<C> key_a, int b,
                                                             OrderedBits<C> key_b,
                                                             int primary) const {
    if (a < 0 || b < 0) return b < 0;
    if (key_a != key_b) return key_a < key_b;
    return local.tie_comes_before(a, b, primary);
  }
};

/// Finishes the subtrees of all segments of a level, a block each: writes their nodes to the median
/// stores, from that level's on. Segments have at most Shape::capacity tuples.
template <class Shape, class C>
__global__ void __launch_bounds__(Shape::threads)
    finish_subtrees_kernel(TupleColumns<C> in, partitioners::Level level, std::uint32_t* medians) {
  auto& shared = dynamic_shared<SubtreeStorage<Shape>>();
  const partitioners::Segment segment = level.segment(blockIdx.x);
  const auto count = static_cast<int>(segment.count());
  for (auto i = static_cast<int>(threadIdx.x); i < count; i += Shape::threads) {
    shared.tuples[0][i] = static_cast<std::uint16_t>(i);
  }
  const LocalCopy<Shape, C> copy(shared);
  const LocalTuples<Shape, C> local =
      copy.take(in, count, [&](int i) { return std::int64_t{segment.begin} + i; });
  const Subtree<Shape, C> subtree{local, segment.count(), level.number, blockIdx.x, medians};
  int depth = 0;
  WarpGroup<Shape> group{shared, Shape::warps};
  for (; group.warps > 1; group.warps /= 2, ++depth) {
    subtree.split(depth, static_cast<unsigned>(warp_index() / group.warps),
                  shared.tuples[depth % 2], shared.tuples[1 - depth % 2], group);
    __syncthreads();  // the level's segments are split
  }
  // From here on each warp has segments of its own.
  std::uint16_t* const tuples = shared.tuples[depth % 2];
  OneWarp one_warp;
  std::uint32_t segments = 1;
  for (; partitioners::Level{segment.count(), depth}.largest_segment() > warp_threads;
       ++depth, segments *= 2) {
    for (std::uint32_t i = 0; i < segments; ++i) {
      subtree.split(depth, static_cast<unsigned>(warp_index()) * segments + i, tuples, tuples,
                    one_warp);
    }
  }
  for (std::uint32_t i = 0; i < segments; ++i) {
    subtree.finish_by_lanes(depth, static_cast<unsigned>(warp_index()) * segments + i, tuples);
  }
}

}  // namespace warpath::kd_tree::detail
