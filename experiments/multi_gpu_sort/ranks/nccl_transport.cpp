#include "multi_gpu_sort/ranks/nccl_transport.hpp"

#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/cuda_check.cuh"
#include "multi_gpu_sort/ranks/mpi_messages.hpp"

namespace warpath::experiments {

namespace {

using Clock = std::chrono::steady_clock;
using multi_gpu_sort::ReceivedSlice;
using multi_gpu_sort::SentSlice;

class NcclTransport : public multi_gpu_sort::Transport {
 public:
  explicit NcclTransport(std::chrono::milliseconds deadline) : messages_(deadline) {
    choose_device();
    connect();
  }
  ~NcclTransport() override {
    if (communicator_ == nullptr) return;
    // A communicator that does not block is destroyed once it is finalized.
    ncclCommFinalize(communicator_);
    const Clock::time_point end = Clock::now() + messages_.deadline();
    while (state() == ncclInProgress && Clock::now() < end) std::this_thread::yield();
    if (state() == ncclSuccess) {
      ncclCommDestroy(communicator_);
    } else {
      abort();
    }
  }

  [[nodiscard]] int rank() const override { return messages_.rank(); }
  [[nodiscard]] int ranks() const override { return messages_.ranks(); }

  std::vector<std::byte> all_to_all(std::span<const std::byte> sent) override {
    try {
      return messages_.all_to_all(sent);
    } catch (...) {
      abort();
      throw;
    }
  }

  void exchange(std::span<const SentSlice> sent, std::span<const ReceivedSlice> received,
                cudaStream_t stream) override {
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    multi_gpu_sort::meet(*this);  // who is not there is named at once, and no transfer begins
    check(ncclGroupStart(), "ncclGroupStart");
    for (int peer = 0; peer < ranks(); ++peer) {
      const auto i = static_cast<std::size_t>(peer);
      if (peer == rank()) continue;
      if (sent[i].bytes > 0) {
        check(ncclSend(sent[i].data, static_cast<std::size_t>(sent[i].bytes), ncclUint8, peer,
                       communicator_, stream),
              "ncclSend");
      }
      if (received[i].bytes > 0) {
        check(ncclRecv(received[i].data, static_cast<std::size_t>(received[i].bytes), ncclUint8,
                       peer, communicator_, stream),
              "ncclRecv");
      }
    }
    check(ncclGroupEnd(), "ncclGroupEnd");
    wait_until("the exchange", [&] {
      const cudaError_t result = cudaStreamQuery(stream);
      if (result == cudaErrorNotReady) return false;
      WARPATH_CUDA_CHECK(result);
      return true;
    });
  }

  void fail(const std::string& reason) noexcept override {
    messages_.fail(reason);
    abort();
  }

 private:
  /// Gives each rank of a host a GPU of its own.
  void choose_device() {
    MPI_Comm of_host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &of_host);
    int in_host = 0;
    MPI_Comm_rank(of_host, &in_host);
    MPI_Comm_free(&of_host);
    struct Gpu {
      int is_there;
      cudaUUID_t uuid;
    };
    Gpu own{};
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) == cudaSuccess && gpus > 0) {
      cudaDeviceProp properties{};
      WARPATH_CUDA_CHECK(cudaSetDevice(in_host % gpus));
      WARPATH_CUDA_CHECK(cudaGetDeviceProperties(&properties, in_host % gpus));
      own = {1, properties.uuid};
    }
    const std::vector<Gpu> all = multi_gpu_sort::all_gather(*this, own);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string name = "rank " + std::to_string(i);
      if (all[i].is_there == 0) throw std::invalid_argument(name + " has no GPU: expected one");
      for (std::size_t j = 0; j < i; ++j) {
        if (std::memcmp(&all[i].uuid, &all[j].uuid, sizeof(cudaUUID_t)) != 0) continue;
        throw std::invalid_argument(name + " has the same GPU as rank " + std::to_string(j) +
                                    ": expected at most as many ranks on a host as GPUs");
      }
    }
  }

  void connect() {
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    ncclUniqueId id{};
    if (rank() == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    id = multi_gpu_sort::all_gather(*this, id).front();
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check(ncclCommInitRankConfig(&communicator_, ranks(), id, rank(), &config),
          "ncclCommInitRankConfig");
    wait_until("the connection", [] { return true; });
    multi_gpu_sort::meet(*this);
  }

  /// Waits until NCCL has nothing to do any more and is_over(). Ends the communicator, and throws,
  /// if that takes too long, NCCL has an error, or another rank has failed.
  template <class IsOver>
  void wait_until(const std::string& what, const IsOver& is_over) {
    const std::chrono::milliseconds deadline = messages_.deadline();
    const Clock::time_point end = Clock::now() + deadline;
    std::string wrong;
    try {
      while (wrong.empty()) {
        const ncclResult_t now = state();
        if (now == ncclSuccess && is_over()) return;
        messages_.require_no_failure();
        if (now != ncclSuccess && now != ncclInProgress) {
          wrong = what + " failed (NCCL: " + ncclGetErrorString(now) + ")";
        } else if (Clock::now() >= end) {
          wrong = what + " did not end within " + std::to_string(deadline.count()) + " ms";
        }
      }
    } catch (...) {
      abort();
      throw;
    }
    abort();
    messages_.blame_silent_ranks(wrong);
  }

  [[nodiscard]] ncclResult_t state() const {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t result = ncclCommGetAsyncError(communicator_, &state);
    return result == ncclSuccess ? state : result;
  }
  void check(ncclResult_t result, const char* call) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    const char* const detail = ncclGetLastError(communicator_);
    throw std::runtime_error(std::string("NCCL, ") + call + ": " + ncclGetErrorString(result) +
                             (detail != nullptr ? std::string("; ") + detail : ""));
  }
  /// Ends all transfers: no memory is read or written after it.
  void abort() noexcept {
    if (communicator_ != nullptr) ncclCommAbort(communicator_);
    communicator_ = nullptr;
  }

  MpiMessages messages_;
  ncclComm_t communicator_ = nullptr;
};

}  // namespace

Mpi::Mpi(int* argc, char*** argv) {
  if (MPI_Init(argc, argv) != MPI_SUCCESS) throw std::runtime_error("MPI_Init failed");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
}
Mpi::~Mpi() {
  MPI_Finalize();
}

void Mpi::end_all(int exit_code) {
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the others have their say
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

std::unique_ptr<multi_gpu_sort::Transport> connect_by_nccl(std::chrono::milliseconds deadline) {
  return std::make_unique<NcclTransport>(deadline);
}

std::string host_name() {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(name, &length);
  return {name, static_cast<std::size_t>(length)};
}

}  // namespace warpath::experiments
