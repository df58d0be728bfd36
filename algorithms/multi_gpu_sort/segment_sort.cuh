// Sorts segments of keys that agree in their leading bits, on one device: what radix_exchange does
// after the exchange. From the most significant digit on, as long as segments are large; then a
// block sorts each in shared memory.
//
// Source: E. Stehle, H.-A. Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs",
// SIGMOD 2017, https://doi.org/10.1145/3035918.3064043 .
//
//   a level     count_segments   how often each digit occurs in each large segment
//               plan_children    where each digit's keys go. Segments of theirs that are small
//                                enough are put on the lists of what a block finishes, neighbours
//                                together; others on the list of the next level
//               move_segments    keys go there, in any order among those of a digit
//   finish      sort_segments    up to `most_sorted` keys: merge_sort's sort of a tile
//               count_keys       keys of which 16 bits are left: counted in shared memory, and
//                                written as often as they occur; so no key is moved
//               repeat_keys      the same, where most occur often
//
// The host does not know how many segments there are: it launches as many levels as keys may need,
// and blocks without segments end at once.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/bits.cuh"
#include "core/block.cuh"
#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "merge_sort/items.cuh"
#include "merge_sort/tile_sort.cuh"
#include "merge_sort/tuning.hpp"
#include "multi_gpu_sort/block_scatter.cuh"
#include "multi_gpu_sort/radix_histogram.cuh"
#include "multi_gpu_sort/radix_keys.cuh"

namespace warpath::multi_gpu_sort::detail {

/// Keys that agree in all but their lowest `bits`.
template <class K>
struct Segment {
  K* from;  ///< where they are
  K* to;    ///< as much memory, to which the next level moves them
  std::uint32_t count;
  std::uint32_t first_tile;  ///< of all tiles of its list
  int bits;
  bool is_home;  ///< whether they are to be sorted in `from`, and not in `to`

  [[nodiscard]] __device__ K* home() const { return is_home ? from : to; }
};

/// Segments that wait for the same treatment.
template <class K>
struct SegmentList {
  Segment<K>* segments;
  unsigned long long* totals;  ///< how many segments, above 32 bits: how many tiles they have

  [[nodiscard]] __device__ std::uint32_t count() const {
    return static_cast<std::uint32_t>(*totals >> 32);
  }
  [[nodiscard]] __device__ std::uint32_t tiles() const {
    return static_cast<std::uint32_t>(*totals);
  }
  /// Any thread, any number of them.
  __device__ void append(Segment<K> segment, std::uint32_t tiles) const {
    const unsigned long long before = atomicAdd(totals, 1ull << 32 | tiles);
    segment.first_tile = static_cast<std::uint32_t>(before);
    segments[before >> 32] = segment;
  }
  /// Which segment a tile belongs to.
  [[nodiscard]] __device__ std::uint32_t segment_of(std::uint32_t tile) const {
    std::uint32_t low = 0;
    std::uint32_t high = count();
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (segments[middle].first_tile <= tile) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

inline constexpr int level_digit_bits = 8;
inline constexpr int level_digits = 1 << level_digit_bits;

/// The shapes of the kernels.
template <class K>
struct SegmentTuning {
  using Scatter = ScatterShape<512, sizeof(K) == 4 ? 16 : 12>;
  using Sort = merge_sort::TileShape<512, sizeof(K) == 4 ? 23 : 15, 2>;
};
/// The most keys of a segment that a block sorts.
template <class K>
inline constexpr std::uint32_t most_sorted = SegmentTuning<K>::Sort::tile_items;
/// How many keys of a segment a block counts, and of how many bits at most.
inline constexpr std::uint32_t most_counted = 65535;
inline constexpr std::uint32_t least_counted = 2048;
inline constexpr std::uint32_t wanted_counted = 24576;
inline constexpr int most_counted_bits = 16;

/// What the kernels of a level are told.
struct Level {
  int later;         ///< how many levels there are after it
  int counted_bits;  ///< keys of which no more bits are left can be counted on this device

  /// Whether counting keys takes less time than sorting them: a block has to look at all counts.
  [[nodiscard]] __host__ __device__ constexpr bool is_counted(std::uint32_t keys, int bits) const {
    return bits > 0 && bits <= counted_bits && keys >= least_counted && keys <= most_counted;
  }
};
/// Whether many of them are the same.
__host__ __device__ constexpr bool is_repeated(std::uint32_t keys, int bits) {
  return keys > 2u << bits;
}

/// What is done with the segments of one device.
template <class K>
struct SegmentLists {
  SegmentList<K> sorted;
  SegmentList<K> counted;
  SegmentList<K> repeated;
};

/// The keys of a tile of a large segment.
template <class K>
struct SegmentTile {
  static constexpr std::uint32_t keys = SegmentTuning<K>::Scatter::tile_keys;

  const K* first;
  int count;

  static __host__ __device__ std::uint32_t tiles_of(std::uint32_t keys_of_segment) {
    return divide_up(keys_of_segment, keys);
  }
  __device__ SegmentTile(const Segment<K>& segment, std::uint32_t tile)
      : first(segment.from + std::int64_t{tile - segment.first_tile} * keys),
        count(static_cast<int>(min(keys, segment.count - (tile - segment.first_tile) * keys))) {}
};

/// The digit that a segment is split by: as many of the leading bits that are left as make its
/// children small enough to be finished, if keys are uniform.
struct Digit {
  int shift;
  int bits;

  /// The later levels must do for the bits that are left.
  template <class K>
  __device__ Digit(const Segment<K>& segment, const Level& level) {
    const int most = min(segment.bits, level_digit_bits);
    const int until_counted = max(segment.bits - level.counted_bits, 1);
    const bool can_be_counted =
        until_counted <= level_digit_bits && segment.count >> until_counted >= least_counted;
    const std::uint32_t keys = can_be_counted ? wanted_counted : most_sorted<K> / 4 * 3;
    const int wanted = bit_width((segment.count - 1) / keys);
    const int least =
        max(can_be_counted ? until_counted : 1, segment.bits - level.later * level_digit_bits);
    bits = min(max(wanted, least), most);
    shift = segment.bits - bits;
  }
  template <class Bits>
  [[nodiscard]] __device__ unsigned of(Bits key) const {
    return static_cast<unsigned>(low_bits(high_bits(key, shift), bits));
  }
};

/// counts[s * level_digits + d] becomes how often digit d occurs in segment s; 0 before. Any grid.
template <class K>
__global__ void __launch_bounds__(SegmentTuning<K>::Scatter::threads)
    count_segments_kernel(SegmentList<K> list, Level level, std::uint32_t* counts) {
  __shared__ std::uint32_t of_digit[level_digits + 1];  // the last one: of what is no key
  const std::uint64_t tiles = list.tiles();
  const auto begin = static_cast<std::uint32_t>(tiles * blockIdx.x / gridDim.x);
  const auto end = static_cast<std::uint32_t>(tiles * (blockIdx.x + 1) / gridDim.x);
  const auto thread = static_cast<int>(threadIdx.x);
  if (begin == end) return;
  std::uint32_t s = list.segment_of(begin);
  for (std::uint32_t tile = begin; tile < end; ++s) {
    const Segment<K> segment = list.segments[s];
    const Digit digit(segment, level);
    const std::uint32_t segment_end =
        min(end, segment.first_tile + SegmentTile<K>::tiles_of(segment.count));
    if (thread < level_digits) of_digit[thread] = 0;
    __syncthreads();  // the counts are 0
    for (; tile < segment_end; ++tile) {
      constexpr int items = SegmentTuning<K>::Scatter::items;
      const SegmentTile<K> keys(segment, tile);
      K own[items];
#pragma unroll
      for (int k = 0; k < items; ++k) {
        own[k] = keys.first[min(k * static_cast<int>(blockDim.x) + thread, keys.count - 1)];
      }
#pragma unroll
      for (int k = 0; k < items; ++k) {
        const bool is_key = k * static_cast<int>(blockDim.x) + thread < keys.count;
        warp_count(of_digit, is_key ? digit.of(radix_bits(own[k])) : level_digits);
      }
    }
    __syncthreads();  // all are counted
    if (thread < level_digits && of_digit[thread] != 0) {
      atomicAdd(&counts[std::int64_t{s} * level_digits + thread], of_digit[thread]);
    }
    __syncthreads();  // the counts have been read
  }
}

/// Puts keys on the list that finishes them.
template <class K>
__device__ void append_finished(const SegmentLists<K>& lists, const Segment<K>& segment) {
  if (segment.count > 0) lists.sorted.append(segment, 0);
}

/// Counts become places: of each digit the first one in its segment. The segments' children, in
/// the memory that move_segments_kernel moves them to, are put on lists. A block of level_digits
/// threads a segment; any grid.
template <class K>
__global__ void __launch_bounds__(level_digits)
    plan_children_kernel(SegmentList<K> list, Level level, std::uint32_t* counts,
                         SegmentList<K> next, SegmentLists<K> finished) {
  __shared__ BlockSums<std::uint32_t> sums;
  __shared__ std::uint32_t in_digit[level_digits];
  __shared__ std::uint32_t firsts[level_digits];
  const auto thread = static_cast<int>(threadIdx.x);
  for (std::uint32_t s = blockIdx.x; s < list.count(); s += gridDim.x) {
    const Segment<K> segment = list.segments[s];
    std::uint32_t* const own = counts + std::int64_t{s} * level_digits;
    std::uint32_t all = 0;
    in_digit[thread] = own[thread];
    firsts[thread] = block_exclusive_sum(in_digit[thread], sums, all);
    own[thread] = firsts[thread];
    const Digit digit(segment, level);
    const auto child = [&](std::uint32_t first, std::uint32_t count) {
      return Segment<K>{segment.to + first, segment.from + first, count, 0,
                        digit.shift,        !segment.is_home};
    };
    const Segment<K> own_child = child(firsts[thread], in_digit[thread]);
    if (level.is_counted(own_child.count, own_child.bits)) {
      const bool repeats = is_repeated(own_child.count, own_child.bits);
      (repeats ? finished.repeated : finished.counted).append(own_child, 0);
    } else if (own_child.count > most_sorted<K> && (own_child.bits > 0 || !own_child.is_home)) {
      next.append(own_child, SegmentTile<K>::tiles_of(own_child.count));  // equal keys are copied
    }
    __syncthreads();  // the counts are there
    if (thread == 0) {
      std::uint32_t begin = 0;  // of small neighbours that are one segment
      for (int d = 0; d < level_digits; ++d) {
        const bool is_small =
            in_digit[d] <= most_sorted<K> && !level.is_counted(in_digit[d], digit.shift);
        const std::uint32_t end = firsts[d] + in_digit[d];
        if (is_small && end - begin <= most_sorted<K>) continue;
        append_finished(finished, child(begin, firsts[d] - begin));
        begin = is_small ? firsts[d] : end;
      }
      append_finished(finished, child(begin, all - begin));
    }
    __syncthreads();  // the counts have been read
  }
}

/// Moves keys to the places of their digits. Any grid.
template <class K>
__global__ void __launch_bounds__(SegmentTuning<K>::Scatter::threads, 2)
    move_segments_kernel(SegmentList<K> list, Level level, std::uint32_t* places) {
  using Shape = typename SegmentTuning<K>::Scatter;
  auto& shared = dynamic_shared<ScatterStorage<K, Shape>>();
  for (std::uint32_t tile = blockIdx.x; tile < list.tiles(); tile += gridDim.x) {
    const std::uint32_t s = list.segment_of(tile);
    const Segment<K> segment = list.segments[s];
    const SegmentTile<K> keys(segment, tile);
    const Digit digit(segment, level);
    block_scatter<Shape>(
        shared, keys.first, keys.count, [&](K key) { return digit.of(radix_bits(key)); },
        [&](int d, std::uint32_t count) {
          return segment.to + atomicAdd(&places[std::int64_t{s} * level_digits + d], count);
        });
  }
}

template <class K>
struct RadixLess {
  static constexpr bool is_total = true;
  template <class Item>
  __device__ __forceinline__ bool operator()(const Item& a, const Item& b) const {
    return radix_bits(a.key) < radix_bits(b.key);
  }
};

/// Sorts each segment of the list to its home. Any grid.
template <class K>
__global__ void __launch_bounds__(SegmentTuning<K>::Sort::threads, SegmentTuning<K>::Sort::blocks)
    sort_segments_kernel(SegmentList<K> list) {
  namespace sorts = merge_sort::detail;
  using Columns = sorts::Columns<K, sorts::NoValue>;
  using Shape = typename SegmentTuning<K>::Sort;
  auto& tile = dynamic_shared<sorts::SharedTile<typename Columns::Item, Shape>>();
  for (std::uint32_t s = blockIdx.x; s < list.count(); s += gridDim.x) {
    const Segment<K> segment = list.segments[s];
    sorts::block_sort_tile<merge_sort::LowLevelMerge::merge_path>(
        tile, Columns{segment.from, nullptr}, Columns{segment.home(), nullptr}, 0,
        static_cast<int>(segment.count), RadixLess<K>{});
    __syncthreads();  // the tile has been read
  }
}

/// How many of `all` things each of a block's warps has: whole rounds of its lanes.
__device__ __forceinline__ int of_each_warp(int all, int warps) {
  return static_cast<int>(divide_up(divide_up(all, warp_threads), warps)) * warp_threads;
}

/// Calls act(bits) for the keys of a segment that are this thread's.
template <class K, class Act>
__device__ __forceinline__ void for_each_key(const Segment<K>& segment, int thread, int threads,
                                             const Act& act) {
  constexpr int at_once = 8;
  const auto count = static_cast<int>(segment.count);
  for (int first = thread; first < count; first += at_once * threads) {
    K keys[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) keys[k] = segment.from[min(first + k * threads, count - 1)];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (first + k * threads < count) act(radix_bits(keys[k]));
    }
  }
}

__device__ __forceinline__ std::uint32_t sum_of_bytes(const uint4& words) {
  std::uint32_t sum = 0;
  for (const std::uint32_t word : {words.x, words.y, words.z, words.w}) {
    const std::uint32_t pairs = (word & 0x00FF00FF) + (word >> 8 & 0x00FF00FF);
    sum += (pairs & 0xFFFF) + (pairs >> 16);
  }
  return sum;
}

/// Calls act(place, value) for each value that this lane's bytes count, as often as they say;
/// values are those of the warp. Places go on from `place`.
template <class Act>
__device__ __forceinline__ void thread_for_each_value(const uint4& counts, std::uint32_t place,
                                                      const Act& act) {
  const std::uint32_t words[] = {counts.x, counts.y, counts.z, counts.w};
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    for (std::uint32_t left = words[w]; left != 0;) {
      const int byte = (__ffs(static_cast<int>(left)) - 1) / 8;
      act(place++, 16 * lane_index() + 4 * w + byte);
      left -= 1u << (8 * byte);
    }
  }
}

/// Counts of 1 byte for each value of the bits left, and what a warp writes next.
struct CountStorage {
  static constexpr int threads = 512;
  static constexpr int values_of_lane = 16;
  static constexpr int buffered = 320;  ///< three blocks fit on a multiprocessor

  uint4 counts[(1 << most_counted_bits) / values_of_lane];
  std::uint16_t values[threads / warp_threads][buffered];
  BlockSums<std::uint32_t> sums;
};

/// Sorts each segment of the list to its home, by counting. Where a value occurs too often for its
/// count, the segment is put on the other list, as it is. Any grid.
template <class K>
__global__ void __launch_bounds__(CountStorage::threads, 3)
    count_keys_kernel(SegmentList<K> list, SegmentList<K> overflown) {
  using Bits = OrderedBits<K>;
  auto& shared = dynamic_shared<CountStorage>();
  const auto thread = static_cast<int>(threadIdx.x);
  constexpr int threads = CountStorage::threads;
  for (std::uint32_t s = blockIdx.x; s < list.count(); s += gridDim.x) {
    const Segment<K> segment = list.segments[s];
    const auto of_lanes =
        static_cast<int>(divide_up(1 << segment.bits, CountStorage::values_of_lane));
    for (int i = thread; i < of_lanes; i += threads) shared.counts[i] = uint4{0, 0, 0, 0};
    const Bits prefix = high_bits(radix_bits(segment.from[0]), segment.bits) << segment.bits;
    __syncthreads();  // the counts are 0

    auto* const words = reinterpret_cast<std::uint32_t*>(shared.counts);
    for_each_key(segment, thread, threads, [&](Bits bits) {
      const auto value = static_cast<unsigned>(low_bits(bits, segment.bits));
      atomicAdd(&words[value / 4], 1u << (value % 4 * 8));
    });
    __syncthreads();  // all are counted, and may be overwritten

    // Each warp writes the keys of some neighbouring values.
    const int own = of_each_warp(of_lanes, threads / warp_threads);
    const int begin = min(warp_index() * own, of_lanes);
    const int end = min(begin + own, of_lanes);
    std::uint32_t in_lane = 0;
    for (int i = begin + lane_index(); i < end; i += warp_threads) {
      in_lane += sum_of_bytes(shared.counts[i]);
    }
    std::uint32_t all = 0;
    const std::uint32_t before_lane = block_exclusive_sum(in_lane, shared.sums, all);
    // A count that overflows is 256 less, and the next one, if they share a word, 1 more.
    if (all != segment.count) {
      if (thread == 0) overflown.append(segment, 0);
      continue;
    }
    K* out = segment.home() + __shfl_sync(full_warp, before_lane, 0);
    for (int first = begin; first < end; first += warp_threads) {
      const int i = first + lane_index();
      const uint4 counts = i < end ? shared.counts[i] : uint4{0, 0, 0, 0};
      const std::uint32_t in_counts = sum_of_bytes(counts);
      const std::uint32_t through = warp_inclusive_sum(in_counts);
      const std::uint32_t in_warp = __shfl_sync(full_warp, through, warp_threads - 1);
      const auto key_of = [&](int value) {
        return key_of_bits<K>(prefix |
                              static_cast<Bits>(first * CountStorage::values_of_lane + value));
      };
      if (in_warp <= CountStorage::buffered) {
        std::uint16_t* const values = shared.values[warp_index()];
        thread_for_each_value(counts, through - in_counts, [&](std::uint32_t place, int value) {
          values[place] = static_cast<std::uint16_t>(value);
        });
        __syncwarp();  // the values are there
        for (auto k = static_cast<std::uint32_t>(lane_index()); k < in_warp; k += warp_threads) {
          out[k] = key_of(values[k]);
        }
        __syncwarp();  // and have been read
      } else {
        thread_for_each_value(counts, through - in_counts,
                              [&](std::uint32_t place, int value) { out[place] = key_of(value); });
      }
      out += in_warp;
    }
    __syncthreads();  // the counts have been read
  }
}

/// Of each value of the bits left, how many keys have a lesser one; pairs of values share a word.
struct RepeatStorage {
  static constexpr int threads = 1024;

  BlockSums<std::uint32_t> sums;
  std::uint32_t pairs[1 << (most_counted_bits - 1)];  ///< as many as are needed

  static constexpr std::size_t bytes(int counted_bits) {
    return sizeof(RepeatStorage) - sizeof(pairs) +
           (std::size_t{1} << (counted_bits - 1)) * sizeof pairs[0];
  }
};

/// The same for segments whose keys repeat: each place of the result looks for its key. Any grid.
template <class K>
__global__ void __launch_bounds__(RepeatStorage::threads, 1)
    repeat_keys_kernel(SegmentList<K> list) {
  using Bits = OrderedBits<K>;
  auto& shared = dynamic_shared<RepeatStorage>();
  const auto thread = static_cast<int>(threadIdx.x);
  constexpr int threads = RepeatStorage::threads;
  for (std::uint32_t s = blockIdx.x; s < list.count(); s += gridDim.x) {
    const Segment<K> segment = list.segments[s];
    const int pairs = 1 << segment.bits >> 1;
    for (int p = thread; p < pairs; p += threads) shared.pairs[p] = 0;
    const Bits prefix = high_bits(radix_bits(segment.from[0]), segment.bits) << segment.bits;
    __syncthreads();  // the counts are 0

    for_each_key(segment, thread, threads, [&](Bits bits) {
      const auto value = static_cast<unsigned>(low_bits(bits, segment.bits));
      atomicAdd(&shared.pairs[value / 2], 1u << (value % 2 * 16));
    });
    __syncthreads();  // all are counted, and may be overwritten

    // Counts become sums of those before: a warp those of some neighbouring pairs.
    const int own = of_each_warp(pairs, threads / warp_threads);
    const int begin = min(warp_index() * own, pairs);
    const int end = min(begin + own, pairs);
    std::uint32_t in_lane = 0;
    for (int p = begin + lane_index(); p < end; p += warp_threads) {
      in_lane += (shared.pairs[p] & 0xFFFF) + (shared.pairs[p] >> 16);
    }
    std::uint32_t all = 0;
    const std::uint32_t before_lane = block_exclusive_sum(in_lane, shared.sums, all);
    std::uint32_t before = __shfl_sync(full_warp, before_lane, 0);
    for (int first = begin; first < end; first += warp_threads) {
      const int p = first + lane_index();
      const std::uint32_t pair = p < end ? shared.pairs[p] : 0;
      const std::uint32_t both = (pair & 0xFFFF) + (pair >> 16);
      const std::uint32_t through = warp_inclusive_sum(both);
      const std::uint32_t low = before + through - both;
      if (p < end) shared.pairs[p] = low | (low + (pair & 0xFFFF)) << 16;
      before += __shfl_sync(full_warp, through, warp_threads - 1);
    }
    __syncthreads();  // the sums are there

    // Each warp looks for the values of some neighbouring places at a time: first for those at
    // their ends, which are few values apart.
    const auto* const sums = reinterpret_cast<const std::uint16_t*>(shared.pairs);
    const auto value_at = [&](std::uint32_t place, unsigned low, int bits) {
      // The last one of 1 << bits that no more than `place` keys come before.
      for (unsigned step = 1u << bits >> 1; step > 0; step /= 2) {
        const unsigned middle = min(low + step, (1u << segment.bits) - 1);
        if (sums[middle] <= place) low = middle;
      }
      return low;
    };
    K* const out = segment.home();
    constexpr std::uint32_t at_once = 8 * warp_threads;
    for (std::uint32_t first = warp_index() * at_once; first < segment.count;
         first += threads / warp_threads * at_once) {
      const std::uint32_t last = min(first + at_once, segment.count) - 1;
      const unsigned low = value_at(first, 0, segment.bits);
      const unsigned high = value_at(last, low, segment.bits);
      const int bits = bit_width(high - low);
      for (std::uint32_t place = first + lane_index(); place <= last; place += warp_threads) {
        out[place] = key_of_bits<K>(prefix | static_cast<Bits>(value_at(place, low, bits)));
      }
    }
    __syncthreads();  // the sums have been read
  }
}

/// Sorts segments on the current device. Keys of all segments together: at most 2^32 - 1.
template <class K>
class SegmentSort {
 public:
  /// Copies the segments to the device: they must be there until `stream` has done so. bits: of
  /// which keys may differ, in any segment of more than `most_sorted` keys.
  SegmentSort(std::vector<Segment<K>> segments, int bits, Workspace& workspace, cudaStream_t stream)
      : levels_(static_cast<int>(divide_up(bits, level_digit_bits)) + spare_levels + 1),
        stream_(stream) {
    std::int64_t keys = 0;
    for (const Segment<K>& segment : segments) keys += segment.count;
    const auto given = static_cast<std::int64_t>(segments.size());
    const std::int64_t large = keys / most_sorted<K> + 1;
    const std::int64_t counted = keys / least_counted + 1;
    // Of neighbours that are one segment, every second has half of `most_sorted`, but for those
    // next to what is no part of such, or at an end.
    const std::int64_t small = 4 * large * levels_ + counted + given;
    const auto [lists, totals, counts] =
        workspace.template take<Segment<K>, unsigned long long, std::uint32_t>(
            stream, 2 * (large + given) + small + 2 * counted, levels_ + 4, large * level_digits);
    lists_[0] = lists;
    lists_[1] = lists + large + given;
    finished_.sorted = {lists_[1] + large + given, totals + levels_ + 1};
    finished_.counted = {finished_.sorted.segments + small, totals + levels_ + 2};
    finished_.repeated = {finished_.counted.segments + counted, totals + levels_ + 3};
    totals_ = totals;
    counts_ = counts;
    count_bytes_ = static_cast<std::size_t>(large * level_digits) * sizeof(std::uint32_t);
    start(std::move(segments));
  }

  void run() {
    for (int level = 0; level < levels_; ++level) run_level(level);
    const auto sort = sort_segments_kernel<K>;
    using Item = typename merge_sort::detail::Columns<K, merge_sort::detail::NoValue>::Item;
    using Shape = typename SegmentTuning<K>::Sort;
    launch_resident(sort, Shape::threads, sizeof(merge_sort::detail::SharedTile<Item, Shape>),
                    finished_.sorted);
    launch_resident(count_keys_kernel<K>, CountStorage::threads, sizeof(CountStorage),
                    finished_.counted, finished_.repeated);
    launch_resident(repeat_keys_kernel<K>, RepeatStorage::threads,
                    RepeatStorage::bytes(counted_bits_), finished_.repeated);
  }

 private:
  /// The segments go to the lists of the first level and of what is sorted.
  void start(std::vector<Segment<K>> segments) {
    const auto is_small = [](const Segment<K>& s) { return s.count <= most_sorted<K>; };
    const auto large = std::stable_partition(segments.begin(), segments.end(), is_small);
    first_lists_ = std::move(segments);
    const auto smalls = static_cast<std::size_t>(large - first_lists_.begin());
    std::uint32_t tiles = 0;
    for (std::size_t i = smalls; i < first_lists_.size(); ++i) {
      first_lists_[i].first_tile = tiles;
      tiles += SegmentTile<K>::tiles_of(first_lists_[i].count);
    }
    first_totals_.assign(static_cast<std::size_t>(levels_) + 4, 0);
    first_totals_[0] = std::uint64_t{first_lists_.size() - smalls} << 32 | tiles;
    first_totals_[static_cast<std::size_t>(levels_) + 1] = std::uint64_t{smalls} << 32;
    put(finished_.sorted.segments, first_lists_.data(), smalls);
    put(lists_[0], first_lists_.data() + smalls, first_lists_.size() - smalls);
    put(totals_, first_totals_.data(), first_totals_.size());
  }
  template <class T>
  void put(T* target, const T* values, std::size_t count) {
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(target, values, count * sizeof(T), cudaMemcpyHostToDevice, stream_));
  }
  void run_level(int level) {
    const SegmentList<K> list{lists_[level % 2], totals_ + level};
    const SegmentList<K> next{lists_[(level + 1) % 2], totals_ + level + 1};
    using Shape = typename SegmentTuning<K>::Scatter;
    WARPATH_CUDA_CHECK(cudaMemsetAsync(counts_, 0, count_bytes_, stream_));
    // The last one is for equal keys, which have no bits left.
    const Level told{levels_ - 2 - level, counted_bits_};
    launch_resident(count_segments_kernel<K>, Shape::threads, 0, list, told, counts_);
    launch_resident(plan_children_kernel<K>, level_digits, 0, list, told, counts_, next, finished_);
    launch_resident(move_segments_kernel<K>, Shape::threads, sizeof(ScatterStorage<K, Shape>), list,
                    told, counts_);
  }
  template <class Kernel, class... Arguments>
  void launch_resident(Kernel kernel, unsigned threads, std::size_t bytes,
                       const Arguments&... arguments) {
    launch({resident_blocks(kernel, threads, bytes), threads, bytes, stream_}, kernel,
           arguments...);
  }

  /// Digits may have fewer bits than they could have.
  static constexpr int spare_levels = 2;

  /// The most whose counts fit a block of the current device.
  static int fitting_counted_bits() {
    int bits = most_counted_bits;
    while (!can_run(repeat_keys_kernel<K>, {.shared_bytes = RepeatStorage::bytes(bits)})) --bits;
    return bits;
  }

  int levels_;
  int counted_bits_ = fitting_counted_bits();
  cudaStream_t stream_;
  Segment<K>* lists_[2];
  SegmentLists<K> finished_;
  unsigned long long* totals_;
  std::uint32_t* counts_;
  std::size_t count_bytes_;
  std::vector<Segment<K>> first_lists_;  ///< those that are sorted, and those of the first level
  std::vector<unsigned long long> first_totals_;
};

}  // namespace warpath::multi_gpu_sort::detail
