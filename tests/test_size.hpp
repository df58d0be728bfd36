// For tests: whether the run shall be short.
#pragma once

#include <cstdlib>
#include <string_view>

namespace warpath {

/// Whether the loops shall be short, and inputs few and small, since a sanitizer makes them slow.
inline bool is_small() {
  const char* size = std::getenv("WARPATH_TEST_SIZE");
  return size != nullptr && std::string_view(size) == "small";
}

}  // namespace warpath
