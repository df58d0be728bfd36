// The four set operations of one thread, on a part of the balanced path.
//
// Source: S. Baxter, "Modern GPU 1.1", NVIDIA Research 2013, https://moderngpu.github.io/ ,
// "Multisets", SerialSetIntersection, SerialSetUnion, SerialSetDifference, SerialSetSymDiff.
// Elements that match in key and rank share a slot; each iteration goes on by one slot, and emits
// an element or none:
//
//   A: 1 1 2   3 3 3    operation             emits
//   B: 1   2 2 3 3      intersection          A's, where both are
//                       union                 A's, or B's where A has none
//                       difference            A's, where B has none
//                       symmetric difference  the one that is alone
#pragma once

#include <cuda_runtime.h>

#include "balanced_path_sets/variant.hpp"

namespace warpath::balanced_path_sets {

namespace detail {

/// Whether results can come from B.
[[nodiscard]] __host__ __device__ constexpr bool takes_from_b(SetOperation operation) {
  return operation == SetOperation::set_union || operation == SetOperation::symmetric_difference;
}

}  // namespace detail

/// Goes through `count` elements from keys[a] and keys[b] on, which lie in keys[a, a_end) and
/// keys[b, b_end). Iteration i leaves its slot's element in results[i] and its place among the keys
/// in indices[i]; bit i of what is returned, the commit bit field, tells whether it is emitted.
///
/// With `RangeCheck` there may be any number of elements up to Items. Without, there must be
/// Items - 1 at least, and after each range the next key of its input must be readable: then the
/// ends of the ranges need no tests, since no element of the part matches that key.
template <SetOperation operation, int Items, bool RangeCheck, class Key, class Less>
__device__ __forceinline__ unsigned thread_set_operation(const Key* keys, int a, int a_end, int b,
                                                         int b_end, int count,
                                                         Key (&results)[Items],
                                                         int (&indices)[Items], Less less) {
  static_assert(Items <= 32);
  // Each slot has two elements at most.
  constexpr int least_slots = Items / 2;
  // All places in bytes: between a comparison and the next load stands one addition.
  constexpr int size = sizeof(Key);
  const auto at = [keys](int place) {
    return *reinterpret_cast<const Key*>(reinterpret_cast<const char*>(keys) + place);
  };
  a *= size;
  a_end *= size;
  b *= size;
  b_end *= size;
  const int end = a + b + count * size;
  // Whether a key is loaded only when an input goes on. Of 8-byte keys this saves bank conflicts
  // that cost more than its instructions.
  constexpr bool is_sparing = !RangeCheck && sizeof(Key) == 8;
  unsigned commit = 0;
  Key a_key = Key{};
  Key b_key = Key{};
  if constexpr (is_sparing) {
    a_key = at(a);
    b_key = at(b);
  }
#pragma unroll
  for (int i = 0; i < Items; ++i) {
    const bool is_slot = (!RangeCheck && i < least_slots) || a + b < end;
    if (RangeCheck && !is_slot) continue;
    const bool has_a = !RangeCheck || a < a_end;
    const bool has_b = !RangeCheck || b < b_end;
    if constexpr (!is_sparing) {
      a_key = at(has_a ? a : b);
      b_key = at(has_b ? b : a);
    }
    const bool only_a = !has_b || (has_a && less(a_key, b_key));
    const bool only_b = !has_a || (has_b && less(b_key, a_key));

    const bool is_of_b = detail::takes_from_b(operation) && only_b;
    results[i] = is_of_b ? b_key : a_key;
    indices[i] = (is_of_b ? b : a) / size;
    const bool is_emitted = operation == SetOperation::intersection ? !only_a && !only_b
                            : operation == SetOperation::set_union  ? true
                            : operation == SetOperation::difference ? only_a
                                                                    : only_a || only_b;
    if (is_slot && is_emitted) commit |= 1u << i;
    const bool is_a_taken = is_slot && !only_b;
    const bool is_b_taken = is_slot && !only_a;
    if (is_a_taken) a += size;
    if (is_b_taken) b += size;
    if (is_sparing && i + 1 < Items) {
      if (is_a_taken) a_key = at(a);
      if (is_b_taken) b_key = at(b);
    }
  }
  return commit;
}

}  // namespace warpath::balanced_path_sets
