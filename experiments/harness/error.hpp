// What the user can put right: an input that cannot be used. The program prints it and exits 2.
#pragma once

#include <stdexcept>

namespace warpath::harness {

/// what() says what is wrong, where, and what to do.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace warpath::harness
