// Several devices of one machine, for algorithms that run on all of them: a stream on each, who may
// access whose memory, and how the streams wait for each other.
//
// A device may be named more than once: to an algorithm these are devices of their own, which lie
// on one GPU ("virtual devices"). So what is written for several GPUs runs, and is tested, on one.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/arguments.hpp"
#include "core/cuda_check.cuh"
#include "core/device.cuh"

namespace warpath {

/// Makes a device current, and the one from before again at its end.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) : before_(current_device()) {
    if (device != before_) WARPATH_CUDA_CHECK(cudaSetDevice(device));
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_;
};

/// Whether kernels may access other devices' memory.
enum class PeerAccess {
  where_possible,  ///< else copies go by way of the host
  never            ///< all copies between devices do
};

/// Devices 0 to count() - 1, each one of CUDA's.
class Devices {
 public:
  /// ordinals: CUDA's numbers of the devices, one or more; any of them more than once. Gives them
  /// access to each other's memory, that of the default pools included, where the machine can.
  /// Throws std::invalid_argument if there is none, or no such device.
  explicit Devices(std::vector<int> ordinals, PeerAccess access = PeerAccess::where_possible)
      : ordinals_(std::move(ordinals)), streams_(ordinals_.size()), events_(ordinals_.size()) {
    require_ordinals();
    access_.assign(ordinals_.size() * ordinals_.size(), false);
    try {
      for (int i = 0; i < count(); ++i) {
        const CurrentDevice current(ordinal(i));
        for (int j = 0; j < count(); ++j) {
          const bool is_same = ordinal(i) == ordinal(j);
          access_[place(i, j)] =
              is_same || (access == PeerAccess::where_possible && give_access(i, j));
        }
        WARPATH_CUDA_CHECK(cudaStreamCreateWithFlags(&streams_[at(i)], cudaStreamNonBlocking));
        WARPATH_CUDA_CHECK(cudaEventCreateWithFlags(&events_[at(i)], cudaEventDisableTiming));
      }
    } catch (...) {
      destroy();
      throw;
    }
  }
  /// Devices `first` to first + count - 1 of others, which must outlive these: with the same
  /// streams, and not in use by two host threads at once.
  Devices(const Devices& all, int first, int count) : owns_(false) {
    require_in_range("first", first, 0, all.count() - 1);
    require_in_range("count", count, 1, all.count() - first);
    for (int i = first; i < first + count; ++i) {
      ordinals_.push_back(all.ordinal(i));
      streams_.push_back(all.streams_[at(i)]);
      events_.push_back(all.events_[at(i)]);
      for (int j = first; j < first + count; ++j) access_.push_back(all.has_access(i, j));
    }
  }
  ~Devices() { destroy(); }
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  [[nodiscard]] int count() const { return static_cast<int>(ordinals_.size()); }
  [[nodiscard]] int ordinal(int i) const { return ordinals_[at(i)]; }
  [[nodiscard]] cudaStream_t stream(int i) const { return streams_[at(i)]; }
  /// Whether kernels of device i may access the memory of device j.
  [[nodiscard]] bool has_access(int i, int j) const { return access_[place(i, j)]; }
  /// Whether all of them may.
  [[nodiscard]] bool all_have_access() const {
    for (const bool has : access_) {
      if (!has) return false;
    }
    return true;
  }

  /// Calls act(i, stream) for each device, while it is current.
  template <class Act>
  void for_each(const Act& act) const {
    for (int i = 0; i < count(); ++i) {
      const CurrentDevice current(ordinal(i));
      act(i, stream(i));
    }
  }
  /// What comes next in stream i waits for all that is in stream j now.
  void wait(int i, int j) const {
    if (i == j) return;
    record(j);
    WARPATH_CUDA_CHECK(cudaStreamWaitEvent(stream(i), events_[at(j)], 0));
  }
  /// What comes next in any stream waits for all that is in all of them now.
  void meet() const {
    for (int j = 0; j < count(); ++j) record(j);
    for (int i = 0; i < count(); ++i) {
      for (int j = 0; j < count(); ++j) {
        if (i != j) WARPATH_CUDA_CHECK(cudaStreamWaitEvent(stream(i), events_[at(j)], 0));
      }
    }
  }
  /// What comes next in any of their streams waits for all that is in `stream` now, a stream of the
  /// current device.
  void follow(cudaStream_t stream) const {
    const OneEvent now(stream);
    for (const cudaStream_t own : streams_) {
      WARPATH_CUDA_CHECK(cudaStreamWaitEvent(own, now.event, 0));
    }
  }
  /// What comes next in `stream`, of the current device, waits for all that is in their streams
  /// now.
  void lead(cudaStream_t stream) const {
    for (int j = 0; j < count(); ++j) {
      record(j);
      WARPATH_CUDA_CHECK(cudaStreamWaitEvent(stream, events_[at(j)], 0));
    }
  }
  /// Copies elements from device `from` to device `to`, in the stream of the latter.
  template <class T>
  void copy(T* target, int to, const T* source, int from, std::int64_t elements) const {
    if (elements == 0) return;
    WARPATH_CUDA_CHECK(cudaMemcpyPeerAsync(target, ordinal(to), source, ordinal(from),
                                           static_cast<std::size_t>(elements) * sizeof(T),
                                           stream(to)));
  }
  /// Waits until all streams are done.
  void synchronize() const {
    for_each([](int, cudaStream_t stream) { WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream)); });
  }

 private:
  /// All that is in a stream of the current device now.
  struct OneEvent {
    explicit OneEvent(cudaStream_t stream) {
      WARPATH_CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      const cudaError_t result = cudaEventRecord(event, stream);
      if (result != cudaSuccess) cudaEventDestroy(event);
      WARPATH_CUDA_CHECK(result);
    }
    ~OneEvent() { cudaEventDestroy(event); }  // goes when nobody waits for it any more
    OneEvent(const OneEvent&) = delete;
    OneEvent& operator=(const OneEvent&) = delete;
    cudaEvent_t event = nullptr;
  };

  [[nodiscard]] std::size_t at(int i) const { return static_cast<std::size_t>(i); }
  [[nodiscard]] std::size_t place(int i, int j) const { return at(i) * ordinals_.size() + at(j); }

  void require_ordinals() const {
    if (ordinals_.empty()) throw std::invalid_argument("ordinals is empty: expected devices");
    int there = 0;
    WARPATH_CUDA_CHECK(cudaGetDeviceCount(&there));
    for (std::size_t i = 0; i < ordinals_.size(); ++i) {
      if (ordinals_[i] >= 0 && ordinals_[i] < there) continue;
      throw std::invalid_argument("ordinals[" + std::to_string(i) + "] is " +
                                  std::to_string(ordinals_[i]) + ": expected 0 to " +
                                  std::to_string(there - 1) + ", the devices of this machine");
    }
  }
  /// Gives device i, which is current, access to the memory of j; false if it cannot have it.
  [[nodiscard]] bool give_access(int i, int j) const {
    int can = 0;
    WARPATH_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, ordinal(i), ordinal(j)));
    if (can == 0) return false;
    const cudaError_t result = cudaDeviceEnablePeerAccess(ordinal(j), 0);
    if (result == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();  // forgets it
    } else {
      WARPATH_CUDA_CHECK(result);
    }
    // Memory of pools has an access of its own.
    cudaMemPool_t pool{};
    WARPATH_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, ordinal(j)));
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = ordinal(i);
    access.flags = cudaMemAccessFlagsProtReadWrite;
    WARPATH_CUDA_CHECK(cudaMemPoolSetAccess(pool, &access, 1));
    return true;
  }
  void record(int j) const {
    const CurrentDevice current(ordinal(j));
    WARPATH_CUDA_CHECK(cudaEventRecord(events_[at(j)], stream(j)));
  }
  void destroy() noexcept {
    if (!owns_) return;
    for (std::size_t i = 0; i < ordinals_.size(); ++i) {
      if (events_[i] != nullptr) cudaEventDestroy(events_[i]);
      if (streams_[i] != nullptr) cudaStreamDestroy(streams_[i]);
    }
  }

  std::vector<int> ordinals_;
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> events_;
  std::vector<bool> access_;  ///< of i to j
  bool owns_ = true;          ///< the streams and events
};

}  // namespace warpath
