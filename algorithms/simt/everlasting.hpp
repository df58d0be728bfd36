#pragma once
// Objects that outlive the process's static ones, whose destructors may still call the runtime.
#include <cstddef>
#include <new>

namespace simt {

/// The one T, made by the first call and never destroyed. It lies in static memory: of memory from
/// `new` ThreadSanitizer would say that the first thread's allocation races with the lock of the
/// next, since it does not see the guard of the variable below in code that it does not watch.
template <class T>
T& everlasting() {
  alignas(T) static std::byte storage[sizeof(T)];
  static T& instance = *new (storage) T;
  return instance;
}

}  // namespace simt
