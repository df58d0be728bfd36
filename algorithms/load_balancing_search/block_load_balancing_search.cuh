// The device functions of load-balancing search, by scope. A kernel of yours that has irregular
// work begins with block_load_balancing_search: then each of its threads knows its work items'
// objects. partition_tiles() of partition_tiles.cuh prepares its launch; row_products.cuh is an
// example.
//
// Source: S. Baxter, "Modern GPU 1.1", NVIDIA Research 2013, https://moderngpu.github.io/ ,
// "Load-Balancing Search", CTALoadBalance. Work items are the natural numbers a, objects begin
// where the exclusive scan of their counts, b, says. The merge path of a and b, on which an object
// comes before a work item of the same number, passes through work item a right after the object
// that it belongs to.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/merge_path.cuh"
#include "core/partition_point.cuh"

namespace warpath::load_balancing_search {

/// A tile: work items [a0, a1), objects [b0, b1).
struct TileRange {
  std::int64_t a0;
  std::int64_t a1;
  std::int64_t b0;
  std::int64_t b1;

  [[nodiscard]] __device__ int items() const { return static_cast<int>(a1 - a0); }
  [[nodiscard]] __device__ int objects() const { return static_cast<int>(b1 - b0); }
};

/// Whether a work item comes before the object that begins at `begin`: the order of the path.
struct ItemBefore {
  __device__ __forceinline__ bool operator()(std::int64_t item, std::int64_t begin) const {
    return item < begin;
  }
};

/// The work of a whole call: `items` work items of `objects` objects, whose exclusive scan of
/// counts is `scan`.
template <class Offset>
struct Work {
  std::int64_t items;
  const Offset* scan;
  std::int64_t objects;

  [[nodiscard]] __host__ __device__ std::int64_t steps() const { return items + objects; }

  /// How many objects come before this cross-diagonal of the merge path. One thread.
  [[nodiscard]] __device__ std::int64_t objects_before(std::int64_t diagonal) const {
    return merge_path(scan, objects, Naturals<std::int64_t>{}, items, diagonal, ItemBefore{});
  }
  /// The same by one full warp: object b is step b + scan[b] of the path. With `guesses` the search
  /// begins where it would end if all objects had as many items: fewer rounds, but no two warps
  /// probe the same numbers.
  [[nodiscard]] __device__ std::int64_t warp_objects_before(std::int64_t diagonal,
                                                            bool guesses) const {
    const auto is_before = [&](std::int64_t object) {
      return static_cast<std::int64_t>(scan[object]) + object < diagonal;
    };
    if (!guesses) return warp_partition_point(objects, is_before);
    const float share = static_cast<float>(objects) / static_cast<float>(steps());
    const auto guess = static_cast<std::int64_t>(static_cast<float>(diagonal) * share);
    return warp_partition_point_near(min(guess, objects), objects, is_before);
  }
};

/// Shared memory of a block_load_balancing_search: the tile's work items, then its objects.
template <class Offset, class Shape>
struct BlockSearchStorage {
  /// Word a is the object of work item a0 + a, counted from b0 (-1 is the object before b0).
  /// After the items, word items + b is where object b0 + b begins, counted from a0.
  Offset words[Shape::tile_steps + 2];
};

/// One thread's part of the path, `Steps` steps from work item `a` and object `b` on: stores the
/// object of each work item that it passes. scan: where the tile's objects begin, and unless
/// `RangeCheck`, where the object after them does. `a_end`, `b_end`: of the tile.
template <int Steps, bool RangeCheck, class Offset>
__device__ __forceinline__ void thread_load_balancing_search(const Offset* scan, int a, int a_end,
                                                             int b, int b_end, Offset* objects) {
  Offset begin = !RangeCheck || b < b_end ? scan[b] : Offset{};
#pragma unroll
  for (int step = 0; step < Steps; ++step) {
    bool is_item = static_cast<Offset>(a) < begin;
    if constexpr (RangeCheck) is_item = a < a_end && (b >= b_end || is_item);
    if (is_item) {
      objects[a++] = static_cast<Offset>(b - 1);  // the object that was passed last
    } else {
      ++b;
      if (!RangeCheck || b < b_end) begin = scan[b];
    }
  }
}

/// Finds the objects of one tile's work items. The whole block; ends with a barrier. `partitions`:
/// how many objects come before each tile, one number more than there are tiles. With
/// `load_preceding` the range of objects begins one earlier, if there is one, so that
/// it has the object of every work item: then work_item_rank can be asked for.
template <class Shape, class Offset>
__device__ TileRange block_load_balancing_search(const Work<Offset>& work, std::int64_t tile,
                                                 const std::int64_t* partitions,
                                                 bool load_preceding,
                                                 BlockSearchStorage<Offset, Shape>& shared) {
  const std::int64_t begin = tile * Shape::tile_steps;
  const std::int64_t end = min(begin + Shape::tile_steps, work.steps());
  TileRange range;
  range.b0 = partitions[tile];
  range.b1 = partitions[tile + 1];
  range.a0 = begin - range.b0;
  range.a1 = end - range.b1;
  const int preceding = load_preceding && range.b0 > 0 ? 1 : 0;
  range.b0 -= preceding;
  // With the object after the tile at hand, no thread can run out of objects: no range checks.
  const bool is_extended = range.a1 < work.items && range.b1 < work.objects;

  Offset* objects = shared.words;
  Offset* scan = shared.words + range.items();
  for (int b = static_cast<int>(threadIdx.x); b < range.objects() + (is_extended ? 1 : 0);
       b += Shape::threads) {
    scan[b] = static_cast<Offset>(static_cast<std::int64_t>(work.scan[range.b0 + b]) - range.a0);
  }
  __syncthreads();  // the tile's part of the scan is there

  const int steps = range.items() + range.objects() - preceding;
  const int diagonal = min(static_cast<int>(threadIdx.x) * Shape::items_per_thread, steps);
  const int passed = merge_path(scan + preceding, range.objects() - preceding, Naturals<int>{},
                                range.items(), diagonal, ItemBefore{});
  const int a = diagonal - passed;
  const int b = passed + preceding;
  if (is_extended) {
    thread_load_balancing_search<Shape::items_per_thread, false>(scan, a, range.items(), b,
                                                                 range.objects(), objects);
  } else {
    thread_load_balancing_search<Shape::items_per_thread, true>(scan, a, range.items(), b,
                                                                range.objects(), objects);
  }
  __syncthreads();  // the objects of all work items are there
  return range;
}

/// The object of work item `item` of a tile, counted from the tile's first one.
template <class Shape, class Offset>
__device__ __forceinline__ std::int64_t work_item_object(
    const BlockSearchStorage<Offset, Shape>& shared, const TileRange& range, int item) {
  return range.b0 + static_cast<std::int64_t>(shared.words[item]);
}

/// The number of that work item within its object. The tile was searched with `load_preceding`.
template <class Shape, class Offset>
__device__ __forceinline__ std::int64_t work_item_rank(
    const BlockSearchStorage<Offset, Shape>& shared, const TileRange& range, int item) {
  const Offset begin = shared.words[range.items() + static_cast<int>(shared.words[item])];
  return item - static_cast<std::int64_t>(begin);
}

}  // namespace warpath::load_balancing_search
