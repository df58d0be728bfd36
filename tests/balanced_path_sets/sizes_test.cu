// Keys of 1, 2, 12, 16 and 64 bytes.
#include <gtest/gtest.h>

#include "types.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

/// A key of `Bytes` bytes and its alignment; only its first word is compared.
template <int Bytes, int Alignment>
struct alignas(Alignment) WideKey {
  int key = 0;
  int rest[Bytes / 4 - 1] = {};

  WideKey() = default;
  __host__ __device__ explicit WideKey(int key_) : key(key_) {
    for (int& word : rest) word = key_;
  }
  __host__ __device__ bool operator<(const WideKey& other) const { return key < other.key; }
  bool operator==(const WideKey& other) const {
    return key == other.key && std::equal(std::begin(rest), std::end(rest), other.rest);
  }
};
/// No whole number of them fills a line of a bulk copy.
using Triple = WideKey<12, 4>;
/// A line each.
using Quad = WideKey<16, 16>;
/// The largest.
using Large = WideKey<64, 4>;

using BytesAndDoubles = Types<std::uint8_t, double>;
TEST_F(BytesAndDoubles, Union) {
  expect_all_inputs<SetOperation::set_union>();
}

using ShortsAndBytes = Types<std::int16_t, std::uint8_t>;
TEST_F(ShortsAndBytes, SymmetricDifference) {
  expect_all_inputs<SetOperation::symmetric_difference>();
}

using TriplesAndInts = Types<Triple, std::int32_t>;
TEST_F(TriplesAndInts, Union) {
  expect_all_inputs<SetOperation::set_union>();
}

using QuadsAndTriples = Types<Quad, Triple>;
TEST_F(QuadsAndTriples, SymmetricDifference) {
  expect_all_inputs<SetOperation::symmetric_difference>();
}

using LargeAndLarge = Types<Large, Large>;
TEST_F(LargeAndLarge, Difference) {
  expect_all_inputs<SetOperation::difference>();
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
