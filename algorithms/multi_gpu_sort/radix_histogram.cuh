// How often digits occur: the histogram that says which keys go where before any key is moved.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "multi_gpu_sort/radix_keys.cuh"

namespace warpath::multi_gpu_sort::detail {

/// Bins that a block counts in shared memory.
inline constexpr int histogram_digit_bits = 14;
inline constexpr int histogram_bins = 1 << histogram_digit_bits;
inline constexpr int histogram_threads = 1024;
/// That a thread loads before it counts them.
inline constexpr int keys_at_once = 8;

/// Keys that agree in all bits above the lowest `bits`.
template <class Bits>
struct KeyRange {
  Bits prefix;  ///< the bits above
  int bits;

  [[nodiscard]] __host__ __device__ bool holds(Bits key) const {
    return high_bits(key, bits) == prefix;
  }
  /// The least key.
  [[nodiscard]] __host__ __device__ Bits first() const {
    return bits >= 8 * static_cast<int>(sizeof(Bits)) ? Bits{0} : static_cast<Bits>(prefix << bits);
  }
};

/// Adds one to a counter in shared memory; at once for all lanes, where it is the same one.
__device__ __forceinline__ void warp_count(std::uint32_t* counts, unsigned bin) {
  const unsigned of_first = __shfl_sync(full_warp, bin, 0);
  if (__all_sync(full_warp, bin == of_first)) {
    if (lane_index() == 0) atomicAdd(&counts[bin], static_cast<std::uint32_t>(warp_threads));
  } else {
    atomicAdd(&counts[bin], 1u);
  }
}

/// counts[b] is increased by how many keys of the range have b as the next `digit_bits` bits. Any
/// grid.
template <class K>
__global__ void __launch_bounds__(histogram_threads, 2)
    count_digits_kernel(const K* keys, std::int64_t n, KeyRange<OrderedBits<K>> range,
                        int digit_bits, std::uint32_t* counts) {
  auto& shared = dynamic_shared<std::uint32_t[histogram_bins + 1]>();  // one for other keys
  const int bins = 1 << digit_bits;
  for (int b = static_cast<int>(threadIdx.x); b < bins; b += static_cast<int>(blockDim.x)) {
    shared[b] = 0;
  }
  __syncthreads();  // all are 0

  constexpr std::int64_t tile_keys = std::int64_t{histogram_threads} * keys_at_once;
  for (std::int64_t begin = blockIdx.x * tile_keys; begin < n; begin += gridDim.x * tile_keys) {
    const auto count = static_cast<int>(min(tile_keys, n - begin));
    OrderedBits<K> bits[keys_at_once];
#pragma unroll
    for (int k = 0; k < keys_at_once; ++k) {
      const int place = k * histogram_threads + static_cast<int>(threadIdx.x);
      bits[k] = radix_bits(keys[begin + min(place, count - 1)]);
    }
#pragma unroll
    for (int k = 0; k < keys_at_once; ++k) {
      const bool is_key = k * histogram_threads + static_cast<int>(threadIdx.x) < count;
      const auto bin =
          static_cast<unsigned>(low_bits(high_bits(bits[k], range.bits - digit_bits), digit_bits));
      warp_count(shared, is_key && range.holds(bits[k]) ? bin : histogram_bins);
    }
  }
  __syncthreads();  // all are counted
  for (int b = static_cast<int>(threadIdx.x); b < bins; b += static_cast<int>(blockDim.x)) {
    if (shared[b] != 0) atomicAdd(&counts[b], shared[b]);
  }
}

/// Histogram of n > 0 keys of a range, less than 2^32; counts, 1 << digit_bits of them, are 0
/// before.
template <class K>
void count_digits(const K* keys, std::int64_t n, KeyRange<OrderedBits<K>> range, int digit_bits,
                  std::uint32_t* counts, cudaStream_t stream) {
  const auto kernel = count_digits_kernel<K>;
  constexpr std::size_t bytes = sizeof(std::uint32_t) * (histogram_bins + 1);
  const std::int64_t resident = resident_blocks(kernel, histogram_threads, bytes);
  const std::int64_t tiles = divide_up(n, std::int64_t{histogram_threads} * keys_at_once);
  launch({static_cast<unsigned>(std::min(resident, tiles)), histogram_threads, bytes, stream},
         kernel, keys, n, range, digit_bits, counts);
}

}  // namespace warpath::multi_gpu_sort::detail
