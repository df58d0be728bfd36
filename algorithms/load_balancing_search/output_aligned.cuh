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
//
// What is stored for an object is its number, or the value at that number: a Source says so. Values
// of neighbouring work items are neighbours too, and mostly come from the L1 cache.
#pragma once

#include <cuda_pipeline.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/launch.cuh"
#include "core/vector.cuh"
#include "core/warp.cuh"
#include "load_balancing_search/block_load_balancing_search.cuh"
#include "load_balancing_search/partition_tiles.cuh"
#include "load_balancing_search/tuning.hpp"

namespace warpath::load_balancing_search::detail {

/// Batches of objects, on their way into shared memory or there.
template <class Shape, class Offset>
struct ObjectRing {
  /// As in the scan.
  alignas(16) Offset begins[Shape::stages][Shape::batch_objects];
  /// What a warp needs beside its own objects: where the next one begins, and the one after the
  /// batch.
  struct Edge {
    Offset next;
    Offset batch_end;
  } edges[Shape::stages][Shape::warps];
};

template <class Shape, class Offset>
struct OutputAlignedStorage {
  /// The number of the object that begins at each place of the tile, or one of an earlier tile, or
  /// 0.
  alignas(16) std::uint16_t heads[Shape::tile_items];
  ObjectRing<Shape, Offset> ring;
  std::int64_t objects_before[2];  ///< of the share, and of the next one
  unsigned warp_last[Shape::warps];
};

/// A block's part of the path. Places count from where a line of the output begins, up to a line
/// before the share's first work item; numbers of objects count from 1, which is where a vector of
/// the scan begins, up to three objects before the share's first one.
template <class Offset>
struct Share {
  std::int64_t objects_end;   ///< the object after the last one
  std::int64_t origin;        ///< the work item at place 0; may be below 0
  std::int64_t first_object;  ///< the object of number 1; may be below 0
  int begin;                  ///< place of the first work item
  int end;                    ///< place after the last one
  unsigned before;            ///< number of the object that the first work item may belong to

  __device__ __forceinline__ Share(const TileRange& range, std::int64_t object_1, int first_place)
      : objects_end(range.b1),
        origin(range.a0 - first_place),
        first_object(object_1),
        begin(first_place),
        end(first_place + range.items()),
        before(static_cast<unsigned>(range.b0 - object_1)) {}
};

/// Where the vector of the scan begins that has this object; may be below 0.
template <class Offset>
__device__ __forceinline__ std::int64_t vector_begin(const Offset* scan, std::int64_t object) {
  const auto address = reinterpret_cast<std::uintptr_t>(scan + object);
  return object - static_cast<int>(address / sizeof(Offset) % 4);
}

/// Where an object begins, also if there is none of that number: before the first one they have no
/// work items, after the last one they begin after all work items.
template <class Offset>
__device__ __forceinline__ Offset begin_of(const Work<Offset>& work, std::int64_t object) {
  if (object >= work.objects) return static_cast<Offset>(work.items);
  return work.scan[max(object, std::int64_t{0})];
}

/// Calls put(place, number) for each of a thread's four neighbouring objects that has work items
/// and begins in [0, count) places from work item `from` on. `number`: of the first one; next:
/// where the object after them begins.
template <class Offset, class Put>
__device__ __forceinline__ void place_objects(const Offset (&begins)[4], Offset next,
                                              unsigned number, std::int64_t from, int count,
                                              Put put) {
  using Place = std::make_unsigned_t<Offset>;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    // An object without work items has no head.
    const bool has_items = begins[k] < (k < 3 ? begins[k + 1] : next);
    // Wraps around where the object begins before `from`.
    const Place place = static_cast<Place>(begins[k]) - static_cast<Place>(from);
    if (has_items && place < static_cast<Place>(count)) {
      put(static_cast<unsigned>(place), number + k);
    }
  }
}

/// Finds the work items and objects of the block's share. The whole block; has one barrier.
template <class Offset>
__device__ __forceinline__ TileRange block_share(const Work<Offset>& work, int share_steps,
                                                 std::int64_t (&objects_before)[2]) {
  const std::int64_t begin = blockIdx.x * static_cast<std::int64_t>(share_steps);
  const std::int64_t end = min(begin + share_steps, work.steps());
  if (warp_index() < 2) {
    const std::int64_t before = work.warp_objects_before(warp_index() == 0 ? begin : end,
                                                         gridDim.x <= most_guessing_shares);
    if (lane_index() == 0) objects_before[warp_index()] = before;
  }
  __syncthreads();  // the share is known
  TileRange range;
  range.b0 = objects_before[0];
  range.b1 = objects_before[1];
  range.a0 = begin - range.b0;
  range.a1 = end - range.b1;
  return range;
}

/// A block's way along the objects of its share. Threads take four neighbouring ones of each batch.
template <class Shape, class Offset>
class ObjectBatches {
 public:
  __device__ __forceinline__ ObjectBatches(const Work<Offset>& work, const Share<Offset>& share,
                                           ObjectRing<Shape, Offset>& ring)
      : work_(work), share_(share), ring_(ring) {
#pragma unroll
    for (int batch = 0; batch < Shape::stages - 1; ++batch) start(batch);
    wait();
  }

  /// Calls put(place - tile, number) for each object whose head lies in places [tile, tile_end) of
  /// the share.
  template <class Put>
  __device__ __forceinline__ void place_heads(int tile, int tile_end, Put put) {
    while (true) {
      place_batch(share_.origin + tile, tile_end - tile, put);
      if (place_of(edge().batch_end) >= static_cast<Place>(tile_end)) return;
      start(batch_ + Shape::stages - 1);
      ++batch_;
      wait();
    }
  }

 private:
  using Place = std::make_unsigned_t<Offset>;

  [[nodiscard]] __device__ __forceinline__ typename ObjectRing<Shape, Offset>::Edge& edge() const {
    return ring_.edges[batch_ % Shape::stages][warp_index()];
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
      Offset* const begins = &ring_.begins[batch % Shape::stages][threadIdx.x * 4];
      auto& edge = ring_.edges[batch % Shape::stages][warp_index()];
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
        for (int k = 0; k < 4; ++k) begins[k] = begin_of(work_, mine + k);
        if (is_last_lane) edge = {begin_of(work_, mine + 4), begin_of(work_, batch_end)};
      }
    }
    __pipeline_commit();
  }
  static constexpr int vector_objects = 16 / sizeof(Offset);

  /// Until the oldest batch is there, for the whole warp.
  __device__ __forceinline__ void wait() {
    __pipeline_wait_prior(Shape::stages - 2);
    __syncwarp();
  }

  template <class Put>
  __device__ __forceinline__ void place_batch(std::int64_t from, int count, Put put) {
    Offset begins[4];
    load_vector(&ring_.begins[batch_ % Shape::stages][threadIdx.x * 4], begins);
    const Offset neighbour = __shfl_down_sync(full_warp, begins[0], 1);
    const Offset next = lane_index() == warp_threads - 1 ? edge().next : neighbour;
    const unsigned number =
        static_cast<unsigned>(batch_) * Shape::batch_objects + threadIdx.x * 4 + 1;
    place_objects(begins, next, number, from, count, put);
  }

  const Work<Offset>& work_;
  const Share<Offset>& share_;
  ObjectRing<Shape, Offset>& ring_;
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
  /// The last heads up to each work item of the lane in a row, if `carry` is the last head before
  /// the warp's rows.
  __device__ __forceinline__ void numbers(int row, unsigned carry, unsigned (&numbers)[4]) const {
    unsigned last = max(before[row], carry);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      last = max(last, static_cast<unsigned>(heads[row][k]));
      numbers[k] = last;
    }
  }
};

/// No heads, in this warp's part of a tile.
template <class Shape>
__device__ __forceinline__ void warp_clear_heads(std::uint16_t* heads) {
#pragma unroll
  for (int row = 0; row < Shape::rows; ++row) {
    constexpr std::uint16_t none[4] = {};
    store_vector(heads + row * Shape::row_items + lane_index() * 4, none);
  }
}

/// The last head before the warp's rows. `carry`: that before the tile, and then the tile's last.
/// The whole block, after a barrier; warp_last: of each warp's rows.
template <int Warps>
__device__ __forceinline__ unsigned warp_carry_over(const unsigned (&warp_last)[Warps],
                                                    unsigned& carry) {
  const unsigned theirs = lane_index() < Warps ? warp_last[lane_index()] : 0;
  const unsigned warps_before =
      __reduce_max_sync(full_warp, lane_index() < warp_index() ? theirs : 0);
  const unsigned warp_carry = max(carry, warps_before);
  carry = max(carry, __reduce_max_sync(full_warp, theirs));
  return warp_carry;
}

/// How many work items of a row a lane stores at once: up to 16 bytes of them, so that the lanes'
/// stores lie side by side. Stores with gaps between the lanes take twice the time.
template <class Element>
inline constexpr int store_items = sizeof(Element) <= 4 ? 4 : 16 / sizeof(Element);

/// From four neighbouring numbers of 16 bits in each lane to `Count` neighbouring ones of each part
/// of the row.
template <int Count>
__device__ __forceinline__ void exchange_numbers(const unsigned (&mine)[4],
                                                 unsigned (&numbers)[4 / Count][Count]) {
  static_assert(Count == 4 || Count == 2);
  if constexpr (Count == 4) {
#pragma unroll
    for (int k = 0; k < 4; ++k) numbers[0][k] = mine[k];
  } else {
    const unsigned first = mine[0] | mine[1] << 16;
    const unsigned second = mine[2] | mine[3] << 16;
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const int lane = part * warp_threads / 2 + lane_index() / 2;
      const unsigned of_even = __shfl_sync(full_warp, first, lane);
      const unsigned of_odd = __shfl_sync(full_warp, second, lane);
      const unsigned pair = lane_index() % 2 == 0 ? of_even : of_odd;
      numbers[part][0] = pair & 0xFFFF;
      numbers[part][1] = pair >> 16;
    }
  }
}

/// An object's number.
template <class Index>
struct ObjectNumbers {
  using Element = Index;
  Index base;
  /// Numbers count from this object on.
  [[nodiscard]] __device__ ObjectNumbers from(std::int64_t object) const {
    return {static_cast<Index>(object)};
  }
  __device__ __forceinline__ Index operator()(unsigned number) const {
    return base + static_cast<Index>(number);
  }
};

/// An object's value.
template <class Value>
struct ObjectValues {
  using Element = Value;
  const Value* values;
  [[nodiscard]] __device__ ObjectValues from(std::int64_t object) const {
    return {values + object};
  }
  __device__ __forceinline__ Value operator()(unsigned number) const { return values[number]; }
};

/// Stores the elements of a tile's work items in the share, `tile` places from its begin on, once
/// its heads are there. The whole block; has a barrier, after which all heads are read. carry: the
/// last head before the tile, and then the tile's last. out: as in the kernel.
template <class Shape, class Offset, class Source>
__device__ __forceinline__ void block_store_tile(const std::uint16_t* heads,
                                                 unsigned (&warp_last)[Shape::warps],
                                                 const Share<Offset>& share, int tile,
                                                 unsigned& carry, const Source& element_of,
                                                 typename Source::Element* out) {
  using Element = typename Source::Element;
  const int warp_begin = warp_index() * Shape::rows * Shape::row_items;  // its place in each tile
  WarpRows<Shape> rows;
  const unsigned last = rows.load(heads + warp_begin, carry);
  if (lane_index() == 0) warp_last[warp_index()] = last;
  __syncthreads();  // the warps' last heads are there, and all heads are read
  const unsigned warp_carry = warp_carry_over(warp_last, carry);

  const int from = tile + warp_begin;  // places of the warp
  const int to = from + Shape::rows * Shape::row_items;
  const bool is_whole = from >= share.begin && to <= share.end;
  unsigned numbers[4];
  if (is_whole) {
    constexpr int count = store_items<Element>;
    Element elements[Shape::rows][4 / count][count];
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      rows.numbers(row, warp_carry, numbers);
      unsigned stored[4 / count][count];
      exchange_numbers<count>(numbers, stored);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        elements[row][k / count][k % count] = element_of(stored[k / count][k % count]);
      }
    }
    Element* const mine = out + (share.origin + from) + lane_index() * count;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
#pragma unroll
      for (int part = 0; part < 4 / count; ++part) {
        store_vector(mine + row * Shape::row_items + part * count * warp_threads,
                     elements[row][part]);
      }
    }
  } else {
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      rows.numbers(row, warp_carry, numbers);
      const int place = from + row * Shape::row_items + lane_index() * 4;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (place + k >= share.begin && place + k < share.end) {
          out[share.origin + place + k] = element_of(numbers[k]);
        }
      }
    }
  }
}

/// A line of the output, at least 128 bytes, has so many elements.
template <class Shape, class Element>
inline constexpr int line_elements = std::max(Shape::line_items,
                                              128 / static_cast<int>(sizeof(Element)));
/// The place of an element in its line of the output.
template <class Shape, class Element>
__device__ __forceinline__ int place_in_line(const Element* element) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(element) / sizeof(Element) %
                          static_cast<unsigned>(line_elements<Shape, Element>));
}

/// Stores the elements of the block's share of `share_steps` steps. The whole block; the warp's
/// heads are cleared.
template <class Shape, class Offset, class Source>
__device__ __forceinline__ void block_store_share(const Work<Offset>& work, int share_steps,
                                                  const Source& source,
                                                  typename Source::Element* out,
                                                  OutputAlignedStorage<Shape, Offset>& shared) {
  const TileRange range = block_share(work, share_steps, shared.objects_before);
  const Share<Offset> share(range, vector_begin(work.scan, range.b0),
                            place_in_line<Shape>(out + range.a0));
  ObjectBatches<Shape, Offset> batches(work, share, shared.ring);
  const Source element_of = source.from(share.first_object - 1);
  unsigned carry = share.before;  // the last head of all tiles so far
  for (int tile = 0; tile < share.end; tile += Shape::tile_items) {
    batches.place_heads(tile, min(tile + Shape::tile_items, share.end),
                        [&](unsigned place, unsigned number) {
                          shared.heads[place] = static_cast<std::uint16_t>(number);
                        });
    __syncthreads();  // the heads are there
    block_store_tile<Shape>(shared.heads, shared.warp_last, share, tile, carry, element_of, out);
  }
}

/// One block a share of `share_steps` steps, at most Shape::max_share_steps; dynamic shared memory:
/// one OutputAlignedStorage. out: work.items elements.
template <class Shape, class Offset, class Source>
__global__ void __launch_bounds__(Shape::threads, Shape::min_blocks)
    output_aligned_kernel(Work<Offset> work, int share_steps, Source source,
                          typename Source::Element* out) {
  auto& shared = dynamic_shared<OutputAlignedStorage<Shape, Offset>>();
  warp_clear_heads<Shape>(shared.heads + warp_index() * Shape::rows * Shape::row_items);
  block_store_share(work, share_steps, source, out, shared);
}

/// Steps of a share, so that it has Shape::share_items work items on average. Where there is less
/// work than that for each block which the device holds, all get as much.
template <class Shape, class Kernel, class Offset>
int share_steps_of(Kernel kernel, std::size_t shared_bytes, const Work<Offset>& work) {
  const double steps = static_cast<double>(work.steps());
  const double wanted = Shape::share_items * (steps / static_cast<double>(work.items));
  const double of_each = steps / resident_blocks(kernel, Shape::threads, shared_bytes);
  return static_cast<int>(std::clamp<double>(std::ceil(std::min(wanted, of_each)),
                                             Shape::min_share_steps, Shape::max_share_steps));
}

/// `share_steps`: at most Shape::max_share_steps. There is at least one work item.
template <class Shape, class Offset, class Source>
void run_output_aligned(const Work<Offset>& work, int share_steps, Source source,
                        typename Source::Element* out, cudaStream_t stream) {
  launch({tile_blocks(work.steps(), share_steps), Shape::threads,
          sizeof(OutputAlignedStorage<Shape, Offset>), stream},
         output_aligned_kernel<Shape, Offset, Source>, work, share_steps, source, out);
}

/// The same with shares of the best size.
template <class Shape, class Offset, class Source>
void run_output_aligned(const Work<Offset>& work, Source source, typename Source::Element* out,
                        cudaStream_t stream) {
  const int share_steps = share_steps_of<Shape>(output_aligned_kernel<Shape, Offset, Source>,
                                                sizeof(OutputAlignedStorage<Shape, Offset>), work);
  run_output_aligned<Shape>(work, share_steps, source, out, stream);
}

}  // namespace warpath::load_balancing_search::detail
