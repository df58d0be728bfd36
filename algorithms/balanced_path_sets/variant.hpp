// How a set operation is done: what configurations, tests and callers name.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/enum_names.hpp"

namespace warpath::balanced_path_sets {

enum class SetOperation { intersection, set_union, difference, symmetric_difference };

constexpr auto enum_table(SetOperation) {
  return std::to_array<EnumName<SetOperation>>(
      {{SetOperation::intersection, "intersection"},
       {SetOperation::set_union, "union"},
       {SetOperation::difference, "difference"},
       {SetOperation::symmetric_difference, "symmetric_difference"}});
}

/// The most outputs that an operation on so many elements can have: the room that `out` needs.
constexpr std::int64_t most_outputs(SetOperation operation, std::int64_t a, std::int64_t b) {
  if (operation == SetOperation::intersection) return std::min(a, b);
  return operation == SetOperation::difference ? a : a + b;
}

enum class Variant {
  count_scan_stream,  ///< the source: count the outputs, scan the counts, do it again and store
  compact,            ///< the source: store into a temporary array, scan the counts, close the gaps
  /// one pass: the place of a tile's outputs comes from decoupled look-back. count_scan_stream
  /// takes its place where the loaded code was not compiled for compute capability 9.0 or later
  /// (no bulk copies) or a block's shared memory does not fit the device; and for keys whose size
  /// does not divide 16 bytes, or is not their alignment.
  single_pass
};

constexpr auto enum_table(Variant) {
  return std::to_array<EnumName<Variant>>({{Variant::count_scan_stream, "count_scan_stream"},
                                           {Variant::compact, "compact"},
                                           {Variant::single_pass, "single_pass"}});
}

struct Options {
  Variant variant = Variant::single_pass;
  /// Of count_scan_stream and compact: all tiles test the ends of their ranges. Else, as the source
  /// does, only those do that do not have a next key of both inputs after them.
  bool range_checks = false;
};

}  // namespace warpath::balanced_path_sets
