// The search of a tree in one of its two forms, a thread a query: depth first, the nearer side of
// each node before the farther one, which is entered only if what is searched for can lie there.
//
// It ends on any tree, corrupt ones too: it goes no deeper than a balanced tree is, and visits no
// more nodes than there are.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kd_tree/coordinates.cuh"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree::detail {

/// The most levels that a tree has.
inline constexpr int most_levels = 31;

/// Goes down median stores: a place is an entry.
struct MedianCursor {
  const std::uint32_t* entries;
  std::uint32_t count;

  [[nodiscard]] __device__ __forceinline__ std::uint32_t root() const { return 0; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t tuple(std::uint32_t place) const {
    return place < count ? entries[place] : no_node;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t child(std::uint32_t place, std::uint32_t,
                                                               bool is_greater) const {
    return 2 * place + (is_greater ? 2 : 1);
  }
};

/// Goes down nodes: a place is a tuple.
struct NodeCursor {
  const Node* nodes;
  std::uint32_t first;

  [[nodiscard]] __device__ __forceinline__ std::uint32_t root() const { return first; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t tuple(std::uint32_t place) const {
    return place;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t child(std::uint32_t, std::uint32_t tuple,
                                                               bool is_greater) const {
    return is_greater ? nodes[tuple].greater_than : nodes[tuple].less_than;
  }
};

/// What all queries search.
template <class C, class Cursor>
struct SearchedTree {
  using Query = Coordinates<C, 0>;
  const C* coordinates;
  int dimensions;
  std::uint32_t tuples;
  std::uint32_t nodes;
  int levels;
  Cursor cursor;

  /// The places of a visit are the numbers of tuples.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t number(std::uint32_t place) const {
    return place;
  }
  [[nodiscard]] __device__ __forceinline__ Query tuple(std::uint32_t number) const {
    return Query::of_tuple(coordinates + std::int64_t{number} * dimensions, dimensions);
  }
};

/// Nothing: in this form, no tuples lie side by side.
template <class C, class Cursor, class Visit>
__device__ __forceinline__ void look_around(const SearchedTree<C, Cursor>&, Visit&) {}

/// Visits the nodes that `visit` wants: see visits.cuh.
template <class C, class Cursor, class Visit>
__device__ __forceinline__ void search(const SearchedTree<C, Cursor>& tree, Visit& visit) {
  struct WaitingSide {
    Distance<C> distance;
    std::uint32_t place;
    int level;
  };
  WaitingSide sides[most_levels];
  int waiting = 0;
  std::uint32_t place = tree.cursor.root();
  int level = 0;
  std::uint32_t visited = 0;
  for (;;) {
    const std::uint32_t number = level < tree.levels ? tree.cursor.tuple(place) : no_node;
    if (number < tree.tuples && visited < tree.nodes) {
      ++visited;
      const auto tuple = tree.tuple(number);
      const int k = level % tree.dimensions;
      const C coordinate = tuple[k];
      visit.offer(number, tuple);
      const bool is_greater = visit.nearer(k, coordinate);
      const Distance<C> farther = visit.distance(k, coordinate, !is_greater);
      if (visit.wants(farther) && waiting < most_levels) {
        sides[waiting++] = {farther, tree.cursor.child(place, number, !is_greater), level + 1};
      }
      if (visit.wants(visit.distance(k, coordinate, is_greater))) {
        place = tree.cursor.child(place, number, is_greater);
        ++level;
        continue;
      }
    }
    // The next side that waits and may still hold something.
    for (;;) {
      if (waiting == 0) return;
      const WaitingSide& side = sides[--waiting];
      if (!visit.wants(side.distance)) continue;
      place = side.place;
      level = side.level;
      break;
    }
  }
}

}  // namespace warpath::kd_tree::detail
