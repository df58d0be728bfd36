// How a sort is done: what configurations, tests and callers name.
#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.hpp"

namespace warpath::merge_sort {

enum class Variant {
  binary_merge,    ///< the source: sorted tiles, then runs merged two by two
  multiway_merge,  ///< the same tiles, then many runs merged at once: fewer passes over memory
  key_then_ties    ///< superkeys only: radix sort of the values, then ties as by multiway_merge
};
constexpr auto enum_table(Variant) {
  return std::to_array<EnumName<Variant>>({{Variant::binary_merge, "binary_merge"},
                                           {Variant::multiway_merge, "multiway_merge"},
                                           {Variant::key_then_ties, "key_then_ties"}});
}

/// How two runs are merged in shared memory, by either variant.
enum class LowLevelMerge {
  merge_path,  ///< Green et al.: each thread merges as many items, one after the other
  rank_search  ///< Satish et al.: an item's place is its own index plus its rank in the other run
};
constexpr auto enum_table(LowLevelMerge) {
  return std::to_array<EnumName<LowLevelMerge>>(
      {{LowLevelMerge::merge_path, "merge_path"}, {LowLevelMerge::rank_search, "rank_search"}});
}

struct Options {
  Variant variant = Variant::multiway_merge;
  LowLevelMerge low_level = LowLevelMerge::merge_path;
};

/// What sorts `count` superkeys in no order in the least time (README, times on an H200).
constexpr Options fastest_for_superkeys(std::int64_t count) {
  constexpr std::int64_t least_for_radix = std::int64_t{1} << 22;
  return {count < least_for_radix ? Variant::multiway_merge : Variant::key_then_ties};
}

}  // namespace warpath::merge_sort
