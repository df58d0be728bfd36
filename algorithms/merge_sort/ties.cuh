// Ties: references that are sorted by the first coordinates of their superkeys, and tie so far.
// Runs of up to `most_ranked` are sorted in shared memory, coordinate by coordinate; longer ones
// are listed, for long_ties.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/block.cuh"
#include "core/hopper.cuh"
#include "core/key_order.cuh"
#include "core/launch.cuh"
#include "core/partition_point.cuh"
#include "merge_sort/block_merge.cuh"
#include "merge_sort/orders.cuh"
#include "merge_sort/passes.cuh"
#include "merge_sort/tile_sort.cuh"
#include "merge_sort/tuning.hpp"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::detail {

/// A run of tied references that sort_ties_kernel does not sort.
struct TiedRun {
  std::uint32_t begin;
  std::uint32_t count;
  std::uint32_t
      first_tile;          ///< of the tiles of all runs of more than one, in the order of the list
  std::uint32_t progress;  ///< of long_ties.cuh; 0 at first
};

/// Lists of runs of one tile and of more, in global memory: those of one from the front, the others
/// from the back.
struct TiedRuns {
  TiedRun* runs;
  std::int64_t capacity;
  /// The runs of one tile; of the others, the tiles, and 2^32 times their number. 0 at first.
  unsigned long long* counts;

  [[nodiscard]] __device__ __forceinline__ std::uint32_t short_runs() const {
    return static_cast<std::uint32_t>(counts[0]);
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t long_runs() const {
    return static_cast<std::uint32_t>(counts[1] >> 32);
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t long_tiles() const {
    return static_cast<std::uint32_t>(counts[1]);
  }
  [[nodiscard]] __device__ __forceinline__ TiedRun& short_run(std::int64_t i) const {
    return runs[i];
  }
  [[nodiscard]] __device__ __forceinline__ TiedRun& long_run(std::int64_t i) const {
    return runs[capacity - 1 - i];
  }
  /// Any thread.
  __device__ void add(std::int64_t begin, std::int64_t count, std::int64_t tiles) const {
    TiedRun run{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(count), 0, 0};
    if (tiles == 1) {
      short_run(static_cast<std::int64_t>(atomicAdd(counts, 1ull))) = run;
      return;
    }
    const auto before = atomicAdd(counts + 1, 1ull << 32 | static_cast<unsigned long long>(tiles));
    run.first_tile = static_cast<std::uint32_t>(before);
    long_run(static_cast<std::int64_t>(before >> 32)) = run;
  }
};

/// Calls take(i, act(i)) for all i < count; a thread calls act `at_once` times before it takes. The
/// whole block.
template <int at_once, class Act, class Take>
__device__ __forceinline__ void block_for_each(int count, Act act, Take take) {
  const int stride = static_cast<int>(blockDim.x);
  for (int first = static_cast<int>(threadIdx.x); first < count; first += at_once * stride) {
    decltype(act(0)) results[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (first + k * stride < count) results[k] = act(first + k * stride);
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (first + k * stride < count) take(first + k * stride, results[k]);
    }
  }
}

/// A run of items of a block's dense list: [begin, end) of it.
struct TiedRange {
  int begin = 0;
  int end = 0;
  __device__ __forceinline__ static TiedRange of(std::uint32_t packed) {
    return {static_cast<int>(packed & 0xFFFF), static_cast<int>(packed >> 16)};
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t packed() const {
    return static_cast<std::uint32_t>(end) << 16 | static_cast<std::uint32_t>(begin);
  }
  [[nodiscard]] __device__ __forceinline__ int count() const { return end - begin; }
};

/// What shared memory sorts a tied item by: its run, the next coordinate, and its place.
template <class C, std::size_t Bytes = sizeof(C)>
struct TiedItem;
template <class C>
struct TiedItem<C, 4> {
  std::uint64_t packed;
  static __device__ __forceinline__ TiedItem of(int run, std::uint32_t bits, int place) {
    return {static_cast<std::uint64_t>(run) << 48 | std::uint64_t{bits} << 16 |
            static_cast<std::uint64_t>(place)};
  }
  [[nodiscard]] __device__ __forceinline__ int place() const {
    return static_cast<int>(packed & 0xFFFF);
  }
  /// Whether they tie in this coordinate as well.
  [[nodiscard]] __device__ __forceinline__ bool ties_with(const TiedItem& other) const {
    return packed >> 16 == other.packed >> 16;
  }
  [[nodiscard]] __device__ __forceinline__ bool is_less(const TiedItem& other) const {
    return packed < other.packed;
  }
};
template <class C>
struct alignas(16) TiedItem<C, 8> {
  std::uint64_t bits;
  std::uint32_t run_and_place;
  static __device__ __forceinline__ TiedItem of(int run, std::uint64_t bits, int place) {
    return {bits, static_cast<std::uint32_t>(run) << 16 | static_cast<std::uint32_t>(place)};
  }
  [[nodiscard]] __device__ __forceinline__ int place() const {
    return static_cast<int>(run_and_place & 0xFFFF);
  }
  [[nodiscard]] __device__ __forceinline__ bool ties_with(const TiedItem& other) const {
    return bits == other.bits && run_and_place >> 16 == other.run_and_place >> 16;
  }
  [[nodiscard]] __device__ __forceinline__ bool is_less(const TiedItem& other) const {
    const std::uint32_t run = run_and_place >> 16;
    const std::uint32_t other_run = other.run_and_place >> 16;
    if (run != other_run) return run < other_run;
    if (bits != other.bits) return bits < other.bits;
    return run_and_place < other.run_and_place;
  }
};
template <class C>
struct ByTie {
  static constexpr bool is_total = true;
  __device__ __forceinline__ bool operator()(const TiedItem<C>& a, const TiedItem<C>& b) const {
    return a.is_less(b);
  }
};

/// Shared memory of a block that sorts the ties of a tile. The tied items are kept densely, in
/// order, as many at once as there is room for: item d of them is place places[d] of the tile.
template <class C, class Shape>
struct TiesStorage {
  static constexpr int room = Shape::SortShape::tile_items;
  static constexpr int places_found_by = Shape::tile_items + 2 * Shape::most_ranked;
  union {
    /// The coordinate that ties are found by, from most_ranked places before the tile on; not
    /// needed any more once the list is made.
    OrderedBits<C> found_by[places_found_by];
    OrderedBits<C> next[room];  ///< of item d, the next coordinate
    SharedTile<TiedItem<C>, typename Shape::SortShape> sorted;
  };
  /// Bit j: the place of found_by[j] ties with the one before it.
  std::uint32_t ties_on[Shape::words];
  std::uint16_t places[room];
  std::uint32_t references[2][room];
  std::uint32_t ranges[2][room];  ///< of item d, the run: TiedRange
  BlockSums<int> sums;
  int list_end;
};

/// References that are sorted by coordinates 0 to known - 1 of their superkeys, and then by
/// themselves or in any order. Those that are not in [begin, end) are not looked at.
template <class C, class BitsOf>
struct TiedReferences {
  std::int64_t begin;
  std::int64_t end;
  BitsOf bits_of;  ///< bits_of(i): the last coordinate that they are sorted by
  const std::uint32_t* from;
  std::uint32_t* to;  ///< may be `from`
  Superkeys<C> superkeys;
  int known;
  int depth;  ///< how many coordinates there are to sort by
};

/// A tied reference, and its next coordinate.
template <class C>
struct TiedNext {
  OrderedBits<C> bits;
  std::uint32_t reference;
};

/// The tied items of a tile, of all runs that the block sorts: how many there are, whether they
/// have runs of more than most_counted, and which are this thread's.
struct TiedItems {
  int count;
  bool has_long_runs;
  unsigned own;  ///< bit k: the k-th of its places is one of them
  int first;     ///< the number of the first of them
};

/// A tile of tied references: who ties with whom.
template <class Tuning, class Shape, class C, class BitsOf>
class TiesTile {
 public:
  using Storage = TiesStorage<C, Shape>;
  static constexpr int most_ranked = Shape::most_ranked;

  /// `count` places from `begin` on, at most a tile. The whole block; ends with a barrier.
  __device__ __forceinline__ TiesTile(Storage& shared, const TiedReferences<C, BitsOf>& tied,
                                      std::int64_t begin, int count)
      : shared_(shared), tied_(tied), begin_(begin), count_(count) {
    low_ = static_cast<int>(max(tied.begin - begin, std::int64_t{-1}));
    high_ = static_cast<int>(min(tied.end - begin, std::int64_t{count} + 1));
    load(low_, high_);
    __syncthreads();  // the tile is there, and its neighbours
    const bool goes_on_left = low_ < 0 && found_by(-1) == found_by(0);
    const bool goes_on_right = high_ > count && found_by(count) == found_by(count - 1);
    if (goes_on_left || goes_on_right) {
      const int left = low_;
      const int right = high_;
      if (goes_on_left) low_ = place_of(max(tied.begin, begin - most_ranked));
      if (goes_on_right) high_ = place_of(min(tied.end, begin + count + most_ranked));
      load(low_, left);
      load(right, high_);
      __syncthreads();  // so much of the runs that cross its ends as decides whether they are long
    }
    end_ = goes_on_right ? high_ : count;
    note_ties();
    __syncthreads();  // who ties with the place before is known
  }

  /// Lists the long runs that begin in the tile, and finds the items of all short ones that begin
  /// in it. What is in no short run goes to where it shall, if that is elsewhere. The whole block;
  /// ends with a barrier.
  __device__ __forceinline__ TiedItems find_items(const TiedRuns& longer) const {
    const unsigned ties_on = ties_from(first_place());
    unsigned tied = (ties_on | ties_on >> 1) & ((1u << Shape::places) - 1);
    const int left_places = max(end_ - first_place(), 0);
    if (left_places < Shape::places) tied &= (1u << left_places) - 1;

    unsigned in_short_run = 0;
    TiedItems items{};
    bool has_long_run = false;
    TiedRange range;
    for (unsigned left = tied; left != 0; left &= left - 1) {
      const int k = __ffs(static_cast<int>(left)) - 1;
      const int i = first_place() + k;
      if (i >= range.end) range = range_of(i);
      if (range.count() > most_ranked) {
        if (i < count_ && (ties_on >> k & 1) == 0) list(longer, i);
        continue;
      }
      in_short_run |= 1u << k;
      if (range.begin < 0 || range.begin >= count_) continue;
      items.own |= 1u << k;
      has_long_run |= range.count() > Shape::most_counted;
    }
    if (tied_.from != tied_.to) {
#pragma unroll
      for (int k = 0; k < Shape::places; ++k) {
        const std::int64_t i = begin_ + first_place() + k;
        if (first_place() + k < count_ && (in_short_run >> k & 1) == 0) tied_.to[i] = tied_.from[i];
      }
    }
    constexpr int one_long = 1 << 16;  // above the number of items
    int sum = 0;
    const int before =
        block_exclusive_sum(__popc(items.own) + (has_long_run ? one_long : 0), shared_.sums, sum);
    items.first = before % one_long;
    items.count = sum % one_long;
    items.has_long_runs = sum >= one_long;
    return items;
  }

  /// Makes the dense list of the items from number `begin` on, where a run begins: of as many whole
  /// runs as there is room for. Returns the number of the first item after them. The whole block;
  /// ends with a barrier.
  __device__ __forceinline__ int list_items(const TiedItems& items, int begin) const {
    const bool is_all = items.count - begin <= Storage::room;
    if (!is_all) {
      if (threadIdx.x == 0) shared_.list_end = items.count;
      __syncthreads();  // the end can be lowered
    }
    int number = items.first;
    TiedRange range;
    for (unsigned left = items.own; left != 0; left &= left - 1, ++number) {
      const int i = first_place() + __ffs(static_cast<int>(left)) - 1;
      if (number < begin) continue;
      if (i >= range.end) range = range_of(i);
      const int run = number - (i - range.begin) - begin;
      if (run + range.count() > Storage::room) {
        atomicMin(&shared_.list_end, run + begin);
        break;
      }
      shared_.places[number - begin] = static_cast<std::uint16_t>(i);
      shared_.ranges[0][number - begin] = TiedRange{run, run + range.count()}.packed();
    }
    __syncthreads();  // the dense list is there
    return is_all ? items.count : shared_.list_end;
  }

  [[nodiscard]] __device__ __forceinline__ std::uint32_t reference_of(int d) const {
    return tied_.from[begin_ + shared_.places[d]];
  }
  __device__ __forceinline__ void store_references(int count, int from) const {
    for (int d = static_cast<int>(threadIdx.x); d < count; d += static_cast<int>(blockDim.x)) {
      tied_.to[begin_ + shared_.places[d]] = shared_.references[from][d];
    }
  }

 private:
  /// Each thread looks at so many places in a row.
  [[nodiscard]] __device__ __forceinline__ static int first_place() {
    return static_cast<int>(threadIdx.x) * Shape::places;
  }
  [[nodiscard]] __device__ __forceinline__ OrderedBits<C>& found_by(int place) const {
    return shared_.found_by[most_ranked + place];
  }
  [[nodiscard]] __device__ __forceinline__ int place_of(std::int64_t i) const {
    return static_cast<int>(i - begin_);
  }
  __device__ __forceinline__ void load(int first, int end) const {
    block_for_each<8>(
        end - first, [&](int i) { return tied_.bits_of(begin_ + first + i); },
        [&](int i, OrderedBits<C> bits) { found_by(first + i) = bits; });
  }
  /// Sets all words of ties_on; place high_, and all that are not loaded, tie with none before.
  __device__ __forceinline__ void note_ties() const {
    const int warps = static_cast<int>(blockDim.x) / warp_threads;
    for (int word = warp_index(); word < Shape::words; word += warps) {
      const int i = word * warp_threads + lane_index() - most_ranked;
      const bool ties = i > low_ && i < high_ && found_by(i - 1) == found_by(i);
      const unsigned bits = __ballot_sync(full_warp, ties);
      if (lane_index() == 0) shared_.ties_on[word] = bits;
    }
  }
  /// Bit k: place i + k ties with the one before it.
  [[nodiscard]] __device__ __forceinline__ unsigned ties_from(int i) const {
    const int bit = most_ranked + i;
    const std::uint32_t* const words = shared_.ties_on + bit / 32;
    return __funnelshift_r(words[0], words[1], static_cast<unsigned>(bit % 32));
  }
  /// The run of place i: all of it, or more than most_ranked places. It begins at the last place up
  /// to i that does not tie with the one before, and ends at the first such place after i.
  [[nodiscard]] __device__ __forceinline__ TiedRange range_of(int i) const {
    const std::uint32_t* const ties_on = shared_.ties_on;
    const int bit = most_ranked + i;
    int first_word = bit / 32;
    unsigned first = ~ties_on[first_word] & ~0u >> (31 - bit % 32);
    while (first == 0) first = ~ties_on[--first_word];
    int end_word = (bit + 1) / 32;
    unsigned end = ~ties_on[end_word] & ~0u << (bit + 1) % 32;
    while (end == 0) end = ~ties_on[++end_word];
    return {first_word * 32 + 31 - __clz(static_cast<int>(first)) - most_ranked,
            end_word * 32 + __ffs(static_cast<int>(end)) - 1 - most_ranked};
  }
  /// One thread.
  __device__ void list(const TiedRuns& longer, int i) const {
    const std::int64_t first = begin_ + i;
    const auto bits = found_by(i);
    const std::int64_t length = partition_point_near<std::int64_t>(
        most_ranked, tied_.end - first, most_ranked,
        [&](std::int64_t j) { return tied_.bits_of(first + j) == bits; });
    longer.add(first, length, tiles_of_run<Tuning>(length));
  }

  Storage& shared_;
  const TiedReferences<C, BitsOf>& tied_;
  std::int64_t begin_;
  int count_;
  int low_;   // the places that are loaded
  int high_;  // and their end
  int end_;   // of the places that runs of this tile can have
};

/// Sorts the runs of a dense list by the next coordinate: an item's rank in its run is how many are
/// less, and how many of the equal ones lie before it. What ties in this one as well is a run of
/// list 1 - from. The whole block; returns how many items the longest of them has, of those that
/// this thread has seen.
template <class C, class Shape>
__device__ __forceinline__ int block_rank(TiesStorage<C, Shape>& shared, int from, int all) {
  int longest = 0;
  for (int d = static_cast<int>(threadIdx.x); d < all; d += static_cast<int>(blockDim.x)) {
    const TiedRange range = TiedRange::of(shared.ranges[from][d]);
    const auto own = shared.next[d];
    int less = 0;
    int equal = 0;
    int equal_before = 0;
#pragma unroll 4
    for (int other = range.begin; other < range.end; ++other) {
      const auto bits = shared.next[other];
      less += bits < own ? 1 : 0;
      equal += bits == own ? 1 : 0;
      equal_before += bits == own && other < d ? 1 : 0;
    }
    const int begin = range.begin + less;
    shared.references[1 - from][begin + equal_before] = shared.references[from][d];
    shared.ranges[1 - from][begin + equal_before] = TiedRange{begin, begin + equal}.packed();
    longest = max(longest, equal);
  }
  return longest;
}

/// The same by a merge sort of the list, which is faster where runs are longer. The whole block.
template <class C, class Shape>
__device__ __forceinline__ int block_sort_ranges(TiesStorage<C, Shape>& shared, int from, int all) {
  using Bits = OrderedBits<C>;
  int longest = 0;
  // The coordinates lie where the tile shall be.
  using SortShape = typename Shape::SortShape;
  Bits next[SortShape::items] = {};
#pragma unroll
  for (int k = 0; k < SortShape::items; ++k) {
    const int d = k * Shape::threads + static_cast<int>(threadIdx.x);
    if (d < all) next[k] = shared.next[d];
  }
  __syncthreads();  // they are read
#pragma unroll
  for (int k = 0; k < SortShape::items; ++k) {
    const int d = k * Shape::threads + static_cast<int>(threadIdx.x);
    if (d >= all) continue;
    const TiedRange range = TiedRange::of(shared.ranges[from][d]);
    shared.sorted[d] = TiedItem<C>::of(range.begin, range.count() > 1 ? next[k] : Bits{0}, d);
  }
  block_fill_end(shared.sorted, all, TiedItem<C>{});
  __syncthreads();  // the tied items are there
  block_sort_items<LowLevelMerge::merge_path>(shared.sorted, all, ByTie<C>{});
  for (int d = static_cast<int>(threadIdx.x); d < all; d += static_cast<int>(blockDim.x)) {
    const TiedItem<C> item = shared.sorted[d];
    const int end = partition_point_near(
        d + 1, all, 1, [&](int other) { return shared.sorted[other].ties_with(item); });
    const int begin = partition_point_near(
        d, d, 1, [&](int other) { return !shared.sorted[other].ties_with(item); });
    shared.references[1 - from][d] = shared.references[from][item.place()];
    shared.ranges[1 - from][d] = TiedRange{begin, end}.packed();
    longest = max(longest, end - begin);
  }
  return longest;
}

/// Sorts the runs of a dense list of `count` items by all coordinates that are left. The whole
/// block; ends with a barrier.
template <class Tile, class C, class Shape, class BitsOf>
__device__ __forceinline__ void block_sort_list(TiesStorage<C, Shape>& shared, const Tile& tile,
                                                const TiedReferences<C, BitsOf>& tied, int count,
                                                bool has_long_runs) {
  int from = 0;
  for (int k = tied.known; k < tied.depth; ++k) {
    const bool is_first = k == tied.known;
    block_for_each<4>(
        count,
        [&](int d) {
          const bool is_tied = TiedRange::of(shared.ranges[from][d]).count() > 1;
          const std::uint32_t reference =
              is_first ? tile.reference_of(d) : shared.references[from][d];
          return TiedNext<C>{is_tied ? tied.superkeys.bits(reference, k) : 0, reference};
        },
        [&](int d, const TiedNext<C>& next) {
          shared.next[d] = next.bits;
          if (is_first) shared.references[from][d] = next.reference;
        });
    __syncthreads();  // the next coordinates are there
    const int longest =
        has_long_runs ? block_sort_ranges(shared, from, count) : block_rank(shared, from, count);
    from = 1 - from;
    if (__syncthreads_or(longest > 1) == 0) break;  // the references are in order
    if (has_long_runs) has_long_runs = __syncthreads_or(longest > Shape::most_counted) != 0;
  }
  tile.store_references(count, from);
  __syncthreads();  // and read
}

/// Sorts the runs of up to most_ranked tied references that begin at places [begin, begin + count),
/// at most a tile, and lists the longer ones. Where from and to are two arrays, all others are
/// copied. The whole block; ends with a barrier.
template <class Tuning, class Shape, class C, class BitsOf>
__device__ void block_sort_ties(TiesStorage<C, Shape>& shared,
                                const TiedReferences<C, BitsOf>& tied, std::int64_t begin,
                                int count, const TiedRuns& longer) {
  const TiesTile<Tuning, Shape, C, BitsOf> tile(shared, tied, begin, count);
  const TiedItems items = tile.find_items(longer);
  for (int first = 0; first < items.count;) {
    const int end = tile.list_items(items, first);
    block_sort_list(shared, tile, tied, end - first, items.has_long_runs);
    first = end;
  }
}

/// Sorted values, by which ties are found.
template <class C>
struct SortedValues {
  const C* values;
  [[nodiscard]] __device__ __forceinline__ OrderedBits<C> bits(std::int64_t i) const {
    return key_bits(values[i]);
  }
};

/// The same, where values[i] has yet to become the number of sorted_bits[i].
template <class C>
struct SortedBits {
  const OrderedBits<C>* sorted_bits;
  C* values;
  [[nodiscard]] __device__ __forceinline__ OrderedBits<C> bits(std::int64_t i) const {
    return sorted_bits[i];
  }
  __device__ __forceinline__ void store_values(std::int64_t begin, int count) const {
    for (auto i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
      values[begin + i] = key_of_bits<C>(sorted_bits[begin + i]);
    }
  }
};

/// Finds the ties among n items, of which `sorted` are the values, and sorts the references of
/// each, or lists it. One block a tile.
template <class Tuning, class Shape, class C, class Sorted>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    sort_ties_kernel(Sorted sorted, std::uint32_t* references, std::int64_t n,
                     Superkeys<C> superkeys, int depth, TiedRuns longer) {
  auto& shared = dynamic_shared<TiesStorage<C, Shape>>();
  hopper::wait_for_kernel_before();
  const auto bits_of = [sorted](std::int64_t i) { return sorted.bits(i); };
  const TiedReferences<C, decltype(bits_of)> tied{0,          n,         bits_of, references,
                                                  references, superkeys, 1,       depth};
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * Shape::tile_items;
  const int count = static_cast<int>(min(static_cast<std::int64_t>(Shape::tile_items), n - begin));
  if constexpr (requires { sorted.sorted_bits; }) sorted.store_values(begin, count);
  block_sort_ties<Tuning>(shared, tied, begin, count, longer);
}

}  // namespace warpath::merge_sort::detail
