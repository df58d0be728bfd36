// What a compactor of the pipeline does with its segment of a tile, in one of two ways:
//
//   RegisterSegment  takes the items from their stage into registers, decides, and writes to the
//                    ring those that are kept: the stage is free at once
//   ListedSegment    decides where the items are staged, and lists which ones are kept; then the
//                    warp copies them to the ring. For elements of whole words that fit registers
//                    badly: of twelve chars, say, or of eight floats, which fill too many of them
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/vector.cuh"
#include "core/warp.cuh"
#include "warp_compaction/columns.cuh"
#include "warp_compaction/listed.cuh"
#include "warp_compaction/segment.cuh"
#include "warp_compaction/tuning.hpp"

namespace warpath::warp_compaction::detail {

/// A column of what is kept, in the order of the block's tiles: item number i, counted from the
/// block's first, is at i % Items.
template <class T, int Items>
struct RingColumn {
  alignas(128) unsigned char bytes[Items * sizeof(T)];

  __device__ T& operator[](unsigned i) { return reinterpret_cast<T*>(bytes)[i % Items]; }
};
template <int Items>
struct RingColumn<NoCompanion, Items> {};

/// Copies the listed ones of the elements at `from`, `count` of them, to the ring, from item number
/// `rank` on. `from` begins in a 16-byte line, as the ring does: so accesses are as wide as the
/// size of an element allows. One full warp.
template <class T, int Items>
__device__ __forceinline__ void warp_copy_listed_to_ring(RingColumn<T, Items>& ring, unsigned rank,
                                                         const T* from, const std::uint16_t* list,
                                                         int count) {
  using Unit = Access<sizeof(T)>;
  constexpr int units = sizeof(T) / sizeof(Unit);
  auto* const target = reinterpret_cast<Unit*>(ring.bytes);
  const int first = static_cast<int>(rank % Items) * units;
  warp_copy_listed<Unit>(from, list, count, [&](int u) -> Unit& {
    const int place = first + u;
    return target[place < Items * units ? place : place - Items * units];
  });
}

/// A copier's share of `count` items of the ring, from number `begin` on, to `to`, by words of the
/// target, 32 neighbouring ones at a time. Nothing else of the ring is read, not even in the words
/// where they begin and end, since others may be writing there.
template <class T, int Items>
__device__ __forceinline__ void warp_copy_from_ring(T* to, const RingColumn<T, Items>& ring,
                                                    unsigned begin, int count, int copier,
                                                    int copiers) {
  constexpr int ring_bytes = Items * static_cast<int>(sizeof(T));
  constexpr int ring_words = ring_bytes / 4;
  static_assert(ring_bytes % 4 == 0);
  const auto in_ring = [](int place, int size) { return place < size ? place : place - size; };
  auto* const target = reinterpret_cast<unsigned char*>(to);
  const int bytes = count * static_cast<int>(sizeof(T));
  const int source = static_cast<int>(begin % Items) * static_cast<int>(sizeof(T));
  const auto copy_byte = [&](int i) { target[i] = ring.bytes[in_ring(source + i, ring_bytes)]; };

  const auto address = reinterpret_cast<std::uintptr_t>(target);
  const int head = min(bytes, static_cast<int>((4 - address % 4) % 4));
  const int words = (bytes - head) / 4;
  const int tail = bytes - head - 4 * words;
  if (copier == 0 && lane_index() < head) copy_byte(lane_index());
  if (copier == copiers - 1 && lane_index() < tail) copy_byte(bytes - tail + lane_index());

  auto* const target_words = reinterpret_cast<unsigned*>(target + head);
  const auto* const ring_of_words = reinterpret_cast<const unsigned*>(ring.bytes);
  const int first_word = (source + head) / 4;
  const unsigned shift = 8 * (static_cast<unsigned>(source + head) % 4);
  // A word is in one of the ring's, or in two; those of neighbours' bytes are copied byte by byte.
  const int parts = shift == 0 ? 1 : 2;
  const int first_whole = (source + 3) / 4 - first_word;
  const int end_whole = (source + bytes) / 4 - first_word - parts + 1;
  const int phase = static_cast<int>((address + static_cast<unsigned>(head)) / 4 % warp_threads);
#pragma unroll 4
  for (int w = copier * warp_threads + lane_index() - phase; w < words;
       w += copiers * warp_threads) {
    if (w < 0) continue;
    if (w >= first_whole && w < end_whole) {
      const int place = first_word + w;
      const unsigned low = ring_of_words[in_ring(place, ring_words)];
      const unsigned high = shift == 0 ? 0 : ring_of_words[in_ring(place + 1, ring_words)];
      target_words[w] = __funnelshift_r(low, high, shift);
    } else {
      for (int i = 0; i < 4; ++i) copy_byte(head + 4 * w + i);
    }
  }
}

/// Calls: take(), decide(), kept() and write(), one after the other, for each tile.
template <class Rule, class Shape>
class RegisterSegment {
 public:
  using Item = typename Rule::Item;
  using Companion = typename Rule::Companion;
  /// Shared memory of all warps.
  struct Lists {};
  /// Whether the stage may be used again after take(), or only after write().
  static constexpr bool leaves_its_stage = true;

  __device__ RegisterSegment(Lists&, int warp) : segment_(warp * Shape::segment_items) {}

  template <bool IsFull>
  __device__ __forceinline__ void take(TilePointers<const Item, const Companion> tile,
                                       std::int64_t index, int count) {
#pragma unroll
    for (int b = 0; b < Shape::batches; ++b) {
      batches_[b].template load<IsFull>(tile, begin(b), index, count);
    }
  }
  template <bool IsFull>
  __device__ __forceinline__ void decide(const Rule& rule, std::int64_t index, int count) {
#pragma unroll
    for (int b = 0; b < Shape::batches; ++b) {
      batches_[b].template decide<IsFull>(rule, begin(b), index, count);
    }
  }
  [[nodiscard]] __device__ __forceinline__ int kept() const {
    int kept = 0;
#pragma unroll
    for (const auto& batch : batches_) kept += batch.kept();
    return kept;
  }
  /// To the rings, from item number `rank` on.
  template <class Items, class Companions>
  __device__ __forceinline__ void write(Items& items, Companions& companions, unsigned rank) const {
#pragma unroll
    for (const auto& batch : batches_) {
      batch.for_each_kept(0, [&](int i, const Item& item, const Companion* companion) {
        items[rank + i] = item;
        if constexpr (Rule::writes_companion) companions[rank + i] = *companion;
      });
      rank += batch.kept();
    }
  }
  /// A copier's share of `count` items of a ring.
  template <class T, int Items>
  __device__ static void copy_out(T* to, RingColumn<T, Items>& ring, unsigned begin, int count,
                                  int copier) {
    if constexpr (sizeof(T) < 4) {
      warp_copy_from_ring(to, ring, begin, count, copier, Shape::copiers);
    } else {
      const int phase =
          static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % warp_threads);
#pragma unroll 4
      for (int i = copier * warp_threads + lane_index() - phase; i < count;
           i += Shape::copiers * warp_threads) {
        if (i >= 0) to[i] = ring[begin + i];
      }
    }
  }

 private:
  [[nodiscard]] __device__ int begin(int batch) const {
    return segment_ + batch * Shape::batch_items;
  }

  int segment_;
  Batch<Rule, Shape> batches_[Shape::batches];
};

/// The same for elements that stay in their stage.
template <class Rule, class Shape>
class ListedSegment {
 public:
  using Item = typename Rule::Item;
  using Companion = typename Rule::Companion;
  struct Lists {
    std::uint16_t kept[Shape::tile_items];  ///< numbers in the tile, a list for each warp
  };
  static constexpr bool leaves_its_stage = false;

  __device__ ListedSegment(Lists& lists, int warp)
      : segment_(warp * Shape::segment_items), list_(lists.kept + segment_) {}

  template <bool IsFull>
  __device__ __forceinline__ void take(TilePointers<const Item, const Companion> tile, std::int64_t,
                                       int) {
    tile_ = tile;
  }
  template <bool IsFull>
  __device__ __forceinline__ void decide(const Rule& rule, std::int64_t index, int count) {
    __syncwarp();  // the last tile's list is read
    kept_ =
        warp_list_kept<IsFull>(rule, tile_, segment_, Shape::segment_items, index, count, list_);
  }
  [[nodiscard]] __device__ __forceinline__ int kept() const { return kept_; }
  template <class Items, class Companions>
  __device__ __forceinline__ void write(Items& items, Companions& companions, unsigned rank) const {
    __syncwarp();  // the list is there
    warp_copy_listed_to_ring(items, rank, tile_.items, list_, kept_);
    if constexpr (Rule::writes_companion) {
      warp_copy_listed_to_ring(companions, rank, tile_.companions, list_, kept_);
    }
  }
  template <class T, int Items>
  __device__ static void copy_out(T* to, const RingColumn<T, Items>& ring, unsigned begin,
                                  int count, int copier) {
    warp_copy_from_ring(to, ring, begin, count, copier, Shape::copiers);
  }

 private:
  int segment_;
  std::uint16_t* list_;
  TilePointers<const Item, const Companion> tile_{};
  int kept_ = 0;
};

template <class Rule, class Shape>
using SegmentOf = std::conditional_t<is_in_registers<Rule>, RegisterSegment<Rule, Shape>,
                                     ListedSegment<Rule, Shape>>;

}  // namespace warpath::warp_compaction::detail
