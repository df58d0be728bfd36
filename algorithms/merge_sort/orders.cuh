// The orders of items. An order that `is_total` calls no two items equal that differ: whatever
// sorts by it is stable.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <type_traits>

#include "core/key_order.cuh"
#include "core/superkey.cuh"
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

/// The tuples' superkeys, coordinate by coordinate; the reference itself is coordinate
/// `dimensions`.
template <class C>
struct Superkeys {
  const C* coordinates;  // tuple r begins at coordinate r * dimensions
  int dimensions;
  int primary;
  [[nodiscard]] __device__ __forceinline__ OrderedBits<C> bits(std::uint32_t reference,
                                                               int k) const {
    if (k == dimensions) return reference;
    const int turned = primary + k;
    const int coordinate = turned < dimensions ? turned : turned - dimensions;
    return key_bits(coordinates[std::int64_t{reference} * dimensions + coordinate]);
  }
  /// Whether tuple a comes before tuple b, if their superkeys agree before coordinate `known`: of
  /// wholly equal tuples, the references decide. NaN comes after all numbers.
  [[nodiscard]] __device__ bool is_less(std::uint32_t a, std::uint32_t b, int known) const {
    for (int k = known; k < dimensions; ++k) {
      const auto x = bits(a, k);
      const auto y = bits(b, k);
      if (x != y) return x < y;
    }
    return a < b;  // equal tuples
  }
};

/// The superkey order of the source, "The Compare Function": the values decide; where they tie, the
/// tuples are read and compared from the next coordinate on. Even with NaN this is an order, which
/// all merges count on.
template <class C>
struct BySuperkey {
  static constexpr bool is_total = true;
  Superkeys<C> superkeys;
  __device__ __forceinline__ bool operator()(const SuperkeyItem<C>& a,
                                             const SuperkeyItem<C>& b) const {
    if (a.bits() != b.bits()) return a.bits() < b.bits();
    return is_tied_less(superkeys, a.reference(), b.reference());
  }

 private:
  /// A call, since a sorting network has room for its comparisons in the instruction cache, and for
  /// its items in registers, only without such a loop in each of them.
  static __device__ __noinline__ bool is_tied_less(Superkeys<C> superkeys, std::uint32_t a,
                                                   std::uint32_t b) {
    return superkeys.is_less(a, b, 1);
  }
};

/// Primary coordinates and references by superkey: where coordinates tie, by the tuples. Wholly
/// equal tuples are equal.
template <class C>
struct ByReferencedTuple {
  static constexpr bool is_total = false;
  const C* coordinates;  // tuple r begins at coordinate r * dimensions
  int dimensions;
  int primary;
  __device__ __forceinline__ bool operator()(const Item<C, std::uint32_t>& a,
                                             const Item<C, std::uint32_t>& b) const {
    if (a.key != b.key) return a.key < b.key;
    return is_tied_less(*this, a.value, b.value);
  }

 private:
  static __device__ __noinline__ bool is_tied_less(ByReferencedTuple order, std::uint32_t a,
                                                   std::uint32_t b) {
    const auto tuple = [&](std::uint32_t reference) {
      return order.coordinates + std::int64_t{reference} * order.dimensions;
    };
    return compare_superkeys(tuple(a), tuple(b), order.dimensions, order.primary, 1) < 0;
  }
};

}  // namespace warpath::merge_sort::detail
