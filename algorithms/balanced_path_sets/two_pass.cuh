// The source's two variants: a kernel finds partitions of equal size, then each block works on a
// tile.
//
// Source: S. Baxter, "Modern GPU 1.1", NVIDIA Research 2013, https://moderngpu.github.io/ ,
// "Multisets", KernelSetPartitions and KernelSetOp. `count_scan_stream` works on every tile twice:
// to count its outputs, and, once the counts are scanned, to store them. `compact` works once, into
// a temporary array, and then closes the gaps between the tiles.
#pragma once

#include <cstdint>
#include <type_traits>

#include "balanced_path_sets/block_set_operation.cuh"
#include "core/block.cuh"
#include "core/launch.cuh"

namespace warpath::balanced_path_sets {

/// A thread for each tile and one more: the balanced path's points between the tiles, packed.
template <bool Duplicates, class Key, class Value, class Less>
__global__ void find_set_partitions_kernel(Input<Key, Value> a, Input<Key, Value> b,
                                           std::int64_t tile_items, std::int64_t tiles, Less less,
                                           std::int64_t* partitions) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (tile > tiles) return;
  const std::int64_t diagonal = min(tile * tile_items, a.count + b.count);
  partitions[tile] = packed(balanced_path<Duplicates>(a.keys, a.count, b.keys, b.count, diagonal,
                                                      global_bias_levels, less));
}

namespace detail {

/// What a launch over all tiles does with its outputs.
enum class Stage {
  count,   ///< counts[tile] becomes their number
  stream,  ///< they are stored from out[counts[tile]] on
  compact  ///< they are stored from out[tile * tile_items] on, and counted
};

/// One block a tile. `range_checks`: in all of them.
template <class Shape, SetOperation operation, bool Duplicates, Stage stage, class Key, class Value,
          class Less>
__global__ void __launch_bounds__(Shape::threads)
    set_operation_kernel(Input<Key, Value> a, Input<Key, Value> b, const std::int64_t* partitions,
                         Output<Key, Value> out, std::int64_t* counts, bool range_checks,
                         Less less) {
  auto& shared = dynamic_shared<BlockSetStorage<Shape, Key>>();
  const std::int64_t number = blockIdx.x;
  SetTile tile = partitioned_tile(number, Shape::tile_items, a.count, b.count, partitions);
  if (range_checks) tile.give_up_extension();
  const auto slots = block_set_operation<Shape, operation, Duplicates>(a, b, tile, less, shared);
  int total = 0;
  const int before = block_exclusive_sum(slots.count(), shared.sums, total);
  if constexpr (stage != Stage::count) {
    const std::int64_t place = stage == Stage::stream ? counts[number] : number * Shape::tile_items;
    block_store<Shape>(a, b, tile, slots, before, total, out, place, shared);
  }
  if (stage != Stage::stream && threadIdx.x == 0) counts[number] = total;
}

/// `compact`: closes the gaps between the tiles' outputs. One block a tile.
template <class Shape, class Key, class Value>
__global__ void close_gaps_kernel(Output<Key, Value> from, const std::int64_t* places,
                                  std::int64_t tiles, const std::int64_t* total,
                                  Output<Key, Value> out) {
  const std::int64_t tile = blockIdx.x;
  const std::int64_t place = places[tile];
  const std::int64_t count = (tile + 1 < tiles ? places[tile + 1] : *total) - place;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) {
    out.keys[place + i] = from.keys[tile * Shape::tile_items + i];
    if constexpr (!std::is_same_v<Value, NoValue>) {
      out.values[place + i] = from.values[tile * Shape::tile_items + i];
    }
  }
}

}  // namespace detail

}  // namespace warpath::balanced_path_sets
