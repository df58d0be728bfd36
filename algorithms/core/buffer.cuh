// Device memory: owned buffers, the scratch memory that host functions share, and counts that stay
// on the device. All of it is stream-ordered: nothing here synchronises but DeviceCount::get.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "core/cuda_check.cuh"
#include "core/look_back.cuh"
#include "core/span.hpp"

namespace warpath {

/// `count` elements of device memory, not initialised; owned, movable. Allocated and freed in the
/// order of `stream`, which must outlive the buffer. Throws std::invalid_argument for a count that
/// no memory has, CudaError where memory lacks.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::int64_t count, cudaStream_t stream = nullptr)
      : count_(count), stream_(stream) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max() / std::int64_t{sizeof(T)};
    if (count < 0 || count > most) {
      throw std::invalid_argument("a buffer of " + std::to_string(count) + " elements of " +
                                  std::to_string(sizeof(T)) + " bytes: expected 0 to " +
                                  std::to_string(most));
    }
    if (count > 0) {
      WARPATH_CUDA_CHECK(cudaMallocAsync(reinterpret_cast<void**>(&data_),
                                         static_cast<std::size_t>(count) * sizeof(T), stream));
    }
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    DeviceBuffer(std::move(other)).swap(*this);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() {
    if (data_ != nullptr) cudaFreeAsync(data_, stream_);
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] DeviceSpan<T> span() const { return {data_, count_}; }

  /// From now on the buffer is used, and in the end freed, in the order of `stream`: work before
  /// this call, in any stream, must be ordered before what follows in it.
  void use_in(cudaStream_t stream) { stream_ = stream; }

 private:
  void swap(DeviceBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    std::swap(stream_, other.stream_);
  }

  T* data_ = nullptr;
  std::int64_t count_ = 0;
  cudaStream_t stream_ = nullptr;
};

/// The scratch memory of host functions. It grows when a call needs more and is kept for the next
/// one. Calls that share a workspace must be ordered, by a stream or by events; the stream of the
/// last of them must outlive it.
class Workspace {
 public:
  /// Scratch arrays of the given numbers of elements, aligned to 256 bytes, not initialised. They
  /// last until the next take().
  template <class... T, class... Counts>
  std::tuple<T*...> take(cudaStream_t stream, Counts... counts) {
    static_assert(sizeof...(T) == sizeof...(Counts));
    std::int64_t bytes = 0;
    ((bytes += padded(static_cast<std::int64_t>(sizeof(T)) * counts)), ...);
    scratch_.use_in(stream);
    if (bytes > scratch_.count()) {
      scratch_ = {};  // the old memory goes back before the new is asked for
      scratch_ = DeviceBuffer<unsigned char>(bytes, stream);
    }
    unsigned char* next = scratch_.data();
    return {reinterpret_cast<T*>(
        std::exchange(next, next + padded(static_cast<std::int64_t>(sizeof(T)) * counts)))...};
  }

  /// Look-back state for one kernel call over `tiles` tiles, cleared only when it grows.
  LookBack look_back(cudaStream_t stream, std::int64_t tiles) {
    status_.use_in(stream);
    if (LookBack::bytes(tiles) > status_.count()) {
      status_ = {};
      status_ = DeviceBuffer<unsigned char>(LookBack::bytes(tiles), stream);
      WARPATH_CUDA_CHECK(
          cudaMemsetAsync(status_.data(), 0, static_cast<std::size_t>(status_.count()), stream));
      status_tiles_ = tiles;
    }
    return {status_.data(), status_tiles_, tiles};
  }

  /// `count` tickets for the blocks of one kernel call: 0 at first, and the kernel leaves them so.
  unsigned* tickets(cudaStream_t stream, std::int64_t count) {
    tickets_.use_in(stream);
    if (count > tickets_.count()) {
      tickets_ = {};
      tickets_ = DeviceBuffer<unsigned>(count, stream);
      WARPATH_CUDA_CHECK(cudaMemsetAsync(
          tickets_.data(), 0, static_cast<std::size_t>(count) * sizeof(unsigned), stream));
    }
    return tickets_.data();
  }

  /// Bytes of device memory held.
  [[nodiscard]] std::int64_t bytes() const {
    return scratch_.count() + status_.count() +
           tickets_.count() * static_cast<std::int64_t>(sizeof(unsigned));
  }

 private:
  static constexpr std::int64_t padded(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

  DeviceBuffer<unsigned char> scratch_;
  DeviceBuffer<unsigned char> status_;
  std::int64_t status_tiles_ = 0;
  DeviceBuffer<unsigned> tickets_;
};

/// A count that a kernel computes: it stays on the device until somebody asks.
class DeviceCount {
 public:
  explicit DeviceCount(cudaStream_t stream = nullptr) : value_(1, stream) {}
  [[nodiscard]] std::int64_t* device() const { return value_.data(); }
  void set_zero(cudaStream_t stream) const {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(value_.data(), 0, sizeof(std::int64_t), stream));
  }
  /// The count, once the work in `stream` is done. Blocks the host.
  [[nodiscard]] std::int64_t get(cudaStream_t stream) const {
    std::int64_t value = 0;
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(&value, value_.data(), sizeof value, cudaMemcpyDeviceToHost, stream));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    return value;
  }

 private:
  DeviceBuffer<std::int64_t> value_;
};

}  // namespace warpath
