// What a sort of host memory needs, kept for the next one: of each device streams, events and
// memory; and page-locked memory on the host.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/devices.cuh"
#include "merge_sort/merge.cuh"
#include "multi_gpu_sort/team.cuh"

namespace warpath::multi_gpu_sort {

namespace detail {

/// An event of the device that is current when it is made, and recorded. Nobody waits for one that
/// was never recorded.
class Event {
 public:
  Event() { WARPATH_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) const { WARPATH_CUDA_CHECK(cudaEventRecord(event_, stream)); }
  /// What comes next in `stream` waits for it.
  void hold(cudaStream_t stream) const {
    WARPATH_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0));
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream of the device that is current when it is made.
class Stream {
 public:
  Stream() { WARPATH_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)

 private:
  cudaStream_t stream_ = nullptr;
};

/// What happens to elements in one place of a device's memory.
struct Slot {
  Event arrived;  ///< they are there
  Event used;     ///< they are sorted, or merged
  Event left;     ///< they have been copied to the host
};

/// What one device does a sort with: copies to it, work and copies to the host are in streams of
/// their own. Made while it is current.
struct Lane {
  Lane(int own_number, int ordinal) : number(own_number), device({ordinal}) {}

  int number;
  Devices device;  ///< its stream is that of the work
  Stream in;
  Stream out;
  std::array<Slot, merge_sort::most_runs> slots;
  std::array<Slot, 2> slices;  ///< what is merged
  Memory memory;               ///< of sorts and merges
  Workspace elements;

  [[nodiscard]] int ordinal() const { return device.ordinal(0); }
  [[nodiscard]] cudaStream_t work() const { return device.stream(0); }
  [[nodiscard]] std::int64_t bytes() const { return elements.bytes() + memory.bytes(0); }
};

}  // namespace detail

/// Page-locked memory of the host, that grows: what devices copy at the speed of their links.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  ~PinnedMemory() { cudaFreeHost(data_); }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  /// At least so many bytes; what it had is lost if they are more than before. Throws CudaError,
  /// which says how many are needed.
  std::byte* take(std::int64_t bytes) {
    if (bytes <= bytes_) return data_;
    WARPATH_CUDA_CHECK(cudaFreeHost(std::exchange(data_, nullptr)));
    bytes_ = 0;
    void* taken = nullptr;
    const std::string call =
        "cudaHostAlloc(" + std::to_string(bytes) + " bytes of page-locked host memory)";
    cuda_check(cudaHostAlloc(&taken, static_cast<std::size_t>(bytes), cudaHostAllocPortable),
               call.c_str(), __FILE__, __LINE__);
    data_ = static_cast<std::byte*>(taken);
    bytes_ = bytes;
    return data_;
  }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// The devices that sort host memory, and all that they need, kept for the next sort. Sorts that
/// share it must not overlap. `devices` must outlive it.
class HostMemory {
 public:
  explicit HostMemory(const Devices& devices) : devices_(devices) {
    devices.for_each([&](int i, cudaStream_t) { lanes_.emplace_back(i, devices.ordinal(i)); });
  }

  [[nodiscard]] const Devices& devices() const { return devices_; }
  /// Bytes of device i.
  [[nodiscard]] std::int64_t bytes(int i) const {
    return lanes_[static_cast<std::size_t>(i)].bytes();
  }
  /// Page-locked bytes of the host.
  [[nodiscard]] std::int64_t host_bytes() const { return pinned_.bytes(); }

  detail::Lane& lane(int i) { return lanes_[static_cast<std::size_t>(i)]; }
  PinnedMemory& pinned() { return pinned_; }

 private:
  const Devices& devices_;
  PinnedMemory pinned_;
  std::deque<detail::Lane> lanes_;
};

}  // namespace warpath::multi_gpu_sort
