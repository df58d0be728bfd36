// `single_pass` for large elements: they stay in global memory. A block decides which items of its
// tile are kept, and lists them in shared memory; then each warp copies the elements of its list to
// their place, so many bytes a lane that accesses are as wide as the element's alignment allows. So
// shared memory and registers do not depend on the size of an element.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/block_look_back.cuh"
#include "core/launch.cuh"
#include "core/look_back.cuh"
#include "core/vector.cuh"
#include "core/warp.cuh"
#include "warp_compaction/columns.cuh"
#include "warp_compaction/tuning.hpp"

namespace warpath::warp_compaction::detail {

struct IndexedStorage {
  std::uint16_t kept[IndexedShape::tile_items];  ///< a list for each warp, of numbers in the tile
  int warp_kept[IndexedShape::warps];
  BlockTile tile;
};

/// Copies the listed elements, `count` of them, to `to` without gaps. One full warp.
template <class T>
__device__ __forceinline__ void warp_copy_listed(T* to, const T* from, const std::uint16_t* list,
                                                 int count) {
  using Part = Access<alignof(T)>;
  constexpr int parts = sizeof(T) / sizeof(Part);
  auto* target = reinterpret_cast<Part*>(to);
  const auto* source = reinterpret_cast<const Part*>(from);
#pragma unroll 4
  for (int i = lane_index(); i < count * parts; i += warp_threads) {
    target[i] = source[list[i / parts] * parts + i % parts];
  }
}

/// Launched like single_pass_kernel, with sizeof(IndexedStorage) bytes of shared memory.
template <class Rule>
__global__ void __launch_bounds__(IndexedShape::threads)
    indexed_kernel(Rule rule, InputOf<Rule> in, OutputOf<Rule> out, LookBack look_back,
                   std::int64_t* kept) {
  using Shape = IndexedShape;
  auto& shared = dynamic_shared<IndexedStorage>();
  const int segment = warp_index() * Shape::segment_items;
  std::uint16_t* const list = shared.kept + segment;

  for (;;) {
    const TileTicket ticket = block_draw(look_back, shared.tile);
    if (ticket.tile < 0) break;

    const std::int64_t index = ticket.tile * Shape::tile_items;
    const int count =
        static_cast<int>(min(static_cast<std::int64_t>(Shape::tile_items), in.count - index));
    int warp_kept = 0;
    for (int i = segment + lane_index(); i < segment + Shape::segment_items; i += warp_threads) {
      const bool is_kept = i < count && rule.keep(in.items + index + i,
                                                  column_at(in.companions, index + i), index + i);
      const unsigned row = __ballot_sync(full_warp, is_kept);
      if (is_kept) list[warp_kept + __popc(row & lanes_below())] = static_cast<std::uint16_t>(i);
      warp_kept += __popc(row);
    }
    if (lane_index() == 0) shared.warp_kept[warp_index()] = warp_kept;
    __syncthreads();  // the lists and their lengths are there

    const auto tile_kept = [&] {
      return warp_sum(lane_index() < Shape::warps ? shared.warp_kept[lane_index()] : 0);
    };
    std::int64_t place = block_place(look_back, ticket, tile_kept, shared.tile, kept);
    for (int warp = 0; warp < warp_index(); ++warp) place += shared.warp_kept[warp];
    warp_copy_listed(out.items + place, in.items + index, list, warp_kept);
    if constexpr (Rule::writes_companion) {
      warp_copy_listed(out.companions + place, in.companions + index, list, warp_kept);
    }
    __syncthreads();  // the ticket, the lists and their lengths are read
  }
}

}  // namespace warpath::warp_compaction::detail
