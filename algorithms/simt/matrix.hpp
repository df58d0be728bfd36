// Tensor cores: the numbers of 16 bits that they take, and their products. Like all of the executor
// it is not instrumented, so that a product costs the same under a sanitizer.
#pragma once

#include <cstdint>

#include "site.hpp"

namespace simt {

/// The bits of the half (binary16) nearest to x, ties to even (cvt.rn.f16.f32).
std::uint32_t half_bits(float x);
/// The value of a half (cvt.f32.f16).
float half_value(std::uint32_t bits);

/// product = A B + sum, A: 16 x 16 halves, B: 16 x 8, the others float, in the registers of the
/// warp's lanes as PTX lays them out (mma.sync.aligned.m16n8k16, f16 inputs). All 32 lanes take
/// part. Digits are cut off as Hopper does. Model: M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh,
/// "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7:e330, 2021,
/// https://doi.org/10.7717/peerj-cs.330
void multiply_add_16x8x16(const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                          const float (&sum)[4], float (&product)[4], SIMT_SITE);
/// The same, A: 16 x 8 numbers of TF32, B: 8 x 8 (m16n8k8, tf32 inputs): the upper 19 bits of
/// floats.
void multiply_add_16x8x8_tf32(const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                              const float (&sum)[4], float (&product)[4], SIMT_SITE);

}  // namespace simt
