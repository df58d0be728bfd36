// How the runs are searched: what configurations, tests and callers name.
#pragma once

namespace warpath::biased_binary_search {

enum class Variant {
  biased,  ///< the source: `levels` biased steps, then halves
  plain    ///< halves alone
};

struct Options {
  Variant variant = Variant::biased;
  int levels = 4;  ///< of biased: 1 to 4
};

}  // namespace warpath::biased_binary_search
