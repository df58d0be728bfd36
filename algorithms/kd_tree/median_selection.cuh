// The medians of a level's segments, exactly, without sorting them: the fast build's first step of
// a level.
//
//   sample    a block a segment: takes some thousand of its tuples, and two of them five standard
//             deviations before and after the sample's median: the bracket
//   collect   all blocks: count the tuples before the bracket, and list those inside, by their keys
//             and places
//   ...       again, of the list, while it is longer than one block reads in short time
//   exact     a block a segment: the tuple of the rank that is left, from the list; or, if a
//             bracket has missed the median, from all of the segment
//
// All comparisons are by superkey and, of equal tuples, by number: so a bracket is as narrow as the
// sample says, whatever ties.
//
// Tuples move after some levels only (fast_build.cuh); until then the segments of a level are told
// from the medians of those above, back to the last level that tuples have moved for, the base.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/bits.cuh"
#include "core/hopper.cuh"
#include "core/key_order.cuh"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "kd_tree/block_select.cuh"
#include "kd_tree/columns.cuh"
#include "kd_tree/parts.cuh"
#include "partitioners/levels.cuh"

namespace warpath::kd_tree::detail {

/// The most levels from one move to the next.
inline constexpr int most_group_levels = part_bits;
inline constexpr std::uint32_t no_segment = 0xFFFFFFFFu;

/// Levels base.number, base.number + 1, ..., and the tuples, which lie in the segments of the
/// base. `depth` counts levels from the base.
template <class C>
struct LevelGroup {
  TupleColumns<C> tuples;
  partitioners::Level base;
  const std::uint32_t* begins;  ///< of the base's segments; null of the first base
  int base_primary;             ///< the coordinate that the base splits by
  SuperkeyRows<C> medians;      ///< of all segments of depth 0, then of depth 1, ...

  [[nodiscard]] __host__ __device__ partitioners::Level level(int depth) const {
    return {base.n, base.number + depth};
  }
  /// The places of segment `number` of the base. Between two segments lies one place, of a median.
  [[nodiscard]] __device__ __forceinline__ partitioners::Segment unit(std::uint32_t number) const {
    return {begins == nullptr ? 0 : begins[number],
            number + 1 == base.segments() ? base.n : begins[number + 1] - 1};
  }
  /// The places of segment `number` of a depth.
  [[nodiscard]] __device__ __forceinline__ partitioners::Segment segment(
      int depth, std::uint32_t number) const {
    partitioners::Segment found = unit(number >> depth);
    for (int bit = depth - 1; bit >= 0; --bit) {
      found = (number >> bit & 1) != 0 ? found.greater_side() : found.less_side();
    }
    return found;
  }
  [[nodiscard]] __device__ __forceinline__ int primary(int depth) const {
    int coordinate = base_primary + depth;
    while (coordinate >= tuples.dimensions)
      coordinate -= tuples.dimensions;  // hardly ever more than once
    return coordinate;
  }
  [[nodiscard]] __device__ __forceinline__ OrderedBits<C>* median(int depth,
                                                                  std::uint32_t number) const {
    return medians.row(((std::int64_t{1} << depth) - 1) * base.segments() + number);
  }
  /// On which side of the median of segment `number` of a depth its tuple at a place lies, of which
  /// the primary coordinate is `key`: a segment of the next depth, or none if it is the median.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t side(int depth, std::uint32_t number,
                                                              std::uint32_t place,
                                                              OrderedBits<C> key) const {
    const OrderedBits<C>* const row = median(depth, number);
    const OrderedBits<C> split = row[primary(depth)];
    if (key != split) return 2 * number + (key > split ? 1 : 0);
    return side_of_tie(depth, number, place);
  }
  /// The same of a tuple whose primary coordinate is that of the median.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t side_of_tie(int depth,
                                                                     std::uint32_t number,
                                                                     std::uint32_t place) const {
    const int order = compare_tie_to_row(tuples, place, median(depth, number), primary(depth));
    return order == 0 ? no_segment : 2 * number + (order > 0 ? 1 : 0);
  }
  /// The segment of a depth that the tuple at a place of segment `number` of the base lies in.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t segment_at(int depth, std::uint32_t number,
                                                                    std::uint32_t place) const {
    for (int above = 0; above < depth && number != no_segment; ++above) {
      number = side(above, number, place, tuples.key(place, primary(above), 0));
    }
    return number;
  }
};

/// The medians above a depth that tuples of segment `unit` of the base meet on their way down, by
/// their primary coordinates. Entry 1 is of depth 0; entry i has the entries 2 i and 2 i + 1 below.
template <class C>
struct UnitSplits {
  OrderedBits<C> keys[most_parts];

  /// By the first threads of a block; a barrier has to follow.
  __device__ __forceinline__ void load(const LevelGroup<C>& group, int depth, std::uint32_t unit) {
    const std::uint32_t i = threadIdx.x;
    if (i == 0 || i >= 1u << depth) return;
    const int above = bit_width(i) - 1;
    keys[i] = group.median(above, (unit << above) + i - (1u << above))[group.primary(above)];
  }
};

/// Finds the segments of a depth that this thread's tuples of segment `unit` of the base lie in,
/// counted from the first they can lie in: 0 to 2^depth - 1. Returns which of the tuples there are,
/// as bits: those that exist, and are no median above. on_median(depth, segment, place) is called
/// for those that are.
template <class Places, class C, class OnMedian>
__device__ __forceinline__ unsigned find_segments(const LevelGroup<C>& group, int depth,
                                                  std::uint32_t unit, const UnitSplits<C>& splits,
                                                  const Places& places,
                                                  int (&segments)[Places::items],
                                                  const OnMedian& on_median) {
  unsigned exist = places.existing();
#pragma unroll
  for (int t = 0; t < Places::items; ++t) segments[t] = 0;
  for (int above = 0; above < depth; ++above) {
    OrderedBits<C> keys[Places::items];
    places.load(group.tuples.column(group.primary(above)), keys);
    const OrderedBits<C>* const of_depth = splits.keys + (1 << above);
    unsigned ties = 0;
#pragma unroll
    for (int t = 0; t < Places::items; ++t) {
      const OrderedBits<C> split = of_depth[segments[t]];
      ties |= keys[t] == split ? 1u << t : 0;
      segments[t] = 2 * segments[t] + (keys[t] > split ? 1 : 0);
    }
    ties &= exist;
    if (ties == 0) continue;
      // Hardly ever: so the branch is round all of them, and not round each.
#pragma unroll
    for (int t = 0; t < Places::items; ++t) {
      if ((ties >> t & 1) == 0) continue;
      const std::uint32_t segment =
          (unit << above) + static_cast<unsigned>(segments[t]) / 2;  // of depth `above`
      const std::uint32_t side = group.side_of_tie(above, segment, places.place(t));
      if (side == no_segment) {
        on_median(above, segment, places.place(t));
        exist &= ~(1u << t);
      } else {
        segments[t] += static_cast<int>(side % 2);
      }
    }
  }
  return exist;
}

/// A tuple that is searched in.
template <class C>
struct Candidate {
  OrderedBits<C> key;  ///< its primary coordinate
  std::uint32_t place;
};

/// Tuples that are searched in, by their places, with their primary coordinates beside them.
template <class C>
struct Candidates {
  OrderedBits<C>* keys;
  std::uint32_t* places;
};

/// Where the median of a segment is searched for, and what the round under way has counted.
struct SearchedPart {
  std::uint32_t count;   ///< of tuples that are searched in
  std::uint32_t rank;    ///< of the median among them
  std::uint32_t before;  ///< tuples before the bracket
  std::uint32_t inside;  ///< tuples that are listed
  std::uint32_t has_missed;

  /// Goes on to what a round has listed, of which there was room for `room`.
  __device__ __forceinline__ void settle(std::uint32_t room) {
    if (rank < before || rank - before >= inside || inside > room) has_missed = 1;
    count = inside;
    rank -= before;
    before = 0;
    inside = 0;
  }
};

/// All that a selection works on. Segments are those of depth `depth`.
template <class C>
struct Selection {
  LevelGroup<C> group;
  int depth;
  Candidates<C> lists[2];    ///< of rounds 0, 2, ..., and 1, 3, ...
  SuperkeyRows<C> brackets;  ///< two rows a segment
  SearchedPart* parts;       ///< one a segment

  [[nodiscard]] __device__ __forceinline__ int primary() const { return group.primary(depth); }
  /// The lower or the upper end of a segment's bracket.
  [[nodiscard]] __device__ __forceinline__ OrderedBits<C>* bracket(std::uint32_t segment,
                                                                   int end) const {
    return brackets.row(2 * std::int64_t{segment} + end);
  }
  /// What a round lists of a segment, where there is room for `room` of each.
  [[nodiscard]] __device__ __forceinline__ Candidates<C> list(int round, std::uint32_t segment,
                                                              std::uint32_t room) const {
    const std::int64_t first = std::int64_t{segment} * room;
    const Candidates<C>& of_round = round % 2 == 0 ? lists[0] : lists[1];
    return {of_round.keys + first, of_round.places + first};
  }
};

/// How many tuples are taken as a sample of a segment of `count`: a power of 4.
constexpr std::uint32_t sample_size(std::uint32_t count) {
  return count >= 1 << 16 ? 4096 : count >= 1 << 13 ? 1024 : 256;
}
/// Room for a sample, with the chance of more than were meant to be drawn.
constexpr std::uint32_t sample_room(std::uint32_t samples) {
  return samples + samples / 4;
}

/// By how many standard deviations of a sample a bracket reaches to either side: one in two million
/// misses. Of four, one in 16,000 did, and one of 30 builds searched a large segment by one block.
inline constexpr int bracket_deviations = 5;

/// How many tuples a round may list of a segment of at most `count`: half as many again as are
/// expected inside a bracket, count x 5 / sqrt(samples).
constexpr std::int64_t most_listed(std::int64_t count) {
  const std::uint32_t samples = sample_size(static_cast<std::uint32_t>(count));
  return count / (samples == 4096 ? 8 : samples == 1024 ? 4 : 2) + samples / 4;
}

/// A number without pattern, for the choice of a sample.
__device__ __forceinline__ std::uint32_t scattered(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7FEB352Du;
  x = (x ^ x >> 15) * 0x846CA68Bu;
  return x ^ x >> 16;
}
/// Chooses a sample: `samples` of `count` places, one of each of as many equal shares.
struct SampleShares {
  std::uint64_t share;  ///< 32 bits after the binary point
  std::uint32_t seed;

  __device__ __forceinline__ SampleShares(std::uint32_t count, std::uint32_t samples,
                                          std::uint32_t seed_of_all)
      : share(samples == 0 ? 0 : (std::uint64_t{count} << 32) / samples), seed(seed_of_all) {}
  [[nodiscard]] __device__ __forceinline__ std::uint32_t place(std::uint32_t i) const {
    const auto from = static_cast<std::uint32_t>(share * i >> 32);
    const auto to = static_cast<std::uint32_t>(share * (i + 1) >> 32);
    return from + __umulhi(scattered(seed + i), to - from);
  }
};

/// Shared memory of a block; behind it lies the sample.
template <int Threads, class C>
struct alignas(8) SampleStorage {
  SelectStorage<Threads, C> select;
  UnitSplits<C> splits;
  OrderedBits<C> least[Threads / warp_threads];
  OrderedBits<C> greatest[Threads / warp_threads];
  std::uint32_t count;  ///< of what is drawn; a sample holds no more than its room

  /// A sample that has room for `room` tuples.
  [[nodiscard]] __device__ __forceinline__ Candidates<C> sample(std::uint32_t room) {
    auto* const keys = reinterpret_cast<OrderedBits<C>*>(this + 1);
    return {keys, reinterpret_cast<std::uint32_t*>(keys + room)};
  }
};
template <int Threads, class C>
constexpr std::size_t sample_bytes(std::uint32_t samples) {
  return sizeof(SampleStorage<Threads, C>) +
         sample_room(samples) * (sizeof(OrderedBits<C>) + sizeof(std::uint32_t));
}

/// Tuples as block_select() takes them.
template <class C>
struct CandidateItems {
  const LevelGroup<C>& group;
  Candidates<C> candidates;
  int primary;
  std::uint32_t count;

  [[nodiscard]] __device__ __forceinline__ bool exists(std::uint32_t) const { return true; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t place(std::uint32_t i) const {
    return candidates.places[i];
  }
  [[nodiscard]] __device__ __forceinline__ OrderedBits<C> key(std::uint32_t i, int k) const {
    return k == 0 ? candidates.keys[i] : group.tuples.key(place(i), primary, k);
  }
};
/// All tuples of a segment of the base, of which those take part that lie in `segment`.
template <class C>
struct SegmentItems {
  const LevelGroup<C>& group;
  int depth;
  std::uint32_t segment;
  std::uint32_t begin;
  std::uint32_t count;

  __device__ __forceinline__ SegmentItems(const LevelGroup<C>& levels, int of_depth,
                                          std::uint32_t number)
      : group(levels), depth(of_depth), segment(number) {
    const partitioners::Segment places = levels.unit(number >> of_depth);
    begin = places.begin;
    count = places.count();
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t place(std::uint32_t i) const {
    return begin + i;
  }
  [[nodiscard]] __device__ __forceinline__ bool exists(std::uint32_t i) const {
    return group.segment_at(depth, segment >> depth, place(i)) == segment;
  }
  [[nodiscard]] __device__ __forceinline__ OrderedBits<C> key(std::uint32_t i, int k) const {
    return group.tuples.key(place(i), group.primary(depth), k);
  }
};

/// Stores the superkey of the tuple at a place as a row. The whole block.
template <class C>
__device__ __forceinline__ void store_row(const TupleColumns<C>& tuples, std::uint32_t place,
                                          OrderedBits<C>* row) {
  const auto k = static_cast<int>(threadIdx.x);
  if (k <= tuples.dimensions) row[k] = tuples.key(place, 0, k);
}

/// Stores the bracket of a sample that has room for `room`, whose range each thread knows its part
/// of. rank: of `count` tuples, the one that the bracket is for. The whole block.
template <int Threads, class C>
__device__ __forceinline__ void block_store_bracket(SampleStorage<Threads, C>& shared,
                                                    std::uint32_t room,
                                                    const Selection<C>& selection,
                                                    std::uint32_t count, std::uint32_t rank,
                                                    OrderedBits<C> least, OrderedBits<C> greatest) {
  using Bits = OrderedBits<C>;
  least = warp_min(least);
  greatest = warp_max(greatest);
  if (lane_index() == 0) {
    shared.least[warp_index()] = least;
    shared.greatest[warp_index()] = greatest;
  }
  __syncthreads();  // the sample is there, and the ranges of all warps
  constexpr int warps = Threads / warp_threads;
  least = warp_min(shared.least[lane_index() % warps]);
  greatest = warp_max(shared.greatest[lane_index() % warps]);

  const Candidates<C> sample = shared.sample(room);
  const std::uint32_t samples = min(shared.count, room);
  const float share = (static_cast<float>(rank) + 0.5F) / static_cast<float>(count);
  const float place = share * static_cast<float>(samples);
  const float spread = bracket_deviations * sqrtf(place * (1 - share)) + 2;
  const TupleColumns<C>& tuples = selection.group.tuples;
  const CandidateItems<C> items{selection.group, sample, selection.primary(), samples};
  const float bounds[2] = {place - spread, place + spread};
  std::uint32_t ranks[2];
  for (int end = 0; end < 2; ++end) {
    const float last = static_cast<float>(samples) - 1;
    ranks[end] = static_cast<std::uint32_t>(max(min(bounds[end], last), 0.0F));
  }
  if (samples > 0) {
    block_select(shared.select, items, tuples.dimensions, ranks, least, greatest);
  }
  for (int end = 0; end < 2; ++end) {
    Bits* const row = selection.bracket(blockIdx.x, end);
    if (bounds[end] >= 0 && bounds[end] < static_cast<float>(samples)) {
      store_row(tuples, sample.places[shared.select.chosen[end]], row);
    } else if (threadIdx.x <= static_cast<unsigned>(tuples.dimensions)) {
      // No tuple is before all zeros, or after all ones.
      row[threadIdx.x] = end == 0 ? Bits{0} : static_cast<Bits>(~Bits{0});
    }
  }
}

/// Places that a thread has drawn for a sample.
template <int Items>
struct DrawnPlaces {
  static constexpr int items = Items;
  std::uint32_t places[Items];
  unsigned exist;  ///< bit t: place t

  [[nodiscard]] __device__ __forceinline__ unsigned existing() const { return exist; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t place(int t) const { return places[t]; }
  /// Takes what lies at these places, all at once.
  template <class T>
  __device__ __forceinline__ void load(const T* column, T (&values)[Items]) const {
#pragma unroll
    for (int t = 0; t < Items; ++t) values[t] = (exist >> t & 1) != 0 ? column[places[t]] : T{};
  }
};

/// Finds the brackets of round 0. A block a segment; 64 registers a thread, as in all searches, so
/// that 1024 threads fit on a multiprocessor, in however many blocks.
template <int Threads, class C>
__global__ void __launch_bounds__(Threads, 1024 / Threads)
    find_brackets_kernel(Selection<C> selection) {
  using Bits = OrderedBits<C>;
  auto& shared = dynamic_shared<SampleStorage<Threads, C>>();
  hopper::wait_for_kernel_before();
  const LevelGroup<C>& group = selection.group;
  const int depth = selection.depth;
  const std::uint32_t unit = blockIdx.x >> depth;
  const partitioners::Segment places = group.unit(unit);
  const std::uint32_t count = group.segment(depth, blockIdx.x).count();
  const std::uint32_t rank = count == 0 ? 0 : (count - 1) / 2;
  if (threadIdx.x == 0) {
    selection.parts[blockIdx.x] = {count, rank, 0, 0, 0};
    shared.count = 0;
  }
  shared.splits.load(group, depth, unit);
  __syncthreads();  // the sample is empty, the splits are there
  const std::uint32_t meant = sample_size(group.level(depth).largest_segment());
  const std::uint32_t room = sample_room(meant);
  const Candidates<C> sample = shared.sample(room);
  const std::uint32_t draws = min(meant << depth, places.count());
  const SampleShares shares(places.count(), draws, scattered(blockIdx.x));
  const auto own_segment = static_cast<int>(blockIdx.x - (unit << depth));
  Bits least = static_cast<Bits>(~Bits{0});
  Bits greatest = 0;
  constexpr int batch = 4;  // that a thread draws at once
  for (std::uint32_t tile = 0; tile < draws; tile += batch * Threads) {
    DrawnPlaces<batch> drawn;
    drawn.exist = 0;
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      const std::uint32_t i = tile + threadIdx.x + static_cast<unsigned>(u * Threads);
      drawn.places[u] = places.begin + shares.place(i);
      drawn.exist |= i < draws ? 1u << u : 0;
    }
    int segments[batch];
    drawn.exist = find_segments(group, depth, unit, shared.splits, drawn, segments,
                                [](int, std::uint32_t, std::uint32_t) {});
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      if (segments[u] != own_segment) drawn.exist &= ~(1u << u);
    }
    Bits keys[batch];
    drawn.load(group.tuples.column(selection.primary()), keys);
    const auto own = static_cast<std::uint32_t>(__popc(drawn.exist));
    const std::uint32_t through = warp_inclusive_sum(own);
    std::uint32_t to = 0;
    if (lane_index() == warp_threads - 1) to = atomicAdd(&shared.count, through);
    to = __shfl_sync(full_warp, to, warp_threads - 1) + through - own;
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      if ((drawn.exist >> u & 1) == 0 || to >= room) continue;
      sample.keys[to] = keys[u];
      sample.places[to] = drawn.places[u];
      least = min(least, keys[u]);
      greatest = max(greatest, keys[u]);
      ++to;
    }
  }
  block_store_bracket(shared, room, selection, count, rank, least, greatest);
}

/// Finds the brackets of round `round` > 0, among what the round before has listed, of which there
/// was room for `room` a segment. A block a segment.
template <int Threads, class C>
__global__ void __launch_bounds__(Threads, 1024 / Threads)
    find_brackets_again_kernel(Selection<C> selection, int round, std::uint32_t room) {
  using Bits = OrderedBits<C>;
  auto& shared = dynamic_shared<SampleStorage<Threads, C>>();
  hopper::wait_for_kernel_before();
  SearchedPart& stored = selection.parts[blockIdx.x];
  if (threadIdx.x == 0) {
    if (stored.has_missed == 0) stored.settle(room);
    shared.count = min(sample_size(room), stored.count);
  }
  __syncthreads();  // the part is settled
  const SearchedPart part = stored;
  if (part.has_missed != 0) return;
  const Candidates<C> list = selection.list(round - 1, blockIdx.x, room);
  const Candidates<C> sample = shared.sample(sample_room(sample_size(room)));
  // Each round has seeds of its own: no sample has 2^13 tuples.
  const SampleShares shares(part.count, shared.count,
                            scattered(blockIdx.x) + (static_cast<unsigned>(round) << 13));
  Bits least = static_cast<Bits>(~Bits{0});
  Bits greatest = 0;
  const std::uint32_t samples = shared.count;
  constexpr int batch = 8;  // that a thread loads at once
  for (std::uint32_t tile = threadIdx.x; tile < samples; tile += batch * Threads) {
    Candidate<C> drawn[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      const std::uint32_t i = tile + static_cast<unsigned>(u * Threads);
      const std::uint32_t from = shares.place(i < samples ? i : 0);
      drawn[u] = {list.keys[from], list.places[from]};
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      const std::uint32_t i = tile + static_cast<unsigned>(u * Threads);
      if (i >= samples) continue;
      sample.keys[i] = drawn[u].key;
      sample.places[i] = drawn[u].place;
      least = min(least, drawn[u].key);
      greatest = max(greatest, drawn[u].key);
    }
  }
  block_store_bracket(shared, sample_room(sample_size(room)), selection, part.count, part.rank,
                      least, greatest);
}

template <class C>
struct CollectStorage {
  static constexpr int most_segments = most_parts / 2;
  struct Ends {
    OrderedBits<C> low;
    OrderedBits<C> high;
  };

  UnitSplits<C> splits;
  Ends ends[most_segments];  ///< of the brackets, by their primary coordinates
  std::uint32_t before[most_segments];
  std::uint32_t inside[most_segments];
  std::uint32_t bases[most_segments];  ///< of what is inside, in its list

  /// By the first threads of a block, for `count` segments from `first` on; a barrier has to
  /// follow.
  __device__ __forceinline__ void begin(const Selection<C>& selection, std::uint32_t first,
                                        int count) {
    const std::uint32_t i = threadIdx.x;
    if (i >= static_cast<unsigned>(count)) return;
    const int k = selection.primary();
    ends[i] = {selection.bracket(first + i, 0)[k], selection.bracket(first + i, 1)[k]};
    before[i] = 0;
    inside[i] = 0;
  }
};

/// Small numbers of up to four segments, 16 bits each.
struct FourCounts {
  std::uint32_t even = 0;  ///< of segments 0 and 2
  std::uint32_t odd = 0;   ///< of segments 1 and 3

  FourCounts() = default;
  /// From a byte for each segment.
  __device__ __forceinline__ explicit FourCounts(std::uint32_t bytes)
      : even(bytes & 0xFF00FF), odd(bytes >> 8 & 0xFF00FF) {}
  [[nodiscard]] __device__ __forceinline__ std::uint32_t of(int segment) const {
    return (segment % 2 == 0 ? even : odd) >> segment / 2 * 16 & 0xFFFF;
  }
  __device__ __forceinline__ void add_one_to(int segment) {
    (segment % 2 == 0 ? even : odd) += 1u << segment / 2 * 16;
  }
};

/// Counts which of a tile's tuples come before the brackets of their segments, and lists those
/// inside. segments: counted from `first`, of `count`; exist: bits of the tuples that there are;
/// keys: their primary coordinates. candidate(i): what lies at place i of what the tile is of. The
/// whole block.
template <class Tile, class C, class CandidateAt>
__device__ __forceinline__ void block_collect(CollectStorage<C>& shared,
                                              const Selection<C>& selection, std::uint32_t first,
                                              int count, const TilePlaces<Tile>& tile,
                                              const int (&segments)[Tile::items], unsigned exist,
                                              const OrderedBits<C> (&keys)[Tile::items],
                                              const CandidateAt& candidate, int round,
                                              std::uint32_t room) {
  // A byte for each segment: a thread's tuples are fewer than 2^8, a warp's than 2^16.
  static_assert(Tile::items * warp_threads < 1 << 16 && CollectStorage<C>::most_segments == 4);
  static_assert(2 * Tile::items <= 32);
  unsigned before = 0;  // bit t: tuple t comes before its bracket
  unsigned after = 0;
  unsigned ties = 0;
#pragma unroll
  for (int t = 0; t < Tile::items; ++t) {
    const auto [low, high] = shared.ends[segments[t]];
    before |= keys[t] < low ? 1u << t : 0;
    after |= keys[t] > high ? 1u << t : 0;
    ties |= keys[t] == low || keys[t] == high ? 1u << t : 0;
  }
  ties &= exist;
  if (ties != 0) {
#pragma unroll
    for (int t = 0; t < Tile::items; ++t) {
      if ((ties >> t & 1) == 0) continue;
      const auto [low, high] = shared.ends[segments[t]];
      const auto compare_to = [&](int end) {
        return compare_tie_to_row(
            selection.group.tuples, candidate(tile.place(t)).place,
            selection.bracket(first + static_cast<unsigned>(segments[t]), end),
            selection.primary());
      };
      if (keys[t] == low && compare_to(0) < 0) before |= 1u << t;
      if (keys[t] == high && compare_to(1) > 0) after |= 1u << t;
    }
  }
  before &= exist;
  unsigned listed = exist & ~before & ~after;
  std::uint32_t before_of = 0;    // a byte for each segment
  std::uint32_t inside_of = 0;    // likewise
  std::uint32_t segments_of = 0;  // two bits for each tuple
#pragma unroll
  for (int t = 0; t < Tile::items; ++t) {
    before_of += (before >> t & 1) << 8 * segments[t];
    inside_of += (listed >> t & 1) << 8 * segments[t];
    segments_of |= static_cast<unsigned>(segments[t]) << 2 * t;
  }
  const FourCounts own_inside(inside_of);
  FourCounts through = own_inside;  // this lane and those below it
  through.even = warp_inclusive_sum(through.even);
  if (count > 1) through.odd = warp_inclusive_sum(through.odd);
  FourCounts before_of_warp(before_of);
  before_of_warp.even = warp_sum(before_of_warp.even);
  if (count > 1) before_of_warp.odd = warp_sum(before_of_warp.odd);
  FourCounts inside_of_warp;
  inside_of_warp.even = __shfl_sync(full_warp, through.even, warp_threads - 1);
  inside_of_warp.odd = __shfl_sync(full_warp, through.odd, warp_threads - 1);
  std::uint32_t begin_of_warp = 0;  // of the segment whose number is this lane's
  if (lane_index() < count) {
    atomicAdd(&shared.before[lane_index()], before_of_warp.of(lane_index()));
    begin_of_warp = atomicAdd(&shared.inside[lane_index()], inside_of_warp.of(lane_index()));
  }
  __syncthreads();  // all are counted
  if (static_cast<int>(threadIdx.x) < count) {
    SearchedPart& part = selection.parts[first + threadIdx.x];
    if (shared.before[threadIdx.x] != 0) atomicAdd(&part.before, shared.before[threadIdx.x]);
    if (shared.inside[threadIdx.x] != 0) {
      shared.bases[threadIdx.x] = atomicAdd(&part.inside, shared.inside[threadIdx.x]);
    }
  }
  __syncthreads();  // the lists have places for them
  if (lane_index() < count) begin_of_warp += shared.bases[lane_index()];
  FourCounts next{};
  next.even = through.even - own_inside.even;
  next.odd = through.odd - own_inside.odd;
  // The lanes' tuples one after another, since most have none or one.
  while (__any_sync(full_warp, listed != 0)) {
    const int t = listed == 0 ? 0 : __ffs(static_cast<int>(listed)) - 1;
    const auto segment = static_cast<int>(segments_of >> 2 * t & 3);
    const std::uint32_t target = __shfl_sync(full_warp, begin_of_warp, segment) + next.of(segment);
    if (listed != 0 && target < room) {
      const Candidate<C> found = candidate(tile.place(t));
      const Candidates<C> list =
          selection.list(round, first + static_cast<unsigned>(segment), room);
      list.keys[target] = found.key;
      list.places[target] = found.place;
    }
    next.add_one_to(segment);
    listed &= listed - 1;
  }
}

/// Round 0's counts and lists. Block (tile, segment of the base).
template <class Tile, class C>
__global__ void __launch_bounds__(Tile::threads)
    collect_kernel(Selection<C> selection, std::uint32_t room) {
  auto& shared = dynamic_shared<CollectStorage<C>>();
  hopper::wait_for_kernel_before();
  const LevelGroup<C>& group = selection.group;
  const std::uint32_t unit = blockIdx.x & (group.base.segments() - 1);
  const TilePlaces<Tile> tile(blockIdx.x >> group.base.number, group.unit(unit));
  if (tile.is_empty()) return;
  const std::uint32_t first = unit << selection.depth;
  const int count = 1 << selection.depth;
  shared.splits.load(group, selection.depth, unit);
  shared.begin(selection, first, count);
  __syncthreads();  // the splits and brackets are there
  int segments[Tile::items];
  const unsigned exist = find_segments(group, selection.depth, unit, shared.splits, tile, segments,
                                       [](int, std::uint32_t, std::uint32_t) {});
  OrderedBits<C> keys[Tile::items];
  const OrderedBits<C>* const column = group.tuples.column(selection.primary());
  tile.load(column, keys);
  block_collect<Tile>(
      shared, selection, first, count, tile, segments, exist, keys,
      [&](std::uint32_t place) {
        return Candidate<C>{column[place], place};
      },
      0, room);
}

/// Those of round `round` > 0, from what the round before has listed, of which there was room for
/// `from_room` a segment. Block (tile, segment).
template <class Tile, class C>
__global__ void __launch_bounds__(Tile::threads)
    collect_again_kernel(Selection<C> selection, int round, std::uint32_t from_room,
                         std::uint32_t room) {
  auto& shared = dynamic_shared<CollectStorage<C>>();
  hopper::wait_for_kernel_before();
  const partitioners::Level level = selection.group.level(selection.depth);
  const std::uint32_t segment = blockIdx.x & (level.segments() - 1);
  const SearchedPart& part = selection.parts[segment];
  const TilePlaces<Tile> tile(blockIdx.x >> level.number, {0, part.count});
  if (tile.is_empty() || part.has_missed != 0) return;
  shared.begin(selection, segment, 1);
  __syncthreads();  // the bracket is there
  const Candidates<C> list = selection.list(round - 1, segment, from_room);
  int segments[Tile::items];
  OrderedBits<C> keys[Tile::items];
  tile.load(list.keys, keys);
#pragma unroll
  for (int t = 0; t < Tile::items; ++t) segments[t] = 0;
  block_collect<Tile>(
      shared, selection, segment, 1, tile, segments, tile.existing(), keys,
      [&](std::uint32_t i) {
        return Candidate<C>{list.keys[i], list.places[i]};
      },
      round, room);
}

/// Finds the medians, after `rounds` rounds, the last of which had room for `room` tuples a
/// segment. begins, ends: of each segment of the next level, its first place, which is where its
/// next tuple goes; written here, or null. A block a segment.
template <int Threads, class C>
__global__ void __launch_bounds__(Threads, 1024 / Threads)
    find_medians_kernel(Selection<C> selection, int rounds, std::uint32_t room,
                        std::uint32_t* begins, std::uint32_t* ends) {
  using Bits = OrderedBits<C>;
  auto& shared = dynamic_shared<SelectStorage<Threads, C>>();
  hopper::wait_for_kernel_before();
  const LevelGroup<C>& group = selection.group;
  SearchedPart& stored = selection.parts[blockIdx.x];
  const partitioners::Segment segment = group.segment(selection.depth, blockIdx.x);
  if (segment.count() == 0) return;
  if (threadIdx.x == 0) {
    if (stored.has_missed == 0) stored.settle(room);
    if (begins != nullptr) {
      begins[2 * blockIdx.x] = ends[2 * blockIdx.x] = segment.less_side().begin;
      begins[2 * blockIdx.x + 1] = ends[2 * blockIdx.x + 1] = segment.greater_side().begin;
    }
  }
  __syncthreads();  // the part is settled
  const SearchedPart part = stored;
  const int dimensions = group.tuples.dimensions;
  std::uint32_t place = 0;
  if (part.has_missed == 0) {
    const CandidateItems<C> items{group, selection.list(rounds - 1, blockIdx.x, room),
                                  selection.primary(), part.count};
    std::uint32_t rank[1] = {part.rank};
    block_select(shared, items, dimensions, rank,
                 selection.bracket(blockIdx.x, 0)[selection.primary()],
                 selection.bracket(blockIdx.x, 1)[selection.primary()]);
    place = items.place(shared.chosen[0]);
  } else {
    const SegmentItems<C> items(group, selection.depth, blockIdx.x);
    std::uint32_t rank[1] = {(segment.count() - 1) / 2};
    block_select(shared, items, dimensions, rank, Bits{0}, static_cast<Bits>(~Bits{0}));
    place = items.place(shared.chosen[0]);
  }
  store_row(group.tuples, place, group.median(selection.depth, blockIdx.x));
}

}  // namespace warpath::kd_tree::detail
