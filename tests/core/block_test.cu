// Collectives of one block, for every number of warps that a block can have. The shared storage is
// used again at once: a missing barrier at a collective's end spoils the next one.
#include <numeric>

#include "../test_size.hpp"
#include "core/block.cuh"
#include "core/launch.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

constexpr unsigned blocks = 2;
constexpr int rounds = 3;

template <class T>
struct Sums {
  T exclusive, total, sum;
  bool operator==(const Sums&) const = default;
};

/// What googletest prints where they differ.
template <class T>
void PrintTo(const Sums<T>& sums, std::ostream* out) {
  *out << "{exclusive " << sums.exclusive << ", total " << sums.total << ", sum " << sums.sum
       << "}";
}

// Each round has values of its own, so that what an earlier round left is never right.
template <class T>
__global__ void block_sums_kernel(const T* values, Sums<T>* results) {
  __shared__ BlockSums<T> shared;
  for (int round = 0; round < rounds; ++round) {
    const auto place = (blockIdx.x * rounds + round) * blockDim.x + threadIdx.x;
    Sums<T> result{};
    result.exclusive = block_exclusive_sum(values[place], shared, result.total);
    result.sum = block_sum(values[place], shared);
    results[place] = result;
  }
}

template <class T>
void expect_sums(unsigned threads, const std::vector<T>& values) {
  const DeviceBuffer<T> in = on_device(values);
  DeviceBuffer<Sums<T>> out(in.count());
  launch({blocks, threads}, block_sums_kernel<T>, in.data(), out.data());

  std::vector<Sums<T>> expected(values.size());
  for (std::size_t first = 0; first < values.size(); first += threads) {
    T sum{};
    for (std::size_t i = first; i < first + threads; ++i) {
      expected[i].exclusive = sum;
      sum += values[i];
    }
    for (std::size_t i = first; i < first + threads; ++i) expected[i].total = expected[i].sum = sum;
  }
  EXPECT_EQ(on_host(out), expected);
}

template <class T>
class BlockCollectives : public testing::Test {};
using Integers = testing::Types<int, unsigned, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(BlockCollectives, Integers);

TYPED_TEST(BlockCollectives, OfEveryBlockSize) {
  for (unsigned threads = 32; threads <= 1024; threads += is_small() ? 11 * 32 : 32) {
    SCOPED_TRACE(std::to_string(threads) + " threads, which are also the seed");
    expect_sums(threads, random_values<TypeParam>(blocks * rounds * threads, threads));
  }
}

TYPED_TEST(BlockCollectives, OfEqualValues) {
  for (const unsigned threads : {32u, 64u, 1024u}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    expect_sums(threads, std::vector<TypeParam>(blocks * rounds * threads, 1));
  }
}

}  // namespace
}  // namespace warpath::core_test
