// The levels of a breadth-first k-d tree build: which part of a reference array is which segment.
//
//   level 0   [                    segment 0                    ]
//   level 1   [      segment 0       ] m [      segment 1       ]
//   level 2   [segment 0] m [segment 1] m [segment 2] m [seg. 3 ]
//
// A segment's median (m) becomes the pivot and a node of the tree; what is less lies before it at
// the next level and what is greater after it, at the same places as before. So a pivot's place is
// a gap of all later levels. Everything follows from the number of references: sizes of a level's
// segments differ by at most one, and a part of the tree has the bounds of a tree of its own.
//
// Source: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Partitioning" and "Building the KD
// Tree"; the source has powers of two in mind, and says nothing of other sizes.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstdint>

namespace warpath::partitioners {

/// The most references that a tree is built of: places have 31 bits.
inline constexpr std::int64_t most_references = (std::int64_t{1} << 31) - 1;
/// A median store's entry where a tree has no node.
inline constexpr std::uint32_t no_node = 0xFFFFFFFFu;

/// Places [begin, end) of a level's reference arrays.
struct Segment {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] __host__ __device__ std::uint32_t count() const { return end - begin; }
  /// The place of the pivot in the primary reference array: the middle, or the lower of the two
  /// in the middle. Needs count() > 0, as the sides do.
  [[nodiscard]] __host__ __device__ std::uint32_t median() const {
    return begin + (count() - 1) / 2;
  }
  [[nodiscard]] __host__ __device__ Segment less_side() const { return {begin, median()}; }
  [[nodiscard]] __host__ __device__ Segment greater_side() const { return {median() + 1, end}; }
  bool operator==(const Segment&) const = default;
};

/// Level `number` of the build over n references, 0 <= n <= most_references: 2^number segments.
struct Level {
  std::uint32_t n = 0;
  int number = 0;

  [[nodiscard]] __host__ __device__ std::uint32_t segments() const {
    return std::uint32_t{1} << number;
  }
  /// Segment k. The bits of k, from the highest, say which side of each median it lies on.
  [[nodiscard]] __host__ __device__ Segment segment(std::uint32_t k) const {
    Segment segment{0, n};
    for (int bit = number - 1; bit >= 0; --bit) {
      segment = (k >> bit & 1) != 0 ? segment.greater_side() : segment.less_side();
    }
    return segment;
  }
  /// The size of the largest segment; the smallest has at most one element less: a segment and the
  /// gap after it are an equal share of n + 1 places, rounded up or down.
  [[nodiscard]] __host__ __device__ std::uint32_t largest_segment() const {
    return static_cast<std::uint32_t>((std::uint64_t{n} + segments()) >> number) - 1;
  }
};

/// The last level that has elements: floor(log2(n)), exactly; 0 of an empty tree.
constexpr int last_level(std::int64_t n) {
  return n == 0 ? 0 : std::bit_width(static_cast<std::uint64_t>(n)) - 1;
}

/// The first level whose segments have at most three elements: the one before the last, if there
/// is one.
constexpr int leaf_level(std::int64_t n) {
  return last_level(n) == 0 ? 0 : last_level(n) - 1;
}

}  // namespace warpath::partitioners
