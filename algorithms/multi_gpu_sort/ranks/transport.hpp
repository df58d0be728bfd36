// How the ranks of a sort reach each other: what the sort needs of MPI and NCCL, or of threads.
//
// All ranks make the same calls in the same order. A rank waits in a call until all others are
// there, but no longer than the transport's deadline: then each of them throws a RankError that
// names the ranks that did not come. A transport that has thrown one is of no more use.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace warpath::multi_gpu_sort {

/// A rank failed, or did not come within the deadline. what() names it, on each rank.
class RankError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Device memory that goes to a rank.
struct SentSlice {
  const void* data;
  std::int64_t bytes;
};
/// Device memory that becomes what a rank sends.
struct ReceivedSlice {
  void* data;
  std::int64_t bytes;
};

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// This rank, of 0 to ranks() - 1.
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;

  /// Sends each rank its piece of `sent`, which are ranks() pieces of as many bytes; returns those
  /// that come to this one, by their senders. Host memory; pieces of the same size on all ranks.
  virtual std::vector<std::byte> all_to_all(std::span<const std::byte> sent) = 0;

  /// sent[i] goes to rank i, received[i] comes from it, which sends as many bytes; those of this
  /// rank itself stay as they are. Begins once the work in `stream` is done; when it returns, all
  /// has come that this rank receives, and what it sends has been read. No memory is read or
  /// written after it has returned or thrown.
  virtual void exchange(std::span<const SentSlice> sent, std::span<const ReceivedSlice> received,
                        cudaStream_t stream) = 0;

  /// This rank will make no more calls: the others' calls throw a RankError of this text.
  virtual void fail(const std::string& reason) noexcept = 0;
};

/// sent: an element a rank. Returns each rank's for this one.
template <class T>
std::vector<T> all_to_all(Transport& transport, const std::vector<T>& sent) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::vector<std::byte> bytes = transport.all_to_all(std::as_bytes(std::span(sent)));
  std::vector<T> received(sent.size());
  std::memcpy(static_cast<void*>(received.data()), bytes.data(), bytes.size());
  return received;
}

/// Each rank's element, on all ranks.
template <class T>
std::vector<T> all_gather(Transport& transport, const T& own) {
  return all_to_all(transport, std::vector<T>(static_cast<std::size_t>(transport.ranks()), own));
}

/// Waits until all ranks are there.
inline void meet(Transport& transport) {
  all_gather(transport, std::byte{});
}

namespace detail {

/// What is said of ranks that did not come.
inline std::string silence_of(const std::vector<int>& ranks, std::int64_t milliseconds) {
  std::string list;
  for (const int rank : ranks) list += (list.empty() ? "" : ", ") + std::to_string(rank);
  return (ranks.size() == 1 ? "rank " : "ranks ") + list + " did not answer within " +
         std::to_string(milliseconds) + " ms";
}

}  // namespace detail

}  // namespace warpath::multi_gpu_sort
