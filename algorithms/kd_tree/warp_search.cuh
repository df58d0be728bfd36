// The nearest tuples by a warp a query, for queries that look at many rows: k of more than a few,
// tuples of more than four coordinates.
//
// All lanes go through the tree together and look at 32 rows at once. A side of a node is entered
// only if the box that bounds it is near enough: `side` of lane k is the square of how far the box
// lies from the query along coordinate k, and the sum of all, added in the order in which
// squared_distance() adds, is no more than the distance of any tuple inside, as each step rounds
// what is no more to what is no more.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "core/with_constant.hpp"
#include "kd_tree/distance.cuh"
#include "kd_tree/in_order.cuh"
#include "kd_tree/query_order.cuh"
#include "kd_tree/visits.cuh"

namespace warpath::kd_tree::detail {

/// What a warp keeps in shared memory.
template <class C>
struct WarpSearchStorage {
  C query[most_dimensions];
  Part parts[most_levels];             ///< that wait
  Distance<C> distances[most_levels];  ///< of their boxes
  Distance<C> sides[most_levels][most_dimensions];
};

/// The k nearest tuples, in order: place i is slot i / 32 of lane i % 32. Only the last k places
/// can be taken: what lies in those before is nearer than any tuple.
template <class C, int Slots>
class WarpList {
 public:
  __device__ explicit WarpList(int k) {
#pragma unroll
    for (int i = 0; i < Slots; ++i) {
      const bool is_left_out = i * warp_threads + lane_index() < Slots * warp_threads - k;
      distances_[i] = is_left_out ? Distance<C>{-1} : infinitely_far<C>();
      tuples_[i] = no_node;
    }
    find_farthest();
  }
  [[nodiscard]] __device__ __forceinline__ Distance<C> farthest() const {
    return farthest_;
  }

  /// Offers a tuple of each lane that has one.
  __device__ __forceinline__ void offer(Distance<C> distance, const std::uint32_t* tuple,
                                        bool has_one) {
    const bool is_near = has_one && distance <= farthest_;
    unsigned near = __ballot_sync(full_warp, is_near);
    if (near == 0) return;
    const std::uint32_t number = is_near ? *tuple : no_node;
    for (; near != 0; near &= near - 1) {
      const int lane = __ffs(static_cast<int>(near)) - 1;
      insert(__shfl_sync(full_warp, distance, lane), __shfl_sync(full_warp, number, lane));
    }
  }
  __device__ __forceinline__ void write(const NearestOutput<C>& output) const {
#pragma unroll
    for (int i = 0; i < Slots; ++i) {
      const int place = i * warp_threads + lane_index() - (Slots * warp_threads - output.k);
      if (place >= 0) output.put(place, distances_[i], tuples_[i]);
    }
  }

 private:
  /// Whether what lies in a slot stays before the tuple.
  [[nodiscard]] __device__ __forceinline__ bool is_before(int slot, Distance<C> distance,
                                                          std::uint32_t tuple) const {
    return distances_[slot] < distance || (distances_[slot] == distance && tuples_[slot] < tuple);
  }
  /// Every place behind the tuple's takes what lies in the place before.
  __device__ __forceinline__ void insert(Distance<C> distance, std::uint32_t tuple) {
    const int last = warp_threads - 1;
#pragma unroll
    for (int i = Slots - 1; i >= 0; --i) {
      const int lane = __popc(__ballot_sync(full_warp, is_before(i, distance, tuple)));
      if (lane == warp_threads) break;
      // From the slot below, unless the tuple's place is in this one.
      Distance<C> carried = distance;
      std::uint32_t carried_tuple = tuple;
      if (i > 0) {
        const int below = i > 0 ? i - 1 : 0;
        const bool is_here = !__shfl_sync(full_warp, !is_before(below, distance, tuple), last);
        if (!is_here) {
          carried = __shfl_sync(full_warp, distances_[below], last);
          carried_tuple = __shfl_sync(full_warp, tuples_[below], last);
        }
      }
      const Distance<C> before = __shfl_up_sync(full_warp, distances_[i], 1);
      const std::uint32_t tuple_before = __shfl_up_sync(full_warp, tuples_[i], 1);
      if (lane_index() == lane) {
        distances_[i] = carried;
        tuples_[i] = carried_tuple;
      } else if (lane_index() > lane) {
        distances_[i] = before;
        tuples_[i] = tuple_before;
      }
    }
    find_farthest();
  }
  __device__ __forceinline__ void find_farthest() {
    farthest_ = __shfl_sync(full_warp, distances_[Slots - 1], warp_threads - 1);
  }

  Distance<C> distances_[Slots];
  std::uint32_t tuples_[Slots];
  Distance<C> farthest_;
};

/// The sum of the first `count` lanes' values, added one after another.
template <class T>
__device__ __forceinline__ T sum_in_order(T value, int count) {
  T sum = 0;
  for (int lane = 0; lane < count; ++lane) sum += __shfl_sync(full_warp, value, lane);
  return sum;
}

/// Offers `list` all rows that may be among the nearest to storage.query.
template <class C, class List>
__device__ __forceinline__ void search_by_warp(const InOrderTree<C>& tree,
                                               WarpSearchStorage<C>& storage, List& list) {
  constexpr std::uint32_t rows_of_warp = 2 * warp_threads;
  const int lane = lane_index();
  const int dimensions = tree.dimensions;
  const int length = row_length<C>(dimensions);
  const auto distance_of = [&](std::uint32_t row) {
    return squared_distance(storage.query, tree.rows + std::int64_t{row} * length, dimensions);
  };
  const bool has_side = lane < dimensions;
  Distance<C> side = 0;
  Part part = whole(tree);
  int waiting = 0;
  for (;;) {
    while (part.count > rows_of_warp) {
      const std::uint32_t half = (part.count - 1) / 2;
      const std::uint32_t root = part.first + half;
      list.offer(distance_of(root), tree.tuples + root, lane == 0);
      const C coordinate = tree.rows[std::int64_t{root} * length + part.k];
      const int next = part.k + 1 == dimensions ? 0 : part.k + 1;
      const Part less{part.first, half, next};
      const Part greater{root + 1, part.count - half - 1, next};
      const bool is_greater = coordinate < storage.query[part.k];
      // The farther side of the node.
      const Distance<C> to_node = squared_difference(storage.query[part.k], coordinate);
      if (to_node <= list.farthest()) {
        const Distance<C> side_there = lane == part.k ? max(side, to_node) : side;
        const Distance<C> distance = sum_in_order(side_there, dimensions);
        if (distance <= list.farthest()) {
          if (has_side) storage.sides[waiting][lane] = side_there;
          if (lane == 0) {
            storage.parts[waiting] = is_greater ? less : greater;
            storage.distances[waiting] = distance;
          }
          ++waiting;
        }
      }
      part = is_greater ? greater : less;
    }
    for (std::uint32_t i = 0; i < part.count; i += warp_threads) {
      const bool has_row = i + lane < part.count;
      const std::uint32_t row = part.first + (has_row ? i + lane : 0);
      list.offer(distance_of(row), tree.tuples + row, has_row);
    }
    // The next side that waits and may still hold something.
    __syncwarp();
    do {
      if (waiting == 0) return;
      --waiting;
    } while (storage.distances[waiting] > list.farthest());
    part = storage.parts[waiting];
    if (has_side) side = storage.sides[waiting][lane];
    __syncwarp();
  }
}

inline constexpr int searching_warps = 4;

template <class C, int Slots>
__global__ void __launch_bounds__(searching_warps* warp_threads)
    nearest_by_warp_kernel(InOrderTree<C> tree, const C* queries, QueryNumbers numbers,
                           NearestOutput<C> output) {
  __shared__ WarpSearchStorage<C> storages[searching_warps];
  WarpSearchStorage<C>& storage = storages[warp_index()];
  const std::int64_t place = std::int64_t{blockIdx.x} * searching_warps + warp_index();
  if (place >= numbers.count) return;
  const std::int64_t number =
      numbers.numbers == nullptr ? place : std::int64_t{numbers.numbers[place]};
  const int lane = lane_index();
  bool is_nan = false;
  if (lane < tree.dimensions) {
    const C coordinate = queries[place * tree.dimensions + lane];
    storage.query[lane] = coordinate;
    is_nan = coordinate != coordinate;
  }
  const bool has_nan = __any_sync(full_warp, is_nan) != 0;
  WarpList<C, Slots> list(output.k);
  if (!has_nan && tree.node_count > 0) search_by_warp(tree, storage, list);
  list.write(output.of_query(number));
}

template <class C>
void ask_by_warp(const InOrderTree<C>& tree, const C* queries, const QueryNumbers& numbers,
                 const NearestOutput<C>& output, cudaStream_t stream) {
  const int slots = output.k <= 32 ? 1 : output.k <= 64 ? 2 : 4;
  with_constant<1, 2, 4>("slots", slots, [&]<int known>() {
    launch({static_cast<unsigned>(divide_up(numbers.count, searching_warps)),
            searching_warps * warp_threads, 0, stream},
           nearest_by_warp_kernel<C, known>, tree, queries, numbers, output);
  });
}

}  // namespace warpath::kd_tree::detail
