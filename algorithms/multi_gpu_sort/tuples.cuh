// Tuples that are sorted by superkey over several devices: what is given, what it becomes, and the
// kernels that move it.
//
// A warp moves 32 tuples at a time: each lane has the places of one, and all of them move the words
// of all, so that neighbouring lanes access neighbouring words.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/span.hpp"
#include "core/superkey.cuh"
#include "core/warp.cuh"
#include "merge_sort/merge.cuh"

namespace warpath::multi_gpu_sort {

/// The tuples of one device, n of D coordinates each, each of them with a number that goes where it
/// goes.
template <class C>
struct SourceTuples {
  DeviceSpan<const C> coordinates;               ///< n * D
  DeviceSpan<const std::uint32_t> numbers = {};  ///< n; or none: first_number and so on
  std::uint32_t first_number = 0;
};

/// What a device has of all tuples once they are sorted: n of them.
template <class C>
struct TuplePart {
  DeviceSpan<C> coordinates;             ///< n * D
  DeviceSpan<std::uint32_t> numbers;     ///< n: of each tuple
  DeviceSpan<std::uint32_t> references;  ///< n: the places of the part's tuples, in order
  DeviceSpan<C> values;                  ///< n: their primary coordinates, in order

  [[nodiscard]] std::int64_t count() const { return numbers.count; }
};

namespace detail {

/// Calls move(first, count) for all tuples, by 32 for each warp of the grid at a time.
template <class Move>
__device__ __forceinline__ void for_each_row(std::int64_t tuples, const Move& move) {
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (blockDim.x / warp_threads);
  const std::int64_t warp =
      static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_threads) + warp_index();
  for (std::int64_t row = warp; row * warp_threads < tuples; row += warps) {
    const std::int64_t first = row * warp_threads;
    move(first, static_cast<int>(min(std::int64_t{warp_threads}, tuples - first)));
  }
}

/// Calls move(lane, k) for each coordinate k of each lane's tuple; move may shuffle.
template <class Move>
__device__ __forceinline__ void for_each_word(int dimensions, const Move& move) {
  for (int i = 0; i < dimensions; ++i) {
    const unsigned word = static_cast<unsigned>(i * warp_threads + lane_index());
    const unsigned lane = word / static_cast<unsigned>(dimensions);
    move(static_cast<int>(lane), static_cast<int>(word - lane * static_cast<unsigned>(dimensions)));
  }
}

/// Tuples of one device, by references to them that are in order.
template <class C>
struct TuplesInOrder {
  const C* coordinates;
  const std::uint32_t* numbers;  ///< null: first_number and so on
  std::uint32_t first_number;
  const std::uint32_t* references;
  const C* values;  ///< the primary coordinates, in order; null: nobody needs them

  [[nodiscard]] __device__ __forceinline__ std::uint32_t number(std::uint32_t place) const {
    return numbers == nullptr ? first_number + place : numbers[place];
  }
};

/// Memory that tuples lie in, one after the other: that of any device.
template <class C>
struct PackedTuples {
  C* coordinates;
  std::uint32_t* numbers;
  C* values;  ///< null if nobody needs them
};

/// Where tuples in their order go: pieces of them, each to memory of its own.
template <class C>
struct Outbox {
  static constexpr int most_pieces = merge_sort::most_runs;
  PackedTuples<C> targets[most_pieces];
  std::int64_t begins[most_pieces + 1];  ///< the first tuple of each piece, and the end
  int pieces = 0;

  [[nodiscard]] std::int64_t count() const { return begins[pieces] - begins[0]; }
  /// The tuples from the end of the others on.
  void add(std::int64_t first, std::int64_t count, const PackedTuples<C>& target) {
    targets[pieces] = target;
    begins[pieces++] = first;
    begins[pieces] = first + count;
  }
};

/// Writes tuples one after the other. Warps take rows of the pieces in turn, so that links to all
/// devices, and the own memory, are written at the same time.
template <class C>
__global__ void pack_tuples_kernel(TuplesInOrder<C> tuples, int dimensions, Outbox<C> outbox) {
  std::int64_t most = 0;
  for (int p = 0; p < outbox.pieces; ++p) {
    most = max(most, outbox.begins[p + 1] - outbox.begins[p]);
  }
  const std::int64_t rows = divide_up(most, std::int64_t{warp_threads}) * outbox.pieces;
  for_each_row(rows * warp_threads, [&](std::int64_t place, int) {
    const std::int64_t row = place / warp_threads;
    const auto piece = static_cast<int>(row % outbox.pieces);
    const std::int64_t first = row / outbox.pieces * warp_threads;
    const std::int64_t left = outbox.begins[piece + 1] - outbox.begins[piece] - first;
    if (left <= 0) return;
    const PackedTuples<C>& packed = outbox.targets[piece];
    const int here = static_cast<int>(min(left, std::int64_t{warp_threads}));
    const bool exists = lane_index() < here;
    const std::int64_t to = first + lane_index();
    const std::int64_t from = outbox.begins[piece] + to;
    const std::uint32_t own = exists ? tuples.references[from] : 0;
    if (exists) packed.numbers[to] = tuples.number(own);
    if (exists && packed.values != nullptr) packed.values[to] = tuples.values[from];
    for_each_word(dimensions, [&](int lane, int k) {
      const std::uint32_t tuple = __shfl_sync(full_warp, own, lane);
      if (lane >= here) return;
      packed.coordinates[(first + lane) * dimensions + k] =
          tuples.coordinates[std::int64_t{tuple} * dimensions + k];
    });
  });
}

/// What a swap moves: tuples in their order, from one of them on.
template <class C>
struct SwappedTuples {
  C* coordinates;
  std::uint32_t* numbers;
  const std::uint32_t* references;
  C* values;
};

/// Tuples of two devices change places, each other's in order; the references stay.
template <class C>
__global__ void swap_tuples_kernel(SwappedTuples<C> a, SwappedTuples<C> b, std::int64_t count,
                                   int dimensions) {
  const auto swap = [](auto* x, auto* y) {
    const auto value = *x;
    *x = *y;
    *y = value;
  };
  for_each_row(count, [&](std::int64_t first, int here) {
    const std::int64_t i = first + lane_index();
    const bool exists = lane_index() < here;
    const std::uint32_t of_a = exists ? a.references[i] : 0;
    const std::uint32_t of_b = exists ? b.references[i] : 0;
    if (exists) {
      swap(&a.values[i], &b.values[i]);
      swap(&a.numbers[of_a], &b.numbers[of_b]);
    }
    for_each_word(dimensions, [&](int lane, int k) {
      const std::int64_t in_a = __shfl_sync(full_warp, of_a, lane);
      const std::int64_t in_b = __shfl_sync(full_warp, of_b, lane);
      if (lane >= here) return;
      swap(&a.coordinates[in_a * dimensions + k], &b.coordinates[in_b * dimensions + k]);
    });
  });
}

/// numbers[i] = first + i.
template <class Number>
__global__ void number_tuples_kernel(Number* numbers, std::int64_t count, Number first) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    numbers[i] = first + static_cast<Number>(i);
  }
}

/// Blocks of 256 threads for so many of them, or as many as are enough.
inline unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(std::min<std::int64_t>(divide_up(threads, 256), 1 << 14));
}

/// In a stream of the current device, whose tuples they are.
template <class C>
void pack_tuples(const TuplesInOrder<C>& tuples, int dimensions, const Outbox<C>& outbox,
                 cudaStream_t stream) {
  if (outbox.pieces == 0 || outbox.count() == 0) return;
  launch({blocks_for(outbox.count()), 256, 0, stream}, pack_tuples_kernel<C>, tuples, dimensions,
         outbox);
}

/// Numbers of the current device.
inline void number_tuples(std::uint32_t* numbers, std::int64_t count, std::uint32_t first,
                          cudaStream_t stream) {
  if (count == 0) return;
  launch({blocks_for(count), 256, 0, stream}, number_tuples_kernel<std::uint32_t>, numbers, count,
         first);
}

}  // namespace detail

}  // namespace warpath::multi_gpu_sort
