// The matrix product of a warpgroup, four warps at once, whose operands lie in shared memory, as
// inline PTX; each function has a CPU twin of the same contract. Only code compiled for sm_90a has
// it: elsewhere its functions trap (hopper::is_compiled_for_90a()). Source: NVIDIA, "Parallel
// Thread Execution ISA 8.0", 2023, wgmma,
// https://docs.nvidia.com/cuda/parallel-thread-execution/ .
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/hopper.cuh"
#include "core/warp.cuh"
#include "map_reduce/instructions.cuh"

namespace warpath::map_reduce::detail {

inline constexpr int warpgroup_rows = 64;     ///< of a product
inline constexpr int warpgroup_columns = 64;  ///< of the products here; hardware has others, too

/// An operand of a product: 16 halves of each of 64 points (rows, or columns), in shared memory. It
/// is made of matrices of eight points and eight halves, each 128 bytes without a gap:
///
///     words[4 p + h / 2]            half h of point p, h = 0...7; the points without a gap
///     words[4 p + h / 2 + stride]   half h + 8
///
/// Both addresses are multiples of 16 bytes.
struct WarpgroupOperand {
  const std::uint32_t* words;
  int stride;
};

/// The sums of a warp's 16 rows of a product, in its lanes: in columns 8 e + 2 t and 8 e + 2 t + 1,
/// sums[e][0] and [1] are of row g, sums[e][2] and [3] of row g + 8 (lane 4 g + t).
using WarpgroupSums = float[warpgroup_columns / 8][4];

#ifdef WARPATH_SM_90A
// (Each of the 32 registers by its name, for asm.)
#define WARPATH_FOUR(sums, e) "+f"(sums[e][0]), "+f"(sums[e][1]), "+f"(sums[e][2]), "+f"(sums[e][3])
#define WARPATH_ALL(sums)                                                                     \
  WARPATH_FOUR(sums, 0), WARPATH_FOUR(sums, 1), WARPATH_FOUR(sums, 2), WARPATH_FOUR(sums, 3), \
      WARPATH_FOUR(sums, 4), WARPATH_FOUR(sums, 5), WARPATH_FOUR(sums, 6), WARPATH_FOUR(sums, 7)

/// An operand as the instruction is told of it: addresses in units of 16 bytes, and eight points
/// follow on eight without a gap.
__device__ __forceinline__ std::uint64_t descriptor_of(const WarpgroupOperand& operand) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(operand.words));
  return std::uint64_t{address >> 4} | static_cast<std::uint64_t>(operand.stride / 4) << 16 |
         std::uint64_t{128 / 16} << 32;
}
#endif

/// Before the products that are to be under way at once.
__device__ __forceinline__ void warpgroup_begin() {
#if defined(WARPATH_SM_90A)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#elif !defined(SIMT_EMULATION)
  __trap();
#endif
}

#ifdef SIMT_EMULATION
/// The products of eight columns each, of which multiply() does one.
template <int Eights>
void warpgroup_multiply_by(void (*multiply)(const std::uint32_t (&)[4], const std::uint32_t (&)[2],
                                            const float (&)[4], float (&)[4]),
                           const std::uint32_t (&a)[4], const WarpgroupOperand& columns,
                           float (&sums)[Eights][4], bool is_first) {
  for (int e = 0; e < Eights; ++e) {
    const std::uint32_t* const column =
        columns.words + (8 * e + lane_index() / 4) * 4 + lane_index() % 4;
    const std::uint32_t b[2] = {column[0], column[columns.stride]};
    const float zero[4] = {};
    const float before[4] = {sums[e][0], sums[e][1], sums[e][2], sums[e][3]};
    multiply(a, b, is_first ? zero : before, sums[e]);
  }
}
#endif

/// Starts sums += rows * columns, or without the sums if `is_first`. All warps of a group come to
/// it, each with all of its lanes; between those of a group of products nothing is read of the
/// sums. What was written to the operands was so before hopper::fence_for_bulk() and a barrier.
__device__ __forceinline__ void warpgroup_multiply(const WarpgroupOperand& rows,
                                                   const WarpgroupOperand& columns,
                                                   WarpgroupSums& sums, bool is_first) {
#if defined(SIMT_EMULATION)
  const int g = lane_index() / 4;
  const int t = lane_index() % 4;
  const std::uint32_t* const row = rows.words + (warp_index() % 4 * 16 + g) * 4 + t;
  const std::uint32_t a[4] = {row[0], row[32], row[rows.stride], row[32 + rows.stride]};
  warpgroup_multiply_by(multiply_16x16x8, a, columns, sums, is_first);
#elif defined(WARPATH_SM_90A)
  asm volatile(
      "{\n.reg .pred adds;\n"
      "setp.ne.b32 adds, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, adds, 1, 1, 0, 0;\n}"
      : WARPATH_ALL(sums)
      : "l"(descriptor_of(rows)), "l"(descriptor_of(columns)), "r"(is_first ? 0 : 1)
      : "memory");
#else
  __trap();
#endif
}

// (A product of rows in registers: its shape, type and what follows the scales; the sums by number
// and name; the operands' numbers.)
#ifdef WARPATH_SM_90A
#define WARPATH_MULTIPLY(kind, numbers, a0, a1, a2, a3, b, adds, transposed, ...)                  \
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, " adds                                      \
               ", 0;\n"                                                                            \
               "wgmma.mma_async.sync.aligned." kind " {" numbers "}, {" a0 ", " a1 ", " a2 ", " a3 \
               "}, " b ", adds, 1, 1" transposed ";\n}"                                            \
               : __VA_ARGS__                                                                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor_of(columns)),          \
                 "r"(is_first ? 0 : 1)                                                             \
               : "memory")
#define WARPATH_MULTIPLY_EIGHTS(depth, types, transposed)                                          \
  if constexpr (Eights == 2) {                                                                     \
    WARPATH_MULTIPLY("m64n16" depth types, "%0, %1, %2, %3, %4, %5, %6, %7", "%8", "%9", "%10",    \
                     "%11", "%12", "%13", transposed, WARPATH_FOUR(sums, 0),                       \
                     WARPATH_FOUR(sums, 1));                                                       \
  } else if constexpr (Eights == 4) {                                                              \
    WARPATH_MULTIPLY("m64n32" depth types,                                                         \
                     "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15",       \
                     "%16", "%17", "%18", "%19", "%20", "%21", transposed, WARPATH_FOUR(sums, 0),  \
                     WARPATH_FOUR(sums, 1), WARPATH_FOUR(sums, 2), WARPATH_FOUR(sums, 3));         \
  } else {                                                                                         \
    WARPATH_MULTIPLY("m64n64" depth types,                                                         \
                     "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "      \
                     "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, " \
                     "%31",                                                                        \
                     "%32", "%33", "%34", "%35", "%36", "%37", transposed, WARPATH_ALL(sums));     \
  }
#endif

/// The same with a warp's 16 rows in the registers of its lanes, as multiply_16x16x8() has them,
/// and 16, 32 or 64 columns: sums[e] are those of columns 8 e and on.
template <int Eights>
__device__ __forceinline__ void warpgroup_multiply(const std::uint32_t (&a)[4],
                                                   const WarpgroupOperand& columns,
                                                   float (&sums)[Eights][4], bool is_first) {
  static_assert(Eights == 2 || Eights == 4 || Eights == 8);
#if defined(SIMT_EMULATION)
  warpgroup_multiply_by(multiply_16x16x8, a, columns, sums, is_first);
#elif defined(WARPATH_SM_90A)
  WARPATH_MULTIPLY_EIGHTS("k16", ".f32.f16.f16", ", 0")
#else
  __trap();
#endif
}

/// The same with 8 numbers of TF32 of each row and column, as multiply_16x8x8_tf32() has them. Of a
/// column's, four lie where eight halves do.
template <int Eights>
__device__ __forceinline__ void warpgroup_multiply_tf32(const std::uint32_t (&a)[4],
                                                        const WarpgroupOperand& columns,
                                                        float (&sums)[Eights][4], bool is_first) {
  static_assert(Eights == 2 || Eights == 4 || Eights == 8);
#if defined(SIMT_EMULATION)
  warpgroup_multiply_by(multiply_16x8x8_tf32, a, columns, sums, is_first);
#elif defined(WARPATH_SM_90A)
  WARPATH_MULTIPLY_EIGHTS("k8", ".f32.tf32.tf32", "")
#else
  __trap();
#endif
}

/// Waits for the products that were started since warpgroup_begin(). The sums may be read then.
template <int Eights>
__device__ __forceinline__ void warpgroup_end([[maybe_unused]] float (&sums)[Eights][4]) {
#if defined(WARPATH_SM_90A)
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  // (The sums are operands, so that the compiler reads none of them before.)
#pragma unroll
  for (int e = 0; e < Eights; ++e) asm volatile("" : WARPATH_FOUR(sums, e)::"memory");
#elif !defined(SIMT_EMULATION)
  __trap();
#endif
}

#ifdef WARPATH_SM_90A
#undef WARPATH_MULTIPLY_EIGHTS
#undef WARPATH_MULTIPLY
#undef WARPATH_ALL
#undef WARPATH_FOUR
#endif

}  // namespace warpath::map_reduce::detail
