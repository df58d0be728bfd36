// Invalid input, which the user can correct. The program prints the error and exits with 2.
#pragma once

#include <stdexcept>
#include <string>

namespace warpath::harness {

/// what() says what is wrong, where, and what to do.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Input shortened for a message: a text of more than `most` bytes ends in "...".
inline std::string abridged(const std::string& text, std::size_t most = 120) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

}  // namespace warpath::harness
