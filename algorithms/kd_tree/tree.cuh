// The two forms of a k-d tree, and where they hold what.
//
//   level 0                  m                  median stores: entry k of a level has the children
//   level 1         m                 m         2 k and 2 k + 1 of the next one. All levels lie one
//   level 2     m       m         m       m     after another, level L from entry 2^L - 1 on.
//
//   nodes: nodes[t] is that of tuple t, with the numbers of its two children's tuples.
//
// Level L splits by the superkey that begins with coordinate L mod D; where whole tuples are equal,
// by their numbers. What is less than a node lies in its first subtree, what is greater in its
// second. A segment of s tuples has its node at rank (s - 1) / 2, rounded down.
//
// Source: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Building the KD Tree", which calls
// the median stores alone "a sufficient and optimized representation of the k-d tree".
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/reversed_bits.cuh"
#include "core/span.hpp"
#include "partitioners/levels.cuh"

namespace warpath::kd_tree {

/// The entry of a median store, and the child of a node, where a tree has no node.
inline constexpr std::uint32_t no_node = partitioners::no_node;
/// The most tuples of a tree.
inline constexpr std::int64_t most_tuples = partitioners::most_references;
inline constexpr int most_dimensions = 16;
/// Of builds and verifications on the host.
inline constexpr int most_threads = 1024;

/// n tuples of `dimensions` coordinates each, 1 to 16: int32, int64, float or double.
template <class C>
struct Points {
  DeviceSpan<const C> coordinates;
  int dimensions = 1;

  [[nodiscard]] std::int64_t count() const { return coordinates.count / dimensions; }
};

/// The node of a tuple: the numbers of its own tuple and of its children's, or no_node. All three
/// are no_node of a tuple that is not in the tree.
struct Node {
  std::uint32_t tuple = no_node;
  std::uint32_t less_than = no_node;
  std::uint32_t greater_than = no_node;
  bool operator==(const Node&) const = default;
};

/// How many levels a tree of n nodes has: floor(log2(n)) + 1; none if it is empty.
__host__ __device__ constexpr int level_count(std::int64_t n) {
  int levels = 0;
  while (n >> levels != 0) ++levels;
  return levels;
}
/// Where the median store of a level begins among all of them.
__host__ __device__ constexpr std::int64_t first_entry(int level) {
  return (std::int64_t{1} << level) - 1;
}
/// How many entries the median stores of n nodes have together: less than 2 n + 1.
__host__ __device__ constexpr std::int64_t median_entries(std::int64_t n) {
  return first_entry(level_count(n));
}

/// Whether the tree of n nodes has entry `number` of a level that it reaches: its last level may
/// have gaps anywhere, the others have none.
///
/// A segment and the gap after it are p places, of which its less side and the gap after that take
/// p / 2, rounded down, and its greater side as many, rounded up. So the first bit of `number`, the
/// highest, adds 1 before the first halving, the second 1 before the second, and n + 1 places are
/// (n + 1 + the bits in reverse order) / 2^level in the end: 2 or more where there is an entry.
__host__ __device__ constexpr bool has_entry(std::int64_t n, int level, std::uint32_t number) {
  const std::uint64_t added = std::uint64_t{reversed_bits(number)} >> (32 - level);
  return (static_cast<std::uint64_t>(n) + 1 + added) >> level >= 2;
}

}  // namespace warpath::kd_tree
