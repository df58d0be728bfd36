// `output_aligned`: equal shares of the merge path, as in the source; but within its share a block
// walks no path. It goes along the output in tiles of whole lines, and along the objects in
// batches. Each object puts its number at the place of its first work item, its head; then the
// object of a work item is the largest number up to its place, since the numbers grow:
//
//   object counts  2, 5, 0, 3, 1     places  1 0 2 0 0 0 0 4 0 0 5     (numbers count from 1)
//                                    objects 1 1 2 2 2 2 2 4 4 4 5
//
// A warp finds the largest numbers of 128 work items with one ballot and one shuffle. Stale heads
// of earlier tiles need no clearing: they never exceed `carry`, the last head of those tiles.
//
// Objects are copied into shared memory some batches ahead, so that no thread waits for memory once
// a share has begun. Blocks at work at the same time write neighbouring parts of the output: small
// shares keep them close, which DRAM rewards, large ones search the path less often.
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <type_traits>

#include "core/launch.cuh"
#include "core/vector.cuh"
#include "core/warp.cuh"
#include "load_balancing_search/block_load_balancing_search.cuh"

namespace warpath::load_balancing_search::detail {

template <class Shape, class Offset>
struct OutputAlignedStorage {
  /// The number of the object that begins at each place of the tile, or one of an earlier tile, or
  /// 0.
  alignas(16) std::uint16_t heads[Shape::tile_items];
  /// Batches of objects, as in the scan.
  alignas(16) Offset begins[Shape::stages][Shape::batch_objects];
  /// What a warp needs beside its own objects: where the next one begins, and the one after the
  /// batch.
  struct Edge {
    Offset next;
    Offset batch_end;
  } edges[Shape::stages][Shape::warps];
  std::int64_t objects_before[2];  ///< of the share, and of the next one
  unsigned warp_last[Shape::warps];
};

/// A block's part of the path. Places count from where a line of the output begins, up to a line
/// before the share's first work item; numbers of objects count from 1, which is where a vector of
/// the scan begins, up to three objects before the share's first one.
template <class Offset>
struct Share {
  std::int64_t items_end;     ///< the work item after the last one
  std::int64_t objects_end;   ///< the object after the last one
  std::int64_t origin;        ///< the work item at place 0; may be below 0
  std::int64_t first_object;  ///< the object of number 1; may be below 0
  int begin;                  ///< place of the first work item
  int end;                    ///< place after the last one
  unsigned before;            ///< number of the object that the first work item may belong to

  template <class Index>
  __device__ __forceinline__ Share(const TileRange& range, const Offset* scan, const Index* out,
                                   int line_items)
      : items_end(range.a1), objects_end(range.b1) {
    begin = static_cast<int>(reinterpret_cast<std::uintptr_t>(out + range.a0) / sizeof(Index) %
                             static_cast<unsigned>(line_items));
    end = begin + range.items();
    origin = range.a0 - begin;
    before = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(scan + range.b0) /
                                   sizeof(Offset) % 4);
    first_object = range.b0 - before;
  }
};

/// A block's way along the objects of its share. Threads take four neighbouring ones of each batch.
template <class Shape, class Offset>
class ObjectBatches {
 public:
  __device__ __forceinline__ ObjectBatches(const Work<Offset>& work, const Share<Offset>& share,
                                           OutputAlignedStorage<Shape, Offset>& shared)
      : work_(work), share_(share), shared_(shared) {
#pragma unroll
    for (int batch = 0; batch < Shape::stages - 1; ++batch) start(batch);
    wait();
  }

  /// Puts the heads that lie in places [tile, tile_end) of the share.
  __device__ __forceinline__ void place_heads(int tile, int tile_end) {
    while (true) {
      place_batch(static_cast<Place>(tile), static_cast<Place>(tile_end));
      if (place_of(edge().batch_end) >= static_cast<Place>(tile_end)) return;
      start(batch_ + Shape::stages - 1);
      ++batch_;
      wait();
    }
  }

 private:
  using Place = std::make_unsigned_t<Offset>;

  [[nodiscard]] __device__ __forceinline__ typename OutputAlignedStorage<Shape, Offset>::Edge&
  edge() const {
    return shared_.edges[batch_ % Shape::stages][warp_index()];
  }
  /// Wraps around where an object begins before the origin.
  [[nodiscard]] __device__ __forceinline__ Place place_of(Offset item) const {
    return static_cast<Place>(item) - static_cast<Place>(share_.origin);
  }

  /// Starts this thread's copies of a batch, unless it lies after the share.
  __device__ __forceinline__ void start(int batch) {
    const std::int64_t first =
        share_.first_object + static_cast<std::int64_t>(batch) * Shape::batch_objects;
    if (first <= share_.objects_end) {
      const std::int64_t batch_end = first + Shape::batch_objects;
      const std::int64_t mine = first + static_cast<int>(threadIdx.x) * 4;
      Offset* const begins = &shared_.begins[batch % Shape::stages][threadIdx.x * 4];
      auto& edge = shared_.edges[batch % Shape::stages][warp_index()];
      const bool is_last_lane = lane_index() == warp_threads - 1;
      if (first >= 0 && batch_end < work_.objects) {
#pragma unroll
        for (int k = 0; k < 4; k += vector_objects) {
          __pipeline_memcpy_async(begins + k, work_.scan + mine + k, 16);
        }
        if (is_last_lane) {
          __pipeline_memcpy_async(&edge.next, work_.scan + mine + 4, sizeof(Offset));
          __pipeline_memcpy_async(&edge.batch_end, work_.scan + batch_end, sizeof(Offset));
        }
      } else {
#pragma unroll
        for (int k = 0; k < 4; ++k) begins[k] = begin_of(mine + k);
        if (is_last_lane) edge = {begin_of(mine + 4), begin_of(batch_end)};
      }
    }
    __pipeline_commit();
  }
  static constexpr int vector_objects = 16 / sizeof(Offset);

  /// Where an object begins, also if there is none of that number: before the first one they have
  /// no work items, after the last one they begin after the share.
  [[nodiscard]] __device__ __forceinline__ Offset begin_of(std::int64_t object) const {
    if (object >= work_.objects) return static_cast<Offset>(share_.items_end);
    return work_.scan[max(object, std::int64_t{0})];
  }

  /// Until the oldest batch is there, for the whole warp.
  __device__ __forceinline__ void wait() {
    __pipeline_wait_prior(Shape::stages - 2);
    __syncwarp();
  }

  __device__ __forceinline__ void place_batch(Place tile, Place tile_end) {
    Offset begins[4];
    load_vector(&shared_.begins[batch_ % Shape::stages][threadIdx.x * 4], begins);
    const Offset neighbour = __shfl_down_sync(full_warp, begins[0], 1);
    const Offset next = lane_index() == warp_threads - 1 ? edge().next : neighbour;
    const unsigned number = static_cast<unsigned>(batch_) * Shape::batch_objects + threadIdx.x * 4;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      // An object without work items has no head.
      const bool has_items = begins[k] < (k < 3 ? begins[k + 1] : next);
      const Place place = place_of(begins[k]) - tile;
      if (has_items && place < tile_end - tile) {
        shared_.heads[place] = static_cast<std::uint16_t>(number + k + 1);
      }
    }
  }

  const Work<Offset>& work_;
  const Share<Offset>& share_;
  OutputAlignedStorage<Shape, Offset>& shared_;
  int batch_ = 0;
};

/// The highest of a set of lanes; 0 of none.
__device__ __forceinline__ int highest_lane(unsigned lanes) {
  return 31 - __clz(static_cast<int>(lanes | 1));
}

/// A warp's part of a tile, in registers: in each row four neighbouring work items for each lane.
template <class Shape>
struct WarpRows {
  std::uint16_t heads[Shape::rows][4];
  unsigned before[Shape::rows];  ///< the last head of the warp before the lane's four, or less

  /// Loads the rows; returns the last head of all. Heads up to `carry` are of earlier tiles.
  __device__ __forceinline__ unsigned load(const std::uint16_t* from, unsigned carry) {
    unsigned last = 0;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      load_vector(from + row * Shape::row_items + lane_index() * 4, heads[row]);
      const unsigned largest =
          max(max(heads[row][0], heads[row][1]), max(heads[row][2], heads[row][3]));
      const unsigned below = __ballot_sync(full_warp, largest > carry) & lanes_below();
      const unsigned nearest = __shfl_sync(full_warp, largest, highest_lane(below));
      before[row] = below != 0 ? nearest : last;
      last = max(last, __reduce_max_sync(full_warp, largest));
    }
    return last;
  }
  /// The numbers of the objects in a row, if `carry` is the last head before the warp's rows.
  template <class Index>
  __device__ __forceinline__ void objects(int row, unsigned carry, Index base,
                                          Index (&objects)[4]) const {
    unsigned last = max(before[row], carry);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      last = max(last, static_cast<unsigned>(heads[row][k]));
      objects[k] = base + static_cast<Index>(last);
    }
  }
};

/// One block a share of `share_steps` steps, at most Shape::max_share_steps; dynamic shared memory:
/// one OutputAlignedStorage. out: work.items elements.
template <class Shape, class Offset, class Index>
__global__ void __launch_bounds__(Shape::threads, Shape::min_blocks)
    output_aligned_kernel(Work<Offset> work, int share_steps, Index* out) {
  auto& shared = dynamic_shared<OutputAlignedStorage<Shape, Offset>>();
  const int warp_begin = warp_index() * Shape::rows * Shape::row_items;  // its place in each tile

  const std::int64_t begin = blockIdx.x * static_cast<std::int64_t>(share_steps);
  const std::int64_t end = min(begin + share_steps, work.steps());
  if (warp_index() < 2) {
    const std::int64_t before = work.warp_objects_before(warp_index() == 0 ? begin : end);
    if (lane_index() == 0) shared.objects_before[warp_index()] = before;
  }
#pragma unroll
  for (int row = 0; row < Shape::rows; ++row) {
    constexpr std::uint16_t none[4] = {};
    store_vector(&shared.heads[warp_begin + row * Shape::row_items + lane_index() * 4], none);
  }
  __syncthreads();  // the share is known, and there are no heads
  TileRange range;
  range.b0 = shared.objects_before[0];
  range.b1 = shared.objects_before[1];
  range.a0 = begin - range.b0;
  range.a1 = end - range.b1;

  const Share<Offset> share(range, work.scan, out, Shape::line_items);
  ObjectBatches<Shape, Offset> batches(work, share, shared);
  const Index base = static_cast<Index>(share.first_object - 1);  // of the numbers
  unsigned carry = share.before;  // the last head of all tiles so far
  for (int tile = 0; tile < share.end; tile += Shape::tile_items) {
    batches.place_heads(tile, min(tile + Shape::tile_items, share.end));
    __syncthreads();  // the heads are there

    WarpRows<Shape> rows;
    const unsigned last = rows.load(shared.heads + warp_begin, carry);
    if (lane_index() == 0) shared.warp_last[warp_index()] = last;
    __syncthreads();  // the warps' last heads are there, and all heads are read
    const unsigned theirs = lane_index() < Shape::warps ? shared.warp_last[lane_index()] : 0;
    const unsigned warps_before =
        __reduce_max_sync(full_warp, lane_index() < warp_index() ? theirs : 0);
    const unsigned warp_carry = max(carry, warps_before);
    carry = max(carry, __reduce_max_sync(full_warp, theirs));

    const int from = tile + warp_begin;  // places of the warp
    const int to = from + Shape::rows * Shape::row_items;
    const bool is_whole = from >= share.begin && to <= share.end;
    Index objects[4];
    if (is_whole) {
      Index* const mine = out + (share.origin + from) + lane_index() * 4;
#pragma unroll
      for (int row = 0; row < Shape::rows; ++row) {
        rows.objects(row, warp_carry, base, objects);
        store_vector(mine + row * Shape::row_items, objects);
      }
    } else {
#pragma unroll
      for (int row = 0; row < Shape::rows; ++row) {
        rows.objects(row, warp_carry, base, objects);
        const int place = from + row * Shape::row_items + lane_index() * 4;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          if (place + k >= share.begin && place + k < share.end) {
            out[share.origin + place + k] = objects[k];
          }
        }
      }
    }
  }
}

}  // namespace warpath::load_balancing_search::detail
