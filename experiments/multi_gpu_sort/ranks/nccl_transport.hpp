// Ranks that MPI has started, one a GPU, whose device memory goes by NCCL.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "multi_gpu_sort/ranks/transport.hpp"

namespace warpath::experiments {

/// MPI, from its start to its end.
class Mpi {
 public:
  Mpi(int* argc, char*** argv);
  ~Mpi();  ///< waits for the other ranks
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  /// Ends the processes of all ranks, soon, so that each of them can say why it ends.
  [[noreturn]] static void end_all(int exit_code);

 private:
  int rank_ = 0;
};

/// Makes one of the host's GPUs current, another one for each of its ranks, and connects all ranks;
/// all of them call it. deadline: how long a rank waits for the others in one call. It must be
/// longer than what one rank does alone: the sort of its part. Where ranks are waited for in vain
/// in NCCL, it takes twice as long until they are named.
///
/// Throws RankError; std::invalid_argument, on all ranks, if a host has more ranks than GPUs.
/// Multicast over NVLink stays off (NCCL_NVLS_ENABLE=0).
std::unique_ptr<multi_gpu_sort::Transport> connect_by_nccl(std::chrono::milliseconds deadline);

/// The name of this rank's host.
std::string host_name();

}  // namespace warpath::experiments
