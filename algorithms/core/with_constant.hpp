// From a value that is known at run time to a template parameter: one switch for all techniques.
#pragma once

#include <stdexcept>
#include <string>

namespace warpath {

/// Calls act.operator()<V>() with the one of `Values` that equals `value`:
///
///   with_constant<0, 1, 2>("levels", options.levels, [&]<int levels>() { launch(...); });
///
/// Throws std::invalid_argument, with `name`, if no value is equal.
template <int... Values, class Act>
void with_constant(const std::string& name, int value, Act&& act) {
  const bool is_found = ((value == Values && (act.template operator()<Values>(), true)) || ...);
  if (is_found) return;
  std::string expected;
  ((expected += (expected.empty() ? "" : ", ") + std::to_string(Values)), ...);
  throw std::invalid_argument(name + " is " + std::to_string(value) + ": expected one of " +
                              expected);
}

}  // namespace warpath
