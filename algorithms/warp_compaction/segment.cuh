// What a warp does with its segment of a tile, in both single-pass kernels: compact it into shared
// memory, and copy what was kept to its place. It is the source's first pass, whose segments with
// gaps between them lie in shared memory instead of a temporary buffer.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/warp.cuh"
#include "warp_compaction/columns.cuh"
#include "warp_compaction/tuning.hpp"

namespace warpath::warp_compaction {

/// Consecutive elements in registers, and the one before them.
template <class T, int Width>
struct Vector {
  using Access = std::conditional_t<Width * sizeof(T) == 16, uint4,
                                    std::conditional_t<Width * sizeof(T) == 8, uint2, unsigned>>;
  static constexpr bool is_one_access = Width * sizeof(T) == sizeof(Access);

  T elements[1 + Width];

  __device__ __forceinline__ const T* at(int k) const { return elements + 1 + k; }

  /// Loads all of them, in one access if they are aligned to it, and the one before if asked to.
  __device__ __forceinline__ void load(const T* from, bool with_previous) {
    elements[0] = with_previous ? from[-1] : T{};
    if constexpr (is_one_access) {
      if (reinterpret_cast<std::uintptr_t>(from) % sizeof(Access) == 0) {
        const Access access = *reinterpret_cast<const Access*>(from);
        memcpy(elements + 1, &access, sizeof access);
        return;
      }
    }
#pragma unroll
    for (int k = 0; k < Width; ++k) elements[1 + k] = from[k];
  }
  /// Loads the first `count` of them; the others are T{}.
  __device__ __forceinline__ void load(const T* from, bool with_previous, int count) {
    elements[0] = with_previous && count > 0 ? from[-1] : T{};
#pragma unroll
    for (int k = 0; k < Width; ++k) {
      elements[1 + k] = k < count ? from[k] : T{};
    }
  }
};
template <int Width>
struct Vector<NoCompanion, Width> {
  __device__ __forceinline__ const NoCompanion* at(int) const { return nullptr; }
  __device__ __forceinline__ void load(const NoCompanion*, bool, int = 0) {}
};

/// Where the elements of a tile are: its items, and their companions if there are any.
template <class T, class U>
struct TilePointers {
  T* items;
  U* companions;
};

/// warp_compact_segment for a tile that is full, or not.
template <class Shape, bool IsFull, class Rule, class T, class U>
__device__ __forceinline__ int warp_compact_batches(const Rule& rule, int segment,
                                                    TilePointers<const T, const U> from,
                                                    TilePointers<T, U> to, std::int64_t index,
                                                    int count) {
  constexpr int width = Shape::width;
  int kept = 0;
#pragma unroll 1
  for (int batch = segment; batch < segment + Shape::segment_items; batch += Shape::batch_items) {
    Vector<T, width> items[batch_rows];
    Vector<U, width> companions[batch_rows];
#pragma unroll
    for (int row = 0; row < batch_rows; ++row) {
      const int i = batch + (row * warp_threads + lane_index()) * width;
      const bool with_previous = Rule::looks_back && index + i > 0;
      if constexpr (IsFull) {
        items[row].load(from.items + i, with_previous);
        companions[row].load(column_at(from.companions, i), with_previous);
      } else {
        items[row].load(from.items + i, with_previous, count - i);
        companions[row].load(column_at(from.companions, i), with_previous, count - i);
      }
    }
    unsigned flags = 0;   // which of this lane's items are kept
    unsigned counts = 0;  // how many in each row, a byte a row: a warp keeps at most 128 of a row
#pragma unroll
    for (int row = 0; row < batch_rows; ++row) {
      const int i = batch + (row * warp_threads + lane_index()) * width;
#pragma unroll
      for (int k = 0; k < width; ++k) {
        if ((IsFull || i + k < count) &&
            rule.keep(items[row].at(k), companions[row].at(k), index + i + k)) {
          flags |= 1u << (row * width + k);
          counts += 1u << (8 * row);
        }
      }
    }
    const unsigned through = warp_inclusive_sum(counts);
    const unsigned before = through - counts;
    const unsigned totals = __shfl_sync(full_warp, through, warp_threads - 1);
    // That shuffle is also the point where the whole warp has read what is overwritten now.
#pragma unroll
    for (int row = 0; row < batch_rows; ++row) {
      int rank = segment + kept + static_cast<int>(before >> (8 * row) & 0xFF);
#pragma unroll
      for (int k = 0; k < width; ++k) {
        if ((flags >> (row * width + k) & 1) != 0) {
          to.items[rank] = *items[row].at(k);
          if constexpr (Rule::writes_companion) to.companions[rank] = *companions[row].at(k);
          ++rank;
        }
      }
      kept += static_cast<int>(totals >> (8 * row) & 0xFF);
    }
    __syncwarp();  // this batch is written before the next one, whose first item looks back, is
                   // read
  }
  return kept;
}

/// Compacts segment number `warp` of a tile from `from` to the same segment of `to`, which may be
/// the same memory: a kept element never moves up, and a batch is read before it is written.
/// Returns how many items the rule kept, in every lane. `index` is that of the tile's first item
/// among all of them, `count` the number of the tile's items.
template <class Shape, class Rule, class T, class U>
__device__ __forceinline__ int warp_compact_segment(const Rule& rule, int warp,
                                                    TilePointers<const T, const U> from,
                                                    TilePointers<T, U> to, std::int64_t index,
                                                    int count) {
  const int segment = warp * Shape::segment_items;
  return count == Shape::tile_items
             ? warp_compact_batches<Shape, true>(rule, segment, from, to, index, count)
             : warp_compact_batches<Shape, false>(rule, segment, from, to, index, count);
}

/// Copies `count` elements to global memory, each round of the warp to one aligned run of 32
/// elements.
template <class T>
__device__ __forceinline__ void warp_copy_out(T* to, const T* from, int count) {
  const int phase =
      static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % warp_threads);
#pragma unroll 4
  for (int i = lane_index() - phase; i < count; i += warp_threads) {
    if (i >= 0) to[i] = from[i];
  }
}

/// Copies a warp's compacted segment, `kept` elements of each written column, to `place` in the
/// output.
template <class Shape, class Rule, class T, class U>
__device__ __forceinline__ void warp_copy_segment(const Columns<T, U>& out, std::int64_t place,
                                                  TilePointers<const T, const U> tile, int warp,
                                                  int kept) {
  const int segment = warp * Shape::segment_items;
  warp_copy_out(out.items + place, tile.items + segment, kept);
  if constexpr (Rule::writes_companion) {
    warp_copy_out(out.companions + place, tile.companions + segment, kept);
  }
}

}  // namespace warpath::warp_compaction
