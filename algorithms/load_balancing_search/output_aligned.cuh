// `output_aligned`: a tile of merge path steps a block, as in the source; but within the tile
// nobody walks the path. Each object puts its number at the place of its first work item, its head;
// then the object of a work item is the largest number up to its place, since the numbers grow:
//
//   object counts  2, 5, 0, 3, 1     places  1 0 2 0 0 0 0 4 0 0 5     (numbers count from 1)
//                                    objects 1 1 2 2 2 2 2 4 4 4 5
//
// A warp finds the largest numbers of 128 work items with one ballot and one shuffle. Tiles are
// laid out by the lines of the output, so that stores are whole 16-byte vectors wherever a tile
// does not begin or end.
#pragma once

#include <cstdint>

#include "core/launch.cuh"
#include "core/warp.cuh"
#include "load_balancing_search/block_load_balancing_search.cuh"

namespace warpath::load_balancing_search {

template <class Shape>
struct OutputAlignedStorage {
  /// Of the objects, counted from 1 within the tile; 0: none begins here.
  alignas(16) std::uint16_t heads[Shape::places];
  std::int64_t objects_before[2];  ///< of the tile, and of the next one
  unsigned warp_last[Shape::warps];
};

/// Stores four neighbours' objects, those of them that belong to the tile. `out` of the first one
/// is aligned to 16 bytes.
template <class Index>
__device__ __forceinline__ void store_four(Index* out, std::int64_t first, const TileRange& range,
                                           const Index (&objects)[4]) {
  struct alignas(16) Vector {
    Index of[16 / sizeof(Index)];
  };
  constexpr int width = 16 / sizeof(Index);
  if (first >= range.a0 && first + 4 <= range.a1) {
#pragma unroll
    for (int v = 0; v < 4 / width; ++v) {
      Vector vector;
#pragma unroll
      for (int k = 0; k < width; ++k) vector.of[k] = objects[v * width + k];
      reinterpret_cast<Vector*>(out + first)[v] = vector;
    }
  } else {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (first + k >= range.a0 && first + k < range.a1) out[first + k] = objects[k];
    }
  }
}

/// The highest of a set of lanes; 0 of none.
__device__ __forceinline__ int highest_lane(unsigned lanes) {
  return 31 - __clz(static_cast<int>(lanes | 1));
}

/// The heads of four neighbouring work items.
struct alignas(8) FourHeads {
  std::uint16_t of[4];
  [[nodiscard]] __device__ __forceinline__ unsigned largest() const {
    return max(max(of[0], of[1]), max(of[2], of[3]));
  }
};

/// One block a tile: ceil(work.steps() / tile_steps) blocks, sizeof(OutputAlignedStorage<Shape>)
/// bytes of shared memory. out: work.items elements.
template <class Shape, class Offset, class Index>
__global__ void __launch_bounds__(Shape::threads)
    output_aligned_kernel(Work<Offset> work, Index* out) {
  auto& shared = dynamic_shared<OutputAlignedStorage<Shape>>();
  const std::int64_t begin = blockIdx.x * static_cast<std::int64_t>(Shape::tile_steps);
  const std::int64_t end = min(begin + Shape::tile_steps, work.steps());

  // Two warps find the tile's part of the path, the others clear the places.
  if (warp_index() < 2) {
    const std::int64_t before = work.warp_objects_before(warp_index() == 0 ? begin : end);
    if (lane_index() == 0) shared.objects_before[warp_index()] = before;
  } else {
    auto* places = reinterpret_cast<uint4*>(shared.heads);
    for (int i = static_cast<int>(threadIdx.x) - 2 * warp_threads; i < Shape::places / 8;
         i += Shape::threads - 2 * warp_threads) {
      places[i] = uint4{};
    }
  }
  __syncthreads();  // the range is known, and the places are clear
  TileRange range;
  range.b0 = shared.objects_before[0];
  range.b1 = shared.objects_before[1];
  range.a0 = begin - range.b0;
  range.a1 = end - range.b1;

  // The first place is at the begin of the line that holds the first work item's object.
  const auto line_begin = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) /
                                                    sizeof(Index) % Shape::line_items);
  const std::int64_t origin = range.a0 - (range.a0 + line_begin) % Shape::line_items;
  for (std::int64_t b = range.b0 + threadIdx.x; b < range.b1; b += Shape::threads) {
    const auto first = static_cast<std::int64_t>(work.scan[b]);
    const auto next =
        b + 1 < work.objects ? static_cast<std::int64_t>(work.scan[b + 1]) : work.items;
    // An object without work items has no head; one that begins behind the tile has it there.
    if (first < next && first < range.a1) {
      shared.heads[first - origin] = static_cast<std::uint16_t>(b - range.b0 + 1);
    }
  }
  __syncthreads();  // the heads are there

  // Each warp takes as many consecutive rows. In its rows, a lane looks for the last head before
  // its own four work items.
  const int tile_rows =
      static_cast<int>((range.a1 - origin + Shape::row_items - 1) / Shape::row_items);
  const int rows = (tile_rows + Shape::warps - 1) / Shape::warps;
  const int first_row = warp_index() * rows;
  FourHeads heads[Shape::rows];
  unsigned before[Shape::rows];
  unsigned last = 0;  // head in the warp's rows so far
#pragma unroll
  for (int row = 0; row < Shape::rows; ++row) {
    if (row < rows) {
      heads[row] = reinterpret_cast<const FourHeads*>(
          shared.heads)[(first_row + row) * warp_threads + lane_index()];
      const unsigned largest = heads[row].largest();
      const unsigned lanes = __ballot_sync(full_warp, largest != 0);
      const unsigned below = lanes & lanes_below();
      const unsigned nearest = __shfl_sync(full_warp, largest, highest_lane(below));
      before[row] = below != 0 ? nearest : last;
      if (lanes != 0) last = __shfl_sync(full_warp, largest, highest_lane(lanes));
    }
  }
  if (lane_index() == 0) shared.warp_last[warp_index()] = last;
  __syncthreads();  // the warps' last heads are there
  unsigned carry = 0;
#pragma unroll
  for (int warp = 0; warp < Shape::warps; ++warp) {
    if (warp < warp_index()) carry = max(carry, shared.warp_last[warp]);
  }

#pragma unroll
  for (int row = 0; row < Shape::rows; ++row) {
    if (row < rows) {
      unsigned number = max(before[row], carry);
      Index objects[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        number = max(number, static_cast<unsigned>(heads[row].of[k]));
        objects[k] = static_cast<Index>(range.b0 - 1 + number);
      }
      const std::int64_t first =
          origin + (first_row + row) * Shape::row_items + lane_index() * std::int64_t{4};
      store_four(out, first, range, objects);
    }
  }
}

}  // namespace warpath::load_balancing_search
