// Stable partitions of plain elements on Hopper: the steps of partition.cuh in different warps of
// one large block a multiprocessor, each of which runs at its own pace:
//
//   loader      draws a tile, and brings it to a stage by bulk copies      -> stage.loaded
//   sorters     take it into registers, and ask for the class of each      -> stage.counted
//               write it back to the stage, class after class              -> stage.written
//   publisher   publishes how many there are of each class but the last    -> stage.copied
//   placers     one for each class but the last: looks back for its place  -> stage.placed
//   copiers     copy class after class from the stage to its output        -> stage.copied
//
//   in             stages, a tile each                                     out
//    |             +-----------+-----------+-----------+                    ^
//    +-- loader -->| 1 0 1 1 0 | 0 0 1 1 1 | . . . . . |-- copiers ---------+
//                  +-----------+-----------+-----------+
//                    |       ^ sorters: in registers, and back
//                    +-------+
//
// A tile keeps all of its elements, and so it stays in one stage from its draw until it is copied.
// Stages are taken in the order of the tiles, and used again in that order.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/block_look_back.cuh"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/look_back.cuh"
#include "core/warp.cuh"
#include "partitioners/partition.cuh"
#include "partitioners/tile_part.cuh"
#include "partitioners/tuning.hpp"

namespace warpath::partitioners::detail {

/// One full warp brings `bytes` of global memory to shared memory, where `to` has the same place in
/// a 16-byte line as `from`, better in a cache line, by a bulk copy of whole lines. A line that is
/// not wholly the array's, before its first byte or after its last, is copied by lanes, and only
/// what is wanted of it. Returns how many bytes will arrive at `loaded`; what lanes copy is there
/// once the warp has arrived.
__device__ __forceinline__ unsigned warp_load_lines(unsigned char* to, const unsigned char* from,
                                                    int bytes, bool is_first,
                                                    std::int64_t bytes_left,
                                                    hopper::TransactionBarrier& loaded) {
  constexpr int line = hopper::bulk_bytes;
  int begin = -static_cast<int>(reinterpret_cast<std::uintptr_t>(from) % line);
  int end = begin + (bytes - begin + line - 1) / line * line;
  if (is_first && begin < 0) begin += line;
  if (end > bytes_left) end = max(end - line, begin);
  const int lane = lane_index();
  if (lane < min(begin, bytes)) to[lane] = from[lane];
  if (end + lane < bytes) to[end + lane] = from[end + lane];
  if (lane == 0 && end > begin) {
    hopper::bulk_load(to + begin, from + begin, static_cast<unsigned>(end - begin), loaded);
  }
  return static_cast<unsigned>(end - begin);
}

template <class T, int Count, class Shape>
struct PipelineStorage {
  struct Stage {
    // A tile, wherever in a line it begins; the copiers read a word beyond its end.
    alignas(hopper::cache_line_bytes) unsigned char bytes[Shape::tile_items * sizeof(T) +
                                                          hopper::cache_line_bytes +
                                                          hopper::bulk_bytes];
    TileTicket ticket;
    std::int64_t places[Count - 1];  ///< of the tile's first element of each class but the last
    int warp_counts[Count - 1][Shape::warps];
    hopper::TransactionBarrier loaded;
    hopper::TransactionBarrier counted;
    hopper::TransactionBarrier written;
    hopper::TransactionBarrier placed;
    hopper::TransactionBarrier copied;
  };
  Stage stages[Shape::stages];
};

/// One block's pipeline. Each role is a loop over the block's tiles that ends with a ticket of -1.
template <class T, class Classes, class Shape>
class Pipeline {
 public:
  static constexpr int last_class = Classes::count - 1;
  using Storage = PipelineStorage<T, Classes::count, Shape>;
  using Stage = typename Storage::Stage;
  using Outputs = ClassOutputs<T, Classes::count>;

  __device__ Pipeline(const T* in, std::int64_t in_count, const Outputs& out,
                      const LookBack& look_back)
      : shared_(dynamic_shared<Storage>()),
        in_(in),
        in_count_(in_count),
        out_(out),
        look_back_(look_back) {}

  /// All threads of the block, before any role.
  __device__ void init() {
    if (threadIdx.x < Shape::stages) {
      Stage& stage = shared_.stages[threadIdx.x];
      hopper::init(stage.loaded, 1);
      hopper::init(stage.counted, Shape::warps);
      hopper::init(stage.written, Shape::warps);
      hopper::init(stage.placed, last_class);
      hopper::init(stage.copied, Shape::copiers + 1);  // and the publisher
    }
    __syncthreads();
  }

  /// All threads of the block, after init(): each warp has one role.
  __device__ void run(const Classes& classes) {
    const int role = warp_index() - Shape::warps - Shape::copiers;
    if (warp_index() < Shape::warps) {
      sort(classes, warp_index());
    } else if (role < 0) {
      copy(warp_index() - Shape::warps);
    } else if (role == 0) {
      load();
    } else if (role == 1) {
      publish();
    } else if (role - 2 < last_class) {
      place(role - 2);
    }
  }

 private:
  /// Where a role is in the cycle of stages, and the parity of the phase that it waits for there.
  struct Position {
    int index = 0;
    unsigned parity = 0;
    __device__ void advance() {
      if (++index == Shape::stages) {
        index = 0;
        parity ^= 1;
      }
    }
  };

  __device__ void load() {
    Position position;
    for (int tile = 0;; ++tile, position.advance()) {
      Stage& stage = shared_.stages[position.index];
      if (tile >= Shape::stages) hopper::wait(stage.copied, position.parity ^ 1);
      const bool is_drawn = tile == 0 || !look_back_.draws_once();
      const TileTicket ticket = is_drawn ? look_back_.draw() : TileTicket{};
      if (lane_index() == 0) stage.ticket = ticket;
      if (ticket.tile < 0) {
        arrive(stage.loaded);
        return;
      }
      const T* from = in_ + begin(ticket);
      const unsigned bytes = warp_load_lines(
          reinterpret_cast<unsigned char*>(elements(stage, ticket)),
          reinterpret_cast<const unsigned char*>(from), count(ticket) * static_cast<int>(sizeof(T)),
          ticket.tile == 0, (in_count_ - begin(ticket)) * static_cast<std::int64_t>(sizeof(T)),
          stage.loaded);
      __syncwarp();  // the bytes that lanes have copied are there before the arrival says so
      if (lane_index() == 0) hopper::arrive_expect(stage.loaded, bytes);
      look_back_.clear(ticket);
    }
  }

  __device__ void sort(const Classes& classes, int warp) {
    for (Position position;; position.advance()) {
      Stage& stage = shared_.stages[position.index];
      hopper::wait(stage.loaded, position.parity);
      const TileTicket ticket = stage.ticket;
      if (ticket.tile < 0) {
        arrive(stage.counted);
        return;
      }
      T* const tile = elements(stage, ticket);
      if (count(ticket) == Shape::tile_items) {
        sort_part<true>(classes, warp, tile, Shape::tile_items, stage, position.parity);
      } else {
        sort_part<false>(classes, warp, tile, count(ticket), stage, position.parity);
      }
    }
  }
  template <bool IsFull>
  __device__ __forceinline__ void sort_part(const Classes& classes, int warp, T* tile, int count,
                                            Stage& stage, unsigned parity) {
    const int begin = warp * Shape::warp_items;
    TilePart<T, Classes, Shape> part;
    part.template load<IsFull>(tile + begin, count - begin);
    part.template classify<IsFull>(classes, count - begin);
#pragma unroll
    for (int c = 0; c < last_class; ++c) {
      const int members = part.members(c);
      if (lane_index() == 0) stage.warp_counts[c][warp] = members;
    }
    arrive(stage.counted);
    hopper::wait(stage.counted, parity);  // and so the tile is in registers

    const TileRanks<last_class> ranks(stage.warp_counts, warp);
    part.template store<IsFull>(tile, ranks, begin, count - begin);
    hopper::fence_for_bulk();  // the next tile's load comes after these writes
    arrive(stage.written);
  }

  __device__ void publish() {
    for (Position position;; position.advance()) {
      Stage& stage = shared_.stages[position.index];
      hopper::wait(stage.counted, position.parity);
      const TileTicket ticket = stage.ticket;
      if (ticket.tile < 0) return;
#pragma unroll
      for (int c = 0; c < last_class; ++c) {
        const unsigned sum = members(stage, c);
        if (lane_index() == 0) look_back_.publish(ticket, sum, c);
      }
      // A tile can be placed and copied before its own sum is published: the stage is not free yet.
      arrive(stage.copied);
    }
  }

  __device__ void place(int its_class) {
    for (Position position;; position.advance()) {
      Stage& stage = shared_.stages[position.index];
      hopper::wait(stage.counted, position.parity);
      const TileTicket ticket = stage.ticket;
      if (ticket.tile >= 0) {
        const unsigned sum = members(stage, its_class);
        const std::int64_t place =
            warp_place(look_back_, ticket, sum, out_.counts[its_class], its_class);
        if (lane_index() == 0) stage.places[its_class] = place;
      }
      arrive(stage.placed);
      if (ticket.tile < 0) return;
    }
  }

  __device__ void copy(int copier) {
    const std::int64_t last_begin = out_.last_begin == nullptr ? 0 : *out_.last_begin;
    for (Position position;; position.advance()) {
      Stage& stage = shared_.stages[position.index];
      hopper::wait(stage.placed, position.parity);
      const TileTicket ticket = stage.ticket;
      if (ticket.tile < 0) return;
      hopper::wait(stage.written, position.parity);
      const T* from = elements(stage, ticket);
      std::int64_t last_place = last_begin + begin(ticket);
      int left = count(ticket);
#pragma unroll
      for (int c = 0; c < last_class; ++c) {
        const int sum = static_cast<int>(members(stage, c));
        copy_elements<Shape::copiers>(out_.of_class[c] + stage.places[c], from, sum, copier);
        last_place -= stage.places[c];
        from += sum;
        left -= sum;
      }
      copy_elements<Shape::copiers>(out_.of_class[last_class] + last_place, from, left, copier);
      arrive(stage.copied);
    }
  }

  __device__ static std::int64_t begin(TileTicket ticket) {
    return ticket.tile * Shape::tile_items;
  }
  __device__ int count(TileTicket ticket) const {
    return static_cast<int>(
        min(static_cast<std::int64_t>(Shape::tile_items), in_count_ - begin(ticket)));
  }
  /// Where a tile's elements are in its stage: at the same place in a line as in the input.
  __device__ T* elements(Stage& stage, TileTicket ticket) const {
    const auto address = reinterpret_cast<std::uintptr_t>(in_ + begin(ticket));
    return reinterpret_cast<T*>(stage.bytes + address % hopper::cache_line_bytes);
  }
  /// How many of a tile's elements are of a class. One full warp.
  __device__ static unsigned members(const Stage& stage, int its_class) {
    return warp_sum(static_cast<unsigned>(
        lane_index() < Shape::warps ? stage.warp_counts[its_class][lane_index()] : 0));
  }
  __device__ static void arrive(hopper::TransactionBarrier& barrier) {
    __syncwarp();
    if (lane_index() == 0) hopper::arrive(barrier);
  }

  Storage& shared_;
  const T* in_;
  std::int64_t in_count_;
  const Outputs& out_;
  const LookBack& look_back_;
};

/// Launched like partition_kernel, with sizeof(PipelineStorage<T, Classes::count, Shape>)
/// bytes of shared memory.
template <class T, class Classes, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    pipeline_kernel(Classes classes, const T* in, std::int64_t in_count,
                    ClassOutputs<T, Classes::count> out, LookBack look_back) {
  Pipeline<T, Classes, Shape> pipeline(in, in_count, out, look_back);
  pipeline.init();
  pipeline.run(classes);
}

}  // namespace warpath::partitioners::detail
