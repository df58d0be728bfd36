// What a warp does with elements that do not go through registers: it lists the numbers of those
// that are kept, and copies the listed ones.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/warp.cuh"
#include "warp_compaction/columns.cuh"

namespace warpath::warp_compaction::detail {

/// Asks the rule for a warp's segment of a tile, `items` items from number `begin` on, and lists
/// those that it keeps. Returns how many they are, in every lane. `index` is that of the tile's
/// first item among all of them, `count` the number of the tile's items, all of them if `IsFull`
/// (then segments are whole rows). One full warp.
template <bool IsFull, class Rule>
__device__ __forceinline__ int warp_list_kept(
    const Rule& rule, TilePointers<const typename Rule::Item, const typename Rule::Companion> tile,
    int begin, int items, std::int64_t index, int count, std::uint16_t* list) {
  const int end = begin + items;
  int kept = 0;
#pragma unroll 4
  for (int row = begin; row < end; row += warp_threads) {
    const int i = row + lane_index();
    const bool is_kept = (IsFull || i < min(end, count)) &&
                         rule.keep(tile.items + i, column_at(tile.companions, i), index + i);
    const unsigned kept_of_row = __ballot_sync(full_warp, is_kept);
    if (is_kept) list[kept + __popc(kept_of_row & lanes_below())] = static_cast<std::uint16_t>(i);
    kept += __popc(kept_of_row);
  }
  return kept;
}

/// Copies the listed ones of the elements at `from`, `count` of them, without gaps: unit number u,
/// of those that the kept elements consist of, to to(u). An element is some units, and aligned to
/// them. One full warp.
template <class Unit, class T, class To>
__device__ __forceinline__ void warp_copy_listed(const T* from, const std::uint16_t* list,
                                                 int count, const To& to) {
  constexpr int units = sizeof(T) / sizeof(Unit);
  const auto* const source = reinterpret_cast<const Unit*>(from);
#pragma unroll 4
  for (int u = lane_index(); u < count * units; u += warp_threads) {
    to(u) = source[list[u / units] * units + u % units];
  }
}

}  // namespace warpath::warp_compaction::detail
