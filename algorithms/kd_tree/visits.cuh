// What a search by one thread does with the tuples that it comes by. A visit has
//
//   visit.offer(place, tuple)                   a tuple, and where the tree holds it
//   visit.nearer(k, coordinate)                 which side of a node to enter first, of which
//                                               `coordinate` is coordinate k: true for greater
//   visit.distance(k, coordinate, is_greater)   how far away a side is, at least
//   visit.wants(distance)                       whether to enter a side that is so far away, now
//
// The number of a tuple, tree.number(place), is read only where it is needed: of equally near
// tuples, and of those that are answers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include "kd_tree/coordinates.cuh"
#include "kd_tree/distance.cuh"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree::detail {

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

/// A tuple, by its place in a tree, and how far it is away, squared. no_node: none, which is
/// farther than any.
template <class C>
struct Found {
  Distance<C> distance = infinitely_far<C>();
  std::uint32_t place = no_node;

  template <class Tree>
  [[nodiscard]] __device__ __forceinline__ bool comes_before(const Found& other,
                                                             const Tree& tree) const {
    if (distance != other.distance) return distance < other.distance;
    return tree.number(place) < tree.number(other.place);
  }
};

/// Where the k nearest tuples of a query are written.
template <class C>
struct NearestOutput {
  std::uint32_t* tuples;
  Distance<C>* distances;
  int k;

  [[nodiscard]] __device__ __forceinline__ NearestOutput of_query(std::int64_t number) const {
    return {tuples + number * k, distances + number * k, k};
  }
  __device__ __forceinline__ void put(int i, Distance<C> distance, std::uint32_t tuple) const {
    tuples[i] = tuple;
    distances[i] = distance;
  }
};

/// The k nearest of what was offered, at most K, in order and in registers.
template <class C, int K>
class SortedList {
 public:
  /// Only the last k places can be taken: what lies in those before is nearer than any tuple.
  __device__ explicit SortedList(const NearestOutput<C>& output) : output_(output) {
#pragma unroll
    for (int i = 0; i < K; ++i) {
      if (i < K - output.k) nearest_[i].distance = -1;
    }
  }
  [[nodiscard]] __device__ __forceinline__ Distance<C> farthest() const {
    return nearest_[K - 1].distance;
  }
  template <class Tree>
  __device__ __forceinline__ void take(const Found<C>& found, const Tree& tree) {
    if (!found.comes_before(nearest_[K - 1], tree)) return;
    nearest_[K - 1] = found;
#pragma unroll
    for (int i = K - 1; i > 0; --i) {
      if (!nearest_[i].comes_before(nearest_[i - 1], tree)) return;
      const Found<C> nearer = nearest_[i];
      nearest_[i] = nearest_[i - 1];
      nearest_[i - 1] = nearer;
    }
  }
  template <class Tree>
  __device__ __forceinline__ void write(const Tree& tree) const {
    const int left_out = K - output_.k;
#pragma unroll
    for (int i = 0; i < K; ++i) {
      if (i < left_out) continue;
      output_.put(i - left_out, nearest_[i].distance, tree.number(nearest_[i].place));
    }
  }

 private:
  NearestOutput<C> output_;
  Found<C> nearest_[K];
};

/// The same for any k: a heap in the place of the output, whose first is the farthest.
template <class C>
class NearestHeap {
 public:
  __device__ explicit NearestHeap(const NearestOutput<C>& output) : output_(output) {
    for (int i = 0; i < output_.k; ++i) put(i, {});
  }
  [[nodiscard]] __device__ __forceinline__ Distance<C> farthest() const {
    return output_.distances[0];
  }
  template <class Tree>
  __device__ __forceinline__ void take(const Found<C>& found, const Tree& tree) {
    if (found.comes_before(at(0), tree)) sink(found, output_.k, tree);
  }
  template <class Tree>
  __device__ void write(const Tree& tree) {
    for (int last = output_.k - 1; last >= 0; --last) {
      const Found<C> farthest = at(0);
      sink(at(last), last, tree);
      output_.put(last, farthest.distance, tree.number(farthest.place));
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ Found<C> at(int i) const {
    return {output_.distances[i], output_.tuples[i]};
  }
  __device__ __forceinline__ void put(int i, const Found<C>& found) const {
    output_.put(i, found.distance, found.place);
  }
  /// Puts an item in the place of the first, in a heap of `count`.
  template <class Tree>
  __device__ __forceinline__ void sink(const Found<C>& found, int count, const Tree& tree) {
    int i = 0;
    for (;;) {
      int child = 2 * i + 1;
      if (child >= count) break;
      if (child + 1 < count && at(child).comes_before(at(child + 1), tree)) ++child;
      if (!found.comes_before(at(child), tree)) break;
      put(i, at(child));
      i = child;
    }
    put(i, found);
  }

  NearestOutput<C> output_;
};

/// The nearest tuples, by distance and then by number. It is known that as many as are asked for
/// lie no farther away than `limit`.
template <class C, class Tree, class List>
class NearestVisit {
 public:
  using Query = typename Tree::Query;
  __device__ NearestVisit(const Tree& tree, const Query& query, List& list, Distance<C> limit)
      : tree_(tree), query_(query), list_(list), limit_(limit) {}

  __device__ __forceinline__ void offer(std::uint32_t place, const Query& tuple) {
    const Distance<C> distance = query_.squared_distance_to(tuple);
    if (distance <= list_.farthest()) list_.take({distance, place}, tree_);
  }
  [[nodiscard]] __device__ __forceinline__ bool nearer(int k, C coordinate) const {
    return coordinate < query_[k];
  }
  [[nodiscard]] __device__ __forceinline__ Distance<C> distance(int k, C coordinate,
                                                                bool is_greater) const {
    return distance_to_side(query_[k], coordinate, is_greater);
  }
  [[nodiscard]] __device__ __forceinline__ bool wants(Distance<C> distance) const {
    return distance <= limit_ && distance <= list_.farthest();
  }

 private:
  const Tree& tree_;
  const Query& query_;
  List& list_;
  Distance<C> limit_;
};

/// All tuples at most so far from the query: `take(place)` is called for each.
template <class C, class Query, class Take>
class RadiusVisit {
 public:
  __device__ RadiusVisit(const Query& query, Distance<C> squared_radius, Take take)
      : query_(query), squared_radius_(squared_radius), take_(take) {}

  __device__ __forceinline__ void offer(std::uint32_t place, const Query& tuple) {
    if (query_.squared_distance_to(tuple) <= squared_radius_) take_(place);
  }
  [[nodiscard]] __device__ __forceinline__ bool nearer(int k, C coordinate) const {
    return coordinate < query_[k];
  }
  [[nodiscard]] __device__ __forceinline__ Distance<C> distance(int k, C coordinate,
                                                                bool is_greater) const {
    return distance_to_side(query_[k], coordinate, is_greater);
  }
  [[nodiscard]] __device__ __forceinline__ bool wants(Distance<C> distance) const {
    return distance <= squared_radius_;
  }

 private:
  const Query& query_;
  Distance<C> squared_radius_;
  Take take_;
};

/// All tuples of which each coordinate lies between those of two corners, or is one of them.
template <class C, class Query, class Take>
class BoxVisit {
 public:
  __device__ BoxVisit(const Query& low, const Query& high, Take take)
      : low_(low), high_(high), take_(take) {}

  __device__ __forceinline__ void offer(std::uint32_t place, const Query& tuple) {
    for (int k = 0; k < tuple.count(); ++k) {
      const C coordinate = tuple[k];
      if (!(low_[k] <= coordinate && coordinate <= high_[k])) return;
    }
    take_(place);
  }
  [[nodiscard]] __device__ __forceinline__ bool nearer(int, C) const { return false; }
  /// 0 of a side that the box reaches into, else 1.
  [[nodiscard]] __device__ __forceinline__ Distance<C> distance(int k, C coordinate,
                                                                bool is_greater) const {
    const bool is_reached = is_greater ? coordinate <= high_[k] : low_[k] <= coordinate;
    return is_reached ? 0 : 1;
  }
  [[nodiscard]] __device__ __forceinline__ bool wants(Distance<C> distance) const {
    return distance == 0;
  }

 private:
  const Query& low_;
  const Query& high_;
  Take take_;
};

}  // namespace warpath::kd_tree::detail
