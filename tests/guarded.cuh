// For tests: an output on the device between guard zones, poisoned.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"

namespace warpath {

/// `count` elements that begin `offset` elements after a 256-byte boundary, poisoned, with a guard
/// zone on each side.
template <class T>
class Guarded {
 public:
  explicit Guarded(std::int64_t count, int offset = 0)
      : count_(count), offset_(offset), memory_(2 * guard + offset + count) {
    WARPATH_CUDA_CHECK(cudaMemset(memory_.data(), poison, bytes()));
  }
  [[nodiscard]] DeviceSpan<T> span() { return {memory_.data() + begin(), count_}; }

  /// The elements, once all work of the device is done. A guard zone that was written fails the
  /// test.
  [[nodiscard]] std::vector<T> get() const {
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<unsigned char> all(bytes());
    WARPATH_CUDA_CHECK(cudaMemcpy(all.data(), memory_.data(), bytes(), cudaMemcpyDeviceToHost));
    const std::size_t first = static_cast<std::size_t>(begin()) * sizeof(T);
    const std::size_t end = first + static_cast<std::size_t>(count_) * sizeof(T);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((i >= first && i < end) || all[i] == poison) continue;
      ADD_FAILURE() << "a guard zone was written, " << (i < first ? first - i : i - end + 1)
                    << " bytes " << (i < first ? "before" : "after") << " the " << count_
                    << " elements";
      break;
    }
    std::vector<T> elements(static_cast<std::size_t>(count_));
    if (count_ > 0) std::memcpy(elements.data(), all.data() + first, end - first);
    return elements;
  }

 private:
  static constexpr int guard = 256;  // elements, so that the alignment of T does not matter
  static constexpr unsigned char poison = 0xA5;
  [[nodiscard]] std::int64_t begin() const { return guard + offset_; }
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(memory_.count()) * sizeof(T);
  }

  std::int64_t count_;
  int offset_;
  DeviceBuffer<T> memory_;
};

}  // namespace warpath
