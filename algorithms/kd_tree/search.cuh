// The search of a tree, a thread a query: depth first, the nearer side of each node before the
// farther one, which is entered only if what is searched for can lie there.
//
// It ends on any tree, corrupt ones too: it goes no deeper than a balanced tree is, and visits no
// more nodes than there are.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include "core/superkey.cuh"
#include "kd_tree/distance.cuh"
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
  const C* coordinates;
  int dimensions;
  std::uint32_t tuples;
  std::uint32_t nodes;
  int levels;
  Cursor cursor;

  [[nodiscard]] __device__ __forceinline__ const C* tuple(std::uint32_t number) const {
    return coordinates + std::int64_t{number} * dimensions;
  }
};

/// Visits the nodes that `visit` wants. Visit has
///   visit.offer(tuple, coordinates)             a node
///   visit.wants(k, coordinate, is_greater)      whether to enter the side of a node, of which
///                                               `coordinate` is coordinate k
///   visit.nearer(k, coordinate)                 which side to enter first: true for greater
template <class C, class Cursor, class Visit>
__device__ __forceinline__ void search(const SearchedTree<C, Cursor>& tree, Visit& visit) {
  struct WaitingSide {
    std::uint32_t place;
    C coordinate;
    std::uint8_t level;
    bool is_greater;
  };
  WaitingSide sides[most_levels];
  int waiting = 0;
  std::uint32_t place = tree.cursor.root();
  int level = 0;
  std::uint32_t visited = 0;
  for (;;) {
    const std::uint32_t tuple = level < tree.levels ? tree.cursor.tuple(place) : no_node;
    if (tuple < tree.tuples && visited < tree.nodes) {
      ++visited;
      const C* const coordinates = tree.tuple(tuple);
      const int k = level % tree.dimensions;
      const C coordinate = coordinates[k];
      visit.offer(tuple, coordinates);
      const bool is_greater = visit.nearer(k, coordinate);
      if (waiting < most_levels) {
        sides[waiting++] = {tree.cursor.child(place, tuple, !is_greater), coordinate,
                            static_cast<std::uint8_t>(level + 1), !is_greater};
      }
      if (visit.wants(k, coordinate, is_greater)) {
        place = tree.cursor.child(place, tuple, is_greater);
        ++level;
        continue;
      }
    }
    // The next side that waits and may still hold something.
    for (;;) {
      if (waiting == 0) return;
      const WaitingSide& side = sides[--waiting];
      const int k = (side.level - 1) % tree.dimensions;
      if (!visit.wants(k, side.coordinate, side.is_greater)) continue;
      place = side.place;
      level = side.level;
      break;
    }
  }
}

/// How far away a side of a node is, at least: 0 of the side that the query lies on.
template <class C>
__device__ __forceinline__ Distance<C> distance_to_side(C query, C coordinate, bool is_greater) {
  const bool is_there = is_greater ? coordinate <= query : query <= coordinate;
  return is_there ? Distance<C>{0} : squared_difference(query, coordinate);
}

/// More than any distance, or as much.
template <class C>
__host__ __device__ constexpr Distance<C> infinitely_far() {
  return std::numeric_limits<Distance<C>>::infinity();
}

/// The nearest tuple; of equally near ones the one with the least number.
template <class C>
class NearestVisit {
 public:
  __device__ NearestVisit(const C* query, int dimensions)
      : query_(query), dimensions_(dimensions) {}

  __device__ __forceinline__ void offer(std::uint32_t tuple, const C* coordinates) {
    const Distance<C> distance = squared_distance(query_, coordinates, dimensions_);
    if (distance < best || (distance == best && tuple < nearest)) {
      best = distance;
      nearest = tuple;
    }
  }
  [[nodiscard]] __device__ __forceinline__ bool nearer(int k, C coordinate) const {
    return coordinate < query_[k];
  }
  [[nodiscard]] __device__ __forceinline__ bool wants(int k, C coordinate, bool is_greater) const {
    return distance_to_side(query_[k], coordinate, is_greater) <= best;
  }

  Distance<C> best = infinitely_far<C>();
  std::uint32_t nearest = no_node;

 private:
  const C* query_;
  int dimensions_;
};

/// The k nearest tuples, by distance and then by number: while it goes on, a heap whose first is
/// the farthest. `distances`, `tuples`: k places each.
template <class C>
class KNearestVisit {
 public:
  __device__ KNearestVisit(const C* query, int dimensions, Distance<C>* distances,
                           std::uint32_t* tuples, int k)
      : query_(query), dimensions_(dimensions), distances_(distances), tuples_(tuples), k_(k) {}

  __device__ __forceinline__ void offer(std::uint32_t tuple, const C* coordinates) {
    const Found found{squared_distance(query_, coordinates, dimensions_), tuple};
    if (count_ < k_) {
      rise(count_++, found);
    } else if (comes_before(found, at(0))) {
      sink(found, k_);
    }
  }
  [[nodiscard]] __device__ __forceinline__ bool nearer(int k, C coordinate) const {
    return coordinate < query_[k];
  }
  [[nodiscard]] __device__ __forceinline__ bool wants(int k, C coordinate, bool is_greater) const {
    return count_ < k_ || distance_to_side(query_[k], coordinate, is_greater) <= distances_[0];
  }
  /// Sorts what was found, and marks the places that are left.
  __device__ void finish() {
    for (int i = count_; i < k_; ++i) put(i, {infinitely_far<C>(), no_node});
    for (int last = count_ - 1; last > 0; --last) {
      const Found farthest = at(0);
      sink(at(last), last);
      put(last, farthest);
    }
  }

 private:
  struct Found {
    Distance<C> distance;
    std::uint32_t tuple;
  };
  static __device__ __forceinline__ bool comes_before(const Found& a, const Found& b) {
    return a.distance < b.distance || (a.distance == b.distance && a.tuple < b.tuple);
  }
  [[nodiscard]] __device__ __forceinline__ Found at(int i) const {
    return {distances_[i], tuples_[i]};
  }
  __device__ __forceinline__ void put(int i, const Found& found) {
    distances_[i] = found.distance;
    tuples_[i] = found.tuple;
  }
  __device__ __forceinline__ void rise(int i, const Found& found) {
    while (i > 0 && comes_before(at((i - 1) / 2), found)) {
      put(i, at((i - 1) / 2));
      i = (i - 1) / 2;
    }
    put(i, found);
  }
  /// Puts an item in the place of the first, in a heap of `count`.
  __device__ __forceinline__ void sink(const Found& found, int count) {
    int i = 0;
    for (;;) {
      int child = 2 * i + 1;
      if (child >= count) break;
      if (child + 1 < count && comes_before(at(child), at(child + 1))) ++child;
      if (!comes_before(found, at(child))) break;
      put(i, at(child));
      i = child;
    }
    put(i, found);
  }

  const C* query_;
  int dimensions_;
  Distance<C>* distances_;
  std::uint32_t* tuples_;
  int k_;
  int count_ = 0;
};

/// All tuples at most so far from the query: `take(tuple)` is called for each.
template <class C, class Take>
class RadiusVisit {
 public:
  __device__ RadiusVisit(const C* query, int dimensions, Distance<C> squared_radius, Take take)
      : query_(query), dimensions_(dimensions), squared_radius_(squared_radius), take_(take) {}

  __device__ __forceinline__ void offer(std::uint32_t tuple, const C* coordinates) {
    if (squared_distance(query_, coordinates, dimensions_) <= squared_radius_) take_(tuple);
  }
  [[nodiscard]] __device__ __forceinline__ bool nearer(int k, C coordinate) const {
    return coordinate < query_[k];
  }
  [[nodiscard]] __device__ __forceinline__ bool wants(int k, C coordinate, bool is_greater) const {
    return distance_to_side(query_[k], coordinate, is_greater) <= squared_radius_;
  }

 private:
  const C* query_;
  int dimensions_;
  Distance<C> squared_radius_;
  Take take_;
};

/// All tuples of which each coordinate lies between those of two corners, or is one of them.
template <class C, class Take>
class BoxVisit {
 public:
  __device__ BoxVisit(const C* low, const C* high, int dimensions, Take take)
      : low_(low), high_(high), dimensions_(dimensions), take_(take) {}

  __device__ __forceinline__ void offer(std::uint32_t tuple, const C* coordinates) {
    for (int k = 0; k < dimensions_; ++k) {
      if (!(low_[k] <= coordinates[k] && coordinates[k] <= high_[k])) return;
    }
    take_(tuple);
  }
  [[nodiscard]] __device__ __forceinline__ bool nearer(int, C) const { return false; }
  [[nodiscard]] __device__ __forceinline__ bool wants(int k, C coordinate, bool is_greater) const {
    return is_greater ? coordinate <= high_[k] : low_[k] <= coordinate;
  }

 private:
  const C* low_;
  const C* high_;
  int dimensions_;
  Take take_;
};

}  // namespace warpath::kd_tree::detail
