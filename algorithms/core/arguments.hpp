// What host functions demand of sizes and addresses: std::invalid_argument with the argument's
// name, its value and what was expected.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/span.hpp"

namespace warpath {

/// Throws if the count is negative, or so large that no memory has as many bytes; or if the memory
/// is null or not aligned for its elements.
template <class T>
void require_span(const std::string& name, DeviceSpan<T> span) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max() / std::int64_t{sizeof(T)};
  if (span.count < 0 || span.count > most / 2) {
    throw std::invalid_argument(
        name + " has " + std::to_string(span.count) + " elements: expected " +
        (span.count < 0 ? "0 or more" : "at most " + std::to_string(most / 2)));
  }
  if (span.count > 0 && span.data == nullptr) {
    throw std::invalid_argument(name + " is null, but has " + std::to_string(span.count) +
                                " elements: expected device memory");
  }
  if (span.count > 0 && reinterpret_cast<std::uintptr_t>(span.data) % alignof(T) != 0) {
    throw std::invalid_argument(name + " begins at an address that is no multiple of " +
                                std::to_string(alignof(T)) + ": expected memory aligned for its " +
                                "elements");
  }
}

/// Throws unless `out` is a span (require_span) that holds at least `needed` elements.
template <class T>
void require_room(const std::string& name, DeviceSpan<T> out, std::int64_t needed) {
  require_span(name, out);
  if (out.count >= needed) return;
  throw std::invalid_argument(name + " holds " + std::to_string(out.count) +
                              " elements: " + std::to_string(needed) + " are needed");
}

/// Throws unless two arguments have as many elements.
inline void require_count(const std::string& name, std::int64_t count, const std::string& other,
                          std::int64_t expected) {
  if (count == expected) return;
  throw std::invalid_argument(name + " has " + std::to_string(count) + " elements: expected " +
                              std::to_string(expected) + ", as many as " + other);
}

/// Throws unless low <= value <= high.
inline void require_in_range(const std::string& name, std::int64_t value, std::int64_t low,
                             std::int64_t high) {
  if (value >= low && value <= high) return;
  throw std::invalid_argument(name + " is " + std::to_string(value) + ": expected " +
                              std::to_string(low) + " to " + std::to_string(high));
}

/// Throws unless both are spans (require_span) that share no byte.
template <class T, class U>
void require_apart(const std::string& name, DeviceSpan<T> a, const std::string& other,
                   DeviceSpan<U> b) {
  require_span(name, a);
  require_span(other, b);
  const auto begin = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
  const std::uintptr_t a_end = begin(a.data + a.count);
  const std::uintptr_t b_end = begin(b.data + b.count);
  if (a.count == 0 || b.count == 0 || a_end <= begin(b.data) || b_end <= begin(a.data)) return;
  throw std::invalid_argument(other + " overlaps " + name + ": expected separate memory");
}

}  // namespace warpath
