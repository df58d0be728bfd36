// A set operation on one tile, by one block.
//
// Source: S. Baxter, "Modern GPU 1.1", NVIDIA Research 2013, https://moderngpu.github.io/ ,
// "Multisets", DeviceComputeSetAvailability and the stages of KernelSetOp.
#pragma once

#include <cstdint>

#include "balanced_path_sets/balanced_path.cuh"
#include "balanced_path_sets/thread_set_operation.cuh"
#include "balanced_path_sets/tuning.hpp"
#include "core/block.cuh"

namespace warpath::balanced_path_sets {

/// A sorted input, and a value for each key unless Value is NoValue.
template <class Key, class Value>
struct Input {
  const Key* keys;
  const Value* values;
  std::int64_t count;
};

template <class Key, class Value>
struct Output {
  Key* keys;
  Value* values;
};

template <class Shape, class Key>
struct BlockSetStorage {
  /// A tile has tile_items + 1 elements at most, and an extension of each input.
  union {
    Key keys[Shape::tile_items + 3];
    int indices[Shape::tile_items];
  };
  BlockSums<int> sums;
};

/// A tile: elements [a0, a0 + a_count) of A, [b0, b0 + b_count) of B, between two points of the
/// balanced path. In shared memory they begin at a_begin and at b_begin.
struct SetTile {
  std::int64_t a0;
  std::int64_t b0;
  int a_count;
  int b_count;
  int a_begin;
  int b_begin;
  bool is_extended;  ///< both inputs go on, and their next keys are loaded, too
  bool is_starred;   ///< the tile before took an element of this one

  SetTile() = default;
  /// From the point of cross-diagonal `begin` to that of `end`. B's keys come right after A's.
  __device__ SetTile(const PathPoint<std::int64_t>& from, std::int64_t begin,
                     const PathPoint<std::int64_t>& to, std::int64_t end, std::int64_t all_a,
                     std::int64_t all_b) {
    a0 = from.a;
    b0 = from.b(begin);
    a_count = static_cast<int>(to.a - a0);
    b_count = static_cast<int>(to.b(end) - b0);
    is_extended = to.a < all_a && to.b(end) < all_b;
    is_starred = from.is_starred;
    a_begin = 0;
    b_begin = a_loaded();
  }

  /// Does without the next keys, where B's come right after A's.
  __device__ void give_up_extension() {
    is_extended = false;
    b_begin = a_loaded();
  }

  /// How many keys are loaded.
  [[nodiscard]] __device__ int a_loaded() const { return a_count + (is_extended ? 1 : 0); }
  [[nodiscard]] __device__ int b_loaded() const { return b_count + (is_extended ? 1 : 0); }

  [[nodiscard]] __device__ bool is_mixed() const { return a_count > 0 && b_count > 0; }

  /// The value that belongs to the key at `index` in shared memory.
  template <class Key, class Value>
  __device__ Value value(const Input<Key, Value>& a, const Input<Key, Value>& b, int index) const {
    return index < b_begin ? a.values[a0 + index - a_begin] : b.values[b0 + index - b_begin];
  }
};

/// Tile number `tile` between the packed points that find_set_partitions_kernel has found.
__device__ __forceinline__ SetTile partitioned_tile(std::int64_t tile, int tile_items,
                                                    std::int64_t all_a, std::int64_t all_b,
                                                    const std::int64_t* partitions) {
  const std::int64_t begin = tile * tile_items;
  const std::int64_t end = min(begin + tile_items, all_a + all_b);
  return {unpacked(partitions[tile]), begin, unpacked(partitions[tile + 1]), end, all_a, all_b};
}

/// What one thread has found.
template <class Key, int Items>
struct Slots {
  Key results[Items];
  int indices[Items];  ///< in the tile's shared keys
  unsigned commit;     ///< which of them are emitted

  [[nodiscard]] __device__ int count() const { return __popc(commit); }
  /// Puts what is emitted from `array` side by side.
  template <class From, class To>
  __device__ __forceinline__ void compact(const From (&array)[Items], To* to) const {
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      if ((commit >> i & 1) != 0) *to++ = static_cast<To>(array[i]);
    }
  }
};

namespace detail {

/// One thread's part of a tile: between two cross-diagonals. It is the thread's part of the whole
/// path, which a star moves by one in the tile.
struct ThreadPart {
  int begin;
  int end;
};
template <class Shape>
[[nodiscard]] __device__ __forceinline__ ThreadPart thread_part(const SetTile& tile, int thread) {
  const int star = tile.is_starred ? 1 : 0;
  const int count = tile.a_count + tile.b_count;
  return {min(max(thread * Shape::items - star, 0), count),
          min((thread + 1) * Shape::items - star, count)};
}

/// Works on one thread's part of a tile, whose keys are in shared memory. `point`: where the part's
/// first cross-diagonal meets the balanced path.
template <class Shape, SetOperation operation, class Key, class Less>
__device__ __forceinline__ Slots<Key, Shape::items> thread_slots(const Key* keys,
                                                                 const SetTile& tile,
                                                                 const ThreadPart& part,
                                                                 const PathPoint<int>& point,
                                                                 Less less) {
  const int elements = part.end - part.begin - (point.is_starred ? 1 : 0);
  const int a = tile.a_begin + point.a;
  const int a_end = tile.a_begin + tile.a_count;
  const int b = tile.b_begin + point.b(part.begin);
  const int b_end = tile.b_begin + tile.b_count;
  Slots<Key, Shape::items> slots;
  slots.commit = tile.is_extended
                     ? thread_set_operation<operation, Shape::items, false>(
                           keys, a, a_end, b, b_end, elements, slots.results, slots.indices, less)
                     : thread_set_operation<operation, Shape::items, true>(
                           keys, a, a_end, b, b_end, elements, slots.results, slots.indices, less);
  return slots;
}

}  // namespace detail

/// Loads the tile's keys and works on each thread's part. The whole block; a barrier must come
/// before the storage is used again.
template <class Shape, SetOperation operation, bool Duplicates, class Key, class Value, class Less>
__device__ __forceinline__ Slots<Key, Shape::items> block_set_operation(
    const Input<Key, Value>& a, const Input<Key, Value>& b, const SetTile& tile, Less less,
    BlockSetStorage<Shape, Key>& shared) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < tile.a_loaded(); i += Shape::threads) {
    shared.keys[tile.a_begin + i] = a.keys[tile.a0 + i];
  }
  for (int i = thread; i < tile.b_loaded(); i += Shape::threads) {
    shared.keys[tile.b_begin + i] = b.keys[tile.b0 + i];
  }
  __syncthreads();  // the keys are there
  const Key* keys = shared.keys;
  const detail::ThreadPart part = detail::thread_part<Shape>(tile, thread);
  const auto point =
      balanced_path<Duplicates, int>(keys + tile.a_begin, tile.a_count, keys + tile.b_begin,
                                     tile.b_count, part.begin, shared_bias_levels, less);
  return detail::thread_slots<Shape, operation>(keys, tile, part, point, less);
}

/// Stores what the block's threads emit, `total` elements from out[place] on; `before` are those of
/// the threads below this one. The whole block; ends with a barrier.
template <class Shape, class Key, class Value>
__device__ __forceinline__ void block_store(const Input<Key, Value>& a, const Input<Key, Value>& b,
                                            const SetTile& tile,
                                            const Slots<Key, Shape::items>& slots, int before,
                                            int total, const Output<Key, Value>& out,
                                            std::int64_t place,
                                            BlockSetStorage<Shape, Key>& shared) {
  const int thread = static_cast<int>(threadIdx.x);
  slots.compact(slots.results, shared.keys + before);
  __syncthreads();  // what is emitted lies side by side
  for (int i = thread; i < total; i += Shape::threads) out.keys[place + i] = shared.keys[i];
  __syncthreads();  // and is stored
  if constexpr (!std::is_same_v<Value, NoValue>) {
    slots.compact(slots.indices, shared.indices + before);
    __syncthreads();  // the indices lie side by side
    for (int i = thread; i < total; i += Shape::threads) {
      out.values[place + i] = tile.value(a, b, shared.indices[i]);
    }
    __syncthreads();  // and the values are stored
  }
}

}  // namespace warpath::balanced_path_sets
