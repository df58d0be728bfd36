// The orders of items. An order that `is_total` calls no two items equal that differ: whatever
// sorts by it is stable.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <type_traits>

#include "core/key_order.cuh"
#include "merge_sort/items.cuh"

namespace warpath::merge_sort::detail {

/// Whether `Less` compares keys by the operators < or > of their type.
template <class Less, class K>
inline constexpr bool is_built_in =
    std::is_same_v<Less, std::less<>> || std::is_same_v<Less, std::less<K>> ||
    std::is_same_v<Less, std::greater<>> || std::is_same_v<Less, std::greater<K>>;

/// By key.
template <class K, class V, class Less>
struct ByKey {
  // Of equal floating-point numbers, one may be -0.0.
  static constexpr bool is_total =
      std::is_same_v<V, NoValue> && std::is_integral_v<K> && is_built_in<Less, K>;
  Less less;
  __device__ __forceinline__ bool operator()(const Item<K, V>& a, const Item<K, V>& b) const {
    return less(a.key, b.key);
  }
};

/// Indices of keys, by these keys.
template <class K, class Index, class Less>
struct ByIndexedKey {
  static constexpr bool is_total = false;
  const K* keys;
  Less less;
  __device__ __forceinline__ bool operator()(const Item<Index, NoValue>& a,
                                             const Item<Index, NoValue>& b) const {
    return less(keys[a.key], keys[b.key]);
  }
};

/// By the superkey's first coordinate, and the reference where it ties: no tuple is read.
template <class C>
struct ByFirstCoordinate {
  static constexpr bool is_total = true;
  __device__ __forceinline__ bool operator()(const SuperkeyItem<C>& a,
                                             const SuperkeyItem<C>& b) const {
    if constexpr (sizeof(C) == 4) {
      return a.packed < b.packed;
    } else {
      return a.bits() < b.bits() || (a.bits() == b.bits() && a.reference() < b.reference());
    }
  }
};

/// By the superkey's first coordinate alone.
template <class C>
struct ByBits {
  static constexpr bool is_total = false;
  __device__ __forceinline__ bool operator()(const SuperkeyItem<C>& a,
                                             const SuperkeyItem<C>& b) const {
    return a.bits() < b.bits();
  }
};

/// The superkey order of the source, "The Compare Function": the values decide; where they tie, the
/// tuples are read and compared from the next coordinate on; where they are wholly equal, the
/// references decide. NaN comes after all numbers, so that even with NaN this is an order, which
/// all merges count on.
template <class C>
struct BySuperkey {
  static constexpr bool is_total = true;
  const C* coordinates;  // tuple r begins at coordinate r * dimensions
  int dimensions;
  int primary;
  __device__ __forceinline__ bool operator()(const SuperkeyItem<C>& a,
                                             const SuperkeyItem<C>& b) const {
    if (a.bits() != b.bits()) return a.bits() < b.bits();
    return is_tied_less(a.reference(), b.reference());
  }

  /// The order of two tuples whose first coordinates tie.
  __device__ __forceinline__ bool is_tied_less(std::uint32_t a, std::uint32_t b) const {
    return is_tied_less(coordinates, dimensions, primary, a, b);
  }

 private:
  /// A call, since a sorting network has room for its comparisons in the instruction cache, and for
  /// its items in registers, only without such a loop in each of them.
  static __device__ __noinline__ bool is_tied_less(const C* coordinates, int dimensions,
                                                   int primary, std::uint32_t a, std::uint32_t b) {
    const C* const a_tuple = coordinates + std::int64_t{a} * dimensions;
    const C* const b_tuple = coordinates + std::int64_t{b} * dimensions;
    for (int k = 1; k < dimensions; ++k) {
      const int turned = primary + k;
      const int coordinate = turned < dimensions ? turned : turned - dimensions;
      const C x = a_tuple[coordinate];
      const C y = b_tuple[coordinate];
      if (x == y) continue;
      if (key_bits(x) != key_bits(y)) return key_bits(x) < key_bits(y);
    }
    return a < b;  // equal tuples
  }
};

}  // namespace warpath::merge_sort::detail
