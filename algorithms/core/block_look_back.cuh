// A persistent block that takes tile after tile in order, and finds for each the place of its
// outputs among those of all tiles (look_back.cuh):
//
//   do {
//     const TileTicket ticket = block_draw(look_back, shared);
//     if (ticket.tile < 0) break;
//     ... count the tile's outputs ...
//     const std::int64_t place = block_place(look_back, ticket, outputs, shared, total);
//     ... store them from `place` on ...
//     __syncthreads();
//   } while (!look_back.draws_once());
//
// Kernels with a warp for each of these steps call warp_place() instead.
#pragma once

#include <cstdint>

#include "core/look_back.cuh"
#include "core/warp.cuh"

namespace warpath {

/// The sum of all tiles before this one, in every lane. One full warp; `own_sum` is what the tile
/// publishes, as number `which`. The last tile stores the sum of all tiles to *total.
__device__ __forceinline__ std::int64_t warp_place(const LookBack& look_back, TileTicket ticket,
                                                   unsigned own_sum, std::int64_t* total,
                                                   int which = 0) {
  const auto place = static_cast<std::int64_t>(look_back.sum_before(ticket, own_sum, which));
  if (lane_index() == 0 && ticket.tile == look_back.tiles() - 1) *total = place + own_sum;
  return place;
}

/// Shared memory of a block that goes through tiles.
struct BlockTile {
  TileTicket ticket;
  std::int64_t place;
};

/// The block's next tile, in every thread; its number is -1 if there are no more. A barrier must
/// lie between the last read of `shared` and this call.
__device__ __forceinline__ TileTicket block_draw(const LookBack& look_back, BlockTile& shared) {
  if (warp_index() == 0) {
    const TileTicket drawn = look_back.draw();
    if (lane_index() == 0) shared.ticket = drawn;
  }
  __syncthreads();  // the ticket is there
  return shared.ticket;
}

/// The sum of all tiles before this one, in every thread. tile_sum() is the tile's own sum, at most
/// 2^25 - 1; only the first warp calls it, in all its lanes. *total becomes the sum of all tiles.
/// What the block wrote to shared memory before this call is visible after it.
template <class TileSum>
__device__ __forceinline__ std::int64_t block_place(const LookBack& look_back, TileTicket ticket,
                                                    TileSum tile_sum, BlockTile& shared,
                                                    std::int64_t* total) {
  if (warp_index() == 0) {
    const auto sum = static_cast<unsigned>(tile_sum());
    // As early as can be: all later tiles wait for it.
    if (lane_index() == 0) look_back.publish(ticket, sum);
    look_back.clear(ticket);
    const std::int64_t place = warp_place(look_back, ticket, sum, total);
    if (lane_index() == 0) shared.place = place;
  }
  __syncthreads();  // the place is there
  return shared.place;
}

}  // namespace warpath
