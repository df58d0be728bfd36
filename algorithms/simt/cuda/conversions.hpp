// CUDA's conversions between integers and floating point, with a rounding mode each: _rn to nearest
// (even), _rz towards zero, _rd down, _ru up.
//
// To an integer they saturate, as on a GPU; a plain cast is the C++ compiler's, and undefined out
// of range. Source: PTX ISA 9.0, cvt.
#pragma once

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace simt {

enum class Rounding { nearest, to_zero, down, up };

template <Rounding mode, class Real>
Real round_to_integer(Real x) {
  if constexpr (mode == Rounding::nearest) return std::nearbyint(x);
  if constexpr (mode == Rounding::to_zero) return std::trunc(x);
  if constexpr (mode == Rounding::down) return std::floor(x);
  if constexpr (mode == Rounding::up) return std::ceil(x);
}

/// The nearest value that Integer has. NaN: 0 from float to 32 bits, else the topmost bit alone.
template <class Integer, Rounding mode, class Real>
Integer to_integer(Real x) {
  using Limits = std::numeric_limits<Integer>;
  constexpr auto topmost_bit = std::make_unsigned_t<Integer>{1} << (8 * sizeof(Integer) - 1);
  constexpr bool nan_is_zero = sizeof(Real) == 4 && sizeof(Integer) == 4;
  if (std::isnan(x)) return nan_is_zero ? Integer{0} : static_cast<Integer>(topmost_bit);
  const Real whole = round_to_integer<mode>(x);
  const Real beyond = std::ldexp(Real{1}, Limits::digits);  // the greatest value plus 1, exactly
  if (whole >= beyond) return Limits::max();
  if (whole < (std::is_signed_v<Integer> ? -beyond : Real{0})) return Limits::min();
  return static_cast<Integer>(whole);
}

/// The value in the narrower type Real, rounded as asked for.
template <class Real, Rounding mode, class Value>
Real to_real(Value value) {
  static_assert(std::numeric_limits<long double>::digits >= 64, "holds every Value exactly");
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  const long double exact = value;
  const auto nearest = static_cast<Real>(exact);
  const bool is_above = nearest > exact;
  const bool is_below = nearest < exact;
  if (is_above && (mode == Rounding::down || (mode == Rounding::to_zero && exact > 0)))
    return std::nextafter(nearest, -infinity);
  if (is_below && (mode == Rounding::up || (mode == Rounding::to_zero && exact < 0)))
    return std::nextafter(nearest, infinity);
  return nearest;
}

}  // namespace simt

#define SIMT_CONVERSION(name, To, From, convert)          \
  inline To __##name##_rn(From x) {                       \
    return simt::convert<To, simt::Rounding::nearest>(x); \
  }                                                       \
  inline To __##name##_rz(From x) {                       \
    return simt::convert<To, simt::Rounding::to_zero>(x); \
  }                                                       \
  inline To __##name##_rd(From x) {                       \
    return simt::convert<To, simt::Rounding::down>(x);    \
  }                                                       \
  inline To __##name##_ru(From x) {                       \
    return simt::convert<To, simt::Rounding::up>(x);      \
  }
SIMT_CONVERSION(float2int, int, float, to_integer)
SIMT_CONVERSION(float2uint, unsigned, float, to_integer)
SIMT_CONVERSION(float2ll, long long, float, to_integer)
SIMT_CONVERSION(float2ull, unsigned long long, float, to_integer)
SIMT_CONVERSION(double2int, int, double, to_integer)
SIMT_CONVERSION(double2uint, unsigned, double, to_integer)
SIMT_CONVERSION(double2ll, long long, double, to_integer)
SIMT_CONVERSION(double2ull, unsigned long long, double, to_integer)
SIMT_CONVERSION(int2float, float, int, to_real)
SIMT_CONVERSION(uint2float, float, unsigned, to_real)
SIMT_CONVERSION(ll2float, float, long long, to_real)
SIMT_CONVERSION(ull2float, float, unsigned long long, to_real)
SIMT_CONVERSION(ll2double, double, long long, to_real)
SIMT_CONVERSION(ull2double, double, unsigned long long, to_real)
SIMT_CONVERSION(double2float, float, double, to_real)
#undef SIMT_CONVERSION

inline double __int2double_rn(int x) {
  return x;
}
inline double __uint2double_rn(unsigned x) {
  return x;
}

// ---------------------------------------------------------------- the same bits as another type
inline float __uint_as_float(unsigned v) {
  return std::bit_cast<float>(v);
}
inline float __int_as_float(int v) {
  return std::bit_cast<float>(v);
}
inline unsigned __float_as_uint(float v) {
  return std::bit_cast<unsigned>(v);
}
inline int __float_as_int(float v) {
  return std::bit_cast<int>(v);
}
inline double __longlong_as_double(long long v) {
  return std::bit_cast<double>(v);
}
inline long long __double_as_longlong(double v) {
  return std::bit_cast<long long>(v);
}
inline int __double2hiint(double v) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(v) >> 32);
}
inline int __double2loint(double v) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(v));
}
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<unsigned>(high)) << 32 |
                               static_cast<unsigned>(low));
}

// NOLINTEND(bugprone-reserved-identifier)
