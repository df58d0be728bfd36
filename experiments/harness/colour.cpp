#include "harness/colour.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace warpath::harness {

std::string coloured(const std::string& text, Colour colour, std::FILE* stream) {
  const char* const refused = std::getenv("NO_COLOR");
  const char* const term = std::getenv("TERM");
  const bool plain = (refused != nullptr && *refused != '\0') || term == nullptr ||
                     std::string_view(term) == "dumb" || isatty(fileno(stream)) == 0;
  if (plain) return text;
  const char* const code = colour == Colour::red     ? "\033[31m"
                           : colour == Colour::green ? "\033[32m"
                                                     : "\033[33m";
  return code + text + "\033[0m";
}

}  // namespace warpath::harness
