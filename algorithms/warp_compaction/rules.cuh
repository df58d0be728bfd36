// The rules: which items a compaction keeps. A rule looks at one staged item, at its companion (the
// second column, if the rule has one) and, if it asks for it, at the item before: item[-1], which
// exists for every index but 0.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "warp_compaction/columns.cuh"

namespace warpath::warp_compaction {

/// Keeps the items for which `predicate(item)` holds.
template <class T, class Predicate>
struct KeepIf {
  using Item = T;
  using Companion = NoCompanion;
  static constexpr bool looks_back = false;
  static constexpr bool writes_companion = false;

  Predicate predicate;

  __device__ bool keep(const T* item, const NoCompanion*, std::int64_t) const {
    return predicate(*item);
  }
};

/// Keeps the items whose flag is not zero.
template <class T, class Flag>
struct KeepFlagged {
  using Item = T;
  using Companion = Flag;
  static constexpr bool looks_back = false;
  static constexpr bool writes_companion = false;

  __device__ bool keep(const T*, const Flag* flag, std::int64_t) const { return *flag != Flag{}; }
};

/// Keeps the first item of every run of equal items, and its companion.
template <class T, class U, class Equal>
struct KeepFirstOfRun {
  using Item = T;
  using Companion = U;
  static constexpr bool looks_back = true;
  static constexpr bool writes_companion = !std::is_same_v<U, NoCompanion>;

  Equal equal;

  __device__ bool keep(const T* item, const U*, std::int64_t index) const {
    return index == 0 || !equal(item[-1], *item);
  }
};

/// The source's rule for sorted references: keeps a reference whose tuple differs from the one
/// before. The value, which is the tuple's coordinate `primary`, decides; the tuples are read only
/// where two values tie. A tuple that is less than the one before it means that the sort has
/// failed: the first such index goes to `first_disorder`.
template <class Coordinate, class Reference>
struct KeepDistinctTuple {
  using Item = Coordinate;
  using Companion = Reference;
  static constexpr bool looks_back = true;
  static constexpr bool writes_companion = true;

  const Coordinate*
      tuples;  ///< tuple r is tuples[r * dimensions .. r * dimensions + dimensions - 1]
  int dimensions;
  int primary;
  unsigned long long* first_disorder;

  __device__ bool keep(const Coordinate* value, const Reference* reference,
                       std::int64_t index) const {
    if (index == 0) return true;
    bool less = value[-1] < *value;
    bool greater = *value < value[-1];
    if (!less && !greater) compare_tuples(reference[-1], *reference, less, greater);
    if (greater) atomicMin(first_disorder, static_cast<unsigned long long>(index));
    return less || greater;
  }

 private:
  // The superkey: coordinates primary + 1, primary + 2, ... cyclically, until two differ.
  __device__ void compare_tuples(Reference a, Reference b, bool& less, bool& greater) const {
    for (int k = 1; k < dimensions; ++k) {
      const int coordinate = (primary + k) % dimensions;
      const Coordinate x = tuples[static_cast<std::int64_t>(a) * dimensions + coordinate];
      const Coordinate y = tuples[static_cast<std::int64_t>(b) * dimensions + coordinate];
      less = x < y;
      greater = y < x;
      if (less || greater) return;
    }
  }
};

}  // namespace warpath::warp_compaction
