// The sides of a warp's references, and where each of them goes: for kernels that read rows of 32.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/warp.cuh"

namespace warpath::partitioners::detail {

/// On which side of a pivot something lies, as two bits: sides of several tuples can be combined.
inline constexpr std::uint32_t no_side = 0;
inline constexpr std::uint32_t side_less = 1;
inline constexpr std::uint32_t side_greater = 2;
inline constexpr std::uint32_t both_sides = 3;

/// Two counts of less than 2^16 in a word: of what is less, above that of what is greater. Sums of
/// words are sums of both.
__device__ __forceinline__ std::uint32_t side_counts(int less, int greater) {
  return static_cast<std::uint32_t>(less) << 16 | static_cast<std::uint32_t>(greater);
}
__device__ __forceinline__ std::uint32_t less_of(std::uint32_t counts) {
  return counts >> 16;
}
__device__ __forceinline__ std::uint32_t greater_of(std::uint32_t counts) {
  return counts & 0xFFFFu;
}

/// `Rows` rows of 32 elements, each with a side or neither. All of it is for one full warp.
template <int Rows>
class WarpSides {
 public:
  static_assert(Rows <= 16, "a lane has two bits for each row");

  /// Sets the side of this lane's element in a row, which had neither.
  __device__ __forceinline__ void set(int row, std::uint32_t side) { sides_ |= side << 2 * row; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t get(int row) const {
    return sides_ >> 2 * row & both_sides;
  }

  /// Leaves one side of an element that had both.
  __device__ __forceinline__ void keep(int row, std::uint32_t side) {
    sides_ &= ~((both_sides ^ side) << 2 * row);
  }

  /// How many of the warp lie on each side, in every lane.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t counts() const {
    return warp_sum(side_counts(__popc(sides_ & 0x55555555u), __popc(sides_ & 0xAAAAAAAAu)));
  }

  /// Calls store(row, is_less, rank) for each element of this lane that has a side: how many lie on
  /// its side before it, of the warp and of the `before`; a row's elements add bases(row).
  template <class Bases, class Store>
  __device__ __forceinline__ void for_each(std::uint32_t before, Bases bases, Store store) const {
#pragma unroll
    for (int row = 0; row < Rows; ++row) {
      const bool is_less = (sides_ & side_less << 2 * row) != 0;
      const bool is_greater = (sides_ & side_greater << 2 * row) != 0;
      const unsigned less = __ballot_sync(full_warp, is_less);
      const unsigned greater = __ballot_sync(full_warp, is_greater);
      if (is_less || is_greater) {
        const std::uint32_t begin = before + bases(row);
        const unsigned below = (is_less ? less : greater) & lanes_below();
        store(row, is_less, (is_less ? less_of(begin) : greater_of(begin)) + __popc(below));
      }
      before += side_counts(__popc(less), __popc(greater));
    }
  }

 private:
  std::uint32_t sides_ = 0;
};

/// Loads rows of 32 references for one warp, from the place `first` of this lane's first one on;
/// `beyond` from the place `end` on.
template <int Rows>
__device__ __forceinline__ void load_rows(std::uint32_t (&references)[Rows],
                                          const std::uint32_t* in, std::uint32_t first,
                                          std::uint32_t end, std::uint32_t beyond) {
  const std::uint32_t* const from = in + first;
  const auto left = static_cast<int>(end - first);
#pragma unroll
  for (int row = 0; row < Rows; ++row) {
    references[row] = row * warp_threads < left ? from[row * warp_threads] : beyond;
  }
}

/// The warps of lower index have so many on each side; `counts`: this warp's own. A barrier must
/// lie between two calls with the same `shared`.
struct BlockCounts {
  std::uint32_t before;
  std::uint32_t all;
};
template <class Shape>
__device__ __forceinline__ BlockCounts block_counts(std::uint32_t counts,
                                                    std::uint32_t (&shared)[Shape::warps]) {
  if (lane_index() == 0) shared[warp_index()] = counts;
  __syncthreads();  // the warps' counts are there
  const std::uint32_t of_warp = lane_index() < Shape::warps ? shared[lane_index()] : 0;
  return {warp_sum(lane_index() < warp_index() ? of_warp : 0u), warp_sum(of_warp)};
}

}  // namespace warpath::partitioners::detail
