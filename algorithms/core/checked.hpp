// Whether host functions look at the data that they are given, before they use it.
#pragma once

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace warpath {

namespace detail {

inline std::atomic<bool>& checked_flag() {
  static std::atomic<bool> flag = [] {
    const char* value = std::getenv("WARPATH_CHECKED");
    return value != nullptr && std::string_view(value) == "1";
  }();
  return flag;
}

}  // namespace detail

/// Whether preconditions on the data (order, NaN, indices in range) are tested by every call. Such
/// tests read the data on the device and synchronise, which a stream capture does not allow. Off
/// unless the environment has WARPATH_CHECKED=1; set_checked() overrides that. A switch of the
/// process and not of the build: all translation units agree.
inline bool is_checked() {
  return detail::checked_flag().load(std::memory_order_relaxed);
}

/// Switches the tests of preconditions on the data on or off, for all threads.
inline void set_checked(bool checked) {
  detail::checked_flag().store(checked, std::memory_order_relaxed);
}

}  // namespace warpath
