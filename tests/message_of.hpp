// For tests: what a call throws.
#pragma once

#include <string>

namespace warpath {

/// What `act` throws, as text; "nothing" if it does not throw.
template <class Error, class Act>
std::string message_of(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace warpath
