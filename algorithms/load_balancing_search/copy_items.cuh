// Copies of work items: each is an element that goes from somewhere to somewhere. Shares, tiles and
// batches are those of output_aligned.cuh; but here the heads of a tile say where objects begin,
// and beside each head lies what is needed of its object, so that a work item reads nothing but
// shared memory before its element:
//
//   object counts  2, 5, 0, 3, 1     places  0 1 2 3 4 5 6 7 8 9 10
//                                    heads   1 0 3 0 0 0 0 8 0 0 11    (place + 1)
//                                    last    1 1 3 3 3 3 3 8 8 8 11    a maximum scan
//
// Heads are found a tile ahead, and what is needed of their objects is copied by cp.async
// meanwhile. All loads of a thread are on their way before its first store.
#pragma once

#include <cuda_pipeline.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>

#include "core/cuda_check.cuh"
#include "core/launch.cuh"
#include "core/vector.cuh"
#include "core/warp.cuh"
#include "load_balancing_search/block_load_balancing_search.cuh"
#include "load_balancing_search/output_aligned.cuh"
#include "load_balancing_search/partition_tiles.cuh"
#include "load_balancing_search/tuning.hpp"

namespace warpath::load_balancing_search::detail {

/// a + b, which may wrap around where the sum is not used.
template <class Offset>
__device__ __forceinline__ Offset wrapping_sum(Offset a, std::int64_t b) {
  using Unsigned = std::make_unsigned_t<Offset>;
  return static_cast<Offset>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
}

/// Work item number `rank` of interval i goes from gather[i] + rank to scatter[i] + rank.
template <class Offset>
struct IntervalMoves {
  const Offset* gather;
  const Offset* scatter;

  /// Where the interval's work items come from and go to, from a certain one on.
  struct alignas(2 * sizeof(Offset)) Object {
    Offset from;
    Offset to;
  };
  /// Starts the copy of an object that begins in the tile.
  __device__ __forceinline__ void start(Object& to, unsigned, std::int64_t interval) const {
    __pipeline_memcpy_async(&to.from, gather + interval, sizeof(Offset));
    __pipeline_memcpy_async(&to.to, scatter + interval, sizeof(Offset));
  }
  /// An object from work item `item` on, which may also lie before it.
  [[nodiscard]] __device__ Object at(const Work<Offset>& work, unsigned, std::int64_t interval,
                                     std::int64_t item) const {
    const std::int64_t rank = item - static_cast<std::int64_t>(work.scan[interval]);
    return {wrapping_sum(gather[interval], rank), wrapping_sum(scatter[interval], rank)};
  }
  /// The object from `items` later on.
  [[nodiscard]] __device__ static Object later(const Object& object, int items) {
    return {wrapping_sum(object.from, items), wrapping_sum(object.to, items)};
  }
  /// Where sources and targets count from.
  [[nodiscard]] __device__ static std::int64_t first_source(std::int64_t) { return 0; }
  [[nodiscard]] __device__ static std::int64_t first_target(std::int64_t) { return 0; }
  [[nodiscard]] __device__ static std::int64_t source(const Object& object, int rank, int) {
    return wrapping_sum(object.from, rank);
  }
  [[nodiscard]] __device__ static std::int64_t target(const Object& object, int rank, int) {
    return wrapping_sum(object.to, rank);
  }
  /// Neighbouring work items of an object are neighbours where they come from and go to.
  static constexpr bool are_runs = true;
};

/// A work item becomes the value of its object.
template <class Offset>
struct ValueCopies {
  using Object = unsigned;  ///< its number in the share

  __device__ __forceinline__ static void start(Object& to, unsigned number, std::int64_t) {
    to = number;
  }
  [[nodiscard]] __device__ static Object at(const Work<Offset>&, unsigned number, std::int64_t,
                                            std::int64_t) {
    return number;
  }
  [[nodiscard]] __device__ static Object later(Object number, int) { return number; }
  [[nodiscard]] __device__ static std::int64_t first_source(std::int64_t object) { return object; }
  [[nodiscard]] __device__ static std::int64_t first_target(std::int64_t item) { return item; }
  [[nodiscard]] __device__ static unsigned source(Object number, int, int) { return number; }
  [[nodiscard]] __device__ static int target(Object, int, int item) { return item; }
  static constexpr bool are_runs = false;
};

template <class Shape, class Offset, class Object>
struct CopyItemsStorage {
  /// Of two tiles in turn: place in the share, and 1, where an object begins; else 0, or less than
  /// what a later tile's heads are. Once the tile's maximum scan is done: places from 1 on in the
  /// tile where each work item's object begins; 0 of one that begins before.
  alignas(16) std::uint16_t heads[2][Shape::tile_items];
  /// The objects that begin at these places; at 0 the one that began before, from the work item
  /// before the tile on.
  alignas(16) Object objects[2][Shape::tile_items + 1];
  ObjectRing<Shape, Offset> ring;
  std::int64_t objects_before[2];  ///< of the share, and of the next one
  unsigned warp_last[Shape::warps];
};

/// The warp copies unit i from source(i) to target(i), for i in [0, Count). Lanes copy neighbouring
/// units, and each of them has many loads on their way before it stores.
template <int Count, class Source, class Target>
__device__ __forceinline__ void warp_copy_units(Source source, Target target) {
  using Unit = std::remove_pointer_t<decltype(target(0))>;
  constexpr int in_flight = Count % warp_threads == 0 ? std::gcd(Count / warp_threads, 8) : 1;
#pragma unroll 1
  for (int first = lane_index(); first < Count; first += warp_threads * in_flight) {
    Unit units[in_flight];
#pragma unroll
    for (int k = 0; k < in_flight; ++k) units[k] = *aligned(source(first + k * warp_threads));
#pragma unroll
    for (int k = 0; k < in_flight; ++k) *aligned(target(first + k * warp_threads)) = units[k];
  }
}

/// The warp copies `Count` neighbouring units to neighbouring places, by 16 bytes where it can.
template <int Count, class Unit>
__device__ __forceinline__ void warp_copy_run(const Unit* from, Unit* to) {
  if constexpr (sizeof(Unit) < 16 && 16 % sizeof(Unit) == 0) {
    const auto addresses =
        reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to);
    if (addresses % 16 == 0) {
      const auto* const vectors = reinterpret_cast<const uint4*>(from);
      auto* const to_vectors = reinterpret_cast<uint4*>(to);
      warp_copy_units<Count * sizeof(Unit) / 16>([&](int i) { return vectors + i; },
                                                 [&](int i) { return to_vectors + i; });
      return;
    }
  }
  warp_copy_units<Count>([&](int i) { return from + i; }, [&](int i) { return to + i; });
}

/// One block a share of `share_steps` steps, at most Shape::max_share_steps; dynamic shared memory:
/// one CopyItemsStorage. An element has `Units` units.
template <class Shape, class Offset, class Unit, int Units, class Copies>
__global__ void __launch_bounds__(Shape::threads, Shape::min_blocks)
    copy_items_kernel(Work<Offset> work, int share_steps, Copies copies, const Unit* in,
                      Unit* out) {
  using Object = typename Copies::Object;
  auto& shared = dynamic_shared<CopyItemsStorage<Shape, Offset, Object>>();
  constexpr int warp_items = Shape::rows * Shape::row_items;
  const int warp_begin = warp_index() * warp_items;  // its place in each tile
  warp_clear_heads<Shape>(shared.heads[0] + warp_begin);
  warp_clear_heads<Shape>(shared.heads[1] + warp_begin);
  const TileRange range = block_share(work, share_steps, shared.objects_before);

  const Share<Offset> share(range, vector_begin(work.scan, range.b0),
                            static_cast<int>(range.a0 % Shape::line_items));
  ObjectBatches<Shape, Offset> batches(work, share, shared.ring);
  if (threadIdx.x == 0) {
    shared.objects[0][0] =
        range.b0 > 0 ? copies.at(work, share.before, range.b0 - 1, share.origin - 1) : Object{};
  }
  const auto start_tile = [&](int tile, int parity) {
    if (tile < share.end) {
      batches.place_heads(tile, min(tile + Shape::tile_items, share.end),
                          [&](unsigned place, unsigned number) {
                            shared.heads[parity][place] =
                                static_cast<std::uint16_t>(static_cast<unsigned>(tile) + place + 1);
                            copies.start(shared.objects[parity][place + 1], number,
                                         share.first_object - 1 + number);
                          });
    }
    __pipeline_commit();
  };
  in += copies.first_source(share.first_object - 1) * Units;
  start_tile(0, 0);
  unsigned carry = 0;  // the last head of all tiles so far
  int parity = 0;
  for (int tile = 0; tile < share.end; tile += Shape::tile_items, parity ^= 1) {
    std::uint16_t* const heads = shared.heads[parity] + warp_begin;
    Object* const objects = shared.objects[parity];
    __pipeline_wait_prior(0);
    __syncthreads();  // the heads are there with their objects, and the tile before is done

    WarpRows<Shape> rows;
    const unsigned last = rows.load(heads, carry);
    if (lane_index() == 0) shared.warp_last[warp_index()] = last;
    start_tile(tile + Shape::tile_items, parity ^ 1);
    __syncthreads();                                           // the warps' last heads are there
    const unsigned before_tile = static_cast<unsigned>(tile);  // heads up to it count as it
    const unsigned warp_carry = max(warp_carry_over(shared.warp_last, carry), before_tile);
    if (threadIdx.x == 0) {
      const unsigned begin = max(carry, before_tile) - before_tile;
      shared.objects[parity ^ 1][0] =
          copies.later(objects[begin], Shape::tile_items - static_cast<int>(begin));
    }
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      unsigned lasts[4];
      rows.numbers(row, warp_carry, lasts);
      std::uint16_t begins[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) begins[k] = static_cast<std::uint16_t>(lasts[k] - before_tile);
      store_vector(heads + row * Shape::row_items + lane_index() * 4, begins);
    }
    __syncwarp();  // the begins of the warp's work items are there

    // Where a unit of the warp's part of the tile comes from, and goes to.
    const auto source = [&](int unit) {
      const int item = unit / Units;
      const int begin = heads[item];
      const auto from = copies.source(objects[begin], warp_begin + item + 1 - begin, item);
      return in + (from * Units + unit % Units);
    };
    const int from = tile + warp_begin;  // places of the warp
    Unit* const warp_out = out + copies.first_target(share.origin + from) * Units;
    const auto target = [&](int unit) {
      const int item = unit / Units;
      const int begin = heads[item];
      const auto to = copies.target(objects[begin], warp_begin + item + 1 - begin, item);
      return warp_out + (to * Units + unit % Units);
    };
    if (from >= share.begin && from + warp_items <= share.end) {
      if (Copies::are_runs && heads[0] == heads[warp_items - 1]) {
        warp_copy_run<warp_items * Units>(source(0), target(0));
      } else {
        warp_copy_units<warp_items * Units>(source, target);
      }
    } else {
      for (int unit = lane_index(); unit < warp_items * Units; unit += warp_threads) {
        const int place = from + unit / Units;
        if (place >= share.begin && place < share.end) *target(unit) = *source(unit);
      }
    }
  }
}

/// Whether objects have few work items on average.
template <class Offset>
bool are_short(const Work<Offset>& work) {
  return work.items / short_object_items < work.objects;
}

/// `share_steps`: at most Shape::max_share_steps. There is at least one work item.
template <class Shape, int Units, class Unit, class Offset, class Copies>
void run_copy_items(const Work<Offset>& work, int share_steps, Copies copies, const Unit* in,
                    Unit* out, cudaStream_t stream) {
  launch({tile_blocks(work.steps(), share_steps), Shape::threads,
          sizeof(CopyItemsStorage<Shape, Offset, typename Copies::Object>), stream},
         copy_items_kernel<Shape, Offset, Unit, Units, Copies>, work, share_steps, copies, in, out);
}

/// The same with shares of the best size.
template <int Units, class Unit, class Offset, class Copies>
void run_copy_items(const Work<Offset>& work, Copies copies, const Unit* in, Unit* out,
                    cudaStream_t stream) {
  using Shape = CopyTuning<static_cast<int>(sizeof(Unit)) * Units>;
  const auto kernel = copy_items_kernel<Shape, Offset, Unit, Units, Copies>;
  constexpr std::size_t shared_bytes =
      sizeof(CopyItemsStorage<Shape, Offset, typename Copies::Object>);
  if constexpr (Copies::are_runs) {
    // A load of a few bytes takes a line of the L1 cache while it is on its way.
    WARPATH_CUDA_CHECK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
        are_short(work) ? short_interval_shared_percent : default_shared_percent));
  }
  const int share_steps = share_steps_of<Shape>(kernel, shared_bytes, work);
  run_copy_items<Shape, Units>(work, share_steps, copies, in, out, stream);
}

}  // namespace warpath::load_balancing_search::detail
