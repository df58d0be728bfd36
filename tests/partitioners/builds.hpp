// Levels and whole builds over made-up tuples, on the device, judged by the oracle. What is
// compiled for each coordinate type is in builds.cu.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "partitioners/variant.hpp"

namespace warpath::partitioners::test {

enum class Type { int32, int64, float32, float64 };
#ifdef WARPATH_TEST_FEW_TYPES
inline constexpr std::array all_types = {Type::int64, Type::float32};
#else
inline constexpr std::array all_types = {Type::int32, Type::int64, Type::float32, Type::float64};
#endif

/// How tuples are made.
enum class Distribution {
  uniform,     ///< hardly any ties
  few_values,  ///< three values a coordinate: superkeys tie often, and whole tuples too
  all_equal,   ///< only references differ; zeros have either sign
  sorted,      ///< all coordinates grow with the number of the tuple
  opposed      ///< coordinates grow in turn with the number and against it
};
inline constexpr std::array all_distributions = {Distribution::uniform, Distribution::few_values,
                                                 Distribution::all_equal, Distribution::sorted,
                                                 Distribution::opposed};

/// Where `side_bits` holds sides, if it shall not choose by itself; each can do any level, but for
/// ranges, whose segments must not be larger than their tile. The crowded ones have small tiles,
/// and tables of a cell a tuple, so that most tuples share cells and many sides are left to
/// comparisons.
enum class Store {
  by_level,
  bits,
  large_segments,
  segments,
  ranges,
  crowded_segments,
  crowded_ranges
};
inline constexpr std::uint32_t tile_of_crowded_ranges = 128;

struct Case {
  Type type = Type::float32;
  std::int64_t n = 0;
  int dimensions = 3;
  Distribution distribution = Distribution::uniform;
  Options options = {};
  std::uint64_t seed = 0;
  bool on_default_stream = false;
  Store store = Store::by_level;
};
std::string describe(const Case& c);

/// One level of the build: the level before is made by the oracle, this one on the device; places
/// that no segment has hold references to no tuple. Every byte of the outputs is compared.
testing::AssertionResult check_level(const Case& c, int level);

/// All levels, each as above; with `source`, up to the one that leaf ends.
testing::AssertionResult check_all_levels(const Case& c);

/// A whole build that stays on the device: its median stores against those of a tree that the
/// oracle builds depth first.
testing::AssertionResult check_build(const Case& c);

/// Whether a corrupted result of check_level's kind is seen: one output or median store is spoilt
/// at `place` before it is compared.
bool sees_corruption(const Case& c, int level, int array, std::int64_t place);

}  // namespace warpath::partitioners::test
