// How a load-balancing search is done: what configurations, tests and callers name.
#pragma once

#include <array>

#include "core/enum_names.hpp"

namespace warpath::load_balancing_search {

enum class Variant {
  merge_path,     ///< the source: tiles of equal work by merge path, a serial loop in each thread
  upper_bound,    ///< a binary search for each work item
  output_aligned  ///< merge-path tiles; heads, a maximum scan and 16-byte stores: the fastest
};

constexpr auto enum_table(Variant) {
  return std::to_array<EnumName<Variant>>({{Variant::merge_path, "merge_path"},
                                           {Variant::upper_bound, "upper_bound"},
                                           {Variant::output_aligned, "output_aligned"}});
}

struct Options {
  Variant variant = Variant::output_aligned;
  /// Of merge_path: steps of the path that each thread takes; one of merge_path_items_per_thread.
  int items_per_thread = 11;
};

}  // namespace warpath::load_balancing_search
