// How a tree is built: what configurations, tests and callers name.
#pragma once

#include <array>
#include <functional>
#include <optional>

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

/// What a build does; each variant in an order of its own. What is numbered by levels begins with
/// the tree's first.
enum class Step {
  gather,             ///< fast: tuples to columns
  sort,               ///< the source's: reference array `number`; half_sorts: or its two halves
  remove_duplicates,  ///< of reference array `number`, after its sort; fast: before all else
  select,             ///< fast: the medians of level `number`
  move,               ///< fast: tuples to the segments below level `number`
  partition,          ///< the source's: level `number`
  finish              ///< fast: all levels from `number` on, in shared memory
};
constexpr auto enum_table(Step) {
  return std::to_array<EnumName<Step>>({{Step::gather, "gather"},
                                        {Step::sort, "sort"},
                                        {Step::remove_duplicates, "remove_duplicates"},
                                        {Step::select, "select"},
                                        {Step::move, "move"},
                                        {Step::partition, "partition"},
                                        {Step::finish, "finish"}});
}
/// Told of each step once all of its work is on the build's stream: an event that is recorded
/// there says when the step ends. By a build on the host, when it has ended.
using StepObserver = std::function<void(Step step, int number)>;

struct Options {
  Variant variant = Variant::fast;
  /// Whether of wholly equal tuples only the one with the least number is in the tree.
  bool removes_duplicates = false;
  /// Of the source's variants; if empty, merge_sort::fastest_for_superkeys().
  std::optional<merge_sort::Options> sort = {};
  partitioners::Options partition = {};  ///< of the source's variants
  StepObserver after_step = {};          ///< none if empty
};

namespace detail {

inline void tell(const StepObserver& observer, Step step, int number) {
  if (observer) observer(step, number);
}

}  // namespace detail
}  // namespace warpath::kd_tree
