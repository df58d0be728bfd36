// `single_pass`: reads every item once, writes every kept item once. The plain kernel: any GPU, any
// alignment.
//
// A block draws a tile; each warp compacts its segment of it into shared memory; the first warp
// publishes how many were kept and looks back for the tile's place; each warp copies its segment
// there. While a block waits, the multiprocessor's other blocks work.
#pragma once

#include <cstdint>

#include "core/block_look_back.cuh"
#include "core/launch.cuh"
#include "core/look_back.cuh"
#include "core/prefetch.cuh"
#include "core/warp.cuh"
#include "warp_compaction/columns.cuh"
#include "warp_compaction/segment.cuh"
#include "warp_compaction/tuning.hpp"

namespace warpath::warp_compaction::detail {

/// A column of a tile in shared memory.
template <class T, int TileItems>
struct TileColumn {
  alignas(16) unsigned char bytes[TileItems * sizeof(T)];
  __device__ T* elements() { return reinterpret_cast<T*>(bytes); }
};
template <int TileItems>
struct TileColumn<NoCompanion, TileItems> {
  __device__ NoCompanion* elements() { return nullptr; }
};

template <class Rule, class Shape>
struct SinglePassStorage {
  TileColumn<typename Rule::Item, Shape::tile_items> items;
  TileColumn<typename Rule::Companion, Shape::tile_items> companions;
  BlockTile tile;
  int warp_kept[Shape::warps];
};

/// Has the tile brought to L2 whose number is that of the block; all threads of the block, before
/// its first draw. Some block will draw that tile: when it does, about as long a time from now as a
/// read takes, the tile is near. Only the first wave of blocks gains by it: all there is of a small
/// input.
template <int TileItems, class T, class U>
__device__ __forceinline__ void prefetch_tile_of_block(const Columns<T, U>& in) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * TileItems;
  if (threadIdx.x != warp_threads || index >= in.count) return;  // the first warp draws
  const int count = static_cast<int>(min(static_cast<std::int64_t>(TileItems), in.count - index));
  prefetch_array_to_l2(in.items + index, count);
  if constexpr (is_column<std::remove_const_t<U>>) {
    prefetch_array_to_l2(in.companions + index, count);
  }
}

/// Launched with any grid, and sizeof(SinglePassStorage<Rule, Shape>) bytes of shared memory;
/// look_back is for ceil(in.count / tile_items) tiles, at least 1. *kept becomes the number of
/// items written.
template <class Rule, class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    single_pass_kernel(Rule rule, InputOf<Rule> in, OutputOf<Rule> out, LookBack look_back,
                       std::int64_t* kept) {
  using Item = typename Rule::Item;
  using Companion = typename Rule::Companion;
  auto& shared = dynamic_shared<SinglePassStorage<Rule, Shape>>();
  const TilePointers<Item, Companion> tile{shared.items.elements(), shared.companions.elements()};
  prefetch_tile_of_block<Shape::tile_items>(in);

  do {
    const TileTicket ticket = block_draw(look_back, shared.tile);
    if (ticket.tile < 0) break;
    if (warp_index() == 0) look_back.prefetch(ticket);

    const std::int64_t index = ticket.tile * Shape::tile_items;
    const int count =
        static_cast<int>(min(static_cast<std::int64_t>(Shape::tile_items), in.count - index));
    const TilePointers<const Item, const Companion> from{in.items + index,
                                                         column_at(in.companions, index)};
    const int warp_kept =
        count == Shape::tile_items
            ? warp_compact_segment<Shape, true>(rule, warp_index(), from, tile, index, count)
            : warp_compact_segment<Shape, false>(rule, warp_index(), from, tile, index, count);
    if (lane_index() == 0) shared.warp_kept[warp_index()] = warp_kept;
    __syncthreads();  // the warps' counts are there

    const auto tile_kept = [&] {
      return warp_sum(lane_index() < Shape::warps ? shared.warp_kept[lane_index()] : 0);
    };
    std::int64_t place = block_place(look_back, ticket, tile_kept, shared.tile, kept);
    for (int warp = 0; warp < warp_index(); ++warp) place += shared.warp_kept[warp];
    warp_copy_segment<Shape, Rule>(
        out, place, TilePointers<const Item, const Companion>{tile.items, tile.companions},
        warp_index(), warp_kept);
    __syncthreads();  // the ticket and the counts are read
  } while (!look_back.draws_once());
}

}  // namespace warpath::warp_compaction::detail
