// Merges neighbouring runs of a tile in shared memory, two by two.
//
// Sources: O. Green, R. McColl, D. Bader, "GPU Merge Path: A GPU Merging Algorithm", ICS 2012;
// N. Satish, M. Harris, M. Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs",
// IPDPS 2009, section V.
//
// Runs are given by where they begin: `Runs` has
//   count            how many items all runs have
//   begin(i)         where run i begins; the one after the last begins at `count`
//   run_of(p)        the run that the item at place p < count lies in
//   part<Items>(t)   what thread t merges
// Whatever the comparator says, even if it is no order, places stay inside the runs.
#pragma once

#include <cuda_runtime.h>

#include "core/merge_path.cuh"
#include "core/warp.cuh"
#include "merge_sort/tuning.hpp"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::detail {

/// A tile in shared memory. Where a thread has an even number of items, threads that each read
/// their own ones would meet in the same banks: so one place is left out after each 128 bytes.
///
/// A thread that has fewer items to merge than others reads on after their end, and compares what
/// it finds there: the places after the last item have some item, too (block_fill_end).
template <class Item, class Shape>
class SharedTile {
 public:
  __device__ __forceinline__ Item& operator[](int i) { return items_[place(i)]; }
  __device__ __forceinline__ const Item& operator[](int i) const { return items_[place(i)]; }

 private:
  static constexpr int row_items = sizeof(Item) < 128 ? 128 / sizeof(Item) : 1;
  static constexpr bool is_padded = Shape::items % 2 == 0;

  __device__ static constexpr int place(int i) { return is_padded ? i + i / row_items : i; }

  Item items_[place(Shape::tile_items + Shape::items) + 1];
};

/// Puts a copy of `item` to the places after the last of `count` items. The whole block, or more
/// than Shape::items threads of it.
template <class Item, class Shape>
__device__ __forceinline__ void block_fill_end(SharedTile<Item, Shape>& tile, int count,
                                               const Item& item) {
  for (int i = static_cast<int>(threadIdx.x); i <= Shape::items;
       i += static_cast<int>(blockDim.x)) {
    tile[count + i] = item;
  }
}

/// The items of a tile from `first` on.
template <class Tile>
struct RunView {
  const Tile& tile;
  int first;
  __device__ __forceinline__ const auto& operator[](int i) const { return tile[first + i]; }
};

/// What a thread merges: `count` items of what two neighbouring runs are merged to, from item
/// `first` on. The runs begin at `begin` and `middle`, and the second one ends at `end`.
struct MergePart {
  int begin;
  int middle;
  int end;
  int first;
  int count;  ///< 0: nothing
};

/// Runs of `RunItems << level` items; the last one may be shorter.
template <int RunItems>
struct EqualRuns {
  int level;
  int count;
  [[nodiscard]] __device__ __forceinline__ int begin(int run) const {
    return min((RunItems * run) << level, count);
  }
  [[nodiscard]] __device__ __forceinline__ int run_of(int place) const {
    return place / RunItems >> level;
  }
  template <int Items>
  [[nodiscard]] __device__ __forceinline__ MergePart part(int thread) const {
    static_assert(Items == RunItems, "a thread's items lie in one pair of runs");
    const int run = (thread >> (level + 1)) * 2;
    const int first = thread * Items - begin(run);
    return {begin(run), begin(run + 1), begin(run + 2), first, min(Items, count - thread * Items)};
  }
};

/// `runs` runs, a power of two, of which run i begins at begins[i * stride]. No thread has items of
/// two pairs of runs: so up to runs / 2 threads more than there are threads' items must be there.
struct AnyRuns {
  const int* begins;
  int stride;
  int runs;
  int count;
  [[nodiscard]] __device__ __forceinline__ int begin(int run) const { return begins[run * stride]; }
  [[nodiscard]] __device__ __forceinline__ int run_of(int place) const {
    int run = 0;
    for (int step = runs / 2; step > 0; step /= 2) {
      if (begin(run + step) <= place) run += step;
    }
    return run;
  }
  template <int Items>
  [[nodiscard]] __device__ __forceinline__ MergePart part(int thread) const {
    int run = 0;
    for (; run < runs - 2; run += 2) {
      const int threads_of_pair = (begin(run + 2) - begin(run) + Items - 1) / Items;
      if (thread < threads_of_pair) break;
      thread -= threads_of_pair;
    }
    const int end = begin(run + 2);
    const int first = thread * Items;
    return {begin(run), begin(run + 1), end, first, min(Items, end - begin(run) - first)};
  }
};

/// The items of a part, in order: merged[i] for i < part.count. There are no branches.
template <int Items, class Item, class Shape, class Less>
__device__ __forceinline__ void thread_merge(const SharedTile<Item, Shape>& tile,
                                             const MergePart& part, Item (&merged)[Items],
                                             Less less) {
  using View = RunView<SharedTile<Item, Shape>>;
  int a =
      part.begin + merge_path(View{tile, part.begin}, part.middle - part.begin,
                              View{tile, part.middle}, part.end - part.middle, part.first, less);
  // Each item that is taken comes from a or b: their sum grows by one.
  const int sum = part.begin + part.middle + part.first;
  Item a_item = tile[a];
  Item b_item = tile[sum - a];
#pragma unroll
  for (int i = 0; i < Items; ++i) {
    const int b = sum + i - a;
    const bool takes_a = (b >= part.end) | ((a < part.middle) & !less(b_item, a_item));
    merged[i] = takes_a ? a_item : b_item;
    const Item next = tile[(takes_a ? a : b) + 1];
    a_item = takes_a ? next : a_item;
    b_item = takes_a ? b_item : next;
    if (takes_a) ++a;
  }
}

/// The place of the item at place `own` in what its run and the other one of its pair are merged
/// to: its own index plus its rank in the other run. Of equal items, those of the first run come
/// first.
template <class Item, class Shape, class Runs, class Less>
__device__ __forceinline__ int merged_place(const SharedTile<Item, Shape>& tile, const Runs& runs,
                                            int own, const Item& item, Less less) {
  const int run = runs.run_of(own);
  const bool is_first = run % 2 == 0;
  const int other = runs.begin(run ^ 1);
  int low = other;
  int high = runs.begin((run ^ 1) + 1);
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const bool is_before = is_first ? less(tile[middle], item) : !less(item, tile[middle]);
    if (is_before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return runs.begin(run & ~1) + own - runs.begin(run) + low - other;
}

/// Merges runs 0 and 1, 2 and 3, ... of a tile: its items are then those of half as many runs. The
/// whole block, once the items are there; ends with a barrier.
template <LowLevelMerge low_level, class Item, class Shape, class Runs, class Less>
__device__ __forceinline__ void block_merge(SharedTile<Item, Shape>& tile, const Runs& runs,
                                            Less less) {
  const int thread = static_cast<int>(threadIdx.x);
  Item items[Shape::items];
  if constexpr (low_level == LowLevelMerge::merge_path) {
    const MergePart part = runs.template part<Shape::items>(thread);
    if (part.count > 0) thread_merge(tile, part, items, less);
    __syncthreads();  // the runs are read
#pragma unroll
    for (int i = 0; i < Shape::items; ++i) {
      if (i < part.count) tile[part.begin + part.first + i] = items[i];
    }
  } else {
    int places[Shape::items];
#pragma unroll
    for (int i = 0; i < Shape::items; ++i) {
      const int own = i * Shape::threads + thread;
      if (own < runs.count) {
        items[i] = tile[own];
        places[i] = merged_place(tile, runs, own, items[i], less);
      }
    }
    __syncthreads();  // all items have their places
#pragma unroll
    for (int i = 0; i < Shape::items; ++i) {
      if (i * Shape::threads + thread < runs.count) tile[places[i]] = items[i];
    }
  }
  __syncthreads();  // the merged runs are there
}

}  // namespace warpath::merge_sort::detail
