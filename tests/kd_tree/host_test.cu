// The build on the host against the oracle's trees, entry for entry.
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "../message_of.hpp"
#include "kd_tree/host_build.hpp"
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

// Enough for tasks.
TEST(HostBuild, IsTheOraclesInTasks) {
  expect_the_oracles_tree<float>(100'003, 3, Distribution::uniform);
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

}  // namespace
}  // namespace warpath::kd_tree::test
