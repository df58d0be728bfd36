// The build on the host against the oracle's trees, entry for entry; and the verification in tasks.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "../message_of.hpp"
#include "../test_size.hpp"
#include "kd_tree/host_build.hpp"
#include "kd_tree/host_verify.hpp"
#include "kd_tree/oracle.hpp"
#include "points.hpp"

namespace warpath::kd_tree::test {
namespace {

template <class C>
void expect_the_oracles_tree(std::int64_t n, int dimensions, Distribution distribution) {
  const auto points = make_points<C>(n, dimensions, distribution, static_cast<std::uint64_t>(n));
  for (const bool removes : {false, true}) {
    const auto tuples = oracle::numbers(points, removes);
    for (const int threads : {0, 1, 3}) {
      SCOPED_TRACE(std::to_string(n) + " tuples of " + std::to_string(dimensions) + ", " +
                   name_of(distribution) + ", " + std::to_string(threads) + " threads");
      const HostTree tree =
          build_on_host(std::span<const C>(points.coordinates), dimensions, {threads, removes});
      ASSERT_EQ(tree.nodes, static_cast<std::int64_t>(tuples.size()));
      ASSERT_EQ(tree.medians, oracle::median_stores(points, tuples));
    }
  }
}

TEST(HostBuild, IsTheOraclesForEachSize) {
  for (std::int64_t n = 0; n <= 40; ++n) {
    expect_the_oracles_tree<float>(n, 3, Distribution::few_values);
  }
}

TEST(HostBuild, TellsOfEachStep) {
  const auto points = make_points<float>(20, 2, Distribution::uniform, 8);
  HostOptions options;
  std::string steps;
  options.after_step = [&](Step step, int) { steps += std::string(enum_name(step)) + "; "; };
  build_on_host(std::span<const float>(points.coordinates), 2, options);
  EXPECT_EQ(steps, "sort; partition; ");
}

TEST(HostBuild, IsTheOraclesForEachDistribution) {
  for (const Distribution distribution : all_distributions) {
    expect_the_oracles_tree<float>(1500, 4, distribution);
    expect_the_oracles_tree<double>(701, 2, distribution);
    expect_the_oracles_tree<std::int32_t>(333, 1, distribution);
    expect_the_oracles_tree<std::int64_t>(100, 16, distribution);
  }
}

// Of more than one chunk and subtree; short runs of ties and long ones.
TEST(HostBuild, IsTheOraclesInTasks) {
  for (const Distribution distribution : all_distributions) {
    if (is_small() && distribution != Distribution::few_values) continue;
    expect_the_oracles_tree<float>(70'001, 3, distribution);
  }
  if (is_small()) return;
  expect_the_oracles_tree<double>(100'003, 2, Distribution::uniform);
  expect_the_oracles_tree<std::int64_t>(66'000, 1, Distribution::few_values);
}

// As an allocation does that fails in a task; the others go on.
TEST(HostTasks, ThrowWhatATaskThrows) {
  std::atomic<int> calls = 0;
  const auto all = [&] {
    detail::in_tasks(3, [&] {
      detail::for_each_task(10, [&](std::int64_t i) {
        detail::for_each_task(5, [&](std::int64_t j) {
          ++calls;
          if (i == 7 && j == 3) throw std::bad_alloc();
        });
      });
      ADD_FAILURE() << "it went on";
    });
  };
  EXPECT_THROW(all(), std::bad_alloc);
  EXPECT_EQ(calls, 50);
}

TEST(HostBuild, NamesWhatIsWrong) {
  const auto of = [](std::vector<double> coordinates, int dimensions, int threads) {
    return message_of<std::invalid_argument>(
        [&] { build_on_host(std::span<const double>(coordinates), dimensions, {threads}); });
  };
  EXPECT_EQ(of({1, 2, 3, 4}, 2, 0), "nothing");
  EXPECT_EQ(of({1, 2, 3}, 2, 0),
            "points has 3 coordinates: expected a multiple of dimensions, which is 2");
  EXPECT_EQ(of({}, 0, 0), "dimensions is 0: expected 1 to 16");
  EXPECT_EQ(of({}, 17, 0), "dimensions is 17: expected 1 to 16");
  EXPECT_EQ(of({1}, 1, -1), "options.threads is -1: expected 0 to 1024");
  EXPECT_EQ(of({1, 2, 3, std::numeric_limits<double>::quiet_NaN()}, 2, 0),
            "points: coordinate 1 of tuple 1 is NaN: expected numbers, which have an order");
}

/// A tree of n tuples on the host.
struct Grown {
  explicit Grown(std::int64_t n)
      : points(make_points<float>(n, 3, Distribution::uniform, 9)),
        medians(oracle::median_stores(points, oracle::numbers(points, false))),
        nodes(static_cast<std::size_t>(n)) {
    const auto at = [&](std::size_t i) { return i < medians.size() ? medians[i] : no_node; };
    for (std::size_t i = 0; i < medians.size(); ++i) {
      if (medians[i] != no_node) nodes[medians[i]] = {medians[i], at(2 * i + 1), at(2 * i + 2)};
    }
  }
  [[nodiscard]] Finding verified(int threads) const {
    return verify_on_host(std::span<const float>(points.coordinates), 3,
                          std::span<const Node>(nodes), medians.front(),
                          static_cast<std::int64_t>(nodes.size()), threads);
  }

  oracle::PointSet<float> points;
  oracle::References medians;
  std::vector<Node> nodes;
};

TEST(HostVerification, FindsInTasksWhatOneThreadFinds) {
  Grown grown(5000);
  for (const int threads : {0, 1, 3}) EXPECT_TRUE(grown.verified(threads).is_right());
  // Far from each other, so that tasks come to them in any order; and a way back to the root.
  const std::uint32_t low = grown.medians[1500];
  const std::uint32_t high = grown.medians[3900];
  grown.nodes[high].less_than = grown.medians.front();
  std::swap(grown.nodes[low].less_than, grown.nodes[low].greater_than);
  const Finding first = grown.verified(1);
  EXPECT_EQ(first.flaw, Flaw::not_less) << describe(first);
  EXPECT_EQ(first.level, 11);
  EXPECT_EQ(first.entry, 2 * (1500U - 1023U));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(grown.verified(3), first);
}

TEST(HostVerification, NamesWhatIsWrongWithArguments) {
  const Grown grown(20);
  const std::span<const float> coordinates(grown.points.coordinates);
  const std::span<const Node> nodes(grown.nodes);
  const auto message = [&](std::size_t count, int dimensions, std::int64_t expected, int threads) {
    return message_of<std::invalid_argument>(
        [&] { verify_on_host(coordinates.first(count), dimensions, nodes, 0, expected, threads); });
  };
  EXPECT_EQ(message(60, 0, 20, 0), "dimensions is 0: expected 1 to 16");
  EXPECT_EQ(message(60, 3, 21, 0), "the expected number of nodes is 21: expected 0 to 20");
  EXPECT_EQ(message(60, 3, 20, -1), "threads is -1: expected 0 to 1024");
  EXPECT_EQ(message(57, 3, 20, 0),
            "coordinates has 57 elements: expected 60, as many as the tuples of the nodes");
}

}  // namespace
}  // namespace warpath::kd_tree::test
