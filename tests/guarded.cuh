// For tests: an output on the device between guard zones, the one scheme of all techniques.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/span.hpp"

namespace warpath {

/// An output of `count` elements that begins `offset` elements after a 256-byte boundary, filled
/// with a pattern, and with a guard zone on each side.
template <class T>
class Guarded {
 public:
  explicit Guarded(std::int64_t count, int offset = 0)
      : count_(count), offset_(offset), memory_(2 * guard + offset + count) {
    WARPATH_CUDA_CHECK(cudaMemset(memory_.data(), pattern, bytes()));
  }
  [[nodiscard]] DeviceSpan<T> span() { return {memory_.data() + guard + offset_, count_}; }

  /// The elements, once all work is done. A guard zone that was written fails the test.
  std::vector<T> get() const { return get(count_); }

  /// The first `written` elements; the others must be as they were.
  std::vector<T> get(std::int64_t written) const {
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<T> all(static_cast<std::size_t>(memory_.count()));
    WARPATH_CUDA_CHECK(cudaMemcpy(all.data(), memory_.data(), bytes(), cudaMemcpyDeviceToHost));
    const std::int64_t begin = guard + offset_;
    expect_untouched(all, 0, begin, "before the output");
    expect_untouched(all, begin + written, memory_.count(), "after what should be written");
    return {all.begin() + begin, all.begin() + begin + written};
  }

 private:
  static constexpr int guard = 256;
  static constexpr unsigned char pattern = 0xA5;
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(memory_.count()) * sizeof(T);
  }
  void expect_untouched(const std::vector<T>& all, std::int64_t begin, std::int64_t end,
                        const char* where) const {
    const auto* const memory = reinterpret_cast<const unsigned char*>(all.data());
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
        if (memory[static_cast<std::size_t>(i) * sizeof(T) + byte] == pattern) continue;
        ADD_FAILURE() << "memory " << where << " was written, at element " << i - guard - offset_;
        return;
      }
    }
  }

  std::int64_t count_;
  int offset_;
  DeviceBuffer<T> memory_;
};

}  // namespace warpath
