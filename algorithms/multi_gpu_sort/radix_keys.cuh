// What the radix sort of several devices sees of a key: digits of the bits that order it.
#pragma once

#include <cuda_runtime.h>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/key_order.cuh"

namespace warpath::multi_gpu_sort::detail {

/// Keys that radix_exchange sorts.
template <class K>
concept RadixKey = std::is_arithmetic_v<K> &&(sizeof(K) == 4 || sizeof(K) == 8);

/// The bits of a key, so that they are in the order of the keys. Unlike key_bits(), each key has
/// bits of its own: -0.0 comes before 0.0, and NaN first or last, by its sign. key_of_bits() gives
/// the key back.
template <RadixKey K>
__host__ __device__ __forceinline__ OrderedBits<K> radix_bits(K key) {
  using Bits = OrderedBits<K>;
  constexpr Bits sign = Bits{1} << (8 * sizeof(K) - 1);
  Bits bits;
  memcpy(&bits, &key, sizeof bits);
  if constexpr (std::is_floating_point_v<K>) {
    return (bits & sign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | sign);
  } else {
    return std::is_signed_v<K> ? bits ^ sign : bits;
  }
}

template <RadixKey K>
inline constexpr int key_width = 8 * static_cast<int>(sizeof(K));

/// The lowest `count` bits.
template <class Bits>
__host__ __device__ __forceinline__ Bits low_bits(Bits bits, int count) {
  return count >= 8 * static_cast<int>(sizeof(Bits)) ? bits : bits & ((Bits{1} << count) - 1);
}
/// All but the lowest `count` bits, shifted down.
template <class Bits>
__host__ __device__ __forceinline__ Bits high_bits(Bits bits, int count) {
  return count >= 8 * static_cast<int>(sizeof(Bits)) ? Bits{0} : bits >> count;
}

}  // namespace warpath::multi_gpu_sort::detail
