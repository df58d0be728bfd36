// Merges neighbouring runs of a tile in shared memory, two by two.
//
// Sources: O. Green, R. McColl, D. Bader, "GPU Merge Path: A GPU Merging Algorithm", ICS 2012;
// N. Satish, M. Harris, M. Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs",
// IPDPS 2009, section V.
//
// Runs are given by where they begin: `Runs` has
//   count        how many items all runs have
//   begin(i)     where run i begins; the one after the last begins at `count`
//   run_of(p)    the run that the item at place p < count lies in
//   is_aligned   whether all items that a thread writes lie in one pair of runs
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
template <class Item, class Shape>
class SharedTile {
 public:
  __device__ __forceinline__ Item& operator[](int i) { return items_[place(i)]; }
  __device__ __forceinline__ const Item& operator[](int i) const { return items_[place(i)]; }

 private:
  static constexpr int row_items = sizeof(Item) < 128 ? 128 / sizeof(Item) : 1;
  static constexpr bool is_padded = Shape::items % 2 == 0;
  static constexpr int places = Shape::tile_items + (is_padded ? Shape::tile_items / row_items : 0);

  __device__ static __forceinline__ int place(int i) { return is_padded ? i + i / row_items : i; }

  Item items_[places];
};

/// The items of a tile from `first` on.
template <class Tile>
struct RunView {
  const Tile& tile;
  int first;
  __device__ __forceinline__ const auto& operator[](int i) const { return tile[first + i]; }
};

/// Runs of `Items << level` items; the last one may be shorter.
template <int Items>
struct EqualRuns {
  static constexpr bool is_aligned = true;
  int level;
  int count;
  [[nodiscard]] __device__ __forceinline__ int begin(int run) const {
    return min((Items * run) << level, count);
  }
  [[nodiscard]] __device__ __forceinline__ int run_of(int place) const {
    return place / Items >> level;
  }
};

/// `runs` runs, a power of two, of which run i begins at begins[i * stride].
struct AnyRuns {
  static constexpr bool is_aligned = false;
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
};

/// Items first, first + 1, ... of what the pairs of runs are merged to, one after the other; first
/// < count. Those beyond the last item are left as they are.
template <int Items, class Item, class Shape, class Runs, class Less>
__device__ __forceinline__ void thread_merge(const SharedTile<Item, Shape>& tile, const Runs& runs,
                                             int first, Item (&merged)[Items], Less less) {
  using View = RunView<SharedTile<Item, Shape>>;
  int run = runs.run_of(first) & ~1;  // the first one of the pair
  int a = runs.begin(run);
  int a_end = runs.begin(run + 1);
  int b = a_end;
  int b_end = runs.begin(run + 2);
  const int from_a =
      merge_path(View{tile, a}, a_end - a, View{tile, b}, b_end - b, first - a, less);
  b += first - a - from_a;
  a += from_a;
  Item a_item{};
  Item b_item{};
  if (a < a_end) a_item = tile[a];
  if (b < b_end) b_item = tile[b];
#pragma unroll
  for (int i = 0; i < Items; ++i) {
    if (first + i < runs.count) {
      if constexpr (!Runs::is_aligned) {
        while (a == a_end && b == b_end) {  // the pair ends here
          run += 2;
          a = b_end;
          a_end = runs.begin(run + 1);
          b = a_end;
          b_end = runs.begin(run + 2);
          if (a < a_end) a_item = tile[a];
          if (b < b_end) b_item = tile[b];
        }
      }
      const bool takes_a = b == b_end || (a < a_end && !less(b_item, a_item));
      merged[i] = takes_a ? a_item : b_item;
      if (takes_a) {
        if (++a < a_end) a_item = tile[a];
      } else {
        if (++b < b_end) b_item = tile[b];
      }
    }
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
    const int first = thread * Shape::items;
    if (first < runs.count) thread_merge(tile, runs, first, items, less);
    __syncthreads();  // the runs are read
#pragma unroll
    for (int i = 0; i < Shape::items; ++i) {
      if (first + i < runs.count) tile[first + i] = items[i];
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
