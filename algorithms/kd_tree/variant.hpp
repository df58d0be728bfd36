// How a tree is built: what configurations, tests and callers name.
#pragma once

#include <array>

#include "core/enum_names.hpp"
#include "merge_sort/variant.hpp"
#include "partitioners/variant.hpp"

namespace warpath::kd_tree {

enum class Variant {
  four_partitioners,  ///< the source: D superkey sorts, then level after level of partitioning
  half_sorts,         ///< the source's refactoring: one sort, a split, D - 1 sorts of each half
  fast                ///< medians by selection, tuples moved; the last levels in shared memory
};
constexpr auto enum_table(Variant) {
  return std::to_array<EnumName<Variant>>({{Variant::four_partitioners, "four_partitioners"},
                                           {Variant::half_sorts, "half_sorts"},
                                           {Variant::fast, "fast"}});
}

struct Options {
  Variant variant = Variant::fast;
  /// Whether of wholly equal tuples only the one with the least number is in the tree.
  bool removes_duplicates = false;
  merge_sort::Options sort = {};         ///< of the source's variants
  partitioners::Options partition = {};  ///< likewise
};

}  // namespace warpath::kd_tree
