// Stable partitions of plain elements into two or three classes, in one pass: classes and outputs,
// and the plain kernel, for any device and for small inputs.
//
// A block draws a tile; each warp takes its part of it and asks for the class of each element
// (tile_part.cuh); the tile is sorted by class in shared memory, while one warp for each class but
// the last publishes its count and looks back for its place (core/look_back.cuh); then the block
// copies class after class to its output. What is in the last class before a tile is what is in
// none of the others.
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
#include "partitioners/tile_part.cuh"
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

template <class T, int Count, class Shape>
struct PartitionStorage {
  // The copies read a word beyond the end.
  alignas(16) unsigned char staged[Shape::tile_items * sizeof(T) + sizeof(unsigned)];
  BlockTile tile;
  std::int64_t places[Count - 1];
  int warp_counts[Count - 1][Shape::warps];
};

/// Any grid, with sizeof(PartitionStorage<T, Classes::count, Shape>) bytes of shared memory; a
/// look-back for ceil(count / tile_items) tiles, at least 1, with a sum for each class but the
/// last.
template <class T, class Classes, class Shape>
__global__ void __launch_bounds__(Shape::threads)
    partition_kernel(Classes classes, const T* in, std::int64_t in_count,
                     ClassOutputs<T, Classes::count> out, LookBack look_back) {
  constexpr int last_class = Classes::count - 1;
  auto& shared = dynamic_shared<PartitionStorage<T, Classes::count, Shape>>();
  T* const staged = reinterpret_cast<T*>(shared.staged);
  const std::int64_t last_begin = out.last_begin == nullptr ? 0 : *out.last_begin;
  const int warp = warp_index();
  const int part_begin = warp * Shape::warp_items;

  do {
    const TileTicket ticket = block_draw(look_back, shared.tile);
    if (ticket.tile < 0) break;

    const std::int64_t index = ticket.tile * Shape::tile_items;
    const int count =
        static_cast<int>(min(static_cast<std::int64_t>(Shape::tile_items), in_count - index));
    const bool is_full = count == Shape::tile_items;
    TilePart<T, Classes, Shape> part;
    if (is_full) {
      part.template load<true>(in + index + part_begin, count - part_begin);
      part.template classify<true>(classes, count - part_begin);
    } else {
      part.template load<false>(in + index + part_begin, count - part_begin);
      part.template classify<false>(classes, count - part_begin);
    }
#pragma unroll
    for (int c = 0; c < last_class; ++c) {
      const int members = part.members(c);
      if (lane_index() == 0) shared.warp_counts[c][warp] = members;
    }
    __syncthreads();  // the warps' counts are there

    const TileRanks<last_class> ranks(shared.warp_counts, warp);
    // As early as can be: all later tiles wait for it.
#pragma unroll
    for (int c = 0; c < last_class; ++c) {
      if (warp == c && lane_index() == 0) {
        look_back.publish(ticket, static_cast<unsigned>(ranks.class_count(c)), c);
      }
    }
    if (is_full) {
      part.template store<true>(staged, ranks, part_begin, count - part_begin);
    } else {
      part.template store<false>(staged, ranks, part_begin, count - part_begin);
    }
#pragma unroll
    for (int c = 0; c < last_class; ++c) {
      if (warp != c) continue;
      if (c == 0) look_back.clear(ticket);
      const std::int64_t place = warp_place(
          look_back, ticket, static_cast<unsigned>(ranks.class_count(c)), out.counts[c], c);
      if (lane_index() == 0) shared.places[c] = place;
    }
    __syncthreads();  // the tile is staged, and its places are there

    std::int64_t last_place = last_begin + index;
#pragma unroll
    for (int c = 0; c < last_class; ++c) {
      copy_elements<Shape::warps>(out.of_class[c] + shared.places[c],
                                  staged + ranks.class_begins[c], ranks.class_count(c), warp);
      last_place -= shared.places[c];
    }
    copy_elements<Shape::warps>(out.of_class[last_class] + last_place,
                                staged + ranks.class_begins[last_class],
                                count - ranks.class_begins[last_class], warp);
    // What is read here is written again after the next draw, which ends with a barrier.
  } while (!look_back.draws_once());
}

/// Adds the number of elements of class 0 to *total. Any grid.
template <class T, class Classes, class Shape>
__global__ void __launch_bounds__(Shape::threads)
    count_first_class_kernel(Classes classes, const T* in, std::int64_t in_count,
                             unsigned long long* total) {
  __shared__ BlockSums<std::int64_t> sums;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * Shape::tile_items;
  std::int64_t of_warp = 0;
  for (std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * Shape::tile_items +
                            warp_index() * Shape::warp_items;
       index < in_count; index += stride) {
    TilePart<T, Classes, Shape> part;
    const std::int64_t left = in_count - index;
    if (left >= Shape::warp_items) {
      part.template load<true>(in + index, Shape::warp_items);
      part.template classify<true>(classes, Shape::warp_items);
    } else {
      part.template load<false>(in + index, static_cast<int>(left));
      part.template classify<false>(classes, static_cast<int>(left));
    }
    of_warp += part.members(0);
  }
  const std::int64_t of_block = block_sum(lane_index() == 0 ? of_warp : 0, sums);
  if (threadIdx.x == 0) atomicAdd(total, static_cast<unsigned long long>(of_block));
}

}  // namespace warpath::partitioners::detail
