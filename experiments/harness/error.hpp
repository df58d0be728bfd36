// What the user can put right: an input that cannot be used. The program prints it and exits 2.
#pragma once

#include <stdexcept>
#include <string>

namespace warpath::harness {

/// what() says what is wrong, where, and what to do.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What somebody typed, short enough for a message: more than `most` bytes end in "...".
inline std::string abridged(const std::string& text, std::size_t most = 120) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

}  // namespace warpath::harness
