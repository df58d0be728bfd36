// Both verifiers: they take right trees, and name what is wrong with each corrupt one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../message_of.hpp"
#include "../number_types.hpp"
#include "../stream.cuh"
#include "../test_size.hpp"
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

TEST(Tree, HasEntriesWhereSegmentsHaveElements) {
  std::vector<std::int64_t> sizes = {(1 << 24) - 11, (1 << 24) - 1, 1 << 24, most_tuples};
  for (std::int64_t n = 1; n <= 300; ++n) sizes.push_back(n);
  std::mt19937 random(5);
  for (const std::int64_t n : sizes) {
    for (int level = 0; level < level_count(n); ++level) {
      const partitioners::Level segments{static_cast<std::uint32_t>(n), level};
      for (std::uint32_t i = 0; i < std::min(segments.segments(), 256u); ++i) {
        const std::uint32_t number =
            segments.segments() <= 256 ? i : static_cast<std::uint32_t>(random()) >> (32 - level);
        ASSERT_EQ(has_entry(n, level, number), segments.segment(number).count() > 0)
            << "n " << n << ", level " << level << ", entry " << number;
      }
    }
  }
}

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

/// Whether the tree of n nodes has an entry i: by the sizes of the segments on the way there.
bool is_entry(std::int64_t n, std::size_t i) {
  int level = 0;
  while ((std::size_t{2} << level) <= i + 1) ++level;
  for (int bit = level - 1; bit >= 0; --bit) {
    n = ((i + 1) >> bit & 1) != 0 ? n / 2 : (n - 1) / 2;
  }
  return n > 0;
}

/// What verification shall find, by the words of verify.cuh: each entry against all of its
/// ancestors, one after another.
template <class C>
Finding finding_by_all_ancestors(const PointSet<C>& points, const References& medians,
                                 std::int64_t node_count) {
  const auto tuples = static_cast<std::uint32_t>(points.count());
  std::vector<bool> has_entry(tuples);
  std::int64_t nodes = 0;
  for (std::size_t i = 0; i < medians.size(); ++i) {
    const std::uint32_t tuple = medians[i];
    if (tuple == no_node) continue;
    ++nodes;
    int level = 0;
    while (first_entry(level + 1) <= static_cast<std::int64_t>(i)) ++level;
    const auto entry =
        static_cast<std::uint32_t>(static_cast<std::int64_t>(i) - first_entry(level));
    const auto found = [&](Flaw flaw) { return Finding{flaw, level, entry, tuple}; };
    if (level >= level_count(node_count)) return found(Flaw::too_deep);
    if (tuple >= tuples) return found(Flaw::wild_reference);
    if (has_entry[tuple]) return found(Flaw::twice);
    has_entry[tuple] = true;
    if (i > 0 && medians[(i - 1) / 2] == no_node) return found(Flaw::orphan);
    if (!is_entry(node_count, i)) return found(Flaw::too_deep);
    for (std::size_t below = i; below > 0; below = (below - 1) / 2) {
      const std::uint32_t ancestor = medians[(below - 1) / 2];
      const bool shall_be_less = below % 2 == 1;
      --level;
      std::vector<C> own;
      std::vector<C> other;
      for (int k = 0; k < points.dimensions; ++k) {
        own.push_back(points.tuple(tuple)[(level + k) % points.dimensions]);
        other.push_back(points.tuple(ancestor)[(level + k) % points.dimensions]);
      }
      const bool is_less = own < other || (own == other && tuple < ancestor);
      if (is_less == shall_be_less) continue;
      while (first_entry(level + 1) <= static_cast<std::int64_t>(i)) ++level;
      return found(shall_be_less ? Flaw::not_less : Flaw::not_greater);
    }
  }
  if (nodes == node_count) return {};
  return {Flaw::wrong_count, 0, static_cast<std::uint32_t>(nodes),
          static_cast<std::uint32_t>(node_count)};
}

/// Trees large enough that blocks take their last levels.
template <class C>
class VerifyLarge : public testing::Test {
 protected:
  using Coordinate = C;

  void expect_as_by_all_ancestors(const PointSet<C>& points, const References& medians,
                                  std::int64_t node_count) {
    const DeviceBuffer<C> coordinates = on_device(points.coordinates);
    const DeviceBuffer<std::uint32_t> entries = on_device(medians);
    const Finding finding = verify(Points<C>{coordinates.span(), points.dimensions}, entries.span(),
                                   node_count, workspace_, stream_);
    EXPECT_EQ(describe(finding), describe(finding_by_all_ancestors(points, medians, node_count)));
  }

  Stream stream_;
  Workspace workspace_;
};
TYPED_TEST_SUITE(VerifyLarge, CoordinateTypes);

TYPED_TEST(VerifyLarge, FindsWhatAllAncestorsTell) {
  using C = TypeParam;
  std::mt19937 random(11);
  // Twelve to fourteen levels: subtrees of three to five of them.
  const std::vector<std::int64_t> sizes =
      is_small() ? std::vector<std::int64_t>{4095} : std::vector<std::int64_t>{2048, 12345};
  for (const std::int64_t n : sizes) {
    for (const int dimensions : {1, 3, 4, 16}) {
      const Distribution distribution = all_distributions[random() % std::size(all_distributions)];
      SCOPED_TRACE(std::to_string(n) + " tuples of " + std::to_string(dimensions) + ", " +
                   name_of(distribution));
      const PointSet<C> points = make_points<C>(n, dimensions, distribution, random());
      const References right = oracle::median_stores(points, oracle::numbers(points, false));
      this->expect_as_by_all_ancestors(points, right, n);
      for (int i = 0; i < (is_small() ? 2 : 12); ++i) {
        References wrong = right;
        References below;  // a level more than the tree has, where it is not empty
        PointSet<C> moved = points;
        // Mostly one flaw, which has to be found wherever it lies.
        for (unsigned flaws = 1 + random() % 5 / 4; flaws > 0; --flaws) {
          const auto any_entry = [&]() -> std::uint32_t& {
            const std::size_t level = random() % static_cast<unsigned>(level_count(n));
            return wrong[((std::size_t{1} << level) - 1 + random() % (std::size_t{1} << level))];
          };
          std::uint32_t& entry = any_entry();
          switch (random() % 6) {
            case 0:
              std::swap(entry, any_entry());
              break;
            case 1:
              entry = any_entry();
              break;
            case 2:
              entry = no_node;
              break;
            case 3:
              entry = static_cast<std::uint32_t>(n + random() % 100);
              break;
            case 4:
              below.assign(right.size() + 1, no_node);
              if (random() % 2 == 0) below[random() % right.size()] = entry;
              break;
            default:
              for (int k = 0; k < dimensions && entry < n; ++k) {
                moved.coordinates[static_cast<std::size_t>(entry) *
                                      static_cast<std::size_t>(dimensions) +
                                  static_cast<std::size_t>(k)] =
                    points.tuple(static_cast<std::uint32_t>(random() % n))[k];
              }
          }
        }
        wrong.insert(wrong.end(), below.begin(), below.end());
        this->expect_as_by_all_ancestors(moved, wrong, n);
        if (this->HasFailure()) return;
      }
    }
  }
}

// A tuple in two subtrees of different blocks, one of which only some other ancestor tells.
TYPED_TEST(VerifyLarge, SeesATupleOfTwoBlocks) {
  const PointSet<TypeParam> points = make_points<TypeParam>(5000, 2, Distribution::all_equal, 1);
  References medians = oracle::median_stores(points, oracle::numbers(points, false));
  const std::size_t last = medians.size() / 2;  // of the level before the last
  medians[last - 1] = medians[medians.size() / 4];
  this->expect_as_by_all_ancestors(points, medians, 5000);
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
  expect_of_nodes(tree, {Flaw::too_deep, 2, 0, at[3]});
  tree = right;
  tree.node_count = 8;
  tree.points.coordinates.insert(tree.points.coordinates.end(), {2.0F, 2.0F});
  tree.nodes.emplace_back();
  expect_of_nodes(tree, {Flaw::wrong_count, 0, 7, 8});
}

/// Median stores of a search tree as deep as the balanced one, whose nodes lie at the upper of two
/// middles. They have room for its last level.
void build_by_upper_middles(const PointSet<float>& points, References part, std::size_t entry,
                            int level, References& medians) {
  if (part.empty()) return;
  std::sort(part.begin(), part.end(), [&](std::uint32_t a, std::uint32_t b) {
    return points.comes_before(a, b, level % points.dimensions);
  });
  const auto middle = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2);
  medians[entry] = *middle;
  build_by_upper_middles(points, {part.begin(), middle}, 2 * entry + 1, level + 1, medians);
  build_by_upper_middles(points, {middle + 1, part.end()}, 2 * entry + 2, level + 1, medians);
}

// Queries over a tree in order find each subtree's root by its size: so a search tree of the right
// depth is not enough.
TEST_F(Verify, SeesSearchTreesOfAnotherShape) {
  for (const std::int64_t n : {2, 4, 5, 6, 10, 100, 1022, 1500, is_small() ? 1024 : 6001}) {
    SCOPED_TRACE(n);
    Tree tree = make_tree(n, 2, Distribution::uniform);
    tree.medians.assign(tree.medians.size(), no_node);
    build_by_upper_middles(tree.points, oracle::numbers(tree.points, false), 0, 0, tree.medians);
    tree.nodes = nodes_of(tree.medians, n);
    tree.root = tree.medians[0];
    const Finding finding = of_medians(tree);
    EXPECT_EQ(finding.flaw, Flaw::too_deep);
    EXPECT_EQ(finding.level, level_count(n) - 1);
    EXPECT_EQ(describe(finding), describe(finding_by_all_ancestors(tree.points, tree.medians, n)));
    expect_of_nodes(tree, finding);
  }
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

// Entries of a tree that shall have no nodes: some hold the same tuple.
TEST_F(Verify, SeesEntriesOfATreeWithoutNodes) {
  Tree tree = make_tree(20, 2, Distribution::uniform);
  tree.node_count = 0;
  tree.medians = {no_node, 7, 3, 7};
  EXPECT_EQ(of_medians(tree), (Finding{Flaw::too_deep, 1, 0, 7}));
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
