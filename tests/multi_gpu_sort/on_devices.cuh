// Arrays in parts, one a device.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "../device_vectors.cuh"
#include "../ordinals.cuh"
#include "../test_size.hpp"
#include "arrays.hpp"
#include "core/devices.cuh"
#include "multi_gpu_sort/oracle.hpp"

namespace warpath::multi_gpu_sort::test {

/// A test on so many devices, 1 to 8; in short runs on some of these.
class OnSomeDevices : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const bool is_in_short_runs = GetParam() == 2 || GetParam() == 3 || GetParam() == 8;
    if (is_small() && !is_in_short_runs) GTEST_SKIP() << "left out of short runs";
  }
};

/// Arrays on the devices of a sort, between elements that nothing may write. They are still on
/// their way there, in the devices' streams.
template <class T>
class OnDevices {
 public:
  OnDevices(const Devices& devices, const Parts<T>& parts) : devices_(devices) {
    devices.for_each([&](int i, cudaStream_t stream) {
      std::vector<T> guarded(guard, fill());
      const std::vector<T>& part = parts[static_cast<std::size_t>(i)];
      guarded.insert(guarded.end(), part.begin(), part.end());
      guarded.resize(guarded.size() + guard, fill());
      buffers_.emplace_back(std::move(guarded), stream);
    });
  }
  [[nodiscard]] std::vector<DeviceSpan<T>> spans() {
    std::vector<DeviceSpan<T>> all;
    for (auto& buffer : buffers_)
      all.push_back({buffer.data() + guard, buffer.count() - 2 * guard});
    return all;
  }
  [[nodiscard]] Parts<T> get() const {
    Parts<T> all;
    devices_.for_each([&](int i, cudaStream_t stream) {
      const std::vector<T> guarded =
          on_host(buffers_[static_cast<std::size_t>(i)].buffer(), stream);
      const auto begin = guarded.begin() + guard;
      const auto end = guarded.end() - guard;
      const auto is_fill = [](const T& element) { return element == fill(); };
      EXPECT_TRUE(std::all_of(guarded.begin(), begin, is_fill)) << "before part " << i;
      EXPECT_TRUE(std::all_of(end, guarded.end(), is_fill)) << "after part " << i;
      all.emplace_back(begin, end);
    });
    return all;
  }

 private:
  static constexpr int guard = 64;
  static T fill() { return static_cast<T>(113); }

  const Devices& devices_;
  std::deque<Arriving<T>> buffers_;
};

}  // namespace warpath::multi_gpu_sort::test
