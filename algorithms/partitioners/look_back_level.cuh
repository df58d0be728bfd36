// `look_back`: a level in one pass over its reference arrays, whatever its segments are.
//
// Tiles of all arrays are counted in one decoupled look-back (core/look_back.cuh), and one word
// tells both sides: an element that is less than its segment's pivot counts 2, the pivot counts 1.
// What all segments before this one count is known from their sizes (level_places.cuh), so that
// the rest is this segment's: half of it, rounded down, are less; what is odd says that the pivot
// has been passed; all others of the places before are greater.
//
// Superkeys are compared, which takes a random read of a tuple for each reference.
//
// Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
// NVIDIA 2016.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/block_look_back.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/look_back.cuh"
#include "core/warp.cuh"
#include "partitioners/level_places.cuh"
#include "partitioners/levels.cuh"
#include "partitioners/sides.cuh"
#include "partitioners/tuning.hpp"

namespace warpath::partitioners::detail {

struct LevelStorage {
  BlockTile tile;
  std::uint32_t warp_units[LevelShape::warps];
};

/// Tiles of one array.
__host__ __device__ constexpr std::int64_t tiles_of_array(Level level) {
  return divide_up(level.n, LevelShape::tile_items);
}

/// A warp's part of a tile: rows of 32 references in registers. One full warp.
template <class Sides>
class LevelRows {
 public:
  /// Loads the references from `first` on, and finds their sides.
  __device__ __forceinline__ LevelRows(Level level, const Sides& sides,
                                       const std::uint32_t* primary, const std::uint32_t* in,
                                       std::uint32_t first)
      : level_(level), first_(first), of_warp_(root_of(level)) {
    if (first < level.n) {
      of_warp_.descend(level, first, min(first + LevelShape::warp_items, level.n) - 1);
    }
    if (of_warp_.depth == level.number && of_warp_.segment.count() > 0) {
      // One segment, one pivot: the usual case of the upper levels.
      const auto pivot = sides.pivot(primary[of_warp_.segment.median()]);
      find_sides(sides, in, [&](const LevelPlace&) { return pivot; });
    } else {
      find_sides(sides, in,
                 [&](const LevelPlace& at) { return sides.pivot(primary[at.segment.median()]); });
    }
  }

  /// What they count, in every lane.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t units() const {
    std::uint32_t sum = 0;
#pragma unroll
    for (int row = 0; row < LevelShape::rows; ++row) sum += units_of(less_[row], pivots_[row]);
    return sum;
  }

  /// Writes them to their sides; all before them in their array count `before`.
  __device__ __forceinline__ void store(std::uint32_t* out, std::uint32_t before) const {
#pragma unroll
    for (int row = 0; row < LevelShape::rows; ++row) {
      const std::uint32_t own =
          before + units_of(less_[row] & lanes_below(), pivots_[row] & lanes_below());
      before += units_of(less_[row], pivots_[row]);
      const LevelPlace at = place_of(row);
      const bool is_pivot = (pivots_[row] >> lane_index() & 1) != 0;
      if (is_pivot || !has_element(at, row)) continue;
      const std::uint32_t in_segment = own - at.units_before;
      const std::uint32_t less = in_segment / units_of_less;
      const std::uint32_t pivots = in_segment % units_of_less;
      const std::uint32_t greater = place(row) - at.segment.begin - less - pivots;
      const bool is_less = (less_[row] >> lane_index() & 1) != 0;
      out[is_less ? at.segment.begin + less : at.segment.median() + 1 + greater] = references_[row];
    }
  }

 private:
  template <class PivotOf>
  __device__ __forceinline__ void find_sides(const Sides& sides, const std::uint32_t* in,
                                             const PivotOf& pivot_of) {
#pragma unroll
    for (int row = 0; row < LevelShape::rows; ++row) {
      references_[row] = has_element(place_of(row), row) ? in[place(row)] : 0;
    }
#pragma unroll
    for (int row = 0; row < LevelShape::rows; ++row) {
      const LevelPlace at = place_of(row);
      Side side = Side::greater;
      if (has_element(at, row)) side = sides.side(references_[row], pivot_of(at));
      less_[row] = __ballot_sync(full_warp, side == Side::less);
      pivots_[row] = __ballot_sync(full_warp, side == Side::pivot);
    }
  }
  __device__ __forceinline__ static std::uint32_t units_of(unsigned less, unsigned pivots) {
    return __popc(less) * units_of_less + __popc(pivots) * units_of_pivot;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t place(int row) const {
    return first_ + row * warp_threads + lane_index();
  }
  /// The segment of this lane's place in a row: found again each time, since registers are dear and
  /// few levels are left below the warp's own node.
  [[nodiscard]] __device__ __forceinline__ LevelPlace place_of(int row) const {
    LevelPlace at = of_warp_;
    if (place(row) < level_.n) at.descend(level_, place(row));
    return at;
  }
  /// Whether the place is no gap, and not beyond the end.
  [[nodiscard]] __device__ __forceinline__ bool has_element(const LevelPlace& at, int row) const {
    return place(row) < level_.n && at.has(place(row));
  }

  Level level_;
  std::uint32_t first_;
  LevelPlace of_warp_;  // the last node that has all of the warp's places
  std::uint32_t references_[LevelShape::rows];
  unsigned less_[LevelShape::rows];
  unsigned pivots_[LevelShape::rows];
};

/// Any grid, with sizeof(LevelStorage) bytes of shared memory; look_back is for
/// arrays.count * tiles_of_array(level) tiles, at least 1. *total: memory for what all count.
template <class Sides>
__global__ void __launch_bounds__(LevelShape::threads)
    look_back_level_kernel(Level level, Sides sides, const std::uint32_t* primary, ArrayList arrays,
                           LookBack look_back, std::int64_t* total, std::uint32_t* medians) {
  auto& shared = dynamic_shared<LevelStorage>();
  grid_store_medians(level, primary, medians);

  do {
    const TileTicket ticket = block_draw(look_back, shared.tile);
    if (ticket.tile < 0) break;

    const std::int64_t array = ticket.tile / tiles_of_array(level);
    const auto tile = static_cast<std::uint32_t>(ticket.tile % tiles_of_array(level));
    const LevelRows<Sides> rows(
        level, sides, primary, arrays.in[array],
        tile * LevelShape::tile_items + warp_index() * LevelShape::warp_items);
    const std::uint32_t units = rows.units();
    if (lane_index() == 0) shared.warp_units[warp_index()] = units;
    __syncthreads();  // the warps' counts are there

    const auto tile_units = [&] {
      return warp_sum(lane_index() < LevelShape::warps ? shared.warp_units[lane_index()] : 0u);
    };
    std::int64_t before = block_place(look_back, ticket, tile_units, shared.tile, total);
    before -= array * units_of_subtree(level.n, level.number);
    for (int warp = 0; warp < warp_index(); ++warp) before += shared.warp_units[warp];
    rows.store(arrays.out[array], static_cast<std::uint32_t>(before));
    __syncthreads();  // the ticket and the counts are read
  } while (!look_back.draws_once());
}

}  // namespace warpath::partitioners::detail
