// For tests: values that travel between host and device.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"

namespace warpath {

/// The values on the device, once the copy is done.
template <class T>
DeviceBuffer<T> on_device(const std::vector<T>& values, cudaStream_t stream = nullptr) {
  DeviceBuffer<T> buffer(static_cast<std::int64_t>(values.size()), stream);
  if (!values.empty()) {
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(buffer.data(), values.data(), values.size() * sizeof(T),
                                       cudaMemcpyHostToDevice, stream));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  return buffer;
}

/// Values on their way to the device that is current: there is only what comes later in the stream
/// to see them.
template <class T>
class Arriving {
 public:
  Arriving(std::vector<T> values, cudaStream_t stream)
      : values_(std::move(values)),
        stream_(stream),
        buffer_(static_cast<std::int64_t>(values_.size()), stream) {
    if (values_.empty()) return;
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(buffer_.data(), values_.data(), values_.size() * sizeof(T),
                                       cudaMemcpyHostToDevice, stream));
  }
  ~Arriving() { cudaStreamSynchronize(stream_); }  // the copy reads values_
  Arriving(const Arriving&) = delete;
  Arriving& operator=(const Arriving&) = delete;

  [[nodiscard]] const DeviceBuffer<T>& buffer() const { return buffer_; }
  [[nodiscard]] T* data() { return buffer_.data(); }
  [[nodiscard]] std::int64_t count() const { return buffer_.count(); }

 private:
  std::vector<T> values_;
  cudaStream_t stream_;
  DeviceBuffer<T> buffer_;
};

/// `count` values at `data`, once the work in `stream` is done.
template <class T>
std::vector<T> on_host(const T* data, std::int64_t count, cudaStream_t stream = nullptr) {
  std::vector<T> values(static_cast<std::size_t>(count));
  if (count > 0) {
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(values.data(), data, values.size() * sizeof(T),
                                       cudaMemcpyDeviceToHost, stream));
  }
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  return values;
}

template <class T>
std::vector<T> on_host(const DeviceBuffer<T>& buffer, cudaStream_t stream = nullptr) {
  return on_host(buffer.data(), buffer.count(), stream);
}

}  // namespace warpath
