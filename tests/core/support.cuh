// What the tests of core share: values that travel between host and device, streams, seeds, sizes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../stream.cuh"
#include "core/buffer.cuh"
#include "core/cuda_check.cuh"

namespace warpath::core_test {

/// Whether the loops shall be short, since a sanitizer makes them slow.
inline bool is_small() {
  const char* size = std::getenv("WARPATH_TEST_SIZE");
  return size != nullptr && std::string_view(size) == "small";
}

/// The values on the device, once the copy is done.
template <class T>
DeviceBuffer<T> on_device(const std::vector<T>& values, cudaStream_t stream = nullptr) {
  DeviceBuffer<T> buffer(static_cast<std::int64_t>(values.size()), stream);
  if (!values.empty()) {
    CUDA_CHECK(cudaMemcpyAsync(buffer.data(), values.data(), values.size() * sizeof(T),
                               cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  return buffer;
}

/// `count` values at `data`, once the work in `stream` is done.
template <class T>
std::vector<T> on_host(const T* data, std::int64_t count, cudaStream_t stream = nullptr) {
  std::vector<T> values(static_cast<std::size_t>(count));
  if (count > 0) {
    CUDA_CHECK(cudaMemcpyAsync(values.data(), data, values.size() * sizeof(T),
                               cudaMemcpyDeviceToHost, stream));
  }
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return values;
}

template <class T>
std::vector<T> on_host(const DeviceBuffer<T>& buffer, cudaStream_t stream = nullptr) {
  return on_host(buffer.data(), buffer.count(), stream);
}

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

/// What `act` throws, as text; "nothing" if it does not throw.
template <class Error, class Act>
std::string message_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

/// Bytes of the current device that stream-ordered allocations hold, once all its work is done.
inline std::uint64_t allocated_bytes() {
  CUDA_CHECK(cudaDeviceSynchronize());
  int device = 0;
  cudaMemPool_t pool{};
  std::uint64_t bytes = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes));
  return bytes;
}

}  // namespace warpath::core_test
