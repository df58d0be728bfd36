// A block's part of a pass that moves keys to the places of their classes: it orders a tile by
// class in shared memory, so that neighbouring threads write neighbouring places.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/block.cuh"
#include "core/warp.cuh"

namespace warpath::multi_gpu_sort::detail {

/// A block of Threads threads moves Threads x Items keys; there are at most Threads classes.
template <int Threads, int Items>
struct ScatterShape {
  static constexpr int threads = Threads;
  static constexpr int items = Items;
  static constexpr int tile_keys = Threads * Items;
  static_assert(tile_keys <= 1 << 16 && Threads < 1 << 16);
};

template <class K, class Shape>
struct ScatterStorage {
  K keys[Shape::tile_keys];
  std::uint32_t counts[Shape::threads + 1];  ///< of each class; the last one: of what is no key
  std::uint32_t firsts[Shape::threads];      ///< the class's first place in the tile
  K* targets[Shape::threads];                ///< where that one goes; null: nowhere
  BlockSums<std::uint32_t> sums;
};

/// A key's rank among those of its class, in any order; the counter becomes the next one's.
__device__ __forceinline__ std::uint32_t warp_rank(std::uint32_t* counts, unsigned of_class) {
  const unsigned of_first = __shfl_sync(full_warp, of_class, 0);
  if (!__all_sync(full_warp, of_class == of_first)) return atomicAdd(&counts[of_class], 1u);
  std::uint32_t rank = 0;
  if (lane_index() == 0)
    rank = atomicAdd(&counts[of_class], static_cast<std::uint32_t>(warp_threads));
  return __shfl_sync(full_warp, rank, 0) + static_cast<std::uint32_t>(lane_index());
}

/// Moves `count` keys, at most a tile. class_of(key): which of its class; reserve(c, k): where the
/// next k keys of class c go, called once for each class, by one thread, with k > 0. Ends with a
/// barrier.
template <class Shape, class K, class ClassOf, class Reserve>
__device__ __forceinline__ void block_scatter(ScatterStorage<K, Shape>& shared, const K* keys,
                                              int count, const ClassOf& class_of,
                                              const Reserve& reserve) {
  const int thread = static_cast<int>(threadIdx.x);
  shared.counts[thread] = 0;
  K own[Shape::items];
#pragma unroll
  for (int k = 0; k < Shape::items; ++k) {
    own[k] = keys[min(k * Shape::threads + thread, count - 1)];
  }
  __syncthreads();  // the counts are 0

  std::uint32_t places[Shape::items];  // class, and rank in it
#pragma unroll
  for (int k = 0; k < Shape::items; ++k) {
    const bool is_key = k * Shape::threads + thread < count;
    const unsigned of_class = is_key ? class_of(own[k]) : Shape::threads;
    places[k] = of_class << 16 | warp_rank(shared.counts, of_class);
  }
  __syncthreads();  // all are counted

  std::uint32_t all = 0;
  const std::uint32_t in_class = shared.counts[thread];
  shared.firsts[thread] = block_exclusive_sum(in_class, shared.sums, all);
  shared.targets[thread] = in_class > 0 ? reserve(thread, in_class) : nullptr;
  __syncthreads();  // the classes' places are known

#pragma unroll
  for (int k = 0; k < Shape::items; ++k) {
    if (k * Shape::threads + thread >= count) continue;
    shared.keys[shared.firsts[places[k] >> 16] + (places[k] & 0xFFFF)] = own[k];
  }
  __syncthreads();  // the tile is in order

#pragma unroll
  for (int k = 0; k < Shape::items; ++k) {
    const int place = k * Shape::threads + thread;
    if (place >= count) continue;
    const K key = shared.keys[place];
    const unsigned of_class = class_of(key);
    K* const target = shared.targets[of_class];
    if (target != nullptr)
      target[static_cast<std::uint32_t>(place) - shared.firsts[of_class]] = key;
  }
  __syncthreads();  // and has been read
}

}  // namespace warpath::multi_gpu_sort::detail
