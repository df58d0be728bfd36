// Queries of a k-d tree, in batches, in either of its forms: the public host functions.
//
// Answers are exact: those of brute force with squared_distance() (distance.cuh), in the same
// order. A query with NaN has no answer. All outputs are on the device; nothing synchronises.
//   Errors   std::invalid_argument, which names the argument, before anything is launched.
//   A tree   that is no right one gives wrong answers, but no endless loop and no access outside
//   the
//            arguments; verify() says what is wrong with it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "kd_tree/arguments.cuh"
#include "kd_tree/distance.cuh"
#include "kd_tree/search.cuh"
#include "kd_tree/tree.cuh"
#include "merge_sort/merge_sort.cuh"

namespace warpath::kd_tree {

/// A tree in its implicit form. medians: median_entries(node_count), or more.
template <class C>
struct MedianTree {
  Points<C> points;
  DeviceSpan<const std::uint32_t> medians;
  std::int64_t node_count = 0;
};

/// A tree of nodes, one for each point. root: medians[0] of its implicit form, or no_node.
template <class C>
struct NodeTree {
  Points<C> points;
  DeviceSpan<const Node> nodes;
  std::uint32_t root = no_node;
  std::int64_t node_count = 0;
};

/// The scratch memory of queries that list what they find, kept for the next one: see Workspace.
struct QueryMemory {
  Workspace answers;
  Workspace sort;

  [[nodiscard]] std::int64_t bytes() const { return answers.bytes() + sort.bytes(); }
};

namespace detail {

template <class C, class Cursor>
SearchedTree<C, Cursor> searched(const Points<C>& points, std::int64_t node_count,
                                 const Cursor& cursor) {
  return {points.coordinates.data,
          points.dimensions,
          static_cast<std::uint32_t>(points.count()),
          static_cast<std::uint32_t>(node_count),
          level_count(node_count),
          cursor};
}
template <class C>
auto require_tree(const MedianTree<C>& tree) {
  const std::int64_t tuples = require_points(tree.points);
  require_in_range("node_count", tree.node_count, 0, tuples);
  require_room("medians", tree.medians, median_entries(tree.node_count));
  return searched(
      tree.points, tree.node_count,
      MedianCursor{tree.medians.data, static_cast<std::uint32_t>(median_entries(tree.node_count))});
}
template <class C>
auto require_tree(const NodeTree<C>& tree) {
  const std::int64_t tuples = require_points(tree.points);
  require_in_range("node_count", tree.node_count, 0, tuples);
  require_span("nodes", tree.nodes);
  require_count("nodes", tree.nodes.count, "points", tuples);
  return searched(tree.points, tree.node_count, NodeCursor{tree.nodes.data, tree.root});
}

/// The number of queries. Throws unless they are whole tuples.
template <class C>
std::int64_t require_queries(const std::string& name, DeviceSpan<const C> queries, int dimensions) {
  require_span(name, queries);
  if (queries.count % dimensions == 0) return queries.count / dimensions;
  throw std::invalid_argument(name + " has " + std::to_string(queries.count) +
                              " coordinates: expected a multiple of dimensions, which is " +
                              std::to_string(dimensions));
}

template <class C>
__device__ __forceinline__ bool has_nan(const C* query, int dimensions) {
  for (int k = 0; k < dimensions; ++k) {
    if (query[k] != query[k]) return true;
  }
  return false;
}

/// One thread a query: answer(tree, number of the query).
template <class Tree, class Answer>
__global__ void __launch_bounds__(128)
    answer_kernel(Tree tree, std::int64_t queries, Answer answer) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < queries) answer(tree, i);
}
template <class Tree, class Answer>
void answer_all(const Tree& tree, std::int64_t queries, const Answer& answer, cudaStream_t stream) {
  if (queries == 0) return;
  constexpr unsigned threads = 128;
  launch({static_cast<unsigned>(divide_up(queries, threads)), threads, 0, stream},
         answer_kernel<Tree, Answer>, tree, queries, answer);
}

template <class C>
struct NearestAnswer {
  const C* queries;
  std::uint32_t* tuples;
  Distance<C>* distances;
  template <class Tree>
  __device__ __forceinline__ void operator()(const Tree& tree, std::int64_t i) const {
    const C* const query = queries + i * tree.dimensions;
    NearestVisit<C> visit(query, tree.dimensions);
    if (!has_nan(query, tree.dimensions)) search(tree, visit);
    tuples[i] = visit.nearest;
    distances[i] = visit.best;
  }
};

template <class C>
struct KNearestAnswer {
  const C* queries;
  std::uint32_t* tuples;
  Distance<C>* distances;
  int k;
  template <class Tree>
  __device__ __forceinline__ void operator()(const Tree& tree, std::int64_t i) const {
    const C* const query = queries + i * tree.dimensions;
    KNearestVisit<C> visit(query, tree.dimensions, distances + i * k, tuples + i * k, k);
    if (!has_nan(query, tree.dimensions)) search(tree, visit);
    visit.finish();
  }
};

/// What is looked for by queries that any number of tuples may answer.
template <class C>
struct InRadius {
  const C* queries;
  Distance<C> squared_radius;
  template <class Tree, class Take>
  __device__ __forceinline__ void operator()(const Tree& tree, std::int64_t i, Take take) const {
    const C* const query = queries + i * tree.dimensions;
    if (has_nan(query, tree.dimensions)) return;
    RadiusVisit<C, Take> visit(query, tree.dimensions, squared_radius, take);
    search(tree, visit);
  }
};
template <class C>
struct InBox {
  const C* lows;
  const C* highs;
  template <class Tree, class Take>
  __device__ __forceinline__ void operator()(const Tree& tree, std::int64_t i, Take take) const {
    const C* const low = lows + i * tree.dimensions;
    const C* const high = highs + i * tree.dimensions;
    if (has_nan(low, tree.dimensions) || has_nan(high, tree.dimensions)) return;
    BoxVisit<C, Take> visit(low, high, tree.dimensions, take);
    search(tree, visit);
  }
};

template <class Find>
struct CountAnswer {
  Find find;
  std::int64_t* counts;
  template <class Tree>
  __device__ __forceinline__ void operator()(const Tree& tree, std::int64_t i) const {
    std::int64_t count = 0;
    find(tree, i, [&](std::uint32_t) { ++count; });
    counts[i] = count;
  }
};

/// Writes the number of the query above that of the tuple, so that one sort brings all answers into
/// order. Never writes what lies beyond the query's part.
template <class Find>
struct ListAnswer {
  Find find;
  const std::int64_t* offsets;
  std::int64_t queries;
  std::uint64_t* out;
  std::int64_t room;
  template <class Tree>
  __device__ __forceinline__ void operator()(const Tree& tree, std::int64_t i) const {
    std::int64_t place = max(offsets[i], std::int64_t{0});
    const std::int64_t end = min(i + 1 < queries ? offsets[i + 1] : room, room);
    const std::uint64_t query = static_cast<std::uint64_t>(i) << 32;
    find(tree, i, [&](std::uint32_t tuple) {
      if (place < end) out[place++] = query | tuple;
    });
    while (place < end) out[place++] = query | no_node;
  }
};

template <class Tuple>
__global__ void take_tuples_kernel(const std::uint64_t* answers, Tuple* tuples,
                                   std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    tuples[i] = static_cast<Tuple>(answers[i]);
  }
}

inline constexpr std::int64_t most_queries = std::int64_t{1} << 31;

template <class Tree, class Find>
void count_all(const Tree& tree, const Find& find, std::int64_t queries,
               DeviceSpan<std::int64_t> counts, cudaStream_t stream) {
  require_in_range("the number of queries", queries, 0, most_queries);
  require_room("counts", counts, queries);
  answer_all(tree, queries, CountAnswer<Find>{find, counts.data}, stream);
}
template <class Tree, class Find>
void list_all(const Tree& tree, const Find& find, std::int64_t queries,
              DeviceSpan<const std::int64_t> offsets, DeviceSpan<std::uint32_t> tuples,
              QueryMemory& memory, cudaStream_t stream) {
  require_in_range("the number of queries", queries, 0, most_queries);
  require_span("offsets", offsets);
  require_span("tuples", tuples);
  require_count("offsets", offsets.count, "queries", queries);
  if (tuples.count == 0) return;
  const auto [answers] = memory.answers.template take<std::uint64_t>(stream, tuples.count);
  answer_all(tree, queries, ListAnswer<Find>{find, offsets.data, queries, answers, tuples.count},
             stream);
  merge_sort::sort_keys(DeviceSpan<std::uint64_t>{answers, tuples.count}, memory.sort, stream);
  launch({static_cast<unsigned>(std::min<std::int64_t>(divide_up(tuples.count, 256), 1 << 16)), 256,
          0, stream},
         take_tuples_kernel<std::uint32_t>, answers, tuples.data, tuples.count);
}

template <class C>
Distance<C> squared_radius_of(Distance<C> radius) {
  if (radius >= 0) return rounded_product(radius, radius);
  throw std::invalid_argument("radius is " + std::to_string(radius) + ": expected 0 or more");
}

}  // namespace detail

/// The nearest tuple to each query, and its squared distance; of equally near ones the one with the
/// least number. no_node and infinity where the tree is empty or a query has NaN.
///
/// tree: a MedianTree or a NodeTree. queries: m tuples; tuples, distances: m elements.
template <class C, template <class> class Tree>
void nearest(const Tree<C>& tree, std::type_identity_t<DeviceSpan<const C>> queries,
             DeviceSpan<std::uint32_t> tuples,
             std::type_identity_t<DeviceSpan<Distance<C>>> distances, cudaStream_t stream) {
  const auto searched = detail::require_tree(tree);
  const std::int64_t m = detail::require_queries("queries", queries, searched.dimensions);
  require_in_range("the number of queries", m, 0, detail::most_queries);
  require_room("tuples", tuples, m);
  require_room("distances", distances, m);
  require_apart("queries", queries, "tuples", tuples);
  require_apart("queries", queries, "distances", distances);
  require_apart("tuples", tuples, "distances", distances);
  detail::answer_all(searched, m,
                     detail::NearestAnswer<C>{queries.data, tuples.data, distances.data}, stream);
}

/// The k nearest tuples to each query, 1 <= k <= 128, the nearest first, and their squared
/// distances; equally near ones in the order of their numbers. no_node and infinity where there are
/// fewer.
///
/// queries: m tuples; tuples, distances: m rows of k elements.
template <class C, template <class> class Tree>
void k_nearest(const Tree<C>& tree, std::type_identity_t<DeviceSpan<const C>> queries, int k,
               DeviceSpan<std::uint32_t> tuples,
               std::type_identity_t<DeviceSpan<Distance<C>>> distances, cudaStream_t stream) {
  const auto searched = detail::require_tree(tree);
  require_in_range("k", k, 1, 128);
  const std::int64_t m = detail::require_queries("queries", queries, searched.dimensions);
  require_in_range("the number of queries", m, 0, detail::most_queries);
  require_room("tuples", tuples, m * k);
  require_room("distances", distances, m * k);
  require_apart("queries", queries, "tuples", tuples);
  require_apart("queries", queries, "distances", distances);
  require_apart("tuples", tuples, "distances", distances);
  detail::answer_all(
      searched, m, detail::KNearestAnswer<C>{queries.data, tuples.data, distances.data, k}, stream);
}

/// How many tuples are at most `radius` away from each query: those whose squared distance is at
/// most the square of the radius, rounded. queries: m tuples; counts: m elements.
template <class C, template <class> class Tree>
void count_within_radius(const Tree<C>& tree, std::type_identity_t<DeviceSpan<const C>> queries,
                         std::type_identity_t<Distance<C>> radius, DeviceSpan<std::int64_t> counts,
                         cudaStream_t stream) {
  const auto searched = detail::require_tree(tree);
  const Distance<C> squared_radius = detail::squared_radius_of<C>(radius);
  const std::int64_t m = detail::require_queries("queries", queries, searched.dimensions);
  require_apart("queries", queries, "counts", counts);
  detail::count_all(searched, detail::InRadius<C>{queries.data, squared_radius}, m, counts, stream);
}

/// All tuples at most `radius` away from each query, in the order of their numbers: those of query
/// i from tuples[offsets[i]] on. queries: m tuples; offsets: the sums of the counts before each,
/// exclusive; tuples: as many as all counts together.
template <class C, template <class> class Tree>
void within_radius(const Tree<C>& tree, std::type_identity_t<DeviceSpan<const C>> queries,
                   std::type_identity_t<Distance<C>> radius,
                   std::type_identity_t<DeviceSpan<const std::int64_t>> offsets,
                   DeviceSpan<std::uint32_t> tuples, QueryMemory& memory, cudaStream_t stream) {
  const auto searched = detail::require_tree(tree);
  const Distance<C> squared_radius = detail::squared_radius_of<C>(radius);
  const std::int64_t m = detail::require_queries("queries", queries, searched.dimensions);
  require_apart("queries", queries, "tuples", tuples);
  require_apart("offsets", offsets, "tuples", tuples);
  detail::list_all(searched, detail::InRadius<C>{queries.data, squared_radius}, m, offsets, tuples,
                   memory, stream);
}

/// How many tuples lie in each box: low <= coordinate <= high, for all coordinates. lows, highs: m
/// tuples, the corners of the boxes; counts: m elements.
template <class C, template <class> class Tree>
void count_in_box(const Tree<C>& tree, std::type_identity_t<DeviceSpan<const C>> lows,
                  std::type_identity_t<DeviceSpan<const C>> highs, DeviceSpan<std::int64_t> counts,
                  cudaStream_t stream) {
  const auto searched = detail::require_tree(tree);
  const std::int64_t m = detail::require_queries("lows", lows, searched.dimensions);
  require_span("highs", highs);
  require_count("highs", highs.count, "lows", lows.count);
  require_apart("lows", lows, "counts", counts);
  require_apart("highs", highs, "counts", counts);
  detail::count_all(searched, detail::InBox<C>{lows.data, highs.data}, m, counts, stream);
}

/// All tuples in each box, in the order of their numbers: those of box i from tuples[offsets[i]]
/// on.
template <class C, template <class> class Tree>
void in_box(const Tree<C>& tree, std::type_identity_t<DeviceSpan<const C>> lows,
            std::type_identity_t<DeviceSpan<const C>> highs,
            std::type_identity_t<DeviceSpan<const std::int64_t>> offsets,
            DeviceSpan<std::uint32_t> tuples, QueryMemory& memory, cudaStream_t stream) {
  const auto searched = detail::require_tree(tree);
  const std::int64_t m = detail::require_queries("lows", lows, searched.dimensions);
  require_span("highs", highs);
  require_count("highs", highs.count, "lows", lows.count);
  require_apart("lows", lows, "tuples", tuples);
  require_apart("highs", highs, "tuples", tuples);
  require_apart("offsets", offsets, "tuples", tuples);
  detail::list_all(searched, detail::InBox<C>{lows.data, highs.data}, m, offsets, tuples, memory,
                   stream);
}

}  // namespace warpath::kd_tree
