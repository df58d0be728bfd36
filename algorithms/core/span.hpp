// A view of device memory: where it starts and how many elements it has.
#pragma once

#include <cstdint>
#include <type_traits>

namespace warpath {

/// `count` elements of device memory from `data` on. Owns nothing. A span of T converts to a span
/// of const T.
template <class T>
struct DeviceSpan {
  T* data = nullptr;
  std::int64_t count = 0;

  template <class U>
  requires(std::is_same_v<U, const T> && !std::is_const_v<T>) operator DeviceSpan<U>() const {
    return {data, count};
  }  // NOLINT(google-explicit-constructor)
};

/// The type of an input argument whose element type another argument decides: any span that
/// converts to `DeviceSpan<const T>` is taken, and nothing is deduced from it.
template <class T>
using InputSpan = std::type_identity_t<DeviceSpan<const T>>;

}  // namespace warpath
