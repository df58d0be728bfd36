// What the tests of core share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "../device_vectors.cuh"
#include "../message_of.hpp"
#include "../stream.cuh"
#include "core/buffer.cuh"
#include "core/cuda_check.cuh"

namespace warpath::core_test {

/// Random integers: all of an unsigned type's; of a signed type's, those of which 2^15 can be added
/// without an overflow.
template <class T>
std::vector<T> random_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    value = static_cast<T>(random());
    if constexpr (std::is_signed_v<T>) value /= T{1} << 15;
  }
  return values;
}

/// Bytes of the current device that stream-ordered allocations hold, once all its work is done.
inline std::uint64_t allocated_bytes() {
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  int device = 0;
  cudaMemPool_t pool{};
  std::uint64_t bytes = 0;
  WARPATH_CUDA_CHECK(cudaGetDevice(&device));
  WARPATH_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  WARPATH_CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes));
  return bytes;
}

}  // namespace warpath::core_test
