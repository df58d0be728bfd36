// The second product of warpgroup_signals.cuh, P * b, in two parts of each factor, with the small
// products first: in halves, or in TF32. Both have
//
//     Signals   b of a tile's columns as right operands: high parts of the numbers, then low ones
//     Powers    P of 64 columns as left operands, from what the first product left in registers
//     multiply  the product that takes them
//
// A product of halves takes half the time, and its operands half the memory. Their range holds P in
// up to 16 dimensions (tensor_signals.cuh); TF32 has that of floats, and two parts of it 22 digits.
#pragma once

#include <cstdint>

#include "core/vector.cuh"
#include "map_reduce/arithmetic.cuh"
#include "map_reduce/instructions.cuh"
#include "map_reduce/tensor_signals.cuh"
#include "map_reduce/warpgroup.cuh"
#include "map_reduce/warpgroup_points.cuh"

namespace warpath::map_reduce::detail {

/// The signals of a tile, scaled: the numbers are the operand's points, and the columns its
/// coordinates. `Words`: of a column's number.
template <int Columns, int Numbers, int StepColumns>
struct SignalOperands {
  static constexpr int step_columns = StepColumns;  ///< of a product
  static constexpr int stride = operand_stride(2 * Numbers);
  /// 16 bytes of each number, those of neighbouring columns, one after the other.
  alignas(16) std::uint32_t words[2 * Columns / StepColumns][stride];

  __device__ __forceinline__ WarpgroupOperand high_of(int step) const {
    return {&words[2 * step][0], stride};
  }
  __device__ __forceinline__ WarpgroupOperand low_of(int step) const {
    return {&words[2 * step][4 * Numbers], stride};
  }

 protected:
  /// parts_of(line, word, e, high, low) sets a word of both parts; neighbouring threads write
  /// neighbouring ones.
  template <class PartsOf>
  __device__ __forceinline__ void block_set_words(PartsOf parts_of) {
    constexpr int lines = 2 * Columns / StepColumns;
    for (int i = threadIdx.x; i < lines * 4 * Numbers; i += blockDim.x) {
      const int word = i % 4;
      const int e = i / 4 % Numbers;
      const int line = i / 4 / Numbers;
      std::uint32_t* const at = &words[line][4 * e + word];
      parts_of(line, word, e, at[0], at[4 * Numbers]);
    }
  }
};

template <int D>
struct Halves {
  /// What sums are multiplied by.
  static constexpr float back = 1 / p_scale<D>;

  template <int Columns, int Numbers>
  struct Signals : SignalOperands<Columns, Numbers, 16> {
    /// number_of(t, e): of column t. The whole block.
    template <class NumberOf>
    __device__ __forceinline__ void block_set(NumberOf number_of) {
      this->block_set_words(
          [&](int line, int word, int e, std::uint32_t& high, std::uint32_t& low) {
            const int t = line * 8 + word * 2;
            const std::uint32_t first = split_halves(number_of(t, e)).bits;
            const std::uint32_t second = split_halves(number_of(t + 1, e)).bits;
            high = __byte_perm(first, second, 0x5410);
            low = __byte_perm(first, second, 0x7632);
          });
    }
  };

  struct Powers {
    std::uint32_t high[4][4];
    std::uint32_t low[4][4];

    __device__ __forceinline__ void set(const WarpgroupSums& exponents) {
#pragma unroll
      for (int step = 0; step < 4; ++step) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const float(&of)[4] = exponents[2 * step + r / 2];
          const int q = r % 2 * 2;
          const float first = p_scale<D> * exp2_of(of[q]);
          const float second = p_scale<D> * exp2_of(of[q + 1]);
          const std::uint32_t pair = pair_of_halves(first, second);
          high[step][r] = pair;
          low[step][r] =
              pair_of_halves(first - half_value(pair & 0xFFFF), second - half_value(pair >> 16));
        }
      }
    }
  };

  template <int Eights>
  __device__ __forceinline__ static void multiply(const std::uint32_t (&rows)[4],
                                                  const WarpgroupOperand& columns,
                                                  float (&sums)[Eights][4], bool is_first) {
    warpgroup_multiply(rows, columns, sums, is_first);
  }
};

struct Tf32 {
  static constexpr float back = 1;

  /// Of eight columns the even ones come first: so does P.
  template <int Columns, int Numbers>
  struct Signals : SignalOperands<Columns, Numbers, 8> {
    template <class NumberOf>
    __device__ __forceinline__ void block_set(NumberOf number_of) {
      this->block_set_words(
          [&](int line, int word, int e, std::uint32_t& high, std::uint32_t& low) {
            const float number = number_of(line / 2 * 8 + word * 2 + line % 2, e);
            high = __float_as_uint(number);
            low = __float_as_uint(number - high_of_tf32(number));
          });
    }
  };

  /// (The products take the upper bits of a register: those of the high parts need not be cut.)
  struct Powers {
    std::uint32_t high[8][4];
    std::uint32_t low[8][4];

    __device__ __forceinline__ void set(const WarpgroupSums& exponents) {
#pragma unroll
      for (int step = 0; step < 8; ++step) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const float power = exp2_of(exponents[step][r / 2 + r % 2 * 2]);
          high[step][r] = __float_as_uint(power);
          low[step][r] = __float_as_uint(power - high_of_tf32(power));
        }
      }
    }
  };

  template <int Eights>
  __device__ __forceinline__ static void multiply(const std::uint32_t (&rows)[4],
                                                  const WarpgroupOperand& columns,
                                                  float (&sums)[Eights][4], bool is_first) {
    warpgroup_multiply_tf32(rows, columns, sums, is_first);
  }
};

}  // namespace warpath::map_reduce::detail
