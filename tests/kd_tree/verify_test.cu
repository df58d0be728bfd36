// Both verifiers: they take right trees, and name what is wrong with each corrupt one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../message_of.hpp"
#include "../stream.cuh"
#include "kd_tree/host_verify.hpp"
#include "kd_tree/oracle.hpp"
#include "kd_tree/verify.cuh"
#include "points.hpp"

namespace warpath::kd_tree::test {
namespace {

using oracle::PointSet;
using oracle::References;

/// A tree in both forms, to be spoilt.
struct Tree {
  PointSet<float> points;
  References medians;
  std::vector<Node> nodes;
  std::uint32_t root = no_node;
  std::int64_t node_count = 0;
};

Tree make_tree(std::int64_t n, int dimensions, Distribution distribution, bool distinct = false) {
  Tree tree;
  tree.points = make_points<float>(n, dimensions, distribution, static_cast<std::uint64_t>(n) + 3);
  const References tuples = oracle::numbers(tree.points, distinct);
  tree.medians = oracle::median_stores(tree.points, tuples);
  tree.nodes = nodes_of(tree.medians, tree.points.count());
  tree.root = tree.medians.empty() ? no_node : tree.medians[0];
  tree.node_count = static_cast<std::int64_t>(tuples.size());
  return tree;
}

class Verify : public testing::Test {
 protected:
  Finding of_medians(const Tree& tree) {
    const DeviceBuffer<float> coordinates = on_device(tree.points.coordinates);
    const DeviceBuffer<std::uint32_t> medians = on_device(tree.medians);
    return verify(Points<float>{coordinates.span(), tree.points.dimensions}, medians.span(),
                  tree.node_count, workspace_, stream_);
  }
  Finding of_nodes(const Tree& tree) {
    const DeviceBuffer<float> coordinates = on_device(tree.points.coordinates);
    const DeviceBuffer<Node> nodes = on_device(tree.nodes);
    return verify(Points<float>{coordinates.span(), tree.points.dimensions}, nodes.span(),
                  tree.root, tree.node_count, workspace_, stream_);
  }
  static Finding on_host(const Tree& tree) {
    return verify_on_host(std::span<const float>(tree.points.coordinates), tree.points.dimensions,
                          std::span<const Node>(tree.nodes), tree.root, tree.node_count);
  }
  /// Both verifiers of nodes find this flaw, and the device's at this place.
  void expect_of_nodes(const Tree& tree, const Finding& expected) {
    EXPECT_EQ(describe(of_nodes(tree)), describe(expected));
    EXPECT_EQ(on_host(tree).flaw, expected.flaw) << describe(on_host(tree));
  }

  Stream stream_;
  Workspace workspace_;
};

TEST_F(Verify, TakesRightTrees) {
  for (const Distribution distribution : all_distributions) {
    for (const std::int64_t n : {0, 1, 2, 3, 4, 100, 1023, 1024}) {
      for (const bool distinct : {false, true}) {
        const Tree tree = make_tree(n, 3, distribution, distinct);
        SCOPED_TRACE(std::to_string(n) + " tuples, " + name_of(distribution));
        EXPECT_EQ(describe(of_medians(tree)), "the tree is right");
        EXPECT_EQ(describe(of_nodes(tree)), "the tree is right");
        EXPECT_EQ(describe(on_host(tree)), "the tree is right");
      }
    }
  }
}

// Whatever two nodes are exchanged, one of them is in the wrong place.
TEST_F(Verify, SeesExchangedNodes) {
  std::mt19937 random(1);
  for (int i = 0; i < (is_small() ? 20 : 100); ++i) {
    Tree tree = make_tree(60, 1 + i % 4, Distribution::uniform);
    const std::size_t a = random() % 60;
    const std::size_t b = (a + 1 + random() % 59) % 60;
    References places;
    for (std::size_t place = 0; place < tree.medians.size(); ++place) {
      if (tree.medians[place] != no_node) places.push_back(static_cast<std::uint32_t>(place));
    }
    std::swap(tree.medians[places[a]], tree.medians[places[b]]);
    tree.nodes = nodes_of(tree.medians, tree.points.count());
    tree.root = tree.medians[0];
    const Finding finding = of_medians(tree);
    EXPECT_TRUE(finding.flaw == Flaw::not_less || finding.flaw == Flaw::not_greater);
    EXPECT_EQ(of_nodes(tree), finding);
    EXPECT_TRUE(on_host(tree).flaw == Flaw::not_less || on_host(tree).flaw == Flaw::not_greater);
  }
}

// In a tree of one dimension, the k-th entry of a level is the k-th of its tuples in order.
TEST_F(Verify, NamesAncestorsThatAreNotParents) {
  Tree tree = make_tree(15, 1, Distribution::sorted);
  // Right as far as their parents go: 2 below 1, and 12 below 13.
  ASSERT_EQ(tree.medians, (References{7, 3, 11, 1, 5, 9, 13, 0, 2, 4, 6, 8, 10, 12, 14}));
  Tree less = tree;
  less.points.coordinates[2] = 100;
  EXPECT_EQ(of_medians(less), (Finding{Flaw::not_less, 3, 1, 2}));
  expect_of_nodes(less, {Flaw::not_less, 3, 1, 2});
  Tree greater = tree;
  greater.points.coordinates[12] = -100;
  EXPECT_EQ(of_medians(greater), (Finding{Flaw::not_greater, 3, 6, 12}));
  expect_of_nodes(greater, {Flaw::not_greater, 3, 6, 12});
}

// Of equal tuples the numbers decide.
TEST_F(Verify, SeesEqualTuplesInTheWrongOrder) {
  Tree tree = make_tree(3, 2, Distribution::all_equal);
  std::swap(tree.medians[1], tree.medians[2]);
  tree.nodes = nodes_of(tree.medians, 3);
  EXPECT_EQ(of_medians(tree), (Finding{Flaw::not_less, 1, 0, 2}));
  expect_of_nodes(tree, {Flaw::not_less, 1, 0, 2});
}

TEST_F(Verify, NamesWhatMedianStoresShallNotHold) {
  const Tree right = make_tree(6, 2, Distribution::uniform);
  Tree tree = right;
  tree.medians[4] = 6;
  EXPECT_EQ(of_medians(tree), (Finding{Flaw::wild_reference, 2, 1, 6}));
  tree.medians[4] = 0xFFFFFFFE;
  EXPECT_EQ(of_medians(tree), (Finding{Flaw::wild_reference, 2, 1, 0xFFFFFFFE}));
  tree = right;
  tree.medians[5] = tree.medians[2];
  EXPECT_EQ(of_medians(tree), (Finding{Flaw::twice, 2, 2, tree.medians[2]}));
  tree = right;
  tree.medians[1] = no_node;
  EXPECT_EQ(of_medians(tree), (Finding{Flaw::orphan, 2, 1, tree.medians[4]}));
  tree = right;
  tree.medians[0] = no_node;
  EXPECT_EQ(of_medians(tree), (Finding{Flaw::orphan, 1, 0, tree.medians[1]}));
  tree = right;
  tree.medians.resize(15, no_node);
  EXPECT_EQ(of_medians(tree), Finding{});
  tree.medians[9] = tree.medians[4];
  EXPECT_EQ(of_medians(tree), (Finding{Flaw::too_deep, 3, 2, tree.medians[4]}));
  tree = right;
  for (std::uint32_t& entry : tree.medians) entry = no_node;
  EXPECT_EQ(of_medians(tree), (Finding{Flaw::wrong_count, 0, 0, 6}));
  tree = right;
  std::size_t last = tree.medians.size() - 1;
  while (tree.medians[last] == no_node) --last;
  tree.medians[last] = no_node;
  EXPECT_EQ(of_medians(tree), (Finding{Flaw::wrong_count, 0, 5, 6}));
  EXPECT_EQ(describe(of_medians(tree)), "the tree has 5 nodes: expected 6");
}

TEST_F(Verify, NamesWhatNodesShallNotHold) {
  const Tree right = make_tree(7, 2, Distribution::uniform);
  const References& at = right.medians;
  Tree tree = right;
  tree.nodes[at[1]].less_than = 7;
  expect_of_nodes(tree, {Flaw::wild_reference, 2, 0, 7});
  tree = right;
  tree.root = 1000;
  expect_of_nodes(tree, {Flaw::wild_reference, 0, 0, 1000});
  tree = right;
  tree.nodes[at[2]].tuple = at[3];
  expect_of_nodes(tree, {Flaw::wrong_tuple, 1, 1, at[2]});
  tree = right;
  tree.nodes[at[5]].greater_than = at[6];
  EXPECT_EQ(of_nodes(tree), (Finding{Flaw::too_deep, 3, 5, at[6]}));
  EXPECT_EQ(on_host(tree).flaw, Flaw::too_deep);
  tree.nodes[at[4]].less_than = 12345;
  EXPECT_EQ(of_nodes(tree), (Finding{Flaw::too_deep, 3, 2, 12345}));
  tree = right;
  tree.nodes[at[0]].less_than = no_node;
  expect_of_nodes(tree, {Flaw::wrong_count, 0, 4, 7});
  tree = right;
  tree.root = no_node;
  expect_of_nodes(tree, {Flaw::wrong_count, 0, 0, 7});
  tree = right;
  tree.node_count = 6;
  expect_of_nodes(tree, {Flaw::wrong_count, 0, 7, 6});
}

// It ends, and says something, whatever the nodes hold.
TEST_F(Verify, EndsOnCyclesAndOnAnything) {
  Tree tree = make_tree(7, 2, Distribution::uniform);
  for (Node& node : tree.nodes) node.less_than = node.greater_than = tree.root;
  EXPECT_EQ(of_nodes(tree).flaw, Flaw::twice);
  EXPECT_EQ(on_host(tree).flaw, Flaw::twice);
  std::mt19937 random(2);
  for (int i = 0; i < (is_small() ? 30 : 120); ++i) {
    Tree any = make_tree(1 + i % 40, 3, Distribution::few_values);
    const auto n = static_cast<std::uint32_t>(any.nodes.size());
    for (int changes = 0; changes < 1 + i % 5; ++changes) {
      Node& node = any.nodes[random() % n];
      std::uint32_t& word = i % 3 == 0   ? node.tuple
                            : i % 3 == 1 ? node.less_than
                                         : node.greater_than;
      word = random() % (n + 2);
    }
    EXPECT_EQ(of_nodes(any).is_right(), on_host(any).is_right())
        << describe(of_nodes(any)) << "; " << describe(on_host(any));
    for (std::uint32_t& entry : any.medians) {
      if (random() % 8 == 0) entry = random() % (n + 2);
    }
    of_medians(any);
  }
}

TEST_F(Verify, NamesItsArguments) {
  const DeviceBuffer<float> coordinates = on_device(std::vector<float>(20));
  const DeviceBuffer<std::uint32_t> medians = on_device(References(15));
  const DeviceBuffer<Node> nodes = on_device(std::vector<Node>(10));
  const Points<float> points{coordinates.span(), 2};
  const auto of = [&](auto tree, auto... more) {
    return message_of<std::invalid_argument>(
        [&] { verify(points, tree, more..., workspace_, stream_); });
  };
  EXPECT_EQ(of(medians.span(), 11), "node_count is 11: expected 0 to 10");
  EXPECT_EQ(of(medians.span(), -1), "node_count is -1: expected 0 to 10");
  EXPECT_EQ(of(DeviceSpan<const std::uint32_t>{medians.data(), 14}, 10),
            "medians holds 14 elements: 15 are needed");
  EXPECT_EQ(of(DeviceSpan<const Node>{nodes.data(), 9}, 0u, 9),
            "nodes has 9 elements: expected 10, as many as points");
  EXPECT_EQ(of(DeviceSpan<const Node>{nodes.data(), 10}, 0u, 11),
            "node_count is 11: expected 0 to 10");
}

}  // namespace
}  // namespace warpath::kd_tree::test
