// The products of a warpgroup by themselves. In a file of its own: where nothing can run its code,
// it is assembled at least, and that takes time.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "../device_vectors.cuh"
#include "core/launch.cuh"
#include "map_reduce/warpgroup.cuh"

namespace warpath::map_reduce::test {
namespace {

constexpr int rows = detail::warpgroup_rows;
constexpr int most_columns = detail::warpgroup_columns;
constexpr int steps = 2;             ///< of 16 numbers
constexpr int numbers = 16 * steps;  ///< of a row or column

/// Of a block's rows, and of its columns.
struct Operands {
  float of[2][rows][numbers];
};
/// The sums of each row and column of the first step, and of both.
struct Products {
  float of[steps][rows][most_columns];
};
enum class Rows { of_halves_in_shared_memory, of_halves, of_tf32 };

struct SharedOperands {
  /// Rows or columns; 16 bytes of each, which are eight halves or four numbers of TF32.
  alignas(16) std::uint32_t words[2][numbers / 4][4 * rows + 4];

  __device__ void block_set(const Operands& operands, bool are_tf32) {
    for (int k = threadIdx.x; k < 2 * rows * numbers; k += blockDim.x) {
      const int side = k / (rows * numbers);
      const int point = k / numbers % rows;
      const int n = k % numbers;
      const float* const of_point = operands.of[side][point];
      if (are_tf32) {
        words[side][n / 4][4 * point + n % 4] = __float_as_uint(of_point[n]);
      } else if (n % 2 == 0) {
        words[side][n / 8][4 * point + n % 8 / 2] =
            detail::pair_of_halves(of_point[n], of_point[n + 1]);
      }
    }
    hopper::fence_for_bulk();
    __syncthreads();
  }
  __device__ detail::WarpgroupOperand operand(int side, int line) const {
    return {words[side][line], 4 * rows + 4};
  }
};

/// A warpgroup multiplies 64 rows by 8 Eights columns.
template <int Eights, Rows Kind>
__global__ void warpgroup_product_kernel(const Operands* operands, Products* products) {
  if (!hopper::is_compiled_for_90a()) return;
  auto& shared = dynamic_shared<SharedOperands>();
  shared.block_set(operands[blockIdx.x], Kind == Rows::of_tf32);
  const int first_row = warp_index() * 16 + lane_index() / 4;
  float found[Eights][4];
  constexpr int lines = Kind == Rows::of_tf32 ? numbers / 4 : numbers / 8;
  for (int line = 0; line < lines; line += 2) {
    std::uint32_t a[4];
    for (int r = 0; r < 4; ++r) {
      a[r] = shared.words[0][line + r / 2][4 * (first_row + r % 2 * 8) + lane_index() % 4];
    }
    const detail::WarpgroupOperand columns = shared.operand(1, line);
    detail::warpgroup_begin();
    if constexpr (Kind == Rows::of_tf32) {
      detail::warpgroup_multiply_tf32(a, columns, found, line == 0);
    } else if constexpr (Kind == Rows::of_halves) {
      detail::warpgroup_multiply(a, columns, found, line == 0);
    } else {
      detail::warpgroup_multiply(shared.operand(0, line), columns, found, line == 0);
    }
    detail::warpgroup_end(found);
    if ((line + 2) * steps % lines != 0) continue;  // no whole step
    for (int e = 0; e < Eights; ++e) {
      for (int q = 0; q < 4; ++q) {
        products[blockIdx.x]
            .of[line * steps / lines][first_row + q / 2 * 8][8 * e + lane_index() % 4 * 2 + q % 2] =
            found[e][q];
      }
    }
  }
}

/// Rows and columns are told apart, and so are all parts of the numbers, and all products.
template <int Eights, Rows Kind>
void expect_sums_of_products() {
  SCOPED_TRACE(8 * Eights);
  const auto kernel = warpgroup_product_kernel<Eights, Kind>;
  if (!can_run(kernel, {.hopper = true, .sm_90a = true})) {
    GTEST_SKIP() << "the code on this device lacks the instructions";
  }
  constexpr int blocks = 3;
  std::vector<Operands> operands(blocks);
  std::mt19937 random(5);
  for (Operands& one : operands) {
    for (auto& side : one.of) {
      for (auto& point : side) {
        for (float& number : point) {
          number = static_cast<float>(static_cast<int>(random() % 65) - 32);
        }
      }
    }
  }
  const DeviceBuffer<Operands> in = on_device(operands);
  DeviceBuffer<Products> out(blocks);
  launch({blocks, 128, sizeof(SharedOperands)}, kernel, in.data(), out.data());
  const std::vector<Products> products = on_host(out);
  for (std::size_t block = 0; block < blocks; ++block) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < 8 * Eights; ++column) {
        float expected = 0;
        for (int k = 0; k < numbers; ++k) {
          expected += operands[block].of[0][row][k] * operands[block].of[1][column][k];
          if (k % 16 < 15) continue;
          ASSERT_EQ(products[block].of[k / 16][row][column], expected)
              << "block " << block << ", row " << row << ", column " << column << ", k " << k;
        }
      }
    }
  }
}

TEST(WarpgroupProduct, OfRowsInSharedMemory) {
  expect_sums_of_products<8, Rows::of_halves_in_shared_memory>();
}
TEST(WarpgroupProduct, OfRowsInRegisters) {
  expect_sums_of_products<2, Rows::of_halves>();
  expect_sums_of_products<4, Rows::of_halves>();
  expect_sums_of_products<8, Rows::of_halves>();
}
TEST(WarpgroupProduct, OfTf32) {
  expect_sums_of_products<2, Rows::of_tf32>();
  expect_sums_of_products<4, Rows::of_tf32>();
  expect_sums_of_products<8, Rows::of_tf32>();
}

}  // namespace
}  // namespace warpath::map_reduce::test
