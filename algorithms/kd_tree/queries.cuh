// Queries of a k-d tree, in batches, a thread each: the public host functions.
//
// Answers are exact: those of brute force with squared_distance() (distance.cuh), in the same
// order. A query with NaN has no answer. All outputs are on the device; nothing synchronises.
//
//   tree     a MedianTree, a NodeTree, or an InOrderTree, which put_in_order() makes of both. Where
//            there are many queries, they do so by themselves, and bring the queries into the order
//            of the tree: see Preparation.
//   memory   grows when a call needs more, and is kept for the next one: see Workspace.
//   Errors   std::invalid_argument, which names the argument, before anything is launched.
//
// A tree that is no right one gives wrong answers, but no endless loop and no access outside the
// arguments; verify() says what is wrong with it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/enum_names.hpp"
#include "core/launch.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "core/with_constant.hpp"
#include "kd_tree/arguments.cuh"
#include "kd_tree/distance.cuh"
#include "kd_tree/in_order.cuh"
#include "kd_tree/query_order.cuh"
#include "kd_tree/search.cuh"
#include "kd_tree/tree.cuh"
#include "kd_tree/visits.cuh"
#include "kd_tree/warp_search.cuh"
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

/// What is done before queries are answered. Answers are the same.
enum class Preparation {
  automatic,        ///< by the numbers of queries and of nodes
  none,             ///< the tree is searched in the form that it has, queries come in their order
  tree,             ///< the tree is put in order
  tree_and_queries  ///< the queries too are brought into the order of the tree
};
constexpr auto enum_table(Preparation) {
  return std::to_array<EnumName<Preparation>>(
      {{Preparation::automatic, "automatic"},
       {Preparation::none, "none"},
       {Preparation::tree, "tree"},
       {Preparation::tree_and_queries, "tree_and_queries"}});
}
struct QueryOptions {
  Preparation preparation = Preparation::automatic;
};

/// The scratch memory of queries, kept for the next ones: see Workspace.
struct QueryMemory {
  Workspace tree;
  Workspace order;
  Workspace answers;
  Workspace sort;

  [[nodiscard]] std::int64_t bytes() const {
    return tree.bytes() + order.bytes() + answers.bytes() + sort.bytes();
  }
};

namespace detail {

/// The number of nodes. Throws unless the tree has what its form says.
template <class C>
std::int64_t require_tree(const MedianTree<C>& tree) {
  require_in_range("node_count", tree.node_count, 0, require_points(tree.points));
  require_room("medians", tree.medians, median_entries(tree.node_count));
  return tree.node_count;
}
template <class C>
std::int64_t require_tree(const NodeTree<C>& tree) {
  const std::int64_t tuples = require_points(tree.points);
  require_in_range("node_count", tree.node_count, 0, tuples);
  require_span("nodes", tree.nodes);
  require_count("nodes", tree.nodes.count, "points", tuples);
  return tree.node_count;
}
template <class C>
std::int64_t require_tree(const InOrderTree<C>& tree) {
  require_in_range("dimensions", tree.dimensions, 1, most_dimensions);
  require_in_range("node_count", tree.node_count, 0, most_tuples);
  if (tree.node_count > 0 && (tree.rows == nullptr || tree.tuples == nullptr)) {
    throw std::invalid_argument("the tree in order has no rows: expected what put_in_order() gave");
  }
  return tree.node_count;
}

/// Throws if what is written overlaps the tree.
template <class C, class T>
void require_apart_from(const MedianTree<C>& tree, const std::string& name, DeviceSpan<T> out) {
  require_apart("points", tree.points.coordinates, name, out);
  require_apart("medians", tree.medians, name, out);
}
template <class C, class T>
void require_apart_from(const NodeTree<C>& tree, const std::string& name, DeviceSpan<T> out) {
  require_apart("points", tree.points.coordinates, name, out);
  require_apart("nodes", tree.nodes, name, out);
}
template <class C, class T>
void require_apart_from(const InOrderTree<C>& tree, const std::string& name, DeviceSpan<T> out) {
  const std::int64_t coordinates = tree.node_count * row_length<C>(tree.dimensions);
  require_apart("the tree in order", DeviceSpan<const C>{tree.rows, coordinates}, name, out);
  require_apart("the tree in order", DeviceSpan<const std::uint32_t>{tree.tuples, tree.node_count},
                name, out);
  const std::int64_t splits = first_entry(split_levels(tree.node_count));
  require_apart("the tree in order", DeviceSpan<const C>{tree.splits, splits}, name, out);
}

template <class C>
int dimensions_of(const MedianTree<C>& tree) {
  return tree.points.dimensions;
}
template <class C>
int dimensions_of(const NodeTree<C>& tree) {
  return tree.points.dimensions;
}
template <class C>
int dimensions_of(const InOrderTree<C>& tree) {
  return tree.dimensions;
}

template <class C, class Cursor>
SearchedTree<C, Cursor> searched_by(const Points<C>& points, std::int64_t node_count,
                                    const Cursor& cursor) {
  return {points.coordinates.data,
          points.dimensions,
          static_cast<std::uint32_t>(points.count()),
          static_cast<std::uint32_t>(node_count),
          level_count(node_count),
          cursor};
}
template <class C>
auto as_it_is(const MedianTree<C>& tree) {
  const auto entries = static_cast<std::uint32_t>(median_entries(tree.node_count));
  return searched_by(tree.points, tree.node_count, MedianCursor{tree.medians.data, entries});
}
template <class C>
auto as_it_is(const NodeTree<C>& tree) {
  return searched_by(tree.points, tree.node_count, NodeCursor{tree.nodes.data, tree.root});
}

template <class C>
InOrderTree<C> in_order(const MedianTree<C>& tree, Workspace& memory, cudaStream_t stream) {
  return run_put_in_order<C>(tree.points, tree.medians, {}, no_node, tree.node_count, memory,
                             stream);
}
template <class C>
InOrderTree<C> in_order(const NodeTree<C>& tree, Workspace& memory, cudaStream_t stream) {
  return run_put_in_order<C>(tree.points, {}, tree.nodes, tree.root, tree.node_count, memory,
                             stream);
}
template <class C>
InOrderTree<C> in_order(const InOrderTree<C>& tree, Workspace&, cudaStream_t) {
  return tree;
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

/// Of fewer queries, most of the time would go to their sort.
inline constexpr std::int64_t least_sorted_queries = std::int64_t{1} << 20;
/// To put a tree in order costs about as much as to ask so many nodes' share of one query.
inline constexpr std::int64_t nodes_a_query = 32;

inline Preparation preparation_of(const QueryOptions& options, std::int64_t queries,
                                  std::int64_t nodes, bool is_in_order) {
  if (options.preparation != Preparation::automatic) return options.preparation;
  if (!is_in_order && queries < nodes / nodes_a_query) return Preparation::none;
  return queries < least_sorted_queries ? Preparation::tree : Preparation::tree_and_queries;
}

/// One thread a query: answer(tree, its place among the queries, its number).
template <class Tree, class Answer>
__global__ void __launch_bounds__(128)
    answer_kernel(Tree tree, QueryNumbers queries, Answer answer) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= queries.count) return;
  answer(tree, i, queries.numbers == nullptr ? i : std::int64_t{queries.numbers[i]});
}
template <class Tree, class Answer>
void ask_by_thread(const Tree& tree, const QueryNumbers& queries, const Answer& answer,
                   cudaStream_t stream) {
  constexpr unsigned threads = 128;
  launch({static_cast<unsigned>(divide_up(queries.count, threads)), threads, 0, stream},
         answer_kernel<Tree, Answer>, tree, queries, answer);
}

/// Answers all queries. Answer has
///   answer.queries()                      the tuples by which queries are ordered
///   answer.with(take)                     the same, of the tuples that take(tuples) gives for each
///                                         of its Answer::arrays arrays
///   answer.ask(tree, queries, stream)     of a tree as it is, or in order
template <class Tree, class Answer>
void answer_all(const Tree& tree, const Answer& answer, std::int64_t queries, QueryMemory& memory,
                cudaStream_t stream, const QueryOptions& options) {
  require_enum("options.preparation", options.preparation);
  if (queries == 0) return;
  constexpr bool is_in_order = requires {
    tree.rows;
  };
  const Preparation preparation = preparation_of(options, queries, tree.node_count, is_in_order);
  if constexpr (!is_in_order) {
    if (preparation == Preparation::none) {
      answer.ask(as_it_is(tree), {nullptr, queries}, stream);
      return;
    }
  }
  const auto ordered_tree = in_order(tree, memory.tree, stream);
  if (preparation != Preparation::tree_and_queries || split_levels(tree.node_count) == 0) {
    answer.ask(ordered_tree, {nullptr, queries}, stream);
    return;
  }
  using C = std::remove_const_t<std::remove_pointer_t<decltype(answer.queries())>>;
  const int dimensions = ordered_tree.dimensions;
  const auto [paths, numbers, gathered] =
      memory.order.template take<std::uint32_t, std::uint32_t, C>(
          stream, queries, queries, Answer::arrays * queries * dimensions);
  order_queries(ordered_tree, answer.queries(), {numbers, queries}, paths, memory.sort, stream);
  const QueryNumbers order{numbers, queries};
  C* next = gathered;
  const Answer ordered = answer.with([&](const C* tuples) {
    C* const in_order = std::exchange(next, next + queries * dimensions);
    gather_tuples(tuples, order, dimensions, in_order, stream);
    return in_order;
  });
  ordered.ask(ordered_tree, order, stream);
}

/// The nearest tuples of a query, by a List of visits.cuh.
template <class C, class List>
struct NearestByThread {
  const C* queries;
  NearestOutput<C> output;

  template <class Tree>
  __device__ __forceinline__ void operator()(const Tree& tree, std::int64_t place,
                                             std::int64_t number) const {
    const auto query = Tree::Query::of_tuple(queries + place * tree.dimensions, tree.dimensions);
    const bool is_number = !has_nan(query);
    List around(output.of_query(number));
    if (is_number) {
      NearestVisit<C, Tree, List> visit(tree, query, around, infinitely_far<C>());
      look_around(tree, visit);
    }
    List list(output.of_query(number));
    if (is_number) {
      NearestVisit<C, Tree, List> visit(tree, query, list, around.farthest());
      search(tree, visit);
    }
    list.write(tree);
  }
};

/// The nearest tuples of all queries.
template <class C>
struct NearestAnswer {
  static constexpr int arrays = 1;
  const C* tuples_asked;
  NearestOutput<C> output;

  [[nodiscard]] const C* queries() const { return tuples_asked; }
  template <class Take>
  [[nodiscard]] NearestAnswer with(const Take& take) const {
    return {take(tuples_asked), output};
  }
  template <class Cursor>
  void ask(const SearchedTree<C, Cursor>& tree, const QueryNumbers& queries,
           cudaStream_t stream) const {
    if (output.k == 1) {
      ask_by_list<SortedList<C, 1>>(tree, queries, stream);
    } else {
      ask_by_list<NearestHeap<C>>(tree, queries, stream);
    }
  }
  /// By a thread where few rows are looked at, else by a warp.
  void ask(const InOrderTree<C>& tree, const QueryNumbers& queries, cudaStream_t stream) const {
    if (output.k > 8 || tree.dimensions > 4) {
      ask_by_warp(tree, tuples_asked, queries, output, stream);
      return;
    }
    with_constant<1, 2, 3, 4>("dimensions", tree.dimensions, [&]<int dimensions>() {
      const SearchedOrder<C, dimensions> searched{tree, dimensions};
      if (output.k == 1) {
        ask_by_list<SortedList<C, 1>>(searched, queries, stream);
      } else {
        ask_by_list<SortedList<C, 8>>(searched, queries, stream);
      }
    });
  }

 private:
  template <class List, class Tree>
  void ask_by_list(const Tree& tree, const QueryNumbers& queries, cudaStream_t stream) const {
    ask_by_thread(tree, queries, NearestByThread<C, List>{tuples_asked, output}, stream);
  }
};

/// What is looked for by queries that any number of tuples may answer.
template <class C>
struct InRadius {
  static constexpr int arrays = 1;
  const C* tuples_asked;
  Distance<C> squared_radius;

  [[nodiscard]] const C* queries() const { return tuples_asked; }
  template <class Take>
  [[nodiscard]] InRadius with(const Take& take) const {
    return {take(tuples_asked), squared_radius};
  }
  template <class Tree, class Act>
  __device__ __forceinline__ void operator()(const Tree& tree, std::int64_t place, Act act) const {
    using Query = typename Tree::Query;
    const auto query = Query::of_tuple(tuples_asked + place * tree.dimensions, tree.dimensions);
    if (has_nan(query)) return;
    RadiusVisit<C, Query, Act> visit(query, squared_radius, act);
    search(tree, visit);
  }
};
template <class C>
struct InBox {
  static constexpr int arrays = 2;
  const C* lows;
  const C* highs;

  [[nodiscard]] const C* queries() const { return lows; }
  template <class Take>
  [[nodiscard]] InBox with(const Take& take) const {
    return {take(lows), take(highs)};
  }
  template <class Tree, class Act>
  __device__ __forceinline__ void operator()(const Tree& tree, std::int64_t place, Act act) const {
    using Query = typename Tree::Query;
    const auto low = Query::of_tuple(lows + place * tree.dimensions, tree.dimensions);
    const auto high = Query::of_tuple(highs + place * tree.dimensions, tree.dimensions);
    if (has_nan(low) || has_nan(high)) return;
    BoxVisit<C, Query, Act> visit(low, high, act);
    search(tree, visit);
  }
};

template <class Tree>
const Tree& as_searched(const Tree& tree) {
  return tree;
}
template <class C>
SearchedOrder<C, 0> as_searched(const InOrderTree<C>& tree) {
  return {tree, tree.dimensions};
}

template <class Find>
struct CountAnswer {
  static constexpr int arrays = Find::arrays;
  Find find;
  std::int64_t* counts;

  [[nodiscard]] auto queries() const { return find.queries(); }
  template <class Take>
  [[nodiscard]] CountAnswer with(const Take& take) const {
    return {find.with(take), counts};
  }
  template <class Tree>
  void ask(const Tree& tree, const QueryNumbers& queries, cudaStream_t stream) const {
    ask_by_thread(as_searched(tree), queries, *this, stream);
  }
  template <class Tree>
  __device__ __forceinline__ void operator()(const Tree& tree, std::int64_t place,
                                             std::int64_t number) const {
    std::int64_t count = 0;
    find(tree, place, [&](std::uint32_t) { ++count; });
    counts[number] = count;
  }
};

/// Writes the number of the query above that of the tuple, so that one sort brings all answers into
/// order. Never writes what lies beyond the query's part.
template <class Find>
struct ListAnswer {
  static constexpr int arrays = Find::arrays;
  Find find;
  DeviceSpan<const std::int64_t> offsets;
  DeviceSpan<std::uint64_t> out;

  [[nodiscard]] auto queries() const { return find.queries(); }
  template <class Take>
  [[nodiscard]] ListAnswer with(const Take& take) const {
    return {find.with(take), offsets, out};
  }
  template <class Tree>
  void ask(const Tree& tree, const QueryNumbers& queries, cudaStream_t stream) const {
    ask_by_thread(as_searched(tree), queries, *this, stream);
  }
  template <class Tree>
  __device__ __forceinline__ void operator()(const Tree& tree, std::int64_t place,
                                             std::int64_t number) const {
    std::int64_t next = max(offsets.data[number], std::int64_t{0});
    const std::int64_t end =
        min(number + 1 < offsets.count ? offsets.data[number + 1] : out.count, out.count);
    const std::uint64_t query = static_cast<std::uint64_t>(number) << 32;
    find(tree, place, [&](std::uint32_t row) {
      if (next < end) out.data[next++] = query | tree.number(row);
    });
    while (next < end) out.data[next++] = query | no_node;
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

/// Where queries are asked, and how.
struct Asking {
  QueryMemory& memory;
  cudaStream_t stream;
  const QueryOptions& options;
};

template <class Tree, class Find>
void count_all(const Tree& tree, const Find& find, std::int64_t queries,
               DeviceSpan<std::int64_t> counts, const Asking& asking) {
  require_in_range("the number of queries", queries, 0, most_queries);
  require_room("counts", counts, queries);
  answer_all(tree, CountAnswer<Find>{find, counts.data}, queries, asking.memory, asking.stream,
             asking.options);
}
template <class Tree, class Find>
void list_all(const Tree& tree, const Find& find, std::int64_t queries,
              DeviceSpan<const std::int64_t> offsets, DeviceSpan<std::uint32_t> tuples,
              const Asking& asking) {
  require_in_range("the number of queries", queries, 0, most_queries);
  require_span("offsets", offsets);
  require_span("tuples", tuples);
  require_count("offsets", offsets.count, "queries", queries);
  require_enum("options.preparation", asking.options.preparation);
  if (tuples.count == 0) return;
  const cudaStream_t stream = asking.stream;
  const auto [data] = asking.memory.answers.template take<std::uint64_t>(stream, tuples.count);
  const DeviceSpan<std::uint64_t> answers{data, tuples.count};
  answer_all(tree, ListAnswer<Find>{find, offsets, answers}, queries, asking.memory, stream,
             asking.options);
  merge_sort::sort_keys(answers, asking.memory.sort, stream);
  launch({blocks_of_256(tuples.count), 256, 0, stream}, take_tuples_kernel<std::uint32_t>, data,
         tuples.data, tuples.count);
}

template <class C>
Distance<C> squared_radius_of(Distance<C> radius) {
  if (radius >= 0) return rounded_product(radius, radius);
  throw std::invalid_argument("radius is " + std::to_string(radius) + ": expected 0 or more");
}

}  // namespace detail

/// A tree in order: its tuples in their order from the least to the greatest subtree, which is the
/// form that many queries are answered from soonest. tree: a MedianTree or a NodeTree. It lies in
/// `memory`, and lasts until that is used again; the points and the tree itself are not needed any
/// more.
template <class C, template <class> class Tree>
InOrderTree<C> put_in_order(const Tree<C>& tree, Workspace& memory, cudaStream_t stream) {
  detail::require_tree(tree);
  return detail::in_order(tree, memory, stream);
}

/// The k nearest tuples to each query, 1 <= k <= 128, the nearest first, and their squared
/// distances; equally near ones in the order of their numbers. no_node and infinity where there are
/// fewer.
///
/// queries: m tuples; tuples, distances: m rows of k elements.
template <class C, template <class> class Tree>
void k_nearest(const Tree<C>& tree, std::type_identity_t<DeviceSpan<const C>> queries, int k,
               DeviceSpan<std::uint32_t> tuples,
               std::type_identity_t<DeviceSpan<Distance<C>>> distances, QueryMemory& memory,
               cudaStream_t stream, const QueryOptions& options = {}) {
  detail::require_tree(tree);
  require_in_range("k", k, 1, 128);
  const std::int64_t m = detail::require_queries("queries", queries, detail::dimensions_of(tree));
  require_in_range("the number of queries", m, 0, detail::most_queries);
  require_room("tuples", tuples, m * k);
  require_room("distances", distances, m * k);
  require_apart("queries", queries, "tuples", tuples);
  require_apart("queries", queries, "distances", distances);
  require_apart("tuples", tuples, "distances", distances);
  detail::require_apart_from(tree, "tuples", tuples);
  detail::require_apart_from(tree, "distances", distances);
  const detail::NearestOutput<C> output{tuples.data, distances.data, k};
  detail::answer_all(tree, detail::NearestAnswer<C>{queries.data, output}, m, memory, stream,
                     options);
}

/// The nearest tuple to each query, and its squared distance; of equally near ones the one with the
/// least number. no_node and infinity where the tree is empty or a query has NaN.
///
/// queries: m tuples; tuples, distances: m elements.
template <class C, template <class> class Tree>
void nearest(const Tree<C>& tree, std::type_identity_t<DeviceSpan<const C>> queries,
             DeviceSpan<std::uint32_t> tuples,
             std::type_identity_t<DeviceSpan<Distance<C>>> distances, QueryMemory& memory,
             cudaStream_t stream, const QueryOptions& options = {}) {
  k_nearest(tree, queries, 1, tuples, distances, memory, stream, options);
}

/// How many tuples are at most `radius` away from each query: those whose squared distance is at
/// most the square of the radius, rounded. queries: m tuples; counts: m elements.
template <class C, template <class> class Tree>
void count_within_radius(const Tree<C>& tree, std::type_identity_t<DeviceSpan<const C>> queries,
                         std::type_identity_t<Distance<C>> radius, DeviceSpan<std::int64_t> counts,
                         QueryMemory& memory, cudaStream_t stream,
                         const QueryOptions& options = {}) {
  detail::require_tree(tree);
  const Distance<C> squared_radius = detail::squared_radius_of<C>(radius);
  const std::int64_t m = detail::require_queries("queries", queries, detail::dimensions_of(tree));
  require_apart("queries", queries, "counts", counts);
  detail::require_apart_from(tree, "counts", counts);
  detail::count_all(tree, detail::InRadius<C>{queries.data, squared_radius}, m, counts,
                    {memory, stream, options});
}

/// All tuples at most `radius` away from each query, in the order of their numbers: those of query
/// i from tuples[offsets[i]] on. queries: m tuples; offsets: the sums of the counts before each,
/// exclusive; tuples: as many as all counts together (of fewer, which ones are left out is left to
/// chance).
template <class C, template <class> class Tree>
void within_radius(const Tree<C>& tree, std::type_identity_t<DeviceSpan<const C>> queries,
                   std::type_identity_t<Distance<C>> radius,
                   std::type_identity_t<DeviceSpan<const std::int64_t>> offsets,
                   DeviceSpan<std::uint32_t> tuples, QueryMemory& memory, cudaStream_t stream,
                   const QueryOptions& options = {}) {
  detail::require_tree(tree);
  const Distance<C> squared_radius = detail::squared_radius_of<C>(radius);
  const std::int64_t m = detail::require_queries("queries", queries, detail::dimensions_of(tree));
  require_apart("queries", queries, "tuples", tuples);
  require_apart("offsets", offsets, "tuples", tuples);
  detail::require_apart_from(tree, "tuples", tuples);
  detail::list_all(tree, detail::InRadius<C>{queries.data, squared_radius}, m, offsets, tuples,
                   {memory, stream, options});
}

/// How many tuples lie in each box: low <= coordinate <= high, for all coordinates. lows, highs: m
/// tuples, the corners of the boxes; counts: m elements.
template <class C, template <class> class Tree>
void count_in_box(const Tree<C>& tree, std::type_identity_t<DeviceSpan<const C>> lows,
                  std::type_identity_t<DeviceSpan<const C>> highs, DeviceSpan<std::int64_t> counts,
                  QueryMemory& memory, cudaStream_t stream, const QueryOptions& options = {}) {
  detail::require_tree(tree);
  const std::int64_t m = detail::require_queries("lows", lows, detail::dimensions_of(tree));
  require_span("highs", highs);
  require_count("highs", highs.count, "lows", lows.count);
  require_apart("lows", lows, "counts", counts);
  require_apart("highs", highs, "counts", counts);
  detail::require_apart_from(tree, "counts", counts);
  detail::count_all(tree, detail::InBox<C>{lows.data, highs.data}, m, counts,
                    {memory, stream, options});
}

/// All tuples in each box, in the order of their numbers: those of box i from tuples[offsets[i]]
/// on.
template <class C, template <class> class Tree>
void in_box(const Tree<C>& tree, std::type_identity_t<DeviceSpan<const C>> lows,
            std::type_identity_t<DeviceSpan<const C>> highs,
            std::type_identity_t<DeviceSpan<const std::int64_t>> offsets,
            DeviceSpan<std::uint32_t> tuples, QueryMemory& memory, cudaStream_t stream,
            const QueryOptions& options = {}) {
  detail::require_tree(tree);
  const std::int64_t m = detail::require_queries("lows", lows, detail::dimensions_of(tree));
  require_span("highs", highs);
  require_count("highs", highs.count, "lows", lows.count);
  require_apart("lows", lows, "tuples", tuples);
  require_apart("highs", highs, "tuples", tuples);
  require_apart("offsets", offsets, "tuples", tuples);
  detail::require_apart_from(tree, "tuples", tuples);
  detail::list_all(tree, detail::InBox<C>{lows.data, highs.data}, m, offsets, tuples,
                   {memory, stream, options});
}

}  // namespace warpath::kd_tree
