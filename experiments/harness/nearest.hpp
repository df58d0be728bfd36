// "Did you mean": the known name that is the fewest edits away.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::harness {

/// Levenshtein distance: insertions, deletions and substitutions of one character.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// `; did you mean "seed"? Known: n, seed` - the end of an error about an unknown name; empty if
/// nothing is known.
std::string suggestion(std::string_view unknown, const std::vector<std::string>& known);

}  // namespace warpath::harness
