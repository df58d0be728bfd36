// Long runs of tied references: each is sorted by one coordinate more, all of them in one kernel.
//
// It is a merge sort of each run, and its passes are stages: look whether the run is in order, sort
// tiles, merge tiles to longer and longer runs, and look for ties again. One block does all of them
// for a run of one tile. Of all others, blocks draw pairs of a stage and a tile in order, first all
// tiles of the first stage. A tile waits until all tiles of its run have finished the stage before:
// they were drawn earlier, so every wait ends. A run takes as many merges as its length needs, and
// is in the spare columns after them.
//
//   home --sort tiles--> (home or spare) --merge--> ... --merge--> spare --sort ties--> home
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/atomic>

#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/partition_point.cuh"
#include "core/warp.cuh"
#include "merge_sort/items.cuh"
#include "merge_sort/merge_runs.cuh"
#include "merge_sort/orders.cuh"
#include "merge_sort/partition.cuh"
#include "merge_sort/passes.cuh"
#include "merge_sort/ties.cuh"
#include "merge_sort/tile_sort.cuh"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::detail {

/// How far a run is: how many times a tile of it has finished a stage, and what is not in order.
class RunProgress {
 public:
  __device__ explicit RunProgress(TiedRun& run) : word_(run.progress) {}

  /// One tile has finished a stage. All threads of the block.
  __device__ void finish_tile() const {
    __syncthreads();  // what the block wrote is written
    if (threadIdx.x == 0) word_.fetch_add(1, cuda::memory_order_acq_rel);
  }
  /// Waits for `tiles` times a tile. All threads of the block.
  __device__ void wait_for(std::int64_t tiles) const {
    if (threadIdx.x == 0) {
      wait_until([&] { return word_.load(cuda::memory_order_acquire) % is_varied >= tiles; });
    }
    __syncthreads();  // what other blocks wrote can be read
  }
  static constexpr std::uint32_t is_varied = 1u << 29;     ///< not all tie in the next coordinate
  static constexpr std::uint32_t is_unordered = 1u << 30;  ///< nor are in the order of superkeys
  static constexpr std::uint32_t is_unsorted = 1u << 31;   ///< nor in that of the next coordinate
  __device__ void set(std::uint32_t flags) const {
    word_.fetch_or(flags, cuda::memory_order_relaxed);
  }
  [[nodiscard]] __device__ std::uint32_t flags() const {
    return word_.load(cuda::memory_order_relaxed) / is_varied * is_varied;
  }

 private:
  cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device> word_;
};

/// Memory for the lists of runs that tie in more and more coordinates.
struct TiedLists {
  TiedRun* runs[2];  ///< those of one list, and of the one that it leaves
  std::int64_t capacity;
  unsigned long long* counts;  ///< words_of(depth), 0 at first

  static constexpr std::int64_t words_of(int depth) { return 4 * (depth + 1); }
  /// The runs that tie in `known` coordinates.
  [[nodiscard]] __host__ __device__ __forceinline__ TiedRuns list(int known) const {
    return {runs[known % 2], capacity, counts + 4 * known};
  }
  /// Tasks that blocks have drawn, and that they have finished.
  [[nodiscard]] __device__ __forceinline__ unsigned long long& drawn(int known) const {
    return counts[4 * known + 2];
  }
  [[nodiscard]] __device__ __forceinline__ unsigned long long& finished(int known) const {
    return counts[4 * known + 3];
  }
};

/// What sorts all runs of a list by coordinate `known` of the superkeys.
template <class C>
struct LongTies {
  SuperkeyColumns<C> home;
  SuperkeyColumns<C> spare;
  Superkeys<C> superkeys;
  int known;   ///< how many coordinates tie in all runs
  int depth;   ///< how many coordinates there are to sort by
  int merges;  ///< how many passes merge the longest run that there can be
  TiedRuns runs;
  TiedRuns longer;  ///< what ties in coordinate `known` as well, and is too long again

  [[nodiscard]] __device__ __forceinline__ int last_stage() const { return merges + 2; }
};

/// The references of a run, with the coordinate that they are sorted by next.
template <class C>
struct RunItems {
  const std::uint32_t* references;
  Superkeys<C> superkeys;
  int known;
  [[nodiscard]] __device__ __forceinline__ SuperkeyItem<C> load(std::int64_t i) const {
    return SuperkeyItem<C>::of_bits(superkeys.bits(references[i], known), references[i]);
  }
};

template <class Tuning, class C>
struct LongTiesStorage {
  using Item = SuperkeyItem<C>;
  union Tile {
    SharedTile<Item, typename Tuning::SortShape> sort;
    SharedTile<Item, typename Tuning::TiesShape::SortShape> sort_few;
    MergeStorage<Item, typename Tuning::MergeShape> merge;
    TiesStorage<C, typename Tuning::TiesShape> ties;
  };
  Tile tile;
  std::int64_t positions[2][warp_threads];  ///< where an output tile begins, and where it ends
  unsigned long long ticket;
};

/// A tile of a run, in one stage.
template <class Tuning, class C>
class LongTiesTile {
 public:
  using Storage = LongTiesStorage<Tuning, C>;
  using SortShape = typename Tuning::SortShape;
  using MergeShape = typename Tuning::MergeShape;
  using TiesShape = typename Tuning::TiesShape;

  __device__ LongTiesTile(Storage& shared, const LongTies<C>& ties, TiedRun& run,
                          std::uint32_t number)
      : shared_(shared),
        ties_(ties),
        begin_(run.begin),
        count_(run.count),
        number_(number),
        tiles_(tiles_of_run<Tuning>(count_)),
        passes_(passes_of<Tuning>(count_, Variant::multiway_merge)),
        progress_(run) {}

  /// All stages of a run of one tile. The whole block.
  __device__ void run() {
    look();
    __syncthreads();  // what is not in order is known
    if (!take_flags()) {
      pass_on();
      return;
    }
    sort();
    __syncthreads();  // the run is sorted
    sort_ties();
  }

  /// A stage of a run of several tiles. The whole block.
  __device__ void run_stage(int stage) {
    if (stage == 0) {
      look();
      progress_.finish_tile();
      return;
    }
    progress_.wait_for(tiles_);
    if (!take_flags()) {
      if (stage == 1 && number_ == 0) pass_on();
      return;
    }
    if (stage == 1) {
      sort();
    } else if (stage == ties_.last_stage()) {
      progress_.wait_for(tiles_ * (passes_.merges + 2));
      sort_ties();
      return;
    } else if (stage - 2 < passes_.merges) {
      progress_.wait_for(tiles_ * stage);
      merge(stage - 2);
    } else {
      return;
    }
    progress_.finish_tile();
  }

 private:
  /// This tile's share of the run, where no tile has a size of its own.
  [[nodiscard]] __device__ std::int64_t part_begin() const { return number_ * count_ / tiles_; }
  [[nodiscard]] __device__ std::int64_t part_end() const { return (number_ + 1) * count_ / tiles_; }
  /// Where the run is after the first `merges` of its merges.
  [[nodiscard]] __device__ SuperkeyColumns<C> side_after(int merges) const {
    return ((passes_.merges - merges) % 2 == 0 ? ties_.spare : ties_.home).from(begin_);
  }

  /// Notes how far this tile's references, and the next one, are in order.
  __device__ void look() const {
    const std::uint32_t* const references = ties_.home.references + begin_;
    const std::int64_t end = min(part_end() + 1, count_);
    const std::int64_t step = blockDim.x;
    std::uint32_t flags = 0;
    bool is_unsorted = false;
    for (std::int64_t row = part_begin() + 1; row < end && !is_unsorted; row += step) {
      const std::int64_t i = row + threadIdx.x;
      if (i < end) flags |= order_of(references[i - 1], references[i]);
      flags |= progress_.flags() & RunProgress::is_unsorted;
      is_unsorted = __syncthreads_or((flags & RunProgress::is_unsorted) != 0) != 0;
    }
    if (flags != 0) progress_.set(flags);
  }
  /// Which flags two neighbours set.
  [[nodiscard]] __device__ std::uint32_t order_of(std::uint32_t a, std::uint32_t b) const {
    const auto a_bits = ties_.superkeys.bits(a, ties_.known);
    const auto b_bits = ties_.superkeys.bits(b, ties_.known);
    std::uint32_t flags = 0;
    if (a_bits != b_bits) flags |= RunProgress::is_varied;
    if (ties_.superkeys.is_less(b, a, ties_.known)) flags |= RunProgress::is_unordered;
    if (b_bits < a_bits) flags |= RunProgress::is_unsorted;
    return flags;
  }
  /// Takes from the flags what is left to do: false if the run is in order, or all tie in this
  /// coordinate as well.
  __device__ bool take_flags() {
    flags_ = progress_.flags();
    if ((flags_ & RunProgress::is_unordered) == 0) return false;
    if ((flags_ & RunProgress::is_varied) == 0) return false;
    if ((flags_ & RunProgress::is_unsorted) == 0) passes_.merges = 0;
    return true;
  }

  /// Lists the run for the next coordinate, unless it is in order. All threads, or one.
  __device__ void pass_on() const {
    if (threadIdx.x != 0 || (flags_ & RunProgress::is_unordered) == 0) return;
    ties_.longer.add(begin_, count_, tiles_);
  }

  /// What is in order by this coordinate needs only be copied.
  __device__ void sort() const {
    const std::int64_t begin = number_ * SortShape::tile_items;
    if (begin >= count_) return;
    const auto count = static_cast<int>(min(std::int64_t{SortShape::tile_items}, count_ - begin));
    const RunItems<C> items{ties_.home.references + begin_, ties_.superkeys, ties_.known};
    const auto out = side_after(0);
    const ByFirstCoordinate<C> less;
    if ((flags_ & RunProgress::is_unsorted) == 0) {
      block_for_each<4>(
          count, [&](int i) { return items.load(begin + i); },
          [&](int i, const SuperkeyItem<C>& item) { out.store(begin + i, item); });
    } else if (count <= TiesShape::SortShape::tile_items) {
      block_sort_tile<LowLevelMerge::merge_path>(shared_.tile.sort_few, items, out, begin, count,
                                                 less);
    } else {
      block_sort_tile<LowLevelMerge::merge_path>(shared_.tile.sort, items, out, begin, count, less);
    }
  }

  __device__ void merge(int pass) const {
    const RunGroups runs = run_groups<Tuning>(count_, passes_, pass);
    if (number_ >= runs.tiles()) return;
    const OutputTile tile = runs.tile(number_);
    const auto in = side_after(pass);
    const ByFirstCoordinate<C> less;
    if (warp_index() < 2) {
      const std::int64_t position =
          warp_index() == 1 && tile.is_last
              ? runs.run_count(tile.group + lane_index() * runs.run_items)
              : warp_find_position(in, runs, tile.group, tile.rank + warp_index() * runs.tile_items,
                                   less);
      shared_.positions[warp_index()][lane_index()] = position;
    }
    __syncthreads();  // the positions are there
    auto& shared = shared_.tile.merge;
    if (warp_index() == 0) {
      warp_set_pieces(shared, runs, tile, shared_.positions[0][lane_index()],
                      shared_.positions[1][lane_index()]);
    }
    __syncthreads();  // the pieces of the tile are known
    block_merge_pieces<LowLevelMerge::merge_path>(shared, in, side_after(pass + 1), runs.ways, tile,
                                                  less);
  }

  /// Brings the references home, those that tie once more in their order or to the list; and the
  /// values, which merges may have used the place of.
  __device__ void sort_ties() const {
    const auto spare = ties_.spare.from(begin_);
    const auto home = ties_.home.from(begin_);
    const C value = key_of_bits<C>(ties_.superkeys.bits(spare.references[0], 0));
    for (std::int64_t i = part_begin() + threadIdx.x; i < part_end(); i += blockDim.x) {
      home.values[i] = value;
      if (ties_.known + 1 == ties_.depth) home.references[i] = spare.references[i];
    }
    if (ties_.known + 1 == ties_.depth) return;
    const auto bits_of = [bits = &ties_.spare.bits(0)](std::int64_t i) { return bits[i]; };
    const TiedReferences<C, decltype(bits_of)> tied{
        begin_,          begin_ + count_, bits_of,    ties_.spare.references, ties_.home.references,
        ties_.superkeys, ties_.known + 1, ties_.depth};
    for (std::int64_t i = part_begin(); i < part_end(); i += TiesShape::tile_items) {
      const auto count = static_cast<int>(min(std::int64_t{TiesShape::tile_items}, part_end() - i));
      block_sort_ties<Tuning>(shared_.tile.ties, tied, begin_ + i, count, ties_.longer);
    }
  }

  Storage& shared_;
  const LongTies<C>& ties_;
  std::int64_t begin_;
  std::int64_t count_;
  std::int64_t number_;
  std::int64_t tiles_;
  Passes passes_;
  RunProgress progress_;
  std::uint32_t flags_ = 0;
};

/// Sorts all runs of a list by one coordinate more. The whole block; returns once all blocks are
/// done.
template <class Tuning, class C>
__device__ __forceinline__ void block_sort_runs(LongTiesStorage<Tuning, C>& shared,
                                                const LongTies<C>& ties, unsigned long long all,
                                                unsigned long long& drawn,
                                                unsigned long long& finished) {
  using Counter = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
  const TiedRuns& runs = ties.runs;
  const unsigned long long short_runs = runs.short_runs();
  const unsigned long long tiles = runs.long_tiles();
  for (;;) {
    if (threadIdx.x == 0) shared.ticket = atomicAdd(&drawn, 1ull);
    __syncthreads();  // the ticket is there, and nothing of the tile before is in use
    const unsigned long long ticket = shared.ticket;
    if (ticket >= all) break;
    if (ticket < short_runs) {
      LongTiesTile<Tuning, C>(shared, ties, runs.short_run(ticket), 0).run();
    } else {
      const auto stage = static_cast<int>((ticket - short_runs) / tiles);
      const auto tile = static_cast<std::uint32_t>((ticket - short_runs) % tiles);
      // All warps search alike.
      const std::uint32_t first_after = warp_partition_point<>(
          runs.long_runs(), [&](std::uint32_t i) { return runs.long_run(i).first_tile <= tile; });
      TiedRun& run = runs.long_run(first_after - 1);
      LongTiesTile<Tuning, C>(shared, ties, run, tile - run.first_tile).run_stage(stage);
    }
    __syncthreads();  // what the block wrote is written, and the ticket is read
    if (threadIdx.x == 0) Counter(finished).fetch_add(1, cuda::memory_order_acq_rel);
  }
  if (threadIdx.x == 0) {
    wait_until([&] { return Counter(finished).load(cuda::memory_order_acquire) >= all; });
  }
  __syncthreads();  // what all blocks wrote can be read
}

/// Sorts the runs of list 1 by coordinate 1, those that still tie by coordinate 2, and so on. Any
/// grid.
template <class Tuning, class C>
__global__ void __launch_bounds__(Tuning::SortShape::threads, Tuning::SortShape::blocks)
    sort_long_ties_kernel(SuperkeyColumns<C> home, SuperkeyColumns<C> spare, Superkeys<C> superkeys,
                          int depth, int merges, TiedLists lists) {
  auto& shared = dynamic_shared<LongTiesStorage<Tuning, C>>();
  hopper::wait_for_kernel_before();
  for (int known = 1; known < depth; ++known) {
    const LongTies<C> ties{home,  spare,  superkeys,         known,
                           depth, merges, lists.list(known), lists.list(known + 1)};
    const unsigned long long all =
        ties.runs.short_runs() +
        ties.runs.long_tiles() * static_cast<unsigned long long>(ties.last_stage() + 1);
    if (all == 0) return;
    block_sort_runs(shared, ties, all, lists.drawn(known), lists.finished(known));
  }
}

}  // namespace warpath::merge_sort::detail
