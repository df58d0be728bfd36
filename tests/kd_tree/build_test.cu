// Whole builds on the device against the oracle's trees, entry for entry.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../message_of.hpp"
#include "../number_types.hpp"
#include "../stream.cuh"
#include "../test_size.hpp"
#include "builds.hpp"
#include "kd_tree/copy_back.cuh"
#include "kd_tree/nodes.cuh"
#include "kd_tree/oracle.hpp"
#include "output.cuh"
#include "points.hpp"

namespace warpath::kd_tree::test {
namespace {

template <class C>
void expect_the_oracles_tree(std::int64_t n, int dimensions, Distribution distribution) {
  if constexpr (is_tested<C>) {
    const PointSet<C> points = make_points<C>(n, dimensions, distribution,
                                              static_cast<std::uint64_t>(31 * n + dimensions));
    const Built trees[] = {expected(points, false), expected(points, true)};
    for (const Options& options : all_options()) {
      SCOPED_TRACE(describe(options) + ", n = " + std::to_string(n) + ", " +
                   std::to_string(dimensions) + " dimensions, " + name_of(distribution));
      const Built built = build_on_device(points, options);
      ASSERT_EQ(built.nodes, trees[options.removes_duplicates ? 1 : 0].nodes);
      ASSERT_EQ(built.medians, trees[options.removes_duplicates ? 1 : 0].medians);
    }
  }
}

TEST(Build, IsTheOraclesForEachSize) {
  for (std::int64_t n = 0; n <= (is_small() ? 9 : 20); ++n) {
    expect_the_oracles_tree<float>(n, 3, Distribution::few_values);
  }
}

TEST(Build, IsTheOraclesForEachDistribution) {
  for (const Distribution distribution : all_distributions) {
    expect_the_oracles_tree<float>(is_small() ? 75 : 301, 4, distribution);
    expect_the_oracles_tree<double>(is_small() ? 33 : 105, 2, distribution);
  }
}

TEST(Build, IsTheOraclesForEachNumberOfDimensions) {
  for (int dimensions = 1; dimensions <= most_dimensions; dimensions += is_small() ? 7 : 5) {
    expect_the_oracles_tree<std::int32_t>(37, dimensions, Distribution::few_values);
    expect_the_oracles_tree<std::int64_t>(30, dimensions, Distribution::extremes);
  }
}

// The nodes of a tree without its duplicates, and of those no node.
TEST(Nodes, AreThoseOfTheMedianStores) {
  for (const std::int64_t n : {0, 1, 2, 3, 60, 1000}) {
    const PointSet<int> points = make_points<int>(n, 2, Distribution::few_values, 5);
    const Built tree = expected(points, true);
    const DeviceBuffer<std::uint32_t> medians = on_device(tree.medians);
    Output<Node> nodes(n);
    detail::run_fill_nodes(medians.data(), tree.nodes, nodes.span(), nullptr);
    EXPECT_EQ(nodes.get(), nodes_of(tree.medians, points.count())) << "n = " << n;
  }
}

TEST(CopyBack, GivesTuplesAndNodes) {
  const Stream stream;
  for (const std::int64_t n : {0, 1, 77}) {
    const PointSet<double> points = make_points<double>(n, 3, Distribution::uniform, 6);
    const Built tree = expected(points, false);
    const DeviceBuffer<double> coordinates = on_device(points.coordinates);
    const DeviceBuffer<std::uint32_t> medians = on_device(tree.medians);
    Output<Node> nodes(n);
    detail::run_fill_nodes(medians.data(), tree.nodes, nodes.span(), stream);
    std::vector<double> host_coordinates(points.coordinates.size());
    std::vector<Node> host_nodes(static_cast<std::size_t>(n));
    const Points<double> on_gpu{coordinates.span(), 3};
    copy_back(on_gpu, nodes.span(), host_coordinates, host_nodes, stream);
    EXPECT_EQ(host_coordinates, points.coordinates);
    EXPECT_EQ(host_nodes, nodes_of(tree.medians, points.count()));
    host_nodes.resize(static_cast<std::size_t>(n) + 1);
    EXPECT_EQ(message_of<std::invalid_argument>(
                  [&] { copy_back(on_gpu, nodes.span(), host_coordinates, host_nodes, stream); }),
              "host_nodes has " + std::to_string(n + 1) + " elements: expected " +
                  std::to_string(n) + ", as many as nodes");
  }
}

/// The steps that a build tells of, as text.
std::string steps_of(std::int64_t n, Options options) {
  std::string steps;
  options.after_step = [&](Step step, int number) {
    steps += std::string(enum_name(step)) + " " + std::to_string(number) + "; ";
  };
  build_on_device(make_points<float>(n, 2, Distribution::sorted, 7), options);
  return steps;
}

TEST(Build, TellsOfEachStep) {
  Options options;
  options.removes_duplicates = true;
  options.variant = Variant::four_partitioners;
  EXPECT_EQ(steps_of(5, options),
            "sort 0; remove_duplicates 0; sort 1; remove_duplicates 1; "
            "partition 0; partition 1; partition 2; ");
  options.variant = Variant::half_sorts;
  EXPECT_EQ(steps_of(5, options),
            "sort 0; remove_duplicates 0; sort 1; partition 1; partition 2; ");
  options.variant = Variant::fast;
  EXPECT_EQ(steps_of(5, options), "remove_duplicates 0; gather 0; finish 0; ");
  options.removes_duplicates = false;
  EXPECT_EQ(steps_of(9000, options), "gather 0; select 0; select 1; move 1; finish 2; ");
}

TEST(Build, NamesNan) {
  PointSet<float> points = make_points<float>(100, 3, Distribution::uniform, 1);
  points.coordinates[3 * 57 + 2] = std::numeric_limits<float>::quiet_NaN();
  points.coordinates[3 * 80] = std::numeric_limits<float>::quiet_NaN();
  for (const Options& options : all_options()) {
    EXPECT_EQ(message_of<std::invalid_argument>([&] { build_on_device(points, options); }),
              "tuples: coordinate 2 of tuple 57 is NaN: expected numbers, which have an order")
        << describe(options);
  }
}

}  // namespace
}  // namespace warpath::kd_tree::test
