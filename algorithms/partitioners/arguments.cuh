// What partition_level() demands of its arguments beyond core/preconditions.cuh.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "core/buffer.cuh"
#include "core/checked.hpp"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/preconditions.cuh"
#include "core/superkey.cuh"
#include "partitioners/level_places.cuh"
#include "partitioners/levels.cuh"
#include "partitioners/selection.hpp"
#include "partitioners/sides.cuh"
#include "partitioners/variant.hpp"

namespace warpath::partitioners::detail {

inline std::string array_name(std::size_t array, const char* member) {
  return "arrays[" + std::to_string(array) + "]." + member;
}

/// The partitioner that the options mean; by_level for variants that have none.
inline Partitioner partitioner_of(Level level, const Options& options) {
  if (options.variant != Variant::source) return Partitioner::by_level;
  if (options.partitioner != Partitioner::by_level) return options.partitioner;
  return partitioner_of_level(level.n, level.number, options.warps);
}

/// Throws unless the options are some, and the partitioner that they mean can take the level.
inline void require_options(const Options& options, Level level) {
  require_enum("options.variant", options.variant);
  require_enum("options.partitioner", options.partitioner);
  require_in_range("options.warps", options.warps, 1, most_warps);
  const auto require_at_most = [&](std::int64_t has, std::int64_t most, const std::string& what) {
    if (has <= most) return;
    throw std::invalid_argument(
        "options.partitioner is " + std::string(enum_name(options.partitioner)) +
        ", which takes at most " + std::to_string(most) + what + ": level " +
        std::to_string(level.number) + " has " + std::to_string(has));
  };
  const Partitioner partitioner = partitioner_of(level, options);
  if (partitioner == Partitioner::multi_warp) {
    require_at_most(level.segments(), options.warps, " segments, one for each of options.warps");
  } else if (partitioner == Partitioner::sub_warp) {
    require_at_most(level.largest_segment(), sub_warp_segment, " elements a segment");
  } else if (partitioner == Partitioner::leaf) {
    require_at_most(level.largest_segment(), leaf_segment, " elements a segment");
  }
}

/// Throws unless n references can be a tree that has this level.
inline void require_level(std::int64_t n, int level) {
  require_in_range("primary_references.count", n, 0, most_references);
  require_in_range("level", level, 0, last_level(n));
}

/// Throws unless all arrays have the level's size and overlap nothing that they must not.
inline void require_arrays(std::span<const ReferenceArray> arrays, int dimensions,
                           DeviceSpan<const std::uint32_t> primary_references,
                           DeviceSpan<std::uint32_t> medians,
                           DeviceSpan<std::uint32_t> next_medians) {
  require_in_range("arrays.size()", static_cast<std::int64_t>(arrays.size()), 0, dimensions - 1);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto [in, out] = arrays[i];
    const std::string in_name = array_name(i, "in");
    const std::string out_name = array_name(i, "out");
    require_span(in_name, in);
    require_span(out_name, out);
    require_count(in_name, in.count, "primary_references", primary_references.count);
    require_count(out_name, out.count, "primary_references", primary_references.count);
    require_apart("primary_references", primary_references, out_name, out);
    require_apart("medians", medians, out_name, out);
    require_apart("next_medians", next_medians, out_name, out);
    require_apart(in_name, in, "medians", medians);
    require_apart(in_name, in, "next_medians", next_medians);
    for (std::size_t other = 0; other < arrays.size(); ++other) {
      require_apart(array_name(other, "in"), arrays[other].in, out_name, out);
      if (other < i) require_apart(array_name(other, "out"), arrays[other].out, out_name, out);
    }
  }
}

/// Whether a place of a segment holds the number of no tuple. Gaps are not read.
struct IsNoTuple {
  Level level;
  std::int64_t tuple_count;
  __device__ bool operator()(const std::uint32_t* references, std::int64_t i) const {
    LevelPlace at = root_of(level);
    at.descend(level, static_cast<std::uint32_t>(i));
    return at.has(static_cast<std::uint32_t>(i)) && references[i] >= tuple_count;
  }
};

/// Whether a place of a segment, not its first, holds a tuple that does not come after the one
/// before it.
template <class Coordinate>
struct IsNotAfter {
  Level level;
  TupleOrder<Coordinate> order;
  __device__ bool operator()(const std::uint32_t* references, std::int64_t i) const {
    LevelPlace at = root_of(level);
    at.descend(level, static_cast<std::uint32_t>(i));
    if (!at.has(static_cast<std::uint32_t>(i)) || i == at.segment.begin) return false;
    return !order.less(references[i - 1], references[i]);
  }
};

/// Whether a place of a segment holds a tuple that an earlier place of the array holds, too.
struct IsRepeated {
  Level level;
  const std::uint32_t* first_places;
  __device__ bool operator()(const std::uint32_t* references, std::int64_t i) const {
    LevelPlace at = root_of(level);
    at.descend(level, static_cast<std::uint32_t>(i));
    return at.has(static_cast<std::uint32_t>(i)) && first_places[references[i]] != i;
  }
};

/// Whether a place of a segment holds a tuple that no place of the primary array's segment holds.
struct IsOfAnotherSegment {
  Level level;
  const std::uint32_t* primary_places;
  __device__ bool operator()(const std::uint32_t* references, std::int64_t i) const {
    LevelPlace at = root_of(level);
    at.descend(level, static_cast<std::uint32_t>(i));
    return at.has(static_cast<std::uint32_t>(i)) && !at.has(primary_places[references[i]]);
  }
};

/// Notes the first place of each tuple in an array; those that it has not keep what they have,
/// which is more than any place.
template <int Threads = 256>
__global__ void note_first_places_kernel(Level level, const std::uint32_t* references,
                                         std::uint32_t* first_places) {
  const std::uint32_t stride = gridDim.x * Threads;
  for (std::uint32_t i = blockIdx.x * Threads + threadIdx.x; i < level.n; i += stride) {
    LevelPlace at = root_of(level);
    at.descend(level, i);
    if (at.has(i)) atomicMin(first_places + references[i], i);
  }
}

/// The first place of each tuple in an array; no_node if it has none.
inline DeviceBuffer<std::uint32_t> first_places_of(Level level, std::int64_t tuple_count,
                                                   DeviceSpan<const std::uint32_t> references,
                                                   cudaStream_t stream) {
  DeviceBuffer<std::uint32_t> places(tuple_count, stream);
  WARPATH_CUDA_CHECK(cudaMemsetAsync(
      places.data(), 0xFF, static_cast<std::size_t>(tuple_count) * sizeof(std::uint32_t), stream));
  const std::int64_t blocks = std::min<std::int64_t>(divide_up(level.n, 256), 256);
  launch({static_cast<unsigned>(blocks), 256, 0, stream}, note_first_places_kernel<>, level,
         references.data, places.data());
  return places;
}

/// Throws unless all references of a level are numbers of tuples, and different ones. Returns where
/// each is.
inline DeviceBuffer<std::uint32_t> require_different_tuples(
    const std::string& name, Level level, std::int64_t tuple_count,
    DeviceSpan<const std::uint32_t> references, cudaStream_t stream) {
  const auto refuse = [&](std::int64_t i, const std::string& expected) {
    throw std::invalid_argument(name + "[" + std::to_string(i) + "] is " +
                                std::to_string(value_at(references, i, stream)) + ": expected " +
                                expected);
  };
  std::int64_t i = first_broken(references, IsNoTuple{level, tuple_count}, stream);
  if (i >= 0) refuse(i, "the number of a tuple, 0 to " + std::to_string(tuple_count - 1));
  DeviceBuffer<std::uint32_t> places = first_places_of(level, tuple_count, references, stream);
  i = first_broken(references, IsRepeated{level, places.data()}, stream);
  if (i >= 0) refuse(i, "a reference that no earlier place has");
  return places;
}

/// Where checks are on: throws unless the level's segments hold what a build has in them: different
/// tuples; in the primary array sorted by superkey, equal tuples by number; in the others, those of
/// the primary array's segment.
template <class Coordinate>
void require_references_of_level(Level level, const TupleOrder<Coordinate>& order,
                                 std::int64_t tuple_count,
                                 DeviceSpan<const std::uint32_t> primary_references,
                                 std::span<const ReferenceArray> arrays, cudaStream_t stream) {
  if (!is_checked() || level.n == 0) return;
  const DeviceBuffer<std::uint32_t> primary_places = require_different_tuples(
      "primary_references", level, tuple_count, primary_references, stream);
  std::int64_t i = first_broken(primary_references, IsNotAfter<Coordinate>{level, order}, stream);
  if (i >= 0) {
    throw std::invalid_argument(
        "primary_references[" + std::to_string(i) + "] does not come after primary_references[" +
        std::to_string(i - 1) +
        "]: expected segments sorted by superkey, equal tuples by reference");
  }
  for (std::size_t array = 0; array < arrays.size(); ++array) {
    const std::string name = array_name(array, "in");
    const DeviceSpan<const std::uint32_t> in = arrays[array].in;
    require_different_tuples(name, level, tuple_count, in, stream);
    i = first_broken(in, IsOfAnotherSegment{level, primary_places.data()}, stream);
    if (i < 0) continue;
    throw std::invalid_argument(
        name + "[" + std::to_string(i) + "] is " + std::to_string(value_at(in, i, stream)) +
        ": expected a reference that this segment of primary_references " + "has");
  }
}

}  // namespace warpath::partitioners::detail
