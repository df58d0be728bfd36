// Elements of every size, and the functors that look at them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace warpath::warp_compaction::test {

/// 12 bytes: a size that no vector load has, and that divides no 16-byte line.
struct Element12 {
  std::uint32_t words[3];
};
/// 16 bytes, and aligned to as many.
struct alignas(16) Element16 {
  std::uint32_t words[4];
};

/// An element that begins with `bits`, as many as fit; the rest follows from them.
template <class T>
T make_element(std::uint64_t bits) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else {
    T element{};
    std::uint64_t word = bits;
    for (auto& part : element.words) {
      part = static_cast<std::uint32_t>(word);
      word = (word >> 32) + bits * 0x9E3779B97F4A7C15u;
    }
    return element;
  }
}

/// The bits that an element begins with.
template <class T>
__host__ __device__ std::uint64_t leading_bits(const T& element) {
  if constexpr (std::is_integral_v<T>) {
    return element;
  } else {
    return element.words[0];
  }
}

/// The predicate: keeps odd elements. So the input decides what is kept, and the other bits can
/// tell elements apart.
struct IsOdd {
  template <class T>
  __host__ __device__ bool operator()(const T& element) const {
    return leading_bits(element) % 2 != 0;
  }
};

/// Equality of keys only. Equal elements differ in their low bits, so it is seen which one of a run
/// was kept.
struct SameKey {
  static constexpr int tag_bits = 16;
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return leading_bits(a) >> tag_bits == leading_bits(b) >> tag_bits;
  }
};

}  // namespace warpath::warp_compaction::test
