// How a set operation is done: what configurations, tests and callers name.
#pragma once

namespace warpath::balanced_path_sets {

enum class SetOperation { intersection, set_union, difference, symmetric_difference };

enum class Variant {
  count_scan_stream,  ///< the source: count the outputs, scan the counts, do it again and store
  compact,            ///< the source: store into a temporary array, scan the counts, close the gaps
  /// once: the place of a tile's outputs comes from decoupled look-back. count_scan_stream takes
  /// its place on devices before compute capability 9.0, which have no bulk copies, or without room
  /// for a tile in shared memory; and for keys whose size does not divide 16 bytes, or is not their
  /// alignment.
  single_pass
};

struct Options {
  Variant variant = Variant::single_pass;
};

}  // namespace warpath::balanced_path_sets
