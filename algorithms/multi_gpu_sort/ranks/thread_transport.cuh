// Ranks that are threads of one process, each with a device of its own: so a sort of ranks is
// tested, and can be tried, without MPI and NCCL.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/arguments.hpp"
#include "core/cuda_check.cuh"
#include "core/device.cuh"
#include "multi_gpu_sort/ranks/transport.hpp"

namespace warpath::multi_gpu_sort {

/// What the threads share. It must outlive their transports.
class ThreadRanks {
 public:
  /// deadline: how long a rank waits for the others in one call. Throws std::invalid_argument if
  /// there is no rank.
  ThreadRanks(int ranks, std::chrono::milliseconds deadline) : ranks_(ranks), deadline_(deadline) {
    require_in_range("ranks", ranks, 1, 1 << 16);
    mail_.resize(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks));
  }
  [[nodiscard]] int ranks() const { return ranks_; }

 private:
  friend class ThreadTransport;
  using Message = std::vector<std::byte>;

  /// What rank `from` has sent to rank `to`, and that one has not taken.
  std::deque<Message>& mail(int to, int from) {
    return mail_[static_cast<std::size_t>(to) * static_cast<std::size_t>(ranks_) +
                 static_cast<std::size_t>(from)];
  }
  /// Whether some rank did not come to a call, or gave it up. One that fails later is of no
  /// concern: all ranks end the same calls.
  [[nodiscard]] bool has_failed(std::int64_t call) const { return failed_call_ <= call; }
  void require_no_failure(std::int64_t call) const {
    if (has_failed(call)) throw RankError(failure_);
  }
  /// Of all failures, that of the earliest call is the one that ranks name.
  void set_failure(const std::string& reason, std::int64_t call) {
    if (call >= failed_call_) return;
    failure_ = reason;
    failed_call_ = call;
    changed_.notify_all();
  }

  const int ranks_;
  const std::chrono::milliseconds deadline_;
  std::mutex mutex_;  ///< of all that follows
  std::condition_variable changed_;
  std::vector<std::deque<Message>> mail_;
  std::string failure_;
  std::int64_t failed_call_ = std::numeric_limits<std::int64_t>::max();
  int copying_ = 0;  ///< ranks that read others' device memory
};

/// One of the ranks. Its thread's current device is the rank's.
class ThreadTransport : public Transport {
 public:
  ThreadTransport(ThreadRanks& all, int rank) : all_(all), rank_(rank) {
    require_in_range("rank", rank, 0, all.ranks() - 1);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return all_.ranks(); }

  std::vector<std::byte> all_to_all(std::span<const std::byte> sent) override {
    const std::size_t bytes = sent.size() / static_cast<std::size_t>(ranks());
    const std::int64_t call = ++calls_;
    std::unique_lock lock(all_.mutex_);
    all_.require_no_failure(call);
    for (int to = 0; to < ranks(); ++to) {
      const auto piece = sent.subspan(static_cast<std::size_t>(to) * bytes, bytes);
      all_.mail(to, rank_).emplace_back(piece.begin(), piece.end());
    }
    all_.changed_.notify_all();
    const bool is_over = all_.changed_.wait_for(
        lock, all_.deadline_, [&] { return all_.has_failed(call) || silent().empty(); });
    if (!is_over) all_.set_failure(detail::silence_of(silent(), all_.deadline_.count()), call);
    all_.require_no_failure(call);
    std::vector<std::byte> received;
    for (int from = 0; from < ranks(); ++from) {
      const ThreadRanks::Message& message = all_.mail(rank_, from).front();
      require_bytes(from, static_cast<std::int64_t>(message.size()),
                    static_cast<std::int64_t>(bytes));
      received.insert(received.end(), message.begin(), message.end());
      all_.mail(rank_, from).pop_front();
    }
    return received;
  }

  void exchange(std::span<const SentSlice> sent, std::span<const ReceivedSlice> received,
                cudaStream_t stream) override {
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    std::vector<Offer> offers;
    for (const SentSlice& slice : sent) {
      offers.push_back({slice.data, slice.bytes, current_device()});
    }
    try {
      copy(multi_gpu_sort::all_to_all(*this, offers), received, stream);
      meet(*this);  // all have copied what this rank sends
    } catch (const std::exception& error) {
      fail("rank " + std::to_string(rank_) + " failed: " + error.what());
      std::unique_lock lock(all_.mutex_);
      all_.changed_.wait(lock, [&] { return all_.copying_ == 0; });
      throw;
    }
  }

  void fail(const std::string& reason) noexcept override {
    const std::lock_guard lock(all_.mutex_);
    all_.set_failure(reason, calls_ + 1);
  }

 private:
  /// Device memory that a rank may read.
  struct Offer {
    const void* data;
    std::int64_t bytes;
    int device;
  };

  /// While it lives, no rank gives back memory that it has offered.
  class Copying {
   public:
    /// Throws if a rank has failed that was to make `call`.
    Copying(ThreadRanks& all, std::int64_t call) : all_(all) {
      const std::lock_guard lock(all_.mutex_);
      all_.require_no_failure(call);
      ++all_.copying_;
    }
    ~Copying() {
      const std::lock_guard lock(all_.mutex_);
      --all_.copying_;
      all_.changed_.notify_all();
    }
    Copying(const Copying&) = delete;
    Copying& operator=(const Copying&) = delete;

   private:
    ThreadRanks& all_;
  };

  void copy(const std::vector<Offer>& offers, std::span<const ReceivedSlice> received,
            cudaStream_t stream) {
    const Copying copying(all_, calls_ + 1);
    for (int from = 0; from < ranks(); ++from) {
      const Offer& offer = offers[static_cast<std::size_t>(from)];
      const ReceivedSlice& slice = received[static_cast<std::size_t>(from)];
      if (from == rank_ || slice.bytes == 0) continue;
      require_bytes(from, offer.bytes, slice.bytes);
      WARPATH_CUDA_CHECK(cudaMemcpyPeerAsync(slice.data, current_device(), offer.data, offer.device,
                                             static_cast<std::size_t>(slice.bytes), stream));
    }
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  static void require_bytes(int from, std::int64_t bytes, std::int64_t expected) {
    if (bytes == expected) return;
    throw std::logic_error("rank " + std::to_string(from) + " sends " + std::to_string(bytes) +
                           " bytes: expected " + std::to_string(expected) +
                           ": the ranks do not make the same calls");
  }
  /// The ranks that have sent nothing yet.
  [[nodiscard]] std::vector<int> silent() const {
    std::vector<int> ranks;
    for (int from = 0; from < all_.ranks(); ++from) {
      if (all_.mail(rank_, from).empty()) ranks.push_back(from);
    }
    return ranks;
  }

  ThreadRanks& all_;
  int rank_;
  std::int64_t calls_ = 0;  ///< of all_to_all, begun
};

}  // namespace warpath::multi_gpu_sort
