// Messages in host memory between MPI's ranks, with a deadline: what is waited for is polled, so
// that a rank that does not come is named, and nothing hangs.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace warpath::experiments {

class MpiMessages {
 public:
  /// Of MPI_COMM_WORLD. deadline: how long a rank waits for the others in one call.
  explicit MpiMessages(std::chrono::milliseconds deadline);
  ~MpiMessages();
  MpiMessages(const MpiMessages&) = delete;
  MpiMessages& operator=(const MpiMessages&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] std::chrono::milliseconds deadline() const { return deadline_; }

  /// As Transport::all_to_all.
  std::vector<std::byte> all_to_all(std::span<const std::byte> sent);
  /// As Transport::fail.
  void fail(const std::string& reason) noexcept;
  /// Throws RankError if some rank will not make the next call.
  void require_no_failure();
  /// After something else that all ranks do has not ended within the deadline: finds out which
  /// ranks are silent, and throws a RankError that names them.
  [[noreturn]] void blame_silent_ranks(const std::string& what);

 private:
  /// What a rank says that has given up.
  struct Notice {
    std::int64_t call;      ///< the first one that it does not end
    std::int32_t is_known;  ///< whether it can say which rank is to blame
    char text[500];
  };

  /// Takes what notices have come.
  void read_notices();
  [[nodiscard]] bool has_failed(std::int64_t call) const { return failed_call_ <= call; }
  void set_failure(const std::string& reason, std::int64_t call);
  void send_notice(const std::string& reason, std::int64_t call, bool is_known) noexcept;
  void await(MPI_Request& request, std::int64_t call);
  [[noreturn]] void blame_silent_ranks(const std::string& what, std::int64_t call);

  MPI_Comm messages_ = MPI_COMM_NULL;
  MPI_Comm notices_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 0;
  std::chrono::milliseconds deadline_;
  std::int64_t calls_ = 0;  ///< of all_to_all, begun
  std::string failure_;     ///< of the earliest call
  std::int64_t failed_call_ = std::numeric_limits<std::int64_t>::max();
  std::vector<bool> has_given_up_;  ///< each rank, or it waits in vain
};

}  // namespace warpath::experiments
