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
struct SharedOperands {
  alignas(16) std::uint32_t words[2][steps][2][4 * rows + 4];  ///< rows or columns, step, eight

  __device__ void block_set(const Operands& operands) {
    for (int k = threadIdx.x; k < 2 * rows * numbers / 2; k += blockDim.x) {
      const int side = k / (rows * numbers / 2);
      const int point = k / (numbers / 2) % rows;
      const int pair = k % (numbers / 2);
      const float* const of_point = operands.of[side][point];
      words[side][pair / 8][pair / 4 % 2][4 * point + pair % 4] =
          detail::pair_of_halves(of_point[2 * pair], of_point[2 * pair + 1]);
    }
    hopper::fence_for_bulk();
    __syncthreads();
  }
  __device__ detail::WarpgroupOperand operand(int side, int step) const {
    return {words[side][step][0], 4 * rows + 4};
  }
};

/// A warpgroup multiplies 64 rows by 8 Eights columns; rows come from shared memory or registers.
template <int Eights, bool HasRowsInRegisters>
__global__ void warpgroup_product_kernel(const Operands* operands, Products* products) {
  if (!hopper::is_compiled_for_90a()) return;
  auto& shared = dynamic_shared<SharedOperands>();
  shared.block_set(operands[blockIdx.x]);
  const int first_row = warp_index() * 16 + lane_index() / 4;
  float found[Eights][4];
  for (int step = 0; step < steps; ++step) {
    std::uint32_t a[4];
    for (int r = 0; r < 4; ++r) {
      a[r] = shared.words[0][step][r / 2][4 * (first_row + r % 2 * 8) + lane_index() % 4];
    }
    detail::warpgroup_begin();
    if constexpr (HasRowsInRegisters) {
      detail::warpgroup_multiply(a, shared.operand(1, step), found, step == 0);
    } else {
      detail::warpgroup_multiply(shared.operand(0, step), shared.operand(1, step), found,
                                 step == 0);
    }
    detail::warpgroup_end(found);
    for (int e = 0; e < Eights; ++e) {
      for (int q = 0; q < 4; ++q) {
        products[blockIdx.x].of[step][first_row + q / 2 * 8][8 * e + lane_index() % 4 * 2 + q % 2] =
            found[e][q];
      }
    }
  }
}

/// Rows and columns are told apart, and so are both halves of the numbers, and both products.
template <int Eights, bool HasRowsInRegisters>
void expect_sums_of_products() {
  SCOPED_TRACE(8 * Eights);
  const auto kernel = warpgroup_product_kernel<Eights, HasRowsInRegisters>;
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
  expect_sums_of_products<8, false>();
}
TEST(WarpgroupProduct, OfRowsInRegisters) {
  expect_sums_of_products<2, true>();
  expect_sums_of_products<4, true>();
  expect_sums_of_products<8, true>();
}

}  // namespace
}  // namespace warpath::map_reduce::test
