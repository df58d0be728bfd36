// How the runs are searched: what configurations, tests and callers name.
#pragma once

#include <array>

#include "core/enum_names.hpp"

namespace warpath::biased_binary_search {

enum class Variant {
  biased,  ///< the source: `levels` biased steps, then halves
  plain    ///< halves alone
};

constexpr auto enum_table(Variant) {
  return std::to_array<EnumName<Variant>>({{Variant::biased, "biased"}, {Variant::plain, "plain"}});
}

struct Options {
  Variant variant = Variant::biased;
  int levels = 4;  ///< of biased: 1 to 4
};

}  // namespace warpath::biased_binary_search
