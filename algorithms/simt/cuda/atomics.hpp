// CUDA's atomic functions: relaxed, on the compiler's own atomics, so that ThreadSanitizer
// understands them.
#pragma once

#include <type_traits>

#include "../thread.hpp"

namespace simt {

// The argument takes the type of what the pointer points to, as with CUDA's overloads.
template <class T>
using Same = std::type_identity_t<T>;

template <class T>
constexpr bool has_atomics = (std::is_integral_v<T> ||
                              std::is_floating_point_v<T>)&&(sizeof(T) == 4 || sizeof(T) == 8 ||
                                                             sizeof(T) == 2);

// Replaces *p by f(*p); returns what was there.
template <class T, class F>
T read_modify_write(T* p, F f, int success = __ATOMIC_RELAXED, int failure = __ATOMIC_RELAXED) {
  schedule_point();
  T old;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  T wanted = f(old);
  while (!__atomic_compare_exchange(p, &old, &wanted, true, success, failure)) wanted = f(old);
  return old;
}

}  // namespace simt

template <class T>
requires simt::has_atomics<T> T atomicAdd(T* p, simt::Same<T> v) {
  if constexpr (std::is_integral_v<T>) {
    simt::schedule_point();
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
  } else {
    return simt::read_modify_write(p, [v](T old) { return old + v; });
  }
}
template <class T>
requires std::is_integral_v<T> T atomicSub(T* p, simt::Same<T> v) {
  simt::schedule_point();
  return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED);
}
template <class T>
requires std::is_integral_v<T> T atomicAnd(T* p, simt::Same<T> v) {
  simt::schedule_point();
  return __atomic_fetch_and(p, v, __ATOMIC_RELAXED);
}
template <class T>
requires std::is_integral_v<T> T atomicOr(T* p, simt::Same<T> v) {
  simt::schedule_point();
  return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
}
template <class T>
requires std::is_integral_v<T> T atomicXor(T* p, simt::Same<T> v) {
  simt::schedule_point();
  return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED);
}
template <class T>
requires std::is_integral_v<T> T atomicMin(T* p, simt::Same<T> v) {
  return simt::read_modify_write(p, [v](T old) { return v < old ? v : old; });
}
template <class T>
requires std::is_integral_v<T> T atomicMax(T* p, simt::Same<T> v) {
  return simt::read_modify_write(p, [v](T old) { return old < v ? v : old; });
}
inline unsigned atomicInc(unsigned* p, unsigned last) {
  return simt::read_modify_write(p, [last](unsigned old) { return old >= last ? 0 : old + 1; });
}
inline unsigned atomicDec(unsigned* p, unsigned first) {
  return simt::read_modify_write(
      p, [first](unsigned old) { return !old || old > first ? first : old - 1; });
}
template <class T>
requires simt::has_atomics<T> T atomicExch(T* p, simt::Same<T> v) {
  simt::schedule_point();
  T old;
  __atomic_exchange(p, &v, &old, __ATOMIC_RELAXED);
  return old;
}
template <class T>
requires std::is_integral_v<T> T atomicCAS(T* p, simt::Same<T> expected, simt::Same<T> desired) {
  simt::schedule_point();
  T old = expected;
  __atomic_compare_exchange(p, &old, &desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return old;
}

#define SIMT_SCOPED(name)            \
  template <class T, class... A>     \
  auto name##_block(T* p, A... a) {  \
    return name(p, a...);            \
  }                                  \
  template <class T, class... A>     \
  auto name##_system(T* p, A... a) { \
    return name(p, a...);            \
  }
SIMT_SCOPED(atomicAdd)
SIMT_SCOPED(atomicSub)
SIMT_SCOPED(atomicAnd)
SIMT_SCOPED(atomicOr)
SIMT_SCOPED(atomicXor)
SIMT_SCOPED(atomicMin)
SIMT_SCOPED(atomicMax)
SIMT_SCOPED(atomicInc)
SIMT_SCOPED(atomicDec)
SIMT_SCOPED(atomicExch)
SIMT_SCOPED(atomicCAS)
#undef SIMT_SCOPED
