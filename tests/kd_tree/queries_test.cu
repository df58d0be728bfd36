// Queries over both forms against brute force, in every place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../message_of.hpp"
#include "../number_types.hpp"
#include "../stream.cuh"
#include "../test_size.hpp"
#include "kd_tree/oracle.hpp"
#include "kd_tree/queries.cuh"
#include "output.cuh"
#include "points.hpp"

namespace warpath::kd_tree::test {
namespace {

using oracle::Neighbour;
using oracle::PointSet;
using oracle::References;

/// A tree on the device in both forms.
template <class C>
struct DeviceTree {
  PointSet<C> points;
  References tuples;  ///< those that are in the tree
  DeviceBuffer<C> coordinates;
  DeviceBuffer<std::uint32_t> medians;
  DeviceBuffer<Node> nodes;
  std::uint32_t root = no_node;

  explicit DeviceTree(const PointSet<C>& of, bool distinct = false)
      : points(of), tuples(oracle::numbers(of, distinct)) {
    const References stores = oracle::median_stores(points, tuples);
    coordinates = on_device(points.coordinates);
    medians = on_device(stores);
    nodes = on_device(nodes_of(stores, points.count()));
    if (!stores.empty()) root = stores[0];
  }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(tuples.size()); }
  [[nodiscard]] MedianTree<C> by_medians() const {
    return {{coordinates.span(), points.dimensions}, medians.span(), count()};
  }
  [[nodiscard]] NodeTree<C> by_nodes() const {
    return {{coordinates.span(), points.dimensions}, nodes.span(), root, count()};
  }
  /// Calls act(tree, options) with either form of the tree and every preparation, and with the tree
  /// put in order by the caller.
  template <class Act>
  void with_all(const Act& act) const {
    for (const auto& [preparation, name] : enum_table(Preparation{})) {
      const QueryOptions options{preparation};
      {
        SCOPED_TRACE("by median stores, prepared: " + std::string(name));
        act(by_medians(), options);
      }
      if (preparation != Preparation::none && preparation != Preparation::tree) continue;
      SCOPED_TRACE("by nodes, prepared: " + std::string(name));
      act(by_nodes(), options);
      if (preparation == Preparation::none) continue;
      const Stream stream;
      Workspace memory;
      act(put_in_order(by_medians(), memory, stream), options);
      WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    }
  }
};

template <class C>
class Queries : public testing::Test {
 protected:
  /// Some of the points, points in between, and points of another kind.
  static PointSet<C> queries_of(const PointSet<C>& points, std::int64_t m, unsigned seed) {
    std::mt19937_64 random(seed);
    PointSet<C> queries;
    queries.dimensions = points.dimensions;
    for (std::int64_t i = 0; i < m; ++i) {
      for (int k = 0; k < points.dimensions; ++k) {
        const bool is_one = points.count() > 0 && random() % 3 != 0;
        queries.coordinates.push_back(
            is_one ? points.tuple(static_cast<std::uint32_t>(random() % points.count()))[k]
                   : coordinate_of<C>(all_distributions[random() % 6], i, k, random));
      }
    }
    return queries;
  }

  void expect_k_nearest(const DeviceTree<C>& tree, const PointSet<C>& queries, int k) {
    const auto m = static_cast<std::int64_t>(queries.count());
    const DeviceBuffer<C> asked = on_device(queries.coordinates);
    References tuples;
    std::vector<Distance<C>> distances;
    for (std::int64_t i = 0; i < m; ++i) {
      auto found =
          oracle::k_nearest(tree.points, tree.tuples, queries.tuple(static_cast<std::uint32_t>(i)),
                            static_cast<std::size_t>(k));
      found.resize(static_cast<std::size_t>(k), {infinitely_far, no_node});
      for (const Neighbour<C>& one : found) {
        tuples.push_back(one.tuple);
        distances.push_back(one.distance);
      }
    }
    tree.with_all([&](const auto& form, const QueryOptions& options) {
      Output<std::uint32_t> out(m * k);
      Output<Distance<C>> far(m * k);
      k_nearest(form, asked.span(), k, out.span(), far.span(), memory_, stream_, options);
      EXPECT_EQ(out.get(), tuples);
      EXPECT_EQ(far.get(), distances);
      if (k > 1) return;
      Output<std::uint32_t> one(m);
      Output<Distance<C>> distance(m);
      nearest(form, asked.span(), one.span(), distance.span(), memory_, stream_, options);
      EXPECT_EQ(one.get(), tuples);
      EXPECT_EQ(distance.get(), distances);
    });
  }

  /// What `count` and `list` give, called as count(tree, counts) and list(tree, offsets, tuples).
  template <class Count, class List>
  void expect_lists(const DeviceTree<C>& tree, const std::vector<References>& expected,
                    const Count& count, const List& list) {
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> offsets;
    References all;
    for (const References& one : expected) {
      counts.push_back(static_cast<std::int64_t>(one.size()));
      offsets.push_back(static_cast<std::int64_t>(all.size()));
      all.insert(all.end(), one.begin(), one.end());
    }
    const DeviceBuffer<std::int64_t> begins = on_device(offsets);
    tree.with_all([&](const auto& form, const QueryOptions& options) {
      Output<std::int64_t> counted(static_cast<std::int64_t>(counts.size()));
      count(form, counted.span(), options);
      EXPECT_EQ(counted.get(), counts);
      Output<std::uint32_t> listed(static_cast<std::int64_t>(all.size()));
      list(form, begins.span(), listed.span(), options);
      EXPECT_EQ(listed.get(), all);
    });
  }
  void expect_within_radius(const DeviceTree<C>& tree, const PointSet<C>& queries,
                            Distance<C> radius) {
    const DeviceBuffer<C> asked = on_device(queries.coordinates);
    std::vector<References> expected;
    for (std::uint32_t i = 0; i < queries.count(); ++i) {
      expected.push_back(oracle::within_radius(tree.points, tree.tuples, queries.tuple(i), radius));
    }
    expect_lists(
        tree, expected,
        [&](const auto& form, auto counts, const auto& options) {
          count_within_radius(form, asked.span(), radius, counts, memory_, stream_, options);
        },
        [&](const auto& form, auto offsets, auto tuples, const auto& options) {
          within_radius(form, asked.span(), radius, offsets, tuples, memory_, stream_, options);
        });
  }
  void expect_in_box(const DeviceTree<C>& tree, const PointSet<C>& lows, const PointSet<C>& highs) {
    const DeviceBuffer<C> low = on_device(lows.coordinates);
    const DeviceBuffer<C> high = on_device(highs.coordinates);
    std::vector<References> expected;
    for (std::uint32_t i = 0; i < lows.count(); ++i) {
      expected.push_back(oracle::in_box(tree.points, tree.tuples, lows.tuple(i), highs.tuple(i)));
    }
    expect_lists(
        tree, expected,
        [&](const auto& form, auto counts, const auto& options) {
          count_in_box(form, low.span(), high.span(), counts, memory_, stream_, options);
        },
        [&](const auto& form, auto offsets, auto tuples, const auto& options) {
          in_box(form, low.span(), high.span(), offsets, tuples, memory_, stream_, options);
        });
  }

  static constexpr Distance<C> infinitely_far = std::numeric_limits<Distance<C>>::infinity();
  Stream stream_;
  QueryMemory memory_;
};

TYPED_TEST_SUITE(Queries, CoordinateTypes);

TYPED_TEST(Queries, FindWhatBruteForceFinds) {
  using C = TypeParam;
  int seed = 0;
  for (const Distribution distribution : all_distributions) {
    for (const int n : {0, 1, 2, 6, is_small() ? 30 : 333}) {
      const int dimensions = std::array{1, 2, 3, 4, 7, 16}[static_cast<std::size_t>(seed++ % 6)];
      SCOPED_TRACE(std::to_string(n) + " tuples of " + std::to_string(dimensions) + ", " +
                   name_of(distribution));
      const DeviceTree<C> tree(
          make_points<C>(n, dimensions, distribution, static_cast<std::uint64_t>(seed)),
          seed % 2 == 0);
      const auto queries = this->queries_of(tree.points, 33, static_cast<unsigned>(seed));
      // Two of each (one in a small run), others from tree to tree.
      const std::array counts = {1, 9, 2, 40, 8, 128};
      const std::array radii = {0.0, 400000.0, 1.0, 1e30, 1.5};
      const auto each = static_cast<std::size_t>(is_small() ? 1 : 2);
      for (std::size_t next = 0; next < each; ++next) {
        const std::size_t number = each * static_cast<std::size_t>(seed) + next;
        this->expect_k_nearest(tree, queries, counts[number % 6]);
        this->expect_within_radius(tree, queries, static_cast<Distance<C>>(radii[number % 5]));
      }
      this->expect_in_box(tree, queries, queries);
      this->expect_in_box(tree, queries, this->queries_of(tree.points, 33, 99));
      if (this->HasFailure()) return;
    }
  }
}

// A query with NaN has no answer, whatever its other coordinates are.
TEST(QueriesWithNan, FindNothing) {
  const DeviceTree<float> tree(make_points<float>(50, 2, Distribution::few_values, 1));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const DeviceBuffer<float> queries = on_device(std::vector<float>{nan, 0, 0, nan, nan, nan, 0, 0});
  const DeviceBuffer<float> far = on_device(std::vector<float>{9, 9, 9, 9, 9, 9, 9, 9});
  const Stream stream;
  QueryMemory memory;
  const float infinity = std::numeric_limits<float>::infinity();
  tree.with_all([&](const auto& form, const QueryOptions& options) {
    Output<std::uint32_t> tuples(4);
    Output<float> distances(4);
    nearest(form, queries.span(), tuples.span(), distances.span(), memory, stream, options);
    const auto found = tuples.get();
    EXPECT_EQ(found[0], no_node);
    EXPECT_EQ(found[1], no_node);
    EXPECT_EQ(found[2], no_node);
    EXPECT_NE(found[3], no_node);
    EXPECT_EQ(distances.get()[0], infinity);
    Output<std::uint32_t> rows(4 * 3);
    Output<float> row_distances(4 * 3);
    k_nearest(form, queries.span(), 3, rows.span(), row_distances.span(), memory, stream, options);
    for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(rows.get()[i], no_node);
    EXPECT_NE(rows.get()[9], no_node);
    Output<std::int64_t> counts(4);
    count_within_radius(form, queries.span(), 10, counts.span(), memory, stream, options);
    EXPECT_EQ(counts.get(), (std::vector<std::int64_t>{0, 0, 0, 50}));
    count_in_box(form, queries.span(), far.span(), counts.span(), memory, stream, options);
    EXPECT_THAT(counts.get(), testing::ElementsAre(0, 0, 0, testing::Gt(0)));
    count_in_box(form, far.span(), queries.span(), counts.span(), memory, stream, options);
    EXPECT_EQ(counts.get(), (std::vector<std::int64_t>(4, 0)));
  });
}

// Whatever a tree holds, a query ends and stays inside the arguments.
TEST(QueriesOfCorruptTrees, End) {
  std::mt19937 random(4);
  const Stream stream;
  QueryMemory memory;
  for (int i = 0; i < (is_small() ? 10 : 100); ++i) {
    DeviceTree<float> tree(make_points<float>(1 + i, 2, Distribution::uniform, 7));
    const auto n = static_cast<std::uint32_t>(tree.points.count());
    std::vector<Node> nodes(n);
    for (Node& node : nodes) {
      node = {static_cast<std::uint32_t>(random()) % (n + 1),
              static_cast<std::uint32_t>(random()) % (n + 1),
              i % 2 == 0 ? static_cast<std::uint32_t>(random()) % n : 0xFFFFFF00u};
    }
    References medians(static_cast<std::size_t>(tree.medians.count()));
    for (std::uint32_t& entry : medians) entry = static_cast<std::uint32_t>(random()) % (n + 3);
    tree.nodes = on_device(nodes);
    tree.medians = on_device(medians);
    tree.with_all([&](const auto& form, const QueryOptions& options) {
      Output<std::uint32_t> tuples(n);
      Output<float> distances(n);
      nearest(form, tree.coordinates.span(), tuples.span(), distances.span(), memory, stream,
              options);
      for (const std::uint32_t tuple : tuples.get()) EXPECT_TRUE(tuple < n || tuple == no_node);
      Output<std::int64_t> counts(n);
      count_within_radius(form, tree.coordinates.span(), 1e30F, counts.span(), memory, stream,
                          options);
      for (const std::int64_t count : counts.get()) EXPECT_LE(count, n);
    });
  }
}

// Offsets that leave too little room cost answers, and nothing else.
TEST(QueriesWithWrongOffsets, StayInTheirRoom) {
  const DeviceTree<float> tree(make_points<float>(30, 2, Distribution::all_equal, 1));
  const DeviceBuffer<float> queries = on_device(std::vector<float>{0, 0, 0, 0, 0, 0});
  const Stream stream;
  QueryMemory memory;
  for (const std::vector<std::int64_t>& offsets :
       {std::vector<std::int64_t>{0, 5, 7}, {-9, 1, 50}, {40, 3, -1}}) {
    const DeviceBuffer<std::int64_t> begins = on_device(offsets);
    Output<std::uint32_t> tuples(20);
    within_radius(tree.by_medians(), queries.span(), 1, begins.span(), tuples.span(), memory,
                  stream);
    tuples.get();
  }
}

TEST(QueryArguments, AreNamed) {
  const DeviceTree<float> tree(make_points<float>(10, 2, Distribution::uniform, 1));
  const DeviceBuffer<float> memory = on_device(std::vector<float>(40));
  const DeviceSpan<const float> queries{memory.data(), 8};
  DeviceBuffer<std::uint32_t> tuples(40);
  DeviceBuffer<float> distances(40);
  DeviceBuffer<std::int64_t> counts(40);
  QueryMemory scratch;
  const auto of = [](const auto& act) { return message_of<std::invalid_argument>(act); };
  const auto ask = [&](auto form, DeviceSpan<const float> asked, std::int64_t room) {
    return of([&] {
      nearest(form, asked, {tuples.data(), room}, {distances.data(), room}, scratch, nullptr);
    });
  };
  EXPECT_EQ(ask(tree.by_medians(), queries, 4), "nothing");
  EXPECT_EQ(ask(tree.by_medians(), {memory.data(), 7}, 4),
            "queries has 7 coordinates: expected a multiple of dimensions, which is 2");
  EXPECT_EQ(ask(tree.by_medians(), {memory.data(), -2}, 4),
            "queries has -2 elements: expected 0 or more");
  EXPECT_EQ(ask(tree.by_nodes(), queries, 3), "tuples holds 3 elements: 4 are needed");
  auto form = tree.by_medians();
  form.node_count = 11;
  EXPECT_EQ(ask(form, queries, 4), "node_count is 11: expected 0 to 10");
  form = tree.by_medians();
  form.medians.count = 14;
  EXPECT_EQ(ask(form, queries, 4), "medians holds 14 elements: 15 are needed");
  form = tree.by_medians();
  form.points.dimensions = 0;
  EXPECT_EQ(ask(form, queries, 4), "dimensions is 0: expected 1 to 16");
  auto nodes = tree.by_nodes();
  nodes.nodes.count = 9;
  EXPECT_EQ(ask(nodes, queries, 4), "nodes has 9 elements: expected 10, as many as points");
  for (const int k : {-1, 0, 129}) {
    EXPECT_EQ(of([&] {
                k_nearest(tree.by_medians(), queries, k, tuples.span(), distances.span(), scratch,
                          nullptr);
              }),
              "k is " + std::to_string(k) + ": expected 1 to 128");
  }
  for (const float radius : {-1.0F, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_THAT(of([&] {
                  count_within_radius(tree.by_medians(), queries, radius, counts.span(), scratch,
                                      nullptr);
                }),
                testing::HasSubstr("expected 0 or more"));
  }
  EXPECT_EQ(of([&] {
              count_in_box(tree.by_medians(), queries, {memory.data(), 6}, counts.span(), scratch,
                           nullptr);
            }),
            "highs has 6 elements: expected 8, as many as lows");
  EXPECT_EQ(of([&] {
              nearest(tree.by_medians(), queries,
                      {reinterpret_cast<std::uint32_t*>(const_cast<float*>(memory.data())), 4},
                      distances.span(), scratch, nullptr);
            }),
            "tuples overlaps queries: expected separate memory");
}

/// The same memory, to be written, as elements of another type.
template <class T, class U>
DeviceSpan<T> over(DeviceSpan<const U> memory, std::int64_t count) {
  return {reinterpret_cast<T*>(const_cast<U*>(memory.data)), count};
}

TEST(QueryArguments, AreApartFromTheTree) {
  const DeviceTree<double> tree(make_points<double>(40, 2, Distribution::uniform, 1));
  const DeviceBuffer<double> queries = on_device(std::vector<double>(4));
  const DeviceBuffer<std::int64_t> offsets = on_device(std::vector<std::int64_t>(2));
  DeviceBuffer<std::uint32_t> tuples(2);
  DeviceBuffer<double> distances(2);
  QueryMemory memory;
  const auto of = [](const auto& act) { return message_of<std::invalid_argument>(act); };
  const auto expect_apart = [&](const auto& form, auto part, const std::string& name) {
    const std::string end = " overlaps " + name + ": expected separate memory";
    const auto found = over<std::uint32_t>(part, 2);
    const auto far = over<double>(part, 2);
    const auto counts = over<std::int64_t>(part, 2);
    const auto asked = queries.span();
    EXPECT_EQ(of([&] { nearest(form, asked, found, distances.span(), memory, nullptr); }),
              "tuples" + end);
    EXPECT_EQ(of([&] { nearest(form, asked, tuples.span(), far, memory, nullptr); }),
              "distances" + end);
    EXPECT_EQ(of([&] { count_within_radius(form, asked, 1, counts, memory, nullptr); }),
              "counts" + end);
    EXPECT_EQ(of([&] { within_radius(form, asked, 1, offsets.span(), found, memory, nullptr); }),
              "tuples" + end);
    EXPECT_EQ(of([&] { count_in_box(form, asked, asked, counts, memory, nullptr); }),
              "counts" + end);
    EXPECT_EQ(of([&] { in_box(form, asked, asked, offsets.span(), found, memory, nullptr); }),
              "tuples" + end);
  };
  const auto medians = tree.by_medians();
  expect_apart(medians, medians.points.coordinates, "points");
  expect_apart(medians, medians.medians, "medians");
  const auto nodes = tree.by_nodes();
  expect_apart(nodes, nodes.points.coordinates, "points");
  expect_apart(nodes, nodes.nodes, "nodes");
  Workspace workspace;
  const InOrderTree<double> in_order = put_in_order(medians, workspace, nullptr);
  expect_apart(in_order, DeviceSpan<const double>{in_order.rows, 80}, "the tree in order");
  expect_apart(in_order, DeviceSpan<const std::uint32_t>{in_order.tuples, 40}, "the tree in order");
  expect_apart(in_order, DeviceSpan<const double>{in_order.splits, 1}, "the tree in order");
}

}  // namespace
}  // namespace warpath::kd_tree::test
