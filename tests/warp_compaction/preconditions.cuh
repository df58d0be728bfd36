// What a refused call looks like: std::invalid_argument that names the argument, nothing launched,
// nothing leaked.
#pragma once

#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "core/buffer.cuh"
#include "laboratory.cuh"

namespace warpath::warp_compaction::test {

/// Bytes of device memory in use, where that can be known exactly; else 0.
inline std::size_t used_device_bytes() {
#ifdef SIMT_EMULATION
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // what is to be freed is freed
  return simt::device_bytes();
#else
  return 0;
#endif
}

class PreconditionTest : public testing::Test {
 protected:
  static constexpr std::int64_t n = 100;  ///< elements of the arrays

  /// Expects std::invalid_argument with all of these words, and that the call has done nothing.
  template <class Call>
  void rejects(const std::vector<std::string>& words, Call call) {
    constexpr std::int64_t before = -77;
    set_counts(before);
    const std::size_t used = used_device_bytes();
    try {
      call();
      ADD_FAILURE() << "no exception; expected one about " << words[0];
    } catch (const std::invalid_argument& error) {
      for (const std::string& word : words) EXPECT_THAT(error.what(), testing::HasSubstr(word));
    }
    EXPECT_EQ(used_device_bytes(), used);
    EXPECT_EQ(workspace_.bytes(), 0);
    EXPECT_EQ(kept_.get(stream_), before);
  }
  /// Expects that the call is taken. What it does to memory is not looked at.
  template <class Call>
  void accepts(Call call) {
    EXPECT_NO_THROW(call());
    EXPECT_GE(kept_.get(stream_), 0);
    workspace_ = {};
  }

  /// `count` elements from where the kept count lies.
  template <class T>
  [[nodiscard]] DeviceSpan<T> on_kept(std::int64_t count) {
    return {reinterpret_cast<T*>(kept_.data()), count};
  }

  /// So that a call which is taken reads no uninitialised memory.
  template <class T>
  void write_zeros(const DeviceBuffer<T>& buffer) {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(const_cast<std::remove_const_t<T>*>(buffer.data()), 0,
                                       static_cast<std::size_t>(buffer.count()) * sizeof(T),
                                       stream_));
  }

  Stream stream_;
  Workspace workspace_;
  DeviceCount kept_{stream_};

 private:
  void set_counts(std::int64_t value) {
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(kept_.data(), &value, sizeof value, cudaMemcpyHostToDevice, stream_));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }
};

}  // namespace warpath::warp_compaction::test
