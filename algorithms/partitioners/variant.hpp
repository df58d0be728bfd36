// How a level is partitioned: what configurations, tests and callers name.
#pragma once

#include <array>

#include "core/enum_names.hpp"

namespace warpath::partitioners {

enum class Variant {
  source,     ///< the source: one of four partitioners, by level
  look_back,  ///< one pass over the level, both sides through one word of a decoupled look-back
  side_bits   ///< which tuple is on which side is noted once, for all arrays, without comparisons
};
constexpr auto enum_table(Variant) {
  return std::to_array<EnumName<Variant>>({{Variant::source, "source"},
                                           {Variant::look_back, "look_back"},
                                           {Variant::side_bits, "side_bits"}});
}

/// The source's partitioners, and the range of each.
enum class Partitioner {
  by_level,        ///< as partitioner_of_level() chooses
  multi_warp,      ///< at most as many segments as warps: an equal number of warps for each
  warp_per_array,  ///< any segments: a warp for each
  sub_warp,        ///< segments of at most 16 elements: 16, 8 or 4 lanes for each
  leaf             ///< segments of at most 3 elements: a thread for each; ends the build
};
constexpr auto enum_table(Partitioner) {
  return std::to_array<EnumName<Partitioner>>({{Partitioner::by_level, "by_level"},
                                               {Partitioner::multi_warp, "multi_warp"},
                                               {Partitioner::warp_per_array, "warp_per_array"},
                                               {Partitioner::sub_warp, "sub_warp"},
                                               {Partitioner::leaf, "leaf"}});
}

/// The most warps that the source's kernels can have.
inline constexpr int most_warps = 65536;

struct Options {
  Variant variant = Variant::side_bits;
  /// Of `source`: the partitioner, if another than the level's shall run.
  Partitioner partitioner = Partitioner::by_level;
  /// Of `source`: how many warps its kernels have, 1 to most_warps. The source's examples run 64
  /// blocks of 1024 threads.
  int warps = 2048;
  /// Of `source`: sides are noted in a bit vector first, as `side_bits` does, and looked up; else
  /// superkeys are compared, as the source does.
  bool notes_sides = false;
};

}  // namespace warpath::partitioners
