// The first pass: each block sorts a tile. A thread sorts its own items in registers; then the
// threads' runs are merged in shared memory, two by two.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/launch.cuh"
#include "merge_sort/block_merge.cuh"
#include "merge_sort/items.cuh"
#include "merge_sort/tuning.hpp"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::detail {

template <class Item, class Less>
__device__ __forceinline__ void exchange_if_less(Item& a, Item& b, Less less) {
  const bool exchanges = less(b, a);
  const Item first = exchanges ? b : a;
  b = exchanges ? a : b;
  a = first;
}

/// A comparison of a sorting network, and exchange, of items `low` and `high`.
struct Comparison {
  int low;
  int high;
};

/// Calls take(low, high) for each comparison of the network of `items` items that a sort needs, in
/// order: Batcher's odd-even merge sort; or, if it must be stable, odd-even transposition, which
/// exchanges neighbours only.
template <class Take>
constexpr void for_each_comparison(int items, bool is_stable, Take take) {
  if (is_stable) {
    for (int round = 0; round < items; ++round) {
      for (int i = round % 2; i + 1 < items; i += 2) take(i, i + 1);
    }
    return;
  }
  for (int run = 1; run < items; run *= 2) {
    for (int distance = run; distance > 0; distance /= 2) {
      for (int begin = distance % run; begin + distance < items; begin += 2 * distance) {
        for (int i = begin; i < begin + distance && i + distance < items; ++i) {
          if (i / (2 * run) == (i + distance) / (2 * run)) take(i, i + distance);
        }
      }
    }
  }
}

template <int Items, bool is_stable>
constexpr auto sorting_network() {
  constexpr int count = [] {
    int comparisons = 0;
    for_each_comparison(Items, is_stable, [&](int, int) { ++comparisons; });
    return comparisons;
  }();
  std::array<Comparison, count> network{};
  int filled = 0;
  for_each_comparison(Items, is_stable, [&](int low, int high) {
    network[static_cast<std::size_t>(filled++)] = {low, high};
  });
  return network;
}

/// Sorts a thread's items. The network is a constant, so that they stay in registers.
template <int Items, class Item, class Less>
__device__ __forceinline__ void thread_sort(Item (&items)[Items], Less less) {
  constexpr auto network = sorting_network<Items, !Less::is_total>();
#pragma unroll
  for (std::size_t i = 0; i < network.size(); ++i) {
    exchange_if_less(items[network[i].low], items[network[i].high], less);
  }
}

/// Sorts items first to end - 1 of a tile, which are fewer than a thread has else: of the last tile
/// only.
template <class Tile, class Less>
__device__ __forceinline__ void thread_insertion_sort(Tile& tile, int first, int end, Less less) {
  for (int i = first + 1; i < end; ++i) {
    const auto item = tile[i];
    int place = i;
    for (; place > first && less(item, tile[place - 1]); --place) tile[place] = tile[place - 1];
    tile[place] = item;
  }
}

/// Whether items are gathered from tuples, which are looked at for what has no order: In has
/// reference(i), item(reference), has_nan(reference, k) and report(reference).
template <class In>
concept Gathers = requires(const In& in) {
  in.report(in.reference(0));
};

/// Loads `count` items of `in` from `begin` on to a tile: as many at once as registers hold. The
/// whole block.
template <class Item, class Shape, class In>
__device__ __forceinline__ void block_load_items(SharedTile<Item, Shape>& tile, const In& in,
                                                 std::int64_t begin, int count) {
  constexpr int at_once = sizeof(Item) <= 8 ? 8 : 4;
#pragma unroll 1
  for (int first = static_cast<int>(threadIdx.x); first < count;
       first += at_once * Shape::threads) {
    // Those after the last one are loaded as the last one.
    const auto place = [&](int k) { return min(first + k * Shape::threads, count - 1); };
    Item items[at_once];
    if constexpr (Gathers<In>) {
      std::uint32_t references[at_once];
      bool has_nan = false;
#pragma unroll
      for (int k = 0; k < at_once; ++k) references[k] = in.reference(begin + place(k));
#pragma unroll
      for (int k = 0; k < at_once; ++k) items[k] = in.item(references[k]);
#pragma unroll 1
      for (int coordinate = 0; coordinate < in.dimensions; ++coordinate) {
#pragma unroll
        for (int k = 0; k < at_once; ++k) has_nan |= in.has_nan(references[k], coordinate);
      }
      for (int k = 0; has_nan && k < at_once; ++k) in.report(in.reference(begin + place(k)));
    } else {
#pragma unroll
      for (int k = 0; k < at_once; ++k) items[k] = in.load(begin + place(k));
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (first + k * Shape::threads < count) tile[first + k * Shape::threads] = items[k];
    }
  }
}

/// Sorts the first `count` items of a tile, after which block_fill_end() has put one. The whole
/// block, once the items are there; ends with a barrier.
template <LowLevelMerge low_level, class Item, class Shape, class Less>
__device__ __forceinline__ void block_sort_items(SharedTile<Item, Shape>& tile, int count,
                                                 Less less) {
  const int first = static_cast<int>(threadIdx.x) * Shape::items;
  if (first + Shape::items <= count) {
    Item items[Shape::items];
#pragma unroll
    for (int i = 0; i < Shape::items; ++i) items[i] = tile[first + i];
    thread_sort(items, less);
#pragma unroll
    for (int i = 0; i < Shape::items; ++i) tile[first + i] = items[i];
  } else {
    thread_insertion_sort(tile, first, count, less);
  }
  __syncthreads();  // each thread's items are sorted
  const bool is_after_others = first == 0 || first >= count || !less(tile[first], tile[first - 1]);
  if (__syncthreads_and(is_after_others) != 0) return;
#pragma unroll 1
  for (int level = 0; Shape::items << level < count; ++level) {
    block_merge<low_level>(tile, EqualRuns<Shape::items>{level, count}, less);
  }
}

/// Sorts `count` items of `in` from `begin` on, at most a tile, to the same places of `out`. The
/// whole block.
template <LowLevelMerge low_level, class Item, class Shape, class In, class Out, class Less>
__device__ __forceinline__ void block_sort_tile(SharedTile<Item, Shape>& tile, const In& in,
                                                const Out& out, std::int64_t begin, int count,
                                                Less less) {
  block_load_items(tile, in, begin, count);
  block_fill_end(tile, count, in.load(begin));
  __syncthreads();  // the items are there

  block_sort_items<low_level>(tile, count, less);
#pragma unroll
  for (int i = 0; i < Shape::items; ++i) {
    const int own = i * Shape::threads + static_cast<int>(threadIdx.x);
    if (own < count) out.store(begin + own, tile[own]);
  }
}

/// Sorts the n items of `in`, tile by tile, to `out`: one block a tile. `in` has load(i), `out`
/// store(i, item); they may be of the same memory.
template <class Shape, LowLevelMerge low_level, class In, class Out, class Less>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    sort_tiles_kernel(In in, Out out, std::int64_t n, Less less) {
  auto& tile = dynamic_shared<SharedTile<typename Out::Item, Shape>>();
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * Shape::tile_items;
  const int count = static_cast<int>(min(static_cast<std::int64_t>(Shape::tile_items), n - begin));
  block_sort_tile<low_level>(tile, in, out, begin, count, less);
}

}  // namespace warpath::merge_sort::detail
