// The tuples that the fast build works on, by columns, and the superkeys that it splits them by.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/key_order.cuh"
#include "core/warp.cuh"
#include "partitioners/levels.cuh"

namespace warpath::kd_tree::detail {

/// A block of Threads threads for up to Threads x Items tuples.
template <int Threads, int Items>
struct BlockShape {
  static constexpr int threads = Threads;
  static constexpr int items = Items;
  static constexpr int warps = Threads / warp_threads;
  static constexpr int capacity = Threads * Items;
  static_assert((warps & (warps - 1)) == 0 && warps <= warp_threads && capacity <= 1 << 15);
};

/// Which word of a tuple is the k-th of the superkey that begins with coordinate `primary`: the
/// coordinates, around, and its number after them.
__device__ __forceinline__ int superkey_word(int dimensions, int primary, int k) {
  if (k == dimensions) return k;
  const int turned = primary + k;
  return turned < dimensions ? turned : turned - dimensions;
}

/// The tuples of all segments: coordinate k of the tuple at place i is bits[k * stride + i], in the
/// order-preserving form; references[i] is its number.
template <class C>
struct TupleColumns {
  OrderedBits<C>* bits;
  std::uint32_t* references;
  std::int64_t stride;
  int dimensions;

  [[nodiscard]] __device__ __forceinline__ const OrderedBits<C>* column(int k) const {
    return bits + k * stride;
  }
  /// Word k of the superkey of the tuple at a place.
  [[nodiscard]] __device__ __forceinline__ OrderedBits<C> key(std::int64_t place, int primary,
                                                              int k) const {
    if (k == dimensions) return references[place];
    return column(superkey_word(dimensions, primary, k))[place];
  }
};

/// Tuples by their superkeys: rows of dimensions + 1 words, the coordinates in the order-preserving
/// form, and the number of the tuple after them.
template <class C>
struct SuperkeyRows {
  OrderedBits<C>* words;
  int dimensions;

  [[nodiscard]] __host__ __device__ __forceinline__ OrderedBits<C>* row(std::int64_t i) const {
    return words + i * (dimensions + 1);
  }
};

/// Whether the tuple at a place comes before one that is given as a row, or after it: negative,
/// positive, or 0 if it is that one. Their coordinates `primary` are equal. Not inlined, since
/// hardly a tuple needs it.
template <class C>
__device__ __noinline__ int compare_tie_to_row(TupleColumns<C> tuples, std::int64_t place,
                                               const OrderedBits<C>* row, int primary) {
  for (int k = 1; k <= tuples.dimensions; ++k) {
    const OrderedBits<C> own = tuples.key(place, primary, k);
    const OrderedBits<C> other = row[superkey_word(tuples.dimensions, primary, k)];
    if (own != other) return own < other ? -1 : 1;
  }
  return 0;
}

/// This thread's places of the number-th tile of a segment: a row of 32 for each warp at a time.
template <class Tile>
struct TilePlaces {
  static constexpr int items = Tile::items;
  std::uint32_t begin;
  std::uint32_t end;  ///< of the segment

  __device__ __forceinline__ TilePlaces(std::uint32_t number, partitioners::Segment segment)
      : begin(segment.begin + number * static_cast<unsigned>(Tile::capacity)), end(segment.end) {}
  [[nodiscard]] __device__ __forceinline__ bool is_empty() const { return begin >= end; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t place(int t) const {
    const int row = warp_index() * Tile::items + t;
    return begin + static_cast<unsigned>(row * warp_threads + lane_index());
  }
  [[nodiscard]] __device__ __forceinline__ bool exists(int t) const { return place(t) < end; }
  /// Which of them exist, as bits.
  [[nodiscard]] __device__ __forceinline__ unsigned existing() const {
    if (place(0) >= end) return 0;
    const unsigned rows = (end - 1 - place(0)) / warp_threads + 1;
    return rows >= Tile::items ? (1u << Tile::items) - 1 : (1u << rows) - 1;
  }
  /// Takes what lies at these places, all at once.
  template <class T>
  __device__ __forceinline__ void load(const T* column, T (&values)[Tile::items]) const {
    const T* const own = column + place(0);
#pragma unroll
    for (int t = 0; t < Tile::items; ++t) values[t] = exists(t) ? own[t * warp_threads] : T{};
  }
};

}  // namespace warpath::kd_tree::detail
