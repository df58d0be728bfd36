// Device memory: owned buffers, the scratch memory that host functions share, and counts that stay
// on the device. All of it is stream-ordered: nothing here synchronises but DeviceCount::get.
//
// Each of them belongs to the device that was current when its memory was allocated, and throws
// std::invalid_argument where it is used while another device is current: a kernel would read and
// write another device's memory, slowly or not at all.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "core/cuda_check.cuh"
#include "core/device.cuh"
#include "core/look_back.cuh"
#include "core/span.hpp"

namespace warpath {

namespace detail {

/// Throws std::invalid_argument unless `device` is current. -1: of no device yet.
inline void require_current(const char* what, int device) {
  if (device < 0) return;
  const int current = current_device();
  if (device == current) return;
  throw std::invalid_argument(std::string(what) + " of device " + std::to_string(device) +
                              " used while device " + std::to_string(current) +
                              " is current: expected cudaSetDevice(" + std::to_string(device) +
                              ") before");
}

/// An allocation that failed, with what it asked for and what there is.
inline std::string allocation_of(std::size_t bytes) {
  std::size_t free = 0;
  std::size_t all = 0;
  WARPATH_CUDA_CHECK(cudaMemGetInfo(&free, &all));
  return "cudaMallocAsync(" + std::to_string(bytes) + " bytes) with " + std::to_string(free) +
         " of the device's " + std::to_string(all) + " bytes free";
}

}  // namespace detail

/// `count` elements of device memory, not initialised; owned, movable. Allocated on the current
/// device and freed there, in the order of `stream`, a stream of that device that must outlive the
/// buffer. Throws std::invalid_argument if count is negative or its bytes overflow; CudaError,
/// which says how many bytes are needed and how many are free, if the allocation fails.
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
    device_ = current_device();
    if (count > 0) {
      const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
      const cudaError_t result = cudaMallocAsync(reinterpret_cast<void**>(&data_), bytes, stream);
      if (result != cudaSuccess) {
        cuda_check(result, detail::allocation_of(bytes).c_str(), __FILE__, __LINE__);
      }
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
    if (data_ == nullptr) return;
    int current = device_;
    cudaGetDevice(&current);
    // The default stream is that of the current device.
    if (current != device_) cudaSetDevice(device_);
    cudaFreeAsync(data_, stream_);
    if (current != device_) cudaSetDevice(current);
  }

  /// For kernels on the buffer's device. Throws std::invalid_argument if another one is current.
  [[nodiscard]] DeviceSpan<T> span() {
    require_current();
    return {data_, count_};
  }
  [[nodiscard]] DeviceSpan<const T> span() const {
    require_current();
    return {data_, count_};
  }
  /// The pointer itself, whatever device is current: for copies, those between devices included.
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// The device that the memory is on; -1 of a buffer that was moved from, or made without a count.
  [[nodiscard]] int device() const { return device_; }

  /// From now on the buffer is used, and in the end freed, in the order of `stream`: work before
  /// this call, in any stream, must be ordered before what follows in it.
  void use_in(cudaStream_t stream) { stream_ = stream; }

 private:
  void require_current() const { detail::require_current("DeviceBuffer", device_); }
  void swap(DeviceBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    std::swap(stream_, other.stream_);
    std::swap(device_, other.device_);
  }

  T* data_ = nullptr;
  std::int64_t count_ = 0;
  cudaStream_t stream_ = nullptr;
  int device_ = -1;
};

/// The scratch memory of host functions. It grows when a call needs more and is kept for the next
/// one. Calls that share a workspace must be ordered, by a stream or by events; the stream of the
/// last of them must outlive it. It belongs to the device of the first call.
///
/// In a stream capture: make the same call once before, with the same sizes and options, so that
/// the workspace has what the call needs; where it would have to grow during the capture it throws
/// std::logic_error. The graph keeps the workspace's addresses: the workspace must live as long as
/// the graph, and between its launches no other call may use it or make it grow.
class Workspace {
 public:
  Workspace() = default;
  /// What was moved from is as good as new.
  Workspace(Workspace&& other) noexcept
      : scratch_(std::move(other.scratch_)),
        status_(std::move(other.status_)),
        status_tiles_(std::exchange(other.status_tiles_, 0)),
        tickets_(std::move(other.tickets_)),
        device_(std::exchange(other.device_, -1)) {}
  Workspace& operator=(Workspace&& other) noexcept {
    scratch_ = std::move(other.scratch_);
    status_ = std::move(other.status_);
    status_tiles_ = std::exchange(other.status_tiles_, 0);
    tickets_ = std::move(other.tickets_);
    device_ = std::exchange(other.device_, -1);
    return *this;
  }

  /// Scratch arrays of the given numbers of elements, aligned to 256 bytes, not initialised. They
  /// last until the next take(). Throws std::invalid_argument if a count is negative or the bytes
  /// overflow; CudaError if the allocation fails.
  template <class... T, class... Counts>
  std::tuple<T*...> take(cudaStream_t stream, Counts... counts) {
    static_assert(sizeof...(T) == sizeof...(Counts));
    use_in(stream);
    std::int64_t bytes = 0;
    ((bytes = sum_of_bytes(bytes, sizeof(T), counts)), ...);
    if (bytes > scratch_.count()) {
      require_growth(stream, bytes - scratch_.count());
      scratch_ = {};  // the old memory goes back before the new is asked for
      scratch_ = DeviceBuffer<unsigned char>(bytes, stream);
    }
    unsigned char* next = scratch_.data();
    return {reinterpret_cast<T*>(
        std::exchange(next, next + padded(static_cast<std::int64_t>(sizeof(T)) * counts)))...};
  }

  /// Look-back state for one kernel call over `tiles` tiles, with `sums` sums each; cleared only
  /// when it grows.
  LookBack look_back(cudaStream_t stream, std::int64_t tiles, int sums = 1) {
    use_in(stream);
    const std::int64_t capacity = LookBack::capacity_for(tiles, sums);
    if (LookBack::bytes(capacity) > status_.count()) {
      require_growth(stream, LookBack::bytes(capacity) - status_.count());
      status_ = {};
      status_ = DeviceBuffer<unsigned char>(LookBack::bytes(capacity), stream);
      WARPATH_CUDA_CHECK(
          cudaMemsetAsync(status_.data(), 0, static_cast<std::size_t>(status_.count()), stream));
      status_tiles_ = capacity;
    }
    return {status_.data(), status_tiles_, tiles, sums};
  }

  /// `count` tickets for the blocks of one kernel call: 0 at first, and the kernel leaves them so.
  unsigned* tickets(cudaStream_t stream, std::int64_t count) {
    use_in(stream);
    if (count > tickets_.count()) {
      require_growth(stream,
                     (count - tickets_.count()) * static_cast<std::int64_t>(sizeof(unsigned)));
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
  /// The device of the first call; -1 before it.
  [[nodiscard]] int device() const { return device_; }

 private:
  static constexpr std::int64_t padded(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

  /// bytes and those of one more array.
  static std::int64_t sum_of_bytes(std::int64_t bytes, std::size_t size, std::int64_t count) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() - 255;
    if (count < 0 || count > (most - bytes) / static_cast<std::int64_t>(size)) {
      throw std::invalid_argument("an array of " + std::to_string(count) + " elements of " +
                                  std::to_string(size) + " bytes in a workspace: expected 0 to " +
                                  std::to_string((most - bytes) / static_cast<std::int64_t>(size)));
    }
    return bytes + padded(static_cast<std::int64_t>(size) * count);
  }
  void use_in(cudaStream_t stream) {
    detail::require_current("Workspace", device_);
    if (device_ < 0) device_ = current_device();
    scratch_.use_in(stream);
    status_.use_in(stream);
    tickets_.use_in(stream);
  }
  static void require_growth(cudaStream_t stream, std::int64_t bytes) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    WARPATH_CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
    if (status == cudaStreamCaptureStatusNone) return;
    throw std::logic_error("the workspace lacks " + std::to_string(bytes) +
                           " bytes, and cannot grow while its stream is captured: make the same "
                           "call once before the capture");
  }

  DeviceBuffer<unsigned char> scratch_;
  DeviceBuffer<unsigned char> status_;
  std::int64_t status_tiles_ = 0;
  DeviceBuffer<unsigned> tickets_;
  int device_ = -1;
};

/// A count that a kernel computes: it stays on the device until get() is called.
class DeviceCount {
 public:
  explicit DeviceCount(cudaStream_t stream = nullptr) : value_(1, stream) {}
  /// For kernels and copies on the count's device. Throws std::invalid_argument, as all of these
  /// do, if another one is current, or the count was moved from.
  [[nodiscard]] std::int64_t* data() {
    require_usable();
    return value_.data();
  }
  [[nodiscard]] const std::int64_t* data() const {
    require_usable();
    return value_.data();
  }
  /// The count as one element of device memory.
  [[nodiscard]] DeviceSpan<const std::int64_t> span() const { return {data(), 1}; }
  /// As DeviceBuffer::use_in().
  void use_in(cudaStream_t stream) { value_.use_in(stream); }
  void set_zero(cudaStream_t stream) {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(data(), 0, sizeof(std::int64_t), stream));
  }
  /// The count, once the work in `stream` is done. Blocks the host.
  [[nodiscard]] std::int64_t get(cudaStream_t stream) const {
    std::int64_t value = 0;
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(&value, data(), sizeof value, cudaMemcpyDeviceToHost, stream));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    return value;
  }
  [[nodiscard]] int device() const { return value_.device(); }

 private:
  void require_usable() const {
    if (value_.device() < 0) {
      throw std::invalid_argument("DeviceCount was moved from: expected one that has its memory");
    }
    detail::require_current("DeviceCount", value_.device());
  }

  DeviceBuffer<std::int64_t> value_;
};

}  // namespace warpath
