// What a warp does with its part of a tile, in the single-pass kernels that move elements through
// registers: take a batch of items, rank those that are kept, and write them without gaps.
//
//   tile      | segment of warp 0 | segment of warp 1 | ...       warps x segment_items
//   segment   | batch 0 | batch 1 | ...                           Batches x batch_items
//   batch     row 0  | lane 0 | lane 1 | ... | lane 31 |          batch_rows x 32 lanes x width
//              ...
//             row 3  | lane 0 | lane 1 | ... | lane 31 |
//   lane      `width` consecutive items of a row: one access, where they are aligned to it
//
// A warp takes the batches of its segment one after the other. Items lie in memory in the order of
// the picture: from left to right, and from row to row.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/vector.cuh"
#include "core/warp.cuh"
#include "warp_compaction/columns.cuh"
#include "warp_compaction/tuning.hpp"

namespace warpath::warp_compaction::detail {

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
        const Access access = *aligned(reinterpret_cast<const Access*>(from));
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

/// A batch of a warp's items in registers: `batch_rows` rows, and in a row a vector for each lane.
/// One full warp; first load, then decide, then the rest.
template <class Rule, class Shape>
class Batch {
 public:
  using Item = typename Rule::Item;
  using Companion = typename Rule::Companion;

  /// Loads the batch that begins at item `begin` of a tile. `index` is that of the tile's first
  /// item among all of them, `count` the number of the tile's items, all of them if `IsFull`.
  template <bool IsFull>
  __device__ __forceinline__ void load(TilePointers<const Item, const Companion> tile, int begin,
                                       std::int64_t index, int count) {
#pragma unroll
    for (int row = 0; row < batch_rows; ++row) {
      const int i = first(begin, row);
      const bool with_previous = Rule::reads_previous && index + i > 0;
      if constexpr (IsFull) {
        items_[row].load(tile.items + i, with_previous);
        companions_[row].load(column_at(tile.companions, i), with_previous);
      } else {
        items_[row].load(tile.items + i, with_previous, count - i);
        companions_[row].load(column_at(tile.companions, i), with_previous, count - i);
      }
    }
  }

  /// Asks the rule for every item, and ranks those that it keeps; arguments as for load. Once a
  /// lane is through, the whole warp has loaded.
  template <bool IsFull>
  __device__ __forceinline__ void decide(const Rule& rule, int begin, std::int64_t index,
                                         int count) {
    unsigned counts = 0;  // of this lane, in each row
    flags_ = 0;
    const auto keep = [&](int row, int k) {
      flags_ |= bit(row, k);
      counts += 1u << (8 * row);
    };
    if constexpr (Rule::fetches) {
      decide_by_records<IsFull>(rule, begin, index, count, keep);
    } else {
#pragma unroll
      for (int row = 0; row < batch_rows; ++row) {
        const int i = first(begin, row);
#pragma unroll
        for (int k = 0; k < Shape::width; ++k) {
          if ((IsFull || i + k < count) &&
              rule.keep(items_[row].at(k), companions_[row].at(k), index + i + k)) {
            keep(row, k);
          }
        }
      }
    }
    const unsigned through = warp_inclusive_sum(counts);
    before_ = through - counts;
    totals_ = __shfl_sync(full_warp, through, warp_threads - 1);
  }

  /// How many items the rule has kept, in every lane.
  [[nodiscard]] __device__ __forceinline__ int kept() const {
    int sum = 0;
#pragma unroll
    for (int row = 0; row < batch_rows; ++row) sum += byte_of(totals_, row);
    return sum;
  }

  /// Calls store(rank, item, companion) for each kept item of this lane; the batch's first kept
  /// item has rank `rank`, and `companion` points to a Companion (null if there is none).
  template <class Store>
  __device__ __forceinline__ void for_each_kept(int rank, const Store& store) const {
#pragma unroll
    for (int row = 0; row < batch_rows; ++row) {
      int next = rank + byte_of(before_, row);
#pragma unroll
      for (int k = 0; k < Shape::width; ++k) {
        if ((flags_ & bit(row, k)) != 0) {
          store(next++, *items_[row].at(k), companions_[row].at(k));
        }
      }
      rank += byte_of(totals_, row);
    }
  }

 private:
  /// decide() for a rule that compares records from elsewhere in memory. Each is fetched once, by
  /// the lane of its item, and handed to the item after it; and all of a lane's fetches are under
  /// way before the first is waited for.
  template <bool IsFull, class Keep>
  __device__ __forceinline__ void decide_by_records(const Rule& rule, int begin, std::int64_t index,
                                                    int count, const Keep& keep) {
    using Record = typename Rule::Record;
    constexpr int last = Shape::width - 1;
    const auto exists = [&](int row, int k) { return IsFull || first(begin, row) + k < count; };

    unsigned ties = 0;
#pragma unroll
    for (int row = 0; row < batch_rows; ++row) {
#pragma unroll
      for (int k = 0; k < Shape::width; ++k) {
        const bool has_previous = index + first(begin, row) + k > 0;
        if (exists(row, k) && has_previous && rule.ties(items_[row].at(k))) ties |= bit(row, k);
      }
    }
    const unsigned wanted = ties | ties_of_next(ties);

    Record records[batch_rows][Shape::width];
#pragma unroll
    for (int row = 0; row < batch_rows; ++row) {
#pragma unroll
      for (int k = 0; k < Shape::width; ++k) {
        records[row][k] =
            (wanted & bit(row, k)) != 0 ? rule.fetch(*companions_[row].at(k)) : Record{};
      }
    }
    // The item before the batch belongs to another warp, or to the batch before.
    const bool is_first = lane_index() == 0;
    const Record outside =
        is_first && (ties & bit(0, 0)) != 0 ? rule.fetch(*companions_[0].at(-1)) : Record{};
#pragma unroll
    for (int row = 0; row < batch_rows; ++row) {
      // Lane 31 hands lane 0 what comes before its row.
      Record handed = records[row][last];
      if (row > 0 && lane_index() == warp_threads - 1) handed = records[row - 1][last];
      Record before = from_lane_below(handed);
      if (row == 0 && is_first) before = outside;
#pragma unroll
      for (int k = 0; k < Shape::width; ++k) {
        if (exists(row, k) &&
            rule.keep(items_[row].at(k), companions_[row].at(k), index + first(begin, row) + k,
                      (ties & bit(row, k)) != 0, before, records[row][k])) {
          keep(row, k);
        }
        before = records[row][k];
      }
    }
  }
  /// Which of this lane's items have a next one, in the batch, that ties with them.
  __device__ __forceinline__ static unsigned ties_of_next(unsigned ties) {
    unsigned last_items = 0;
#pragma unroll
    for (int row = 0; row < batch_rows; ++row) last_items |= bit(row, Shape::width - 1);
    const unsigned of_next_lane = __shfl_down_sync(full_warp, ties, 1);
    const unsigned of_first_lane = __shfl_sync(full_warp, ties, 0);
    const unsigned after_last = lane_index() < warp_threads - 1
                                    ? of_next_lane << (Shape::width - 1)
                                    : of_first_lane >> 1;  // in the next row
    return (ties >> 1 & ~last_items) | (after_last & last_items);
  }
  /// The record of the lane below; lane 0 gets that of lane 31.
  template <class Record>
  __device__ __forceinline__ static Record from_lane_below(const Record& record) {
    Record below;
#pragma unroll
    for (int c = 0; c < Record::count; ++c) {
      below.coordinates[c] = __shfl_sync(full_warp, record.coordinates[c],
                                         (lane_index() + warp_threads - 1) % warp_threads);
    }
    return below;
  }
  /// Of this lane's items, the bit of one.
  __device__ __forceinline__ static constexpr unsigned bit(int row, int k) {
    return 1u << (row * Shape::width + k);
  }
  /// The first item of this lane's vector in a row.
  __device__ __forceinline__ static int first(int begin, int row) {
    return begin + (row * warp_threads + lane_index()) * Shape::width;
  }
  __device__ __forceinline__ static int byte_of(unsigned word, int byte) {
    return static_cast<int>(word >> (8 * byte) & 0xFF);
  }

  Vector<Item, Shape::width> items_[batch_rows];
  Vector<Companion, Shape::width> companions_[batch_rows];
  unsigned flags_;  // which of this lane's items are kept
  // A byte a row (a warp keeps at most 128 of a row): how many the lanes below keep, and the warp.
  unsigned before_;
  unsigned totals_;
};

/// Compacts segment number `warp` of a tile from `from`, in global memory, to the same segment of
/// `to`, in shared memory. Returns how many items the rule kept, in every lane. `index` is that of
/// the tile's first item among all of them, `count` the number of the tile's items.
template <class Shape, bool IsFull, class Rule>
__device__ __forceinline__ int warp_compact_segment(
    const Rule& rule, int warp,
    TilePointers<const typename Rule::Item, const typename Rule::Companion> from,
    TilePointers<typename Rule::Item, typename Rule::Companion> to, std::int64_t index, int count) {
  const int segment = warp * Shape::segment_items;
  int kept = 0;
#pragma unroll 1
  for (int begin = segment; begin < segment + Shape::segment_items; begin += Shape::batch_items) {
    Batch<Rule, Shape> batch;
    batch.template load<IsFull>(from, begin, index, count);
    batch.template decide<IsFull>(rule, begin, index, count);
    batch.for_each_kept(segment + kept, [&](int rank, const auto& item, const auto* companion) {
      to.items[rank] = item;
      if constexpr (Rule::writes_companion) to.companions[rank] = *companion;
    });
    kept += batch.kept();
  }
  return kept;
}

/// Copies `count` elements from shared memory, where they begin a word, to global memory: by words
/// of the target if an element is less than one or not aligned to one, and each round of the warp
/// to one aligned run of 32.
template <class T>
__device__ __forceinline__ void warp_copy_out(T* to, const T* from, int count) {
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  if constexpr (alignof(T) >= 4) {
    const int phase = static_cast<int>(address / sizeof(T) % warp_threads);
#pragma unroll 4
    for (int i = lane_index() - phase; i < count; i += warp_threads) {
      if (i >= 0) to[i] = from[i];
    }
  } else {
    auto* const target = reinterpret_cast<unsigned char*>(to);
    const auto* const source = reinterpret_cast<const unsigned char*>(from);
    const int bytes = count * static_cast<int>(sizeof(T));
    const int head = min(bytes, static_cast<int>((4 - address % 4) % 4));
    const int words = (bytes - head) / 4;
    const int tail = head + 4 * words;
    if (lane_index() < head) target[lane_index()] = source[lane_index()];
    if (const int i = tail + lane_index(); i < bytes) target[i] = source[i];
    const auto* const source_words = reinterpret_cast<const unsigned*>(source);
    auto* const target_words = reinterpret_cast<unsigned*>(target + head);
    const int phase = static_cast<int>((address + static_cast<unsigned>(head)) / 4 % warp_threads);
#pragma unroll 4
    for (int w = lane_index() - phase; w < words; w += warp_threads) {
      if (w < 0) continue;
      const unsigned high = head == 0 ? 0 : source_words[w + 1];
      target_words[w] = __funnelshift_r(source_words[w], high, 8 * static_cast<unsigned>(head));
    }
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

}  // namespace warpath::warp_compaction::detail
