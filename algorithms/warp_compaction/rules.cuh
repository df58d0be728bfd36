// The rules: which items a compaction keeps. A rule looks at one item, at its companion (the second
// column, if the rule has one) and, if it `reads_previous`, at the item before: item[-1], which
// exists for every index but 0.
//
// A rule that fetches (`fetches`) compares records that lie elsewhere in memory, one for each item,
// and only where the item ties with the one before it. Such reads wait long and hit no cache, so a
// kernel may do it in steps: ties(), fetch() for all of its items at once, keep() with the two
// records.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "core/superkey.cuh"
#include "core/vector.cuh"
#include "warp_compaction/columns.cuh"

namespace warpath::warp_compaction::detail {

/// Keeps the items for which `predicate(item)` holds.
template <class T, class Predicate>
struct KeepIf {
  using Item = T;
  using Companion = NoCompanion;
  static constexpr bool reads_previous = false;
  static constexpr bool writes_companion = false;
  static constexpr bool fetches = false;

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
  static constexpr bool reads_previous = false;
  static constexpr bool writes_companion = false;
  static constexpr bool fetches = false;

  __device__ bool keep(const T*, const Flag* flag, std::int64_t) const { return *flag != Flag{}; }
};

/// Keeps the first item of every run of equal items, and its companion.
template <class T, class U, class Equal>
struct KeepFirstOfRun {
  using Item = T;
  using Companion = U;
  static constexpr bool reads_previous = true;
  static constexpr bool writes_companion = is_column<U>;
  static constexpr bool fetches = false;

  Equal equal;

  __device__ bool keep(const T* item, const U*, std::int64_t index) const {
    return index == 0 || !equal(item[-1], *item);
  }
};

/// The coordinates of a tuple that a comparison looks at first: as many as one access of 16 bytes
/// brings, but at most four.
template <class Coordinate>
struct TupleHead {
  static constexpr int count = std::clamp<int>(16 / sizeof(Coordinate), 1, 4);
  Coordinate coordinates[count];
};

/// The source's rule for sorted references: keeps a reference whose tuple differs from the one
/// before. The value, which is the tuple's coordinate `primary`, decides; the tuples are read only
/// where two values tie. A tuple that is less than the one before it means that the sort has
/// failed: the first such index goes to `first_disorder`.
template <class Coordinate, class Reference>
struct KeepDistinctTuple {
  using Item = Coordinate;
  using Companion = Reference;
  using Record = TupleHead<Coordinate>;
  static constexpr bool reads_previous = true;
  static constexpr bool writes_companion = true;
  static constexpr bool fetches = true;

  KeepDistinctTuple(const Coordinate* tuples, int dimensions, int primary,
                    unsigned long long* first_disorder)
      : tuples_(tuples),
        dimensions_(dimensions),
        primary_(primary),
        head_is_tuple_(dimensions == Record::count &&
                       reinterpret_cast<std::uintptr_t>(tuples) % sizeof(Record) == 0),
        first_disorder_(first_disorder) {}

  /// All in one step, coordinate by coordinate.
  __device__ bool keep(const Coordinate* value, const Reference* reference,
                       std::int64_t index) const {
    if (index == 0) return true;
    bool less = value[-1] < *value;
    bool greater = *value < value[-1];
    if (!less && !greater) compare_from(1, reference[-1], *reference, less, greater);
    if (greater) report(index);
    return less || greater;
  }

  /// Whether the value of an item, not the first, ties with the one before: then the tuples decide.
  __device__ bool ties(const Coordinate* value) const {
    return !(value[-1] < *value) && !(*value < value[-1]);
  }

  /// The whole tuple, as it lies in memory; or the first Record::count coordinates after the
  /// primary one in the order of the superkey, with zeros after the last.
  __device__ Record fetch(Reference reference) const {
    Record record;
    const Coordinate* tuple = tuples_ + static_cast<std::int64_t>(reference) * dimensions_;
    if (head_is_tuple_) {
      load_vector(tuple, record.coordinates);
    } else {
#pragma unroll
      for (int k = 0; k < Record::count; ++k) {
        record.coordinates[k] = k + 1 < dimensions_ ? tuple[place(k + 1)] : Coordinate{};
      }
    }
    return record;
  }

  /// The same as above, for an item of which it is known whether it ties and, if it does, what has
  /// been fetched for it and for the item before.
  __device__ bool keep(const Coordinate* value, const Reference* reference, std::int64_t index,
                       bool is_tie, const Record& before, const Record& own) const {
    if (index == 0) return true;
    bool less = false;
    bool greater = false;
    if (is_tie) {
      compare_heads(before, own, less, greater);
      if (!less && !greater && !head_is_tuple_) {
        compare_from(1 + Record::count, reference[-1], *reference, less, greater);
      }
    } else {
      greater = *value < value[-1];
      less = !greater;
    }
    if (greater) report(index);
    return less || greater;
  }

 private:
  /// The coordinate at place k of the superkey, k <= dimensions_: primary, primary_ + 1, ...
  /// cyclically.
  [[nodiscard]] __device__ int place(int k) const {
    const int coordinate = primary_ + k;
    return coordinate < dimensions_ ? coordinate : coordinate - dimensions_;
  }
  /// Compares two tuples from place k of the superkey on, until two coordinates differ.
  __device__ void compare_from(int k, Reference a, Reference b, bool& less, bool& greater) const {
    const Coordinate* x = tuples_ + static_cast<std::int64_t>(a) * dimensions_;
    const Coordinate* y = tuples_ + static_cast<std::int64_t>(b) * dimensions_;
    const int order = compare_superkeys(x, y, dimensions_, primary_, k);
    less = order < 0;
    greater = order > 0;
  }
  /// Compares what has been fetched. A whole tuple begins with coordinate 0: the bits that say
  /// which coordinates differ are turned so that the superkey's next one comes first. Its primary
  /// coordinate, which ties, comes last.
  __device__ void compare_heads(const Record& a, const Record& b, bool& less, bool& greater) const {
    unsigned less_bits = 0;
    unsigned greater_bits = 0;
#pragma unroll
    for (int k = 0; k < Record::count; ++k) {
      less_bits |= (a.coordinates[k] < b.coordinates[k] ? 1u : 0u) << k;
      greater_bits |= (b.coordinates[k] < a.coordinates[k] ? 1u : 0u) << k;
    }
    if (head_is_tuple_) {
      less_bits = turned(less_bits);
      greater_bits = turned(greater_bits);
    }
    const unsigned different = less_bits | greater_bits;
    const unsigned first = different & (0u - different);
    less = (less_bits & first) != 0;
    greater = (greater_bits & first) != 0;
  }
  /// Bit primary_ + 1 becomes bit 0, and so on cyclically.
  [[nodiscard]] __device__ unsigned turned(unsigned bits) const {
    constexpr unsigned all = (1u << Record::count) - 1;
    const int next = primary_ + 1;
    return (bits >> next | bits << (Record::count - next)) & all;
  }
  __device__ void report(std::int64_t index) const {
    atomicMin(first_disorder_, static_cast<unsigned long long>(index));
  }

  const Coordinate* tuples_;  // tuple r begins at coordinate r * dimensions
  int dimensions_;
  int primary_;
  bool head_is_tuple_;  // a tuple has as many coordinates as a head, and is aligned to its bytes
  unsigned long long* first_disorder_;
};

}  // namespace warpath::warp_compaction::detail
