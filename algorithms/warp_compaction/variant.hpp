// How a compaction is done: what configurations, tests and callers name.
#pragma once

#include <array>

#include "core/enum_names.hpp"

namespace warpath::warp_compaction {

enum class Variant {
  two_pass_copy,     ///< the source: segments to a temporary buffer, then closed up
  two_pass_recount,  ///< Billeter et al.: count, then decide again and write in place
  single_pass        ///< one pass by decoupled look-back: the fastest
};
constexpr auto enum_table(Variant) {
  return std::to_array<EnumName<Variant>>({{Variant::two_pass_copy, "two_pass_copy"},
                                           {Variant::two_pass_recount, "two_pass_recount"},
                                           {Variant::single_pass, "single_pass"}});
}

/// The kernel shape that `single_pass` takes (tuning.hpp): three sizes of tiles of the plain
/// kernel, or the Hopper pipeline. Only tests and tuning name one: `automatic` chooses by size,
/// alignment and GPU. Elements of more than 16 bytes have one shape, whatever is named; a shape
/// that does not fit the device or the alignment is replaced by one that does.
enum class Path { automatic, small, medium, plain, pipeline };
constexpr auto enum_table(Path) {
  return std::to_array<EnumName<Path>>({{Path::automatic, "automatic"},
                                        {Path::small, "small"},
                                        {Path::medium, "medium"},
                                        {Path::plain, "plain"},
                                        {Path::pipeline, "pipeline"}});
}

struct Options {
  Variant variant = Variant::single_pass;
  bool coalescing = true;  ///< the two-pass variants' 64-word shared write buffer
  Path path = Path::automatic;
};

}  // namespace warpath::warp_compaction
