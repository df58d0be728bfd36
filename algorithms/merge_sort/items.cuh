// What is sorted: items, and the columns that hold them in global memory. There, keys and values
// are arrays of their own; in shared memory and registers, a key and its value are one item.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/key_order.cuh"

namespace warpath::merge_sort::detail {

/// The value of a key that has none.
struct NoValue {};

/// The alignment of an item: that of one access to shared memory, where there is one of its size.
template <class K, class V>
inline constexpr std::size_t item_alignment = [] {
  struct Unaligned {
    K key;
    V value;
  };
  constexpr std::size_t bytes = sizeof(Unaligned);
  return bytes == 4 || bytes == 8 || bytes == 16 ? bytes : alignof(Unaligned);
}();

template <class K, class V>
struct alignas(item_alignment<K, V>) Item {
  K key;
  V value;
};
template <class K>
struct Item<K, NoValue> {
  K key;
};

/// Two columns: item i is {keys[i], values[i]}.
template <class K, class V>
struct Columns {
  using Item = detail::Item<K, V>;
  K* keys;
  V* values;
  __device__ __forceinline__ Item load(std::int64_t i) const { return {keys[i], values[i]}; }
  __device__ __forceinline__ void store(std::int64_t i, const Item& item) const {
    keys[i] = item.key;
    values[i] = item.value;
  }
};
template <class K>
struct Columns<K, NoValue> {
  using Item = detail::Item<K, NoValue>;
  K* keys;
  NoValue* values;
  __device__ __forceinline__ Item load(std::int64_t i) const { return {keys[i]}; }
  __device__ __forceinline__ void store(std::int64_t i, const Item& item) const {
    keys[i] = item.key;
  }
};

/// A superkey's first coordinate as a number of the same order, and the tuple's reference: in one
/// 64-bit number, if the coordinate has 4 bytes, so that one comparison decides unless the
/// coordinates tie.
template <class C, std::size_t Bytes = sizeof(C)>
struct SuperkeyItem;
template <class C>
struct SuperkeyItem<C, 4> {
  std::uint64_t packed;

  static __device__ __forceinline__ SuperkeyItem of_bits(std::uint32_t bits,
                                                         std::uint32_t reference) {
    return {std::uint64_t{bits} << 32 | reference};
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t bits() const {
    return static_cast<std::uint32_t>(packed >> 32);
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t reference() const {
    return static_cast<std::uint32_t>(packed);
  }
};
template <class C>
struct SuperkeyItem<C, 8> {
  std::uint64_t key;
  std::uint32_t number;

  static __device__ __forceinline__ SuperkeyItem of_bits(std::uint64_t bits,
                                                         std::uint32_t reference) {
    return {bits, reference};
  }
  [[nodiscard]] __device__ __forceinline__ std::uint64_t bits() const { return key; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t reference() const { return number; }
};

/// The coordinates of tuples that their references are sorted by, and the references. Between
/// passes they have the order-preserving form; the last pass stores numbers.
template <class C>
struct SuperkeyColumns {
  using Item = SuperkeyItem<C>;
  C* values;
  std::uint32_t* references;
  bool is_result = false;

  [[nodiscard]] __host__ __device__ __forceinline__ OrderedBits<C>& bits(std::int64_t i) const {
    return reinterpret_cast<OrderedBits<C>*>(values)[i];
  }
  __device__ __forceinline__ Item load(std::int64_t i) const {
    return Item::of_bits(bits(i), references[i]);
  }
  __device__ __forceinline__ void store(std::int64_t i, const Item& item) const {
    if (is_result) {
      values[i] = key_of_bits<C>(item.bits());
    } else {
      bits(i) = item.bits();
    }
    references[i] = item.reference();
  }
  /// The columns from item `first` on.
  [[nodiscard]] __device__ __forceinline__ SuperkeyColumns from(std::int64_t first) const {
    return {values + first, references + first, is_result};
  }
};

}  // namespace warpath::merge_sort::detail
