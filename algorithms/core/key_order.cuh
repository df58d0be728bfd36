// Maps keys to unsigned integers of the same size and order, so that radix sorts and packed
// comparisons work for every arithmetic type.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace warpath {

/// The unsigned integer with the size of a key: 4 or 8 bytes.
template <class Key>
using OrderedBits = std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>;

/// Maps a key so that key_bits(x) < key_bits(y) if and only if x < y. Integers: exact. Floats: -0.0
/// and 0.0 map to the same bits, since they compare equal. NaN has no place in the order and is not
/// a valid key (preconditions.cuh detects it); it maps to the largest value.
template <class Key>
__host__ __device__ __forceinline__ OrderedBits<Key> key_bits(Key key) {
  static_assert(std::is_arithmetic_v<Key> && (sizeof(Key) == 4 || sizeof(Key) == 8));
  using Bits = OrderedBits<Key>;
  constexpr Bits sign = Bits{1} << (8 * sizeof(Key) - 1);
  if constexpr (std::is_floating_point_v<Key>) {
    if (key != key) return static_cast<Bits>(~Bits{0});
    if (key == Key{0}) key = Key{0};
  }
  Bits bits;
  memcpy(&bits, &key, sizeof bits);
  if constexpr (std::is_floating_point_v<Key>)
    return (bits & sign) != 0 ? static_cast<Bits>(~bits) : bits | sign;
  if constexpr (std::is_signed_v<Key>) return bits ^ sign;
  return bits;
}

/// The key that key_bits() maps to `bits` (0.0 for both zeros).
template <class Key>
__host__ __device__ __forceinline__ Key key_of_bits(OrderedBits<Key> bits) {
  using Bits = OrderedBits<Key>;
  constexpr Bits sign = Bits{1} << (8 * sizeof(Key) - 1);
  if constexpr (std::is_floating_point_v<Key>) {
    bits = (bits & sign) != 0 ? bits ^ sign : static_cast<Bits>(~bits);
  } else if constexpr (std::is_signed_v<Key>) {
    bits ^= sign;
  }
  Key key;
  memcpy(&key, &bits, sizeof key);
  return key;
}

}  // namespace warpath
