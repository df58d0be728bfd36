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

#include "core/key_order.cuh"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "kd_tree/columns.cuh"
#include "kd_tree/digit.cuh"
#include "kd_tree/tree.cuh"
#include "partitioners/levels.cuh"

namespace warpath::kd_tree::detail {

/// The most tuples among which a rank is found by comparing each with all.
inline constexpr unsigned most_compared = warp_threads;

/// What the warps that share a segment find it out in: one for each group, in the place of its
/// first warp.
struct GroupStorage {
  FoundBin found;
  unsigned listed;
  std::uint16_t list[most_compared];
};

/// Shared memory of a block; behind it lie the columns of `capacity` tuples.
template <class Shape>
struct alignas(16) SubtreeStorage {
  std::uint16_t tuples[2][Shape::capacity];  ///< by places, before a level and after it
  std::uint32_t references[Shape::capacity];
  std::uint32_t bins[2 * Shape::threads];
  std::uint32_t sums[2][Shape::warps];  ///< of each warp, in turn
  std::uint64_t least[Shape::warps];
  std::uint64_t greatest[Shape::warps];
  GroupStorage groups[Shape::warps];
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

/// The warps that share a segment, 1, 2, 4, ... in a row; where is_warp, one alone. All warps of
/// the block call the functions of larger groups together.
template <class Shape, bool is_warp>
struct WarpGroup {
  SubtreeStorage<Shape>& shared;
  int warps = 1;
  int turn = 0;

  [[nodiscard]] __device__ __forceinline__ int warp() const {
    return is_warp ? 0 : warp_index() % warps;
  }
  [[nodiscard]] __device__ __forceinline__ int first_warp() const { return warp_index() - warp(); }
  [[nodiscard]] __device__ __forceinline__ int thread() const {
    return warp() * warp_threads + lane_index();
  }
  [[nodiscard]] __device__ __forceinline__ int threads() const { return warps * warp_threads; }
  [[nodiscard]] __device__ __forceinline__ GroupStorage& storage() const {
    return shared.groups[first_warp()];
  }
  /// Two bins of each thread, those of the group in a row.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* bins() const {
    return shared.bins + 2 * first_warp() * warp_threads;
  }

  __device__ __forceinline__ void sync() const {
    if constexpr (is_warp) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  /// A barrier: whether it holds in a thread of any group.
  [[nodiscard]] __device__ __forceinline__ bool any(bool holds) const {
    if constexpr (is_warp) return __any_sync(full_warp, holds);
    return __syncthreads_or(holds ? 1 : 0) != 0;
  }
  /// A barrier: the sum over the warps of the group before this one.
  __device__ __forceinline__ unsigned sum_before(unsigned of_warp) {
    if constexpr (is_warp) return 0;
    auto& sums = shared.sums[turn];
    turn = 1 - turn;  // the next call writes others, so that one barrier is enough
    if (lane_index() == 0) sums[warp_index()] = of_warp;
    __syncthreads();  // the sums of all warps are there
    return warp_sum(lane_index() < warp() ? sums[first_warp() + lane_index()] : 0u);
  }
  /// A barrier: the least and the greatest value of the group, from each thread's own.
  template <class Bits>
  __device__ __forceinline__ void find_range(Bits& least, Bits& greatest) const {
    least = warp_min(least);
    greatest = warp_max(greatest);
    if constexpr (is_warp) {
      __syncwarp();
    } else {
      if (lane_index() == 0) {
        shared.least[warp_index()] = least;
        shared.greatest[warp_index()] = greatest;
      }
      __syncthreads();  // the ranges of all warps are there
      const int other = first_warp() + lane_index() % warps;
      least = warp_min(static_cast<Bits>(shared.least[other]));
      greatest = warp_max(static_cast<Bits>(shared.greatest[other]));
    }
  }
};

/// Where a tuple lies, of the median of its segment.
enum class Side : unsigned char { none, less, median, greater };

/// Finds the tuple of a rank of a segment of `count`, by the superkey that begins with coordinate
/// `primary`, and on which side of it each of this thread's tuples lies; those are -1 where there
/// is none. Ends with a barrier of the group.
///
/// Keys are counted in bins, two for each thread of the group; what is not in the bin that holds
/// the rank knows its side. When at most 32 tuples are left, each is compared with all of them.
/// Until then their range is cut into bins again, or, if they all have the same key, that of the
/// superkey's next word.
template <int Items, class Shape, class C, bool is_warp>
__device__ __forceinline__ void find_sides(const LocalTuples<Shape, C>& local, int primary,
                                           unsigned count, unsigned rank,
                                           const int (&tuples)[Items], Side (&sides)[Items],
                                           WarpGroup<Shape, is_warp>& group) {
  using Bits = OrderedBits<C>;
  GroupStorage& storage = group.storage();
  std::uint32_t* const bins = group.bins();
  std::uint32_t* const own_bins = bins + 2 * group.thread();
  unsigned open = 0;  // bit t: of tuples[t] the side is not known
#pragma unroll
  for (int t = 0; t < Items; ++t) {
    if (tuples[t] >= 0) open |= 1u << t;
    sides[t] = Side::none;
  }
  const auto is_open = [&](int t) { return (open >> t & 1) != 0; };
  const auto close = [&](int t, Side side) {
    sides[t] = side;
    open &= ~(1u << t);
  };
  bool is_searching = count > 0;
  bool is_any_searching = true;
  for (int k = 0; is_any_searching;) {
    Bits keys[Items] = {};
    Bits least = static_cast<Bits>(~Bits{0});
    Bits greatest = 0;
#pragma unroll
    for (int t = 0; t < Items; ++t) {
      if (!is_open(t)) continue;
      keys[t] = local.key(tuples[t], primary, k);
      least = min(least, keys[t]);
      greatest = max(greatest, keys[t]);
    }
    own_bins[0] = 0;
    own_bins[1] = 0;
    if (group.thread() == 0) storage.listed = 0;
    group.find_range(least, greatest);  // and the bins are empty
    const Digit<Bits> digit(least, greatest, 2 * group.threads());
#pragma unroll
    for (int t = 0; t < Items; ++t) {
      if (is_open(t)) atomicAdd(&bins[digit.bin(keys[t])], 1u);
    }
    group.sync();  // all keys are counted
    const unsigned first = own_bins[0];
    const unsigned second = own_bins[1];
    const unsigned through = warp_inclusive_sum(first + second);
    const unsigned before = group.sum_before(__shfl_sync(full_warp, through, warp_threads - 1)) +
                            through - first - second;
    if (is_searching && rank >= before && rank - before < first + second) {
      const auto bin = static_cast<unsigned>(2 * group.thread());
      storage.found = rank - before < first ? FoundBin{bin, before, first}
                                            : FoundBin{bin + 1, before + first, second};
    }
    group.sync();  // the bin is found
    if (is_searching) {
      const FoundBin found = storage.found;
      count = found.inside;
      rank -= found.below;
#pragma unroll
      for (int t = 0; t < Items; ++t) {
        if (!is_open(t)) continue;
        const unsigned bin = digit.bin(keys[t]);
        if (bin != found.bin) {
          close(t, bin < found.bin ? Side::less : Side::greater);
        } else if (count <= most_compared) {
          storage.list[atomicAdd(&storage.listed, 1u)] = static_cast<std::uint16_t>(tuples[t]);
        }
      }
    }
    const bool is_left = is_searching && count > most_compared;
    is_any_searching = group.any(is_left);  // and the lists are there
    if (is_searching && !is_left) {
#pragma unroll
      for (int t = 0; t < Items; ++t) {
        if (!is_open(t)) continue;
        unsigned less = 0;
        for (unsigned i = 0; i < count; ++i) {
          less += local.comes_before(storage.list[i], tuples[t], primary, k) ? 1 : 0;
        }
        close(t, less < rank ? Side::less : less == rank ? Side::median : Side::greater);
      }
    }
    is_searching = is_left;
    if (digit.is_last()) ++k;
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
  template <int Items, bool is_warp>
  __device__ __forceinline__ void split(int depth, std::uint32_t number, const std::uint16_t* from,
                                        std::uint16_t* to, WarpGroup<Shape, is_warp>& group) const {
    const partitioners::Segment segment = segment_of(count, depth, number);
    int tuples[Items];
    Side sides[Items];
#pragma unroll
    for (int t = 0; t < Items; ++t) {
      const std::uint32_t i =
          segment.begin + static_cast<std::uint32_t>(group.thread() + t * group.threads());
      tuples[t] = i < segment.end ? from[i] : -1;
    }
    const unsigned rank = segment.count() == 0 ? 0 : (segment.count() - 1) / 2;
    find_sides(local, primary(depth), segment.count(), rank, tuples, sides, group);

    // Below 2^16 each, so that one sum has both.
    constexpr int shift = 16;
    unsigned counts = 0;
#pragma unroll
    for (int t = 0; t < Items; ++t) {
      counts += sides[t] == Side::less ? 1u : sides[t] == Side::greater ? 1u << shift : 0u;
    }
    const unsigned through = warp_inclusive_sum(counts);
    const unsigned before =
        group.sum_before(__shfl_sync(full_warp, through, warp_threads - 1)) + through - counts;
    std::uint32_t less = segment.begin + before % (1u << shift);
    std::uint32_t greater = segment.begin + rank + 1 + before / (1u << shift);
    __syncwarp();  // all tuples are read
#pragma unroll
    for (int t = 0; t < Items; ++t) {
      if (sides[t] == Side::less) to[less++] = static_cast<std::uint16_t>(tuples[t]);
      if (sides[t] == Side::greater) to[greater++] = static_cast<std::uint16_t>(tuples[t]);
      if (sides[t] == Side::median) store(depth, number, tuples[t]);
    }
    __syncwarp();  // and written
  }

  /// Splits the segments of this warp, `segments` in a row of a depth, and theirs, until they have
  /// at most 32 tuples; then lanes finish them. One full warp.
  template <int Items>
  __device__ __forceinline__ void finish_by_warp(int depth, std::uint32_t segments,
                                                 std::uint16_t* tuples,
                                                 WarpGroup<Shape, true>& warp) const {
    const std::uint32_t first = static_cast<std::uint32_t>(warp_index()) * segments;
    if constexpr (Items > 1) {
      if (partitioners::Level{count, depth}.largest_segment() > warp_threads) {
        for (std::uint32_t i = 0; i < segments; ++i) {
          split<Items>(depth, first + i, tuples, tuples, warp);
        }
        finish_by_warp<Items / 2>(depth + 1, 2 * segments, tuples, warp);
        return;
      }
    }
    for (std::uint32_t i = 0; i < segments; ++i) finish_by_lanes(depth, first + i, tuples);
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
      if (exists) tuples[segment.begin + static_cast<unsigned>(less)] = static_cast<std::uint16_t>(tuple);
      __syncwarp();  // and sorted
      if (size > 0) {
        segment = place < lanes / 2 ? segment.less_side() : segment.greater_side();
      }
    }
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
  int depth = 0;
  WarpGroup<Shape, false> group{shared, Shape::warps};
  for (; group.warps > 1; group.warps /= 2, ++depth) {
    subtree.template split<Shape::items>(depth, static_cast<unsigned>(warp_index() / group.warps),
                                         shared.tuples[depth % 2], shared.tuples[1 - depth % 2],
                                         group);
    __syncthreads();  // the level's segments are split
  }
  WarpGroup<Shape, true> warp{shared};
  subtree.template finish_by_warp<Shape::items>(depth, 1, shared.tuples[depth % 2], warp);
}

}  // namespace warpath::kd_tree::detail
