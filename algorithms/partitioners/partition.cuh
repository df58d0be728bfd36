// Stable partitions of plain elements into two or three classes, in one pass.
//
// A block draws a tile; each warp takes its rows of 32, asks for the class of each element, and
// counts classes by ballots; the tile is sorted by class in shared memory, while one warp for each
// class but the last publishes its count and looks back for its place (core/look_back.cuh); then
// the block copies class after class to its output, coalesced. What is in the last class before a
// tile is what is in none of the others.
//
// Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
// NVIDIA 2016.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "core/block.cuh"
#include "core/block_look_back.cuh"
#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/look_back.cuh"
#include "core/warp.cuh"
#include "partitioners/tuning.hpp"

namespace warpath::partitioners::detail {

/// Class 0: the selected elements; class 1: the rest.
template <class Predicate>
struct TwoClasses {
  static constexpr int count = 2;
  Predicate is_selected;
  template <class T>
  __device__ int operator()(const T& element) const {
    return is_selected(element) ? 0 : 1;
  }
};

/// Class 0: the first predicate holds; class 1: it does not, but the second does; class 2: the
/// rest.
template <class First, class Second>
struct ThreeClasses {
  static constexpr int count = 3;
  First is_first;
  Second is_second;
  template <class T>
  __device__ int operator()(const T& element) const {
    return is_first(element) ? 0 : is_second(element) ? 1 : 2;
  }
};

/// The outputs of `Count` classes, and where the counts of all but the last one go.
template <class T, int Count>
struct ClassOutputs {
  T* of_class[Count];
  std::int64_t* counts[Count - 1];
  /// Where in its output the last class begins, on the device; null: at 0.
  const std::int64_t* last_begin;
};

/// A look-back for each class but the last. That of class 0 gives the tickets.
template <int Count>
struct ClassLookBacks {
  LookBack of_class[Count - 1];
};

/// A tile's ticket for the look-back of a class: those of other classes than 0 are zero before each
/// call, which uses their first half.
__device__ __forceinline__ TileTicket ticket_of(TileTicket ticket, int its_class) {
  return {ticket.tile, its_class == 0 ? ticket.half : 0};
}

/// Copies elements from shared to global memory. The whole block.
template <class T>
__device__ __forceinline__ void block_copy(T* to, const T* from, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    to[i] = from[i];
  }
}

template <class T, int Count>
struct PartitionStorage {
  using Shape = PartitionShape<sizeof(T)>;
  alignas(16) unsigned char staged[Shape::tile_items * sizeof(T)];
  BlockTile tile;
  std::int64_t places[Count - 1];
  int warp_counts[Count - 1][Shape::warps];
};

/// A warp's part of a tile: rows of 32 elements in registers. One full warp.
template <class T, class Classes>
class PartitionRows {
 public:
  using Shape = PartitionShape<sizeof(T)>;
  static constexpr int last_class = Classes::count - 1;

  /// Loads the warp's part of a tile of `count` elements and asks for the class of each.
  __device__ __forceinline__ PartitionRows(const Classes& classes, const T* tile, int count)
      : count_(count) {
    if (count == Shape::tile_items) {
      load<true>(classes, tile);
    } else {
      load<false>(classes, tile);
    }
  }

  __device__ __forceinline__ void store_counts(int (&warp_counts)[last_class][Shape::warps]) const {
#pragma unroll
    for (int c = 0; c < last_class; ++c) {
      int sum = 0;
#pragma unroll
      for (int row = 0; row < Shape::rows; ++row) sum += __popc(members(c, row));
      if (lane_index() == 0) warp_counts[c][warp_index()] = sum;
    }
  }

  /// Writes the elements to shared memory, class after class. before: how many of each class but
  /// the last the tile has before this warp's; tile_counts: and in all.
  __device__ __forceinline__ void stage(T* staged, int (&before)[last_class],
                                        const int (&tile_counts)[last_class]) const {
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      const int i = own(row);
      int class_begin = 0;
      int others = 0;  // before this element, in other classes than the last
      int place = -1;
#pragma unroll
      for (int c = 0; c < last_class; ++c) {
        const unsigned its_members = members(c, row);
        const int rank = before[c] + __popc(its_members & lanes_below());
        if (is_member(c, row)) place = class_begin + rank;
        before[c] += __popc(its_members);
        class_begin += tile_counts[c];
        others += rank;
      }
      const int rest = class_begin + i - others;
      if (i < count_) staged[place < 0 ? rest : place] = elements_[row];
    }
  }

 private:
  template <bool IsFull>
  __device__ __forceinline__ void load(const Classes& classes, const T* tile) {
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      if (exists<IsFull>(own(row))) elements_[row] = tile[own(row)];
    }
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      const int its_class = exists<IsFull>(own(row)) ? classes(elements_[row]) : last_class;
#pragma unroll
      for (int c = 0; c < last_class; ++c) members_[c] |= (its_class == c ? 1u : 0u) << row;
    }
  }
  template <bool IsFull>
  [[nodiscard]] __device__ __forceinline__ bool exists(int i) const {
    return IsFull || i < count_;
  }
  /// The place in the tile of this lane's element of a row.
  [[nodiscard]] __device__ __forceinline__ static int own(int row) {
    return warp_index() * Shape::warp_items + row * warp_threads + lane_index();
  }
  [[nodiscard]] __device__ __forceinline__ bool is_member(int c, int row) const {
    return (members_[c] >> row & 1) != 0;
  }
  /// The lanes whose element of a row is in a class.
  [[nodiscard]] __device__ __forceinline__ unsigned members(int c, int row) const {
    return __ballot_sync(full_warp, is_member(c, row));
  }

  int count_;
  T elements_[Shape::rows];
  unsigned members_[last_class] = {};  // a bit for each of this lane's elements
};

/// Any grid, with sizeof(PartitionStorage<T, Classes::count>) bytes of shared memory; look-backs
/// for ceil(count / tile_items) tiles, at least 1. All but the first are zero before.
template <class T, class Classes>
__global__ void __launch_bounds__(PartitionShape<sizeof(T)>::threads)
    partition_kernel(Classes classes, const T* in, std::int64_t in_count,
                     ClassOutputs<T, Classes::count> out,
                     ClassLookBacks<Classes::count> look_backs) {
  using Shape = PartitionShape<sizeof(T)>;
  constexpr int last_class = Classes::count - 1;
  auto& shared = dynamic_shared<PartitionStorage<T, Classes::count>>();
  T* const staged = reinterpret_cast<T*>(shared.staged);
  const std::int64_t last_begin = out.last_begin == nullptr ? 0 : *out.last_begin;

  for (;;) {
    const TileTicket ticket = block_draw(look_backs.of_class[0], shared.tile);
    if (ticket.tile < 0) break;

    const std::int64_t index = ticket.tile * Shape::tile_items;
    const int count =
        static_cast<int>(min(static_cast<std::int64_t>(Shape::tile_items), in_count - index));
    const PartitionRows<T, Classes> rows(classes, in + index, count);
    rows.store_counts(shared.warp_counts);
    __syncthreads();  // the warps' counts are there

    int tile_counts[last_class] = {};
    int before[last_class] = {};
#pragma unroll
    for (int c = 0; c < last_class; ++c) {
#pragma unroll
      for (int warp = 0; warp < Shape::warps; ++warp) {
        if (warp < warp_index()) before[c] += shared.warp_counts[c][warp];
        tile_counts[c] += shared.warp_counts[c][warp];
      }
      // As early as can be: all later tiles wait for it.
      if (warp_index() == c && lane_index() == 0) {
        look_backs.of_class[c].publish(ticket_of(ticket, c), static_cast<unsigned>(tile_counts[c]));
      }
    }
    rows.stage(staged, before, tile_counts);
#pragma unroll
    for (int c = 0; c < last_class; ++c) {
      if (warp_index() != c) continue;
      if (c == 0) look_backs.of_class[c].clear(ticket);
      const std::int64_t place = warp_place(look_backs.of_class[c], ticket_of(ticket, c),
                                            static_cast<unsigned>(tile_counts[c]), out.counts[c]);
      if (lane_index() == 0) shared.places[c] = place;
    }
    __syncthreads();  // the tile is staged, and its places are there

    int begin = 0;
    std::int64_t last_place = last_begin + index;
#pragma unroll
    for (int c = 0; c < last_class; ++c) {
      block_copy(out.of_class[c] + shared.places[c], staged + begin, tile_counts[c]);
      begin += tile_counts[c];
      last_place -= shared.places[c];
    }
    block_copy(out.of_class[last_class] + last_place, staged + begin, count - begin);
    // What is read here is written again after the next draw, which ends with a barrier.
  }
}

/// Adds the number of elements of class 0 to *total. Any grid of blocks of loop_threads threads.
template <class T, class Classes>
__global__ void __launch_bounds__(loop_threads)
    count_first_class_kernel(Classes classes, const T* in, std::int64_t in_count,
                             unsigned long long* total) {
  __shared__ BlockSums<std::int64_t> sums;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t count = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < in_count; i += stride) {
    count += classes(in[i]) == 0 ? 1 : 0;
  }
  const std::int64_t of_block = block_sum(count, sums);
  if (threadIdx.x == 0) atomicAdd(total, static_cast<unsigned long long>(of_block));
}

/// Partitions `in`, which is not empty. Three classes take the workspace's scratch memory for the
/// second look-back; two leave it as it is.
template <class T, class Classes>
void run_partition(const Classes& classes, DeviceSpan<const T> in,
                   const ClassOutputs<T, Classes::count>& out, Workspace& workspace,
                   cudaStream_t stream) {
  using Shape = PartitionShape<sizeof(T)>;
  using Storage = PartitionStorage<T, Classes::count>;
  const auto kernel = partition_kernel<T, Classes>;
  const std::int64_t tiles = divide_up(in.count, Shape::tile_items);
  ClassLookBacks<Classes::count> look_backs;
  look_backs.of_class[0] = workspace.look_back(stream, tiles);
  if constexpr (Classes::count > 2) {
    const auto [memory] = workspace.take<unsigned char>(stream, LookBack::bytes(tiles));
    WARPATH_CUDA_CHECK(
        cudaMemsetAsync(memory, 0, static_cast<std::size_t>(LookBack::bytes(tiles)), stream));
    look_backs.of_class[1] = LookBack(memory, tiles, tiles);
  }
  const std::int64_t resident = resident_blocks(kernel, Shape::threads, sizeof(Storage));
  launch(
      {static_cast<unsigned>(std::min(tiles, resident)), Shape::threads, sizeof(Storage), stream},
      kernel, classes, in.data, in.count, out, look_backs);
}

/// Counts class 0 of `in`, so that the last class can begin after it in one output.
template <class T, class Classes>
std::int64_t* run_count(const Classes& classes, DeviceSpan<const T> in, Workspace& workspace,
                        cudaStream_t stream) {
  const auto kernel = count_first_class_kernel<T, Classes>;
  const auto [total] = workspace.take<std::int64_t>(stream, 1);
  WARPATH_CUDA_CHECK(cudaMemsetAsync(total, 0, sizeof(std::int64_t), stream));
  const std::int64_t resident = resident_blocks(kernel, loop_threads, 0);
  const std::int64_t blocks = std::min(divide_up(in.count, loop_threads), resident);
  launch({static_cast<unsigned>(blocks), loop_threads, 0, stream}, kernel, classes, in.data,
         in.count, reinterpret_cast<unsigned long long*>(total));
  return total;
}

}  // namespace warpath::partitioners::detail
