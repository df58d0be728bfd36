// A pass that splits: the tuples of a tile go to up to eight parts, in any order within each.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/warp.cuh"

namespace warpath::kd_tree::detail {

/// Bits of a part's number, of which a ballot each tells who goes there.
inline constexpr int part_bits = 3;
inline constexpr int most_parts = 1 << part_bits;

template <class Tile>
struct PartStorage {
  std::uint32_t counts[Tile::warps][most_parts];  ///< of each warp; then where its tuples begin
  std::uint32_t shifts[most_parts];  ///< from a part's places in the tile to those in its target
  std::uint32_t total;               ///< of tuples
};

/// Finds where each tuple of a tile goes. parts: 0 to most_parts - 1; exist: bits of the tuples
/// that there are; places: of each in the tile, part after part. What goes to a part is at its
/// place plus shared.shifts[part] there. take(part, count) reserves places in a part and returns
/// the first; one thread calls it, where count > 0. The whole block; ends with a barrier.
template <class Tile, class Take>
__device__ __forceinline__ void block_place_in_parts(PartStorage<Tile>& shared,
                                                     const int (&parts)[Tile::items],
                                                     unsigned exist,
                                                     std::uint32_t (&places)[Tile::items],
                                                     const Take& take) {
  const int own_part = lane_index() % most_parts;
  std::uint32_t own_count = 0;  // of part own_part, in this warp's rows so far
#pragma unroll
  for (int t = 0; t < Tile::items; ++t) {
    const unsigned in_row = __ballot_sync(full_warp, (exist >> t & 1) != 0);
    unsigned bits[part_bits];
#pragma unroll
    for (int bit = 0; bit < part_bits; ++bit) {
      bits[bit] = __ballot_sync(full_warp, (parts[t] >> bit & 1) != 0);
    }
    const auto lanes_of = [&](int part) {
      unsigned lanes = in_row;
#pragma unroll
      for (int bit = 0; bit < part_bits; ++bit) {
        lanes &= (part >> bit & 1) != 0 ? bits[bit] : ~bits[bit];
      }
      return lanes;
    };
    const std::uint32_t above = __shfl_sync(full_warp, own_count, parts[t]);
    places[t] = above + static_cast<unsigned>(__popc(lanes_of(parts[t]) & lanes_below()));
    own_count += static_cast<unsigned>(__popc(lanes_of(own_part)));
  }
  if (lane_index() < most_parts) shared.counts[warp_index()][lane_index()] = own_count;
  __syncthreads();  // the counts of all warps are there
  if (warp_index() == 0) {
    const int part = lane_index();
    std::uint32_t all = 0;
    if (part < most_parts) {
      for (int warp = 0; warp < Tile::warps; ++warp) all += shared.counts[warp][part];
    }
    const std::uint32_t through = warp_inclusive_sum(all);
    std::uint32_t next = through - all;
    if (part < most_parts) {
      shared.shifts[part] = (all > 0 ? take(part, all) : 0) - next;
      for (int warp = 0; warp < Tile::warps; ++warp) {
        const std::uint32_t count = shared.counts[warp][part];
        shared.counts[warp][part] = next;
        next += count;
      }
    }
    if (part == warp_threads - 1) shared.total = through;
  }
  __syncthreads();  // where each warp's tuples go is known
#pragma unroll
  for (int t = 0; t < Tile::items; ++t) places[t] += shared.counts[warp_index()][parts[t]];
}

}  // namespace warpath::kd_tree::detail
