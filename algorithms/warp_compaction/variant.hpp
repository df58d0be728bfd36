// How a compaction is done: what configurations, tests and callers name.
#pragma once

namespace warpath::warp_compaction {

enum class Variant {
  two_pass_copy,     ///< the source: segments to a temporary buffer, then closed up
  two_pass_recount,  ///< Billeter et al.: count, then decide again and write in place
  single_pass        ///< one pass by decoupled look-back: the fastest
};

/// The kernel that `single_pass` takes. Only tests name one: `automatic` chooses by size, alignment
/// and GPU.
enum class Path { automatic, small, medium, plain, pipeline };

struct Options {
  Variant variant = Variant::single_pass;
  bool coalescing = true;  ///< the two-pass variants' 64-word shared write buffer
  Path path = Path::automatic;
};

}  // namespace warpath::warp_compaction
