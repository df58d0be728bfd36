// Builds on the device, of each type compiled in a file of its own; and what they must leave.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kd_tree/oracle.hpp"
#include "kd_tree/tree.cuh"
#include "kd_tree/variant.hpp"

namespace warpath::kd_tree::test {

using oracle::PointSet;
using oracle::References;

/// What a build leaves.
struct Built {
  std::int64_t nodes = 0;
  References medians;
};

/// Builds on a stream of its own, into memory between guard zones.
template <class C>
Built build_on_device(const PointSet<C>& points, const Options& options);

/// What the oracle leaves where all tuples have room.
template <class C>
Built expected(const PointSet<C>& points, bool removes_duplicates) {
  const References tuples = oracle::numbers(points, removes_duplicates);
  Built built{static_cast<std::int64_t>(tuples.size()), oracle::median_stores(points, tuples)};
  built.medians.resize(
      static_cast<std::size_t>(median_entries(static_cast<std::int64_t>(points.count()))), no_node);
  return built;
}

inline std::vector<Options> all_options() {
  std::vector<Options> all;
  for (const Variant variant : {Variant::four_partitioners, Variant::half_sorts}) {
    for (const auto partition : {partitioners::Variant::source, partitioners::Variant::side_bits}) {
      for (const bool removes : {false, true}) {
        Options options;
        options.variant = variant;
        options.removes_duplicates = removes;
        options.partition.variant = partition;
        options.partition.warps = 4;
        // What many tuples are sorted and partitioned by; few are sorted as by default.
        if (partition == partitioners::Variant::side_bits) {
          options.sort = {.variant = merge_sort::Variant::key_then_ties};
        }
        all.push_back(options);
      }
    }
  }
  for (const bool removes : {false, true}) {
    Options options;
    options.variant = Variant::fast;
    options.removes_duplicates = removes;
    all.push_back(options);
  }
  return all;
}

inline std::string describe(const Options& options) {
  return std::string(enum_name(options.variant)) + " by " +
         std::string(enum_name(options.partition.variant)) +
         (options.sort ? " and " + std::string(enum_name(options.sort->variant)) : "") +
         (options.removes_duplicates ? ", duplicates removed" : "");
}

}  // namespace warpath::kd_tree::test
