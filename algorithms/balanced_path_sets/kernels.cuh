// The kernels of the variants, and the choice among them. The host functions of
// balanced_path_sets.cuh end here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "balanced_path_sets/block_set_operation.cuh"
#include "balanced_path_sets/variant.hpp"
#include "core/buffer.cuh"
#include "core/launch.cuh"
#include "core/look_back.cuh"

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
                                                      biased_binary_search::global_levels, less));
}

/// What a launch over all tiles does with its outputs.
enum class Stage {
  count,   ///< counts[tile] becomes their number
  stream,  ///< they are stored from out[counts[tile]] on
  compact  ///< they are stored from out[tile * tile_items] on, and counted
};

/// One block a tile.
template <class Shape, SetOperation operation, bool Duplicates, Stage stage, class Key, class Value,
          class Less>
__global__ void __launch_bounds__(Shape::threads)
    set_operation_kernel(Input<Key, Value> a, Input<Key, Value> b, const std::int64_t* partitions,
                         Output<Key, Value> out, std::int64_t* counts, Less less) {
  auto& shared = dynamic_shared<BlockSetStorage<Shape, Key>>();
  const std::int64_t number = blockIdx.x;
  const SetTile tile(number, Shape::tile_items, a.count, b.count, partitions);
  const auto slots = block_set_operation<Shape, operation, Duplicates>(a, b, tile, less, shared);
  int total = 0;
  const int before = block_exclusive_sum(slots.count(), shared.sums, total);
  if constexpr (stage != Stage::count) {
    const std::int64_t place = stage == Stage::stream ? counts[number] : number * Shape::tile_items;
    block_store<Shape>(a, b, tile, slots, before, total, out, place, shared);
  }
  if (stage != Stage::stream && threadIdx.x == 0) counts[number] = total;
}

template <class Shape, class Key>
struct SinglePassStorage {
  BlockSetStorage<Shape, Key> tile;
  TileTicket ticket;
  std::int64_t place;
};

/// `single_pass`: any grid; look_back is for as many tiles as there are. *count becomes the number
/// of outputs.
template <class Shape, SetOperation operation, bool Duplicates, class Key, class Value, class Less>
__global__ void __launch_bounds__(Shape::threads)
    single_pass_kernel(Input<Key, Value> a, Input<Key, Value> b, const std::int64_t* partitions,
                       Output<Key, Value> out, LookBack look_back, std::int64_t* count, Less less) {
  auto& shared = dynamic_shared<SinglePassStorage<Shape, Key>>();
  for (;;) {
    if (warp_index() == 0) {
      const TileTicket drawn = look_back.draw();
      if (lane_index() == 0) shared.ticket = drawn;
    }
    __syncthreads();  // the ticket is there
    const TileTicket ticket = shared.ticket;
    if (ticket.tile < 0) return;
    const SetTile tile(ticket.tile, Shape::tile_items, a.count, b.count, partitions);
    const auto slots =
        block_set_operation<Shape, operation, Duplicates>(a, b, tile, less, shared.tile);
    int total = 0;
    const int before = block_exclusive_sum(slots.count(), shared.tile.sums, total);
    if (warp_index() == 0) {
      if (lane_index() == 0) look_back.publish(ticket, static_cast<unsigned>(total));
      look_back.clear(ticket);
      const auto place =
          static_cast<std::int64_t>(look_back.sum_before(ticket, static_cast<unsigned>(total)));
      if (lane_index() == 0) {
        shared.place = place;
        if (ticket.tile == look_back.tiles() - 1) *count = place + total;
      }
    }
    __syncthreads();  // the place is there
    block_store<Shape>(a, b, tile, slots, before, total, out, shared.place, shared.tile);
  }
}

inline constexpr int scan_threads = 256;

struct ScanStorage {
  BlockSums<std::int64_t> sums;
  TileTicket ticket;
  std::int64_t place;
};

/// Replaces counts by the sum of those before each. Any grid; look_back is for ceil(tiles /
/// scan_threads) tiles. *total becomes the sum of all.
static __global__ void __launch_bounds__(scan_threads)
    scan_counts_kernel(std::int64_t* counts, std::int64_t tiles, LookBack look_back,
                       std::int64_t* total) {
  auto& shared = dynamic_shared<ScanStorage>();
  for (;;) {
    if (warp_index() == 0) {
      const TileTicket drawn = look_back.draw();
      if (lane_index() == 0) shared.ticket = drawn;
    }
    __syncthreads();  // the ticket is there
    const TileTicket ticket = shared.ticket;
    if (ticket.tile < 0) return;
    const std::int64_t mine = ticket.tile * scan_threads + threadIdx.x;
    std::int64_t sum = 0;
    const std::int64_t before =
        block_exclusive_sum(mine < tiles ? counts[mine] : 0, shared.sums, sum);
    if (warp_index() == 0) {
      if (lane_index() == 0) look_back.publish(ticket, static_cast<unsigned>(sum));
      look_back.clear(ticket);
      const auto place =
          static_cast<std::int64_t>(look_back.sum_before(ticket, static_cast<unsigned>(sum)));
      if (lane_index() == 0) {
        shared.place = place;
        if (ticket.tile == look_back.tiles() - 1) *total = place + sum;
      }
    }
    __syncthreads();  // the place is there
    if (mine < tiles) counts[mine] = shared.place + before;
    __syncthreads();  // and read
  }
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

/// One call: its inputs, of which at least one is not empty, and where everything goes.
template <class Key, class Value, class Less>
struct Call {
  Input<Key, Value> a;
  Input<Key, Value> b;
  Output<Key, Value> out;
  std::int64_t* count;
  Less less;
  Workspace& workspace;
  cudaStream_t stream;
};

inline void scan_counts(std::int64_t* counts, std::int64_t tiles, std::int64_t* total,
                        Workspace& workspace, cudaStream_t stream) {
  const std::int64_t blocks = (tiles + scan_threads - 1) / scan_threads;
  const LookBack look_back = workspace.look_back(stream, blocks);
  const std::int64_t resident =
      resident_blocks(scan_counts_kernel, scan_threads, sizeof(ScanStorage));
  launch({static_cast<unsigned>(std::min(blocks, resident)), scan_threads, sizeof(ScanStorage),
          stream},
         scan_counts_kernel, counts, tiles, look_back, total);
}

template <SetOperation operation, bool Duplicates, class Key, class Value, class Less>
void run(const Call<Key, Value, Less>& call, const Options& options) {
  using Shape = SetTuning;
  const std::int64_t elements = call.a.count + call.b.count;
  const std::int64_t tiles = (elements + Shape::tile_items - 1) / Shape::tile_items;
  if (tiles > std::numeric_limits<int>::max()) {
    throw std::invalid_argument(std::to_string(elements) + " elements: at most " +
                                std::to_string(std::numeric_limits<int>::max() *
                                               static_cast<std::int64_t>(Shape::tile_items)) +
                                " fit one call");
  }
  const auto blocks = static_cast<unsigned>(tiles);
  const bool is_compact = options.variant == Variant::compact;
  const bool is_single_pass = options.variant == Variant::single_pass;
  const bool has_values = !std::is_same_v<Value, NoValue>;
  const auto [partitions, counts, keys, values] =
      call.workspace.template take<std::int64_t, std::int64_t, Key, Value>(
          call.stream, tiles + 1, is_single_pass ? 0 : tiles,
          is_compact ? tiles * Shape::tile_items : 0,
          is_compact && has_values ? tiles * Shape::tile_items : 0);
  launch({blocks / 128 + 1, 128, 0, call.stream},
         find_set_partitions_kernel<Duplicates, Key, Value, Less>, call.a, call.b,
         Shape::tile_items, tiles, call.less, partitions);

  // (Clang before 16 does not let a lambda refer to a structured binding: hence the two copies.)
  const auto stage = [&, partitions = partitions,
                      counts = counts]<Stage which>(const Output<Key, Value>& out) {
    launch({blocks, Shape::threads, sizeof(BlockSetStorage<Shape, Key>), call.stream},
           set_operation_kernel<Shape, operation, Duplicates, which, Key, Value, Less>, call.a,
           call.b, partitions, out, counts, call.less);
  };
  switch (options.variant) {
    case Variant::count_scan_stream:
      stage.template operator()<Stage::count>(call.out);
      scan_counts(counts, tiles, call.count, call.workspace, call.stream);
      return stage.template operator()<Stage::stream>(call.out);
    case Variant::compact:
      stage.template operator()<Stage::compact>({keys, values});
      scan_counts(counts, tiles, call.count, call.workspace, call.stream);
      return launch({blocks, Shape::threads, 0, call.stream}, close_gaps_kernel<Shape, Key, Value>,
                    Output<Key, Value>{keys, values}, counts, tiles, call.count, call.out);
    case Variant::single_pass: {
      const auto kernel = single_pass_kernel<Shape, operation, Duplicates, Key, Value, Less>;
      constexpr std::size_t bytes = sizeof(SinglePassStorage<Shape, Key>);
      const LookBack look_back = call.workspace.look_back(call.stream, tiles);
      const std::int64_t resident = resident_blocks(kernel, Shape::threads, bytes);
      return launch(
          {static_cast<unsigned>(std::min(tiles, resident)), Shape::threads, bytes, call.stream},
          kernel, call.a, call.b, partitions, call.out, look_back, call.count, call.less);
    }
  }
}

}  // namespace warpath::balanced_path_sets
