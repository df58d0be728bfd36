#include "multi_gpu_sort/ranks/mpi_messages.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <thread>

#include "multi_gpu_sort/ranks/transport.hpp"

namespace warpath::experiments {

namespace {

using Clock = std::chrono::steady_clock;
using multi_gpu_sort::RankError;

/// How long a rank that gives up cares for its notices to leave.
constexpr std::chrono::milliseconds for_notices{200};

void check(int result, const char* call) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw std::runtime_error(std::string(call) + ": " + text);
}

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// Of one call.
struct Buffers {
  std::vector<std::byte> sent;
  std::vector<std::byte> received;
};

}  // namespace

MpiMessages::MpiMessages(std::chrono::milliseconds deadline) : deadline_(deadline) {
  check(MPI_Comm_dup(MPI_COMM_WORLD, &messages_), "MPI_Comm_dup");
  check(MPI_Comm_dup(MPI_COMM_WORLD, &notices_), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(messages_, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(notices_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(messages_, &rank_);
  MPI_Comm_size(messages_, &ranks_);
  has_given_up_.assign(at(ranks_), false);
}

MpiMessages::~MpiMessages() {
  if (!failure_.empty()) return;  // other ranks may no longer be there
  MPI_Comm_free(&messages_);
  MPI_Comm_free(&notices_);
}

std::vector<std::byte> MpiMessages::all_to_all(std::span<const std::byte> sent) {
  const std::int64_t call = ++calls_;
  read_notices();
  if (has_failed(call)) throw RankError(failure_);
  const std::size_t bytes = sent.size() / at(ranks_);
  if (bytes > at(std::numeric_limits<int>::max())) {
    throw std::invalid_argument("a message of " + std::to_string(bytes) +
                                " bytes: expected at most 2^31 - 1");
  }
  auto buffers = std::make_unique<Buffers>();
  buffers->sent.assign(sent.begin(), sent.end());
  buffers->received.resize(sent.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ialltoall(buffers->sent.data(), static_cast<int>(bytes), MPI_BYTE,
                      buffers->received.data(), static_cast<int>(bytes), MPI_BYTE, messages_,
                      &request),
        "MPI_Ialltoall");
  try {
    await(request, call);
  } catch (...) {
    static_cast<void>(buffers.release());  // MPI may still use them, until the process ends
    throw;
  }
  return std::move(buffers->received);
}

void MpiMessages::await(MPI_Request& request, std::int64_t call) {
  const Clock::time_point end = Clock::now() + deadline_;
  for (;;) {
    int is_over = 0;
    check(MPI_Test(&request, &is_over, MPI_STATUS_IGNORE), "MPI_Test");
    read_notices();
    if (has_failed(call)) throw RankError(failure_);
    if (is_over != 0) return;
    const bool others_wait_in_vain =
        std::find(has_given_up_.begin(), has_given_up_.end(), true) != has_given_up_.end() &&
        failure_.empty();
    if (others_wait_in_vain || Clock::now() >= end) blame_silent_ranks("", call);
  }
}

void MpiMessages::fail(const std::string& reason) noexcept {
  if (!failure_.empty()) return;  // a rank that gives up has said so
  set_failure(reason, calls_ + 1);
  send_notice(reason, calls_ + 1, true);
}

void MpiMessages::require_no_failure() {
  read_notices();
  if (has_failed(calls_ + 1)) throw RankError(failure_);
}

void MpiMessages::blame_silent_ranks(const std::string& what) {
  blame_silent_ranks(what, calls_ + 1);
}

void MpiMessages::blame_silent_ranks(const std::string& what, std::int64_t call) {
  send_notice(what, call, false);
  std::vector<int> silent;
  const Clock::time_point end = Clock::now() + deadline_;
  do {
    read_notices();
    if (has_failed(call)) throw RankError(failure_);
    silent.clear();
    for (int from = 0; from < ranks_; ++from) {
      if (from != rank_ && !has_given_up_[at(from)]) silent.push_back(from);
    }
  } while (!silent.empty() && Clock::now() < end);
  const std::string who = silent.empty()
                              ? "no rank is silent, but messages are late"
                              : multi_gpu_sort::detail::silence_of(silent, deadline_.count());
  set_failure(what.empty() ? who : what + ": " + who, call);
  send_notice(failure_, call, true);
  throw RankError(failure_);
}

void MpiMessages::read_notices() {
  for (;;) {
    int is_there = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, 0, notices_, &is_there, &status), "MPI_Iprobe");
    if (is_there == 0) return;
    Notice notice{};
    check(MPI_Recv(&notice, sizeof notice, MPI_BYTE, status.MPI_SOURCE, 0, notices_,
                   MPI_STATUS_IGNORE),
          "MPI_Recv");
    has_given_up_[at(status.MPI_SOURCE)] = true;
    if (notice.is_known != 0) set_failure(notice.text, notice.call);
  }
}

void MpiMessages::set_failure(const std::string& reason, std::int64_t call) {
  if (call >= failed_call_) return;
  failure_ = reason;
  failed_call_ = call;
}

void MpiMessages::send_notice(const std::string& reason, std::int64_t call,
                              bool is_known) noexcept {
  auto* const notice = new Notice{call, is_known ? 1 : 0, {}};  // kept: some rank may never take it
  std::snprintf(notice->text, sizeof notice->text, "%s", reason.c_str());
  std::vector<MPI_Request> requests;
  for (int to = 0; to < ranks_; ++to) {
    if (to == rank_) continue;
    requests.emplace_back();
    MPI_Isend(notice, sizeof *notice, MPI_BYTE, to, 0, notices_, &requests.back());
  }
  int all = 0;
  const Clock::time_point end = Clock::now() + for_notices;
  while (all == 0 && Clock::now() < end) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
  }
}

}  // namespace warpath::experiments
