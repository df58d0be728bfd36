// Words in colour, where they go to a terminal.
#pragma once

#include <cstdio>
#include <string>

namespace warpath::harness {

enum class Colour { red, green, yellow };

/// The text in the colour if `stream` is a terminal, unless NO_COLOR is set (https://no-color.org)
/// or TERM is "dumb".
std::string coloured(const std::string& text, Colour colour, std::FILE* stream);

}  // namespace warpath::harness
