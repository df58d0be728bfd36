#include "matrix.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>

#include "diagnostics.hpp"
#include "warp.hpp"

namespace simt {
namespace {

constexpr unsigned half_exponents = 31;  // the greatest one is that of infinities and NaN
constexpr unsigned half_digits = 10;     // that are stored

constexpr int rows = 16, columns = 8, depth = 16;

/// A sum as Hopper's tensor cores make it: digits below 2^-25 of the largest addend's leading one
/// are cut off from each addend, and those of the sum that a float has no room for.
float truncated_sum(const float (&addends)[depth + 1]) {
  float largest = 0;
  float rounded = 0;
  for (const float addend : addends) {
    largest = std::fmax(largest, std::fabs(addend));
    rounded += addend;
  }
  if (largest == 0 || !std::isfinite(rounded)) return rounded;
  const int digits = 25 - std::ilogb(largest);  // after the point
  const double scale = std::ldexp(1.0, digits);
  std::int64_t sum = 0;
  for (const float addend : addends) sum += std::int64_t(addend * scale);
  std::int64_t unit = 1;
  while (std::abs(sum) / unit >> 24 != 0) unit *= 2;
  return float(std::ldexp(double(sum / unit * unit), -digits));
}

/// The registers of a lane.
struct Operands {
  const std::uint32_t* a;
  const std::uint32_t* b;
  const float* sum;
  float* product;
  bool is_tf32;
  Site site;
};

float tf32_value(std::uint32_t bits) {
  return std::bit_cast<float>(bits & 0xFFFFE000u);
}

/// With g = lane / 4 and t = lane % 4, register i of A holds row g + 8 (i % 2), and register i of B
/// column g: of halves at k = 2t + 8 (i / 2) and the next k, or 2t + 8i and the next, of TF32 at k
/// = t + 4 (i / 2) or t + 4i.
void multiply_add(Warp& w, std::uint32_t lanes) {
  const Site site = from_bits<const Operands*>(w.in[std::countr_zero(lanes) % warp_size])->site;
  if (lanes != ~0u)
    fail("product of matrices at %s:%d by the lanes %08x; expected all lanes of the warp",
         site.file, site.line, lanes);
  Operands of[warp_size];
  float a[rows][depth] = {}, b[columns][depth] = {};
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    of[lane] = *from_bits<const Operands*>(w.in[lane]);
    const unsigned g = lane / 4, t = lane % 4;
    if (of[lane].is_tf32) {
      for (unsigned i = 0; i < 4; ++i)
        a[g + 8 * (i % 2)][t + 4 * (i / 2)] = tf32_value(of[lane].a[i]);
      for (unsigned i = 0; i < 2; ++i) b[g][t + 4 * i] = tf32_value(of[lane].b[i]);
      continue;
    }
    for (unsigned half = 0; half < 2; ++half) {
      for (unsigned i = 0; i < 4; ++i)
        a[g + 8 * (i % 2)][2 * t + 8 * (i / 2) + half] = half_value(of[lane].a[i] >> 16 * half);
      for (unsigned i = 0; i < 2; ++i)
        b[g][2 * t + 8 * i + half] = half_value(of[lane].b[i] >> 16 * half);
    }
  }
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      float addends[depth + 1] = {of[lane].sum[i]};
      for (int k = 0; k < depth; ++k)  // products of 11 digits are exact in float
        addends[1 + k] = a[row][k] * b[column][k];
      of[lane].product[i] = truncated_sum(addends);
    }
  }
}

}  // namespace

std::uint32_t half_bits(float x) {
  const std::uint32_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return 0x7FFF;
  if (x == 0) return sign;
  if (std::fabs(x) >= 65520) return sign | half_exponents << half_digits;
  int exponent = 0;
  std::frexp(x, &exponent);
  exponent = exponent < -13 ? -13 : exponent;  // from here on subnormal: multiples of 2^-24
  const auto digits =
      std::uint32_t(std::nearbyint(std::ldexp(std::fabs(x), 11 - exponent)));  // at most 2^11
  // The leading digit is not stored, but adds one to the exponent's field.
  return sign | ((std::uint32_t(exponent + 13) << half_digits) + digits);
}

float half_value(std::uint32_t bits) {
  const std::uint32_t exponent = bits >> half_digits & half_exponents;
  const std::uint32_t digits = bits & 1023;
  const std::uint32_t sign = (bits & 0x8000) << 16;
  if (exponent == 0) return std::copysign(float(digits) * 0x1p-24f, sign ? -1.0f : 1.0f);
  // A float's exponent is biased by 127, a half's by 15; both have their greatest for infinity.
  const std::uint32_t biased = exponent == half_exponents ? 255 : exponent + 127 - 15;
  return std::bit_cast<float>(sign | biased << 23 | digits << (23 - half_digits));
}

void multiply_add_16x8x16(const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                          const float (&sum)[4], float (&product)[4], const char* simt_file,
                          int simt_line) {
  const Operands operands{a, b, sum, product, false, SIMT_HERE};
  warp_collective(~0u, multiply_add, to_bits(&operands), 0, SIMT_HERE);
}
void multiply_add_16x8x8_tf32(const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                              const float (&sum)[4], float (&product)[4], const char* simt_file,
                              int simt_line) {
  const Operands operands{a, b, sum, product, true, SIMT_HERE};
  warp_collective(~0u, multiply_add, to_bits(&operands), 0, SIMT_HERE);
}

}  // namespace simt
