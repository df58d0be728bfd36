// One table of names for each enum: the program, the errors and the figures all read it.
//
// An enum that callers choose from has a function `enum_table(Enum)` in its own namespace, which
// returns all of its values with their names:
//
//   enum class Variant { merge_path, upper_bound };
//   constexpr auto enum_table(Variant) {
//     return std::to_array<EnumName<Variant>>({{Variant::merge_path, "merge_path"},
//                                              {Variant::upper_bound, "upper_bound"}});
//   }
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpath {

/// One value of an enum and its name.
template <class Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

/// All names of an enum, in the order of its table.
template <class Enum>
std::vector<std::string> enum_names() {
  std::vector<std::string> names;
  for (const EnumName<Enum>& entry : enum_table(Enum{})) names.emplace_back(entry.name);
  return names;
}

namespace detail {

template <class Enum>
std::string listed_names() {
  std::string list;
  for (const EnumName<Enum>& entry : enum_table(Enum{})) {
    list += (list.empty() ? "" : ", ") + std::string(entry.name);
  }
  return list;
}

}  // namespace detail

/// The name of a value. Throws std::invalid_argument for a number that is none of the enum's
/// values; `what` says which option it was meant for.
template <class Enum>
std::string_view enum_name(Enum value, const std::string& what = "value") {
  for (const EnumName<Enum>& entry : enum_table(Enum{})) {
    if (entry.value == value) return entry.name;
  }
  throw std::invalid_argument(what + " is " + std::to_string(static_cast<long long>(value)) +
                              ", which is not a value of its type: expected one of " +
                              detail::listed_names<Enum>());
}

/// The value of a name. Throws std::invalid_argument for a name that is not in the table.
template <class Enum>
Enum enum_value(std::string_view name, const std::string& what = "value") {
  for (const EnumName<Enum>& entry : enum_table(Enum{})) {
    if (entry.name == name) return entry.value;
  }
  throw std::invalid_argument(what + " is '" + std::string(name) + "': expected one of " +
                              detail::listed_names<Enum>());
}

/// Throws std::invalid_argument unless `value` is one of the enum's values.
template <class Enum>
void require_enum(const std::string& what, Enum value) {
  static_cast<void>(enum_name(value, what));
}

}  // namespace warpath
