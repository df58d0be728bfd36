// The medians of a level's segments, exactly, without sorting them: the fast build's first step of
// a level.
//
//   sample    a block a segment: takes some thousand of its tuples, and two of them a few standard
//             deviations before and after the sample's median: the bracket
//   collect   all blocks: count the tuples before the bracket, and copy those inside
//   ...       again, of what was copied, until it fits into shared memory
//   exact     a block a segment: the tuple of the rank that is left
//   slow      a block a segment, if a bracket has missed the median: counts over all of it
//
// All comparisons are by superkey and, of equal tuples, by number: so a bracket is as narrow as the
// sample says, whatever ties.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/key_order.cuh"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "kd_tree/subtree.cuh"
#include "partitioners/levels.cuh"

namespace warpath::kd_tree::detail {

/// A tuple by its coordinates, in the order-preserving form, and its number after them: a row of
/// dimensions + 1 words.
template <class C>
struct SuperkeyRows {
  OrderedBits<C>* words;
  int dimensions;

  [[nodiscard]] __device__ __forceinline__ OrderedBits<C>* row(std::int64_t i) const {
    return words + i * (dimensions + 1);
  }
};

/// Whether the tuple at a place, of which coordinate `primary` is `key`, comes before one that is
/// given as a row, or after it: negative, positive, or 0 if it is that one.
template <class C>
__device__ __forceinline__ int compare_to_row(const TupleColumns<C>& tuples, std::int64_t place,
                                              OrderedBits<C> key, const OrderedBits<C>* row,
                                              int primary) {
  if (key != row[primary]) return key < row[primary] ? -1 : 1;
  for (int k = 1; k < tuples.dimensions; ++k) {
    const int turned = primary + k;
    const int coordinate = turned < tuples.dimensions ? turned : turned - tuples.dimensions;
    const OrderedBits<C> own = tuples.bits[coordinate * tuples.stride + place];
    if (own != row[coordinate]) return own < row[coordinate] ? -1 : 1;
  }
  const OrderedBits<C> own = tuples.references[place];
  return own < row[tuples.dimensions] ? -1 : own > row[tuples.dimensions] ? 1 : 0;
}

/// Threads x Items tuples that a block passes over, a row of 32 for each warp at a time.
template <int Threads, int Items>
struct PassTile {
  static constexpr int threads = Threads;
  static constexpr int items = Items;
  static constexpr int warps = Threads / warp_threads;
  static constexpr int capacity = Threads * Items;
};

/// This thread's places of a tile that begins at `first`, of those before `end`.
template <class Tile>
struct TilePlaces {
  std::uint32_t begin;
  std::uint32_t end;

  __device__ __forceinline__ TilePlaces(std::uint32_t first, std::uint32_t end_of_all)
      : begin(first +
              static_cast<unsigned>(warp_index() * Tile::items * warp_threads + lane_index())),
        end(end_of_all) {}
  [[nodiscard]] __device__ __forceinline__ std::uint32_t place(int t) const {
    return begin + static_cast<unsigned>(t * warp_threads);
  }
  [[nodiscard]] __device__ __forceinline__ bool exists(int t) const { return place(t) < end; }
  /// Takes what lies at these places, all at once.
  template <class T>
  __device__ __forceinline__ void load(const T* column, T (&values)[Tile::items]) const {
#pragma unroll
    for (int t = 0; t < Tile::items; ++t) values[t] = exists(t) ? column[place(t)] : T{};
  }
};

/// Where the median of a segment is searched for: the tuple of rank `rank` among `count` from
/// `begin` on, of the level's tuples or of those that round 1, 2, ... has copied.
struct SearchedPart {
  std::uint32_t begin;
  std::uint32_t count;
  std::uint32_t rank;
  std::uint32_t round;  ///< 0: the level's tuples
  // Of the next round, which counts while it copies:
  std::uint32_t before;     ///< tuples before its bracket
  std::uint32_t inside;     ///< tuples that it copies
  std::uint32_t open_ends;  ///< bit 0: the bracket has no lower end; bit 1: no upper one
  std::uint32_t has_missed;

  /// Goes on to what a round has copied to `next_begin` on, if it has copied.
  __device__ __forceinline__ void settle(std::uint32_t next_begin) {
    if (rank < before || rank - before >= inside) has_missed = 1;
    begin = next_begin;
    count = inside;
    rank -= before;
    ++round;
  }
};

/// All that a selection works on.
template <class C>
struct Selection {
  TupleColumns<C> tuples;     ///< of the level
  TupleColumns<C> copied[2];  ///< in rounds 1, 3, ..., and 2, 4, ...
  SuperkeyRows<C> brackets;   ///< two rows a segment
  SuperkeyRows<C> medians;    ///< a row a segment
  SearchedPart* parts;        ///< one a segment
  partitioners::Level level;
  int primary;

  [[nodiscard]] __device__ __forceinline__ const TupleColumns<C>& source(
      const SearchedPart& part) const {
    return part.round == 0 ? tuples : copied[(part.round - 1) % 2];
  }
};

/// How many tuples of each segment a round may copy that follows one of at most `count`: more than
/// are expected inside a bracket of eight standard deviations of a sample, count x 4 /
/// sqrt(samples).
template <class Shape>
constexpr std::int64_t most_copied(std::int64_t count) {
  constexpr int samples = Shape::capacity;
  return count / (samples >= 4096 ? 8 : samples >= 1024 ? 4 : 2) + samples / 4;
}

/// A number without pattern, for the choice of a sample.
__device__ __forceinline__ std::uint32_t scattered(std::uint64_t x) {
  x = (x + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return static_cast<std::uint32_t>(x >> 32);
}

/// Writes the tuple of a rank among the block's as a row. The whole block; ends with a barrier.
template <class Shape, class C>
__device__ __forceinline__ void store_ranked(const LocalTuples<Shape, C>& local, int count,
                                             int primary, unsigned rank, OrderedBits<C>* row,
                                             WarpGroup<Shape>& group) {
  int tuples[Shape::items];
  Side sides[Shape::items];
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    const int i = group.first_item() + t * group.stride();
    tuples[t] = i < count ? i : -1;
  }
  find_sides<Shape, C>(local, primary, static_cast<unsigned>(count), rank, tuples, sides, group);
#pragma unroll
  for (int t = 0; t < Shape::items; ++t) {
    if (sides[t] != Side::median) continue;
    for (int k = 0; k <= local.dimensions; ++k) row[k] = local.key(tuples[t], 0, k);
  }
  __syncthreads();  // all are done with the tuples
}

/// Takes the result of the round before, if there was one. The whole block; ends with a barrier.
template <class Shape>
__device__ __forceinline__ SearchedPart settled_part(SearchedPart* parts,
                                                     partitioners::Segment segment, int round,
                                                     std::uint32_t room) {
  SearchedPart& part = parts[blockIdx.x];
  if (threadIdx.x == 0) {
    if (round == 0) {
      const std::uint32_t count = segment.count();
      part = {segment.begin, count, count == 0 ? 0 : (count - 1) / 2, 0, 0, 0, 0, 0};
    } else if (part.has_missed == 0 && part.count > Shape::capacity) {
      part.settle(blockIdx.x * room);
    }
  }
  __syncthreads();  // the part is known
  return part;
}

/// Finds brackets for round `round` + 1, which follows `round` of `room` tuples a segment. A block
/// a segment.
template <class Shape, class C>
__global__ void __launch_bounds__(Shape::threads)
    find_brackets_kernel(Selection<C> selection, int round, std::uint32_t room) {
  auto& shared = dynamic_shared<SubtreeStorage<Shape>>();
  const partitioners::Segment segment = selection.level.segment(blockIdx.x);
  const SearchedPart part = settled_part<Shape>(selection.parts, segment, round, room);
  if (part.has_missed != 0 || part.count <= Shape::capacity) return;

  constexpr unsigned samples = Shape::capacity;
  const std::uint64_t seed =
      (std::uint64_t{blockIdx.x} << 32) + static_cast<unsigned>(round) * samples;
  const LocalCopy<Shape, C> copy(shared);
  const auto local = copy.take(selection.source(part), samples, [&](int i) {
    const auto from = static_cast<std::uint32_t>(std::uint64_t{part.count} * i / samples);
    const auto to = static_cast<std::uint32_t>(std::uint64_t{part.count} * (i + 1) / samples);
    return std::int64_t{part.begin} + from + scattered(seed + i) % (to - from);
  });
  const float share = (static_cast<float>(part.rank) + 0.5F) / static_cast<float>(part.count);
  const float place = share * static_cast<float>(samples);
  const float spread = 4 * sqrtf(place * (1 - share)) + 2;
  const bool has_low = place - spread >= 0;
  const bool has_high = place + spread < static_cast<float>(samples);
  WarpGroup<Shape> group{shared, Shape::warps};
  OrderedBits<C>* const low = selection.brackets.row(2 * std::int64_t{blockIdx.x});
  OrderedBits<C>* const high = selection.brackets.row(2 * std::int64_t{blockIdx.x} + 1);
  if (has_low) {
    store_ranked<Shape, C>(local, samples, selection.primary, static_cast<unsigned>(place - spread),
                           low, group);
  }
  if (has_high) {
    store_ranked<Shape, C>(local, samples, selection.primary, static_cast<unsigned>(place + spread),
                           high, group);
  }
  if (threadIdx.x == 0) {
    SearchedPart& stored = selection.parts[blockIdx.x];
    stored.before = 0;
    stored.inside = 0;
    stored.open_ends = (has_low ? 0u : 1u) | (has_high ? 0u : 2u);
  }
}

/// Counts what comes before the brackets, and copies what lies inside. Block (tile, segment).
template <class Tile, class C>
__global__ void __launch_bounds__(Tile::threads)
    copy_brackets_kernel(Selection<C> selection, std::uint32_t segments, std::uint32_t room,
                         std::uint32_t most_selected) {
  struct Storage {
    std::uint32_t inside[Tile::warps];
    std::uint32_t before[Tile::warps];
    std::uint32_t base;
  };
  auto& shared = dynamic_shared<Storage>();
  const std::uint32_t number = blockIdx.x % segments;
  const std::uint32_t first = blockIdx.x / segments * Tile::capacity;
  SearchedPart& stored = selection.parts[number];
  const SearchedPart part = stored;
  if (part.has_missed != 0 || part.count <= most_selected || first >= part.count) return;
  const TupleColumns<C>& from = selection.source(part);
  const TupleColumns<C>& to = selection.copied[part.round % 2];
  const OrderedBits<C>* const low = selection.brackets.row(2 * std::int64_t{number});
  const OrderedBits<C>* const high = selection.brackets.row(2 * std::int64_t{number} + 1);
  const TilePlaces<Tile> places(part.begin + first, part.begin + part.count);
  OrderedBits<C> keys[Tile::items];
  places.load(from.bits + selection.primary * from.stride, keys);
  unsigned inside[Tile::items];
  unsigned inside_count = 0;
  unsigned before_count = 0;
#pragma unroll
  for (int t = 0; t < Tile::items; ++t) {
    const bool exists = places.exists(t);
    const std::int64_t place = places.place(t);
    const bool is_before = exists && (part.open_ends & 1) == 0 &&
                           compare_to_row(from, place, keys[t], low, selection.primary) < 0;
    const bool is_inside = exists && !is_before &&
                           ((part.open_ends & 2) != 0 ||
                            compare_to_row(from, place, keys[t], high, selection.primary) <= 0);
    before_count += static_cast<unsigned>(__popc(__ballot_sync(full_warp, is_before)));
    inside[t] = __ballot_sync(full_warp, is_inside);
    inside_count += static_cast<unsigned>(__popc(inside[t]));
  }
  if (lane_index() == 0) {
    shared.inside[warp_index()] = inside_count;
    shared.before[warp_index()] = before_count;
  }
  __syncthreads();  // the counts of all warps are there
  if (warp_index() == 0) {
    const bool is_warp = lane_index() < Tile::warps;
    const unsigned all_inside = warp_sum(is_warp ? shared.inside[lane_index()] : 0u);
    const unsigned all_before = warp_sum(is_warp ? shared.before[lane_index()] : 0u);
    if (lane_index() == 0) {
      if (all_before > 0) atomicAdd(&stored.before, all_before);
      shared.base = all_inside > 0 ? atomicAdd(&stored.inside, all_inside) : 0;
    }
  }
  __syncthreads();  // where the block's copies go is known
  std::uint32_t target = shared.base;
  for (int warp = 0; warp < warp_index(); ++warp) target += shared.inside[warp];
#pragma unroll
  for (int t = 0; t < Tile::items; ++t) {
    const std::uint32_t own = target + static_cast<unsigned>(__popc(inside[t] & lanes_below()));
    target += static_cast<unsigned>(__popc(inside[t]));
    if ((inside[t] >> lane_index() & 1) == 0) continue;
    if (own >= room) {
      stored.has_missed = 1;
      continue;
    }
    const std::int64_t target_place = std::int64_t{number} * room + own;
    for (int k = 0; k < from.dimensions; ++k) {
      to.bits[k * to.stride + target_place] = from.bits[k * from.stride + places.place(t)];
    }
    to.references[target_place] = from.references[places.place(t)];
  }
}

/// Finds the median of a segment in global memory, as find_sides() does in shared memory: a reading
/// for each bit. The whole block.
template <class Shape, class C>
__device__ __noinline__ void block_select_slowly(const TupleColumns<C>& tuples,
                                                 partitioners::Segment segment, int primary,
                                                 OrderedBits<C>* row, WarpGroup<Shape>& group) {
  using Bits = OrderedBits<C>;
  const int dimensions = tuples.dimensions;
  // The median's keys that are known: coordinate `primary`, those after it, and its number.
  Bits known[most_dimensions + 1] = {};
  const auto key_of = [&](std::int64_t place, int k) {
    return k == dimensions ? Bits{tuples.references[place]}
                           : tuples.bits[(primary + k) % dimensions * tuples.stride + place];
  };
  unsigned rank = (segment.count() - 1) / 2;
  for (int k = 0; k <= dimensions; ++k) {
    // Of the tuples that agree with all known keys: how many have a key k below `bound`?
    const auto count_below = [&](Bits bound) {
      unsigned count = 0;
      for (std::uint32_t i = segment.begin + threadIdx.x; i < segment.end; i += Shape::threads) {
        bool agrees = key_of(i, k) < bound;
        for (int j = 0; j < k && agrees; ++j) agrees = key_of(i, j) == known[j];
        count += agrees ? 1 : 0;
      }
      unsigned before = 0;
      return group.sum(warp_sum(count), before);
    };
    const int top = (k == dimensions ? 32 : 8 * static_cast<int>(sizeof(Bits))) - 1;
    for (int bit = top; bit >= 0; --bit) {
      const Bits larger = known[k] | Bits{1} << bit;
      if (count_below(larger) <= rank) known[k] = larger;
    }
    rank -= count_below(known[k]);
  }
  for (auto k = static_cast<int>(threadIdx.x); k <= dimensions; k += Shape::threads) {
    row[k < dimensions ? (primary + k) % dimensions : k] = known[k];
  }
}

/// Finds the medians, after `round` rounds, of which the last had `room` tuples a segment. A block
/// a segment.
template <class Shape, class C>
__global__ void __launch_bounds__(Shape::threads)
    find_medians_kernel(Selection<C> selection, int round, std::uint32_t room) {
  auto& shared = dynamic_shared<SubtreeStorage<Shape>>();
  const partitioners::Segment segment = selection.level.segment(blockIdx.x);
  const SearchedPart part = settled_part<Shape>(selection.parts, segment, round, room);
  if (part.count == 0) return;
  OrderedBits<C>* const row = selection.medians.row(blockIdx.x);
  WarpGroup<Shape> group{shared, Shape::warps};
  if (part.has_missed == 0 && part.count <= Shape::capacity) {
    const LocalCopy<Shape, C> copy(shared);
    const auto local = copy.take(selection.source(part), static_cast<int>(part.count),
                                 [&](int i) { return std::int64_t{part.begin} + i; });
    store_ranked<Shape, C>(local, static_cast<int>(part.count), selection.primary, part.rank, row,
                           group);
    return;
  }
  block_select_slowly<Shape, C>(selection.tuples, segment, selection.primary, row, group);
}

}  // namespace warpath::kd_tree::detail
