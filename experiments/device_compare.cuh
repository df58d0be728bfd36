// Comparing large results where they are: on the device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/buffer.cuh"
#include "core/launch.cuh"
#include "core/vector.cuh"

namespace warpath::experiments {

/// A copy of host elements on the device, `offset` elements after the buffer's begin.
template <class T>
DeviceBuffer<T> upload(const std::vector<T>& elements, std::int64_t offset = 0) {
  DeviceBuffer<T> buffer(offset + static_cast<std::int64_t>(elements.size()));
  if (!elements.empty()) {
    WARPATH_CUDA_CHECK(cudaMemcpy(buffer.data() + offset, elements.data(),
                                  elements.size() * sizeof(T), cudaMemcpyHostToDevice));
    // From pageable memory, the last bytes may still be on their way.
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(nullptr));
  }
  return buffer;
}

template <class Word>
__global__ void first_difference_kernel(const Word* result, const Word* expected,
                                        std::int64_t count, unsigned long long* first) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    if (result[i] != expected[i]) atomicMin(first, static_cast<unsigned long long>(i));
  }
}

/// Where `result` first differs from `expected`, both on the device and as long as `expected`; as
/// text, or nothing. Compares all bits of every element.
template <class T>
std::optional<std::string> difference(const std::string& name, const T* result,
                                      const DeviceBuffer<T>& expected, cudaStream_t stream) {
  using Word = Access<std::min<std::size_t>(alignof(T), 4)>;
  constexpr std::int64_t words = sizeof(T) / sizeof(Word);
  if (expected.count() == 0) return std::nullopt;
  DeviceCount first(stream);
  WARPATH_CUDA_CHECK(cudaMemsetAsync(first.data(), 0xFF, sizeof(std::int64_t), stream));
  launch({1024, 256, 0, stream}, first_difference_kernel<Word>,
         reinterpret_cast<const Word*>(result), reinterpret_cast<const Word*>(expected.data()),
         expected.count() * words, reinterpret_cast<unsigned long long*>(first.data()));
  const std::int64_t word = first.get(stream);
  if (word < 0) return std::nullopt;
  return name + "[" + std::to_string(word / words) + "] of " + std::to_string(expected.count()) +
         " is wrong";
}

}  // namespace warpath::experiments
