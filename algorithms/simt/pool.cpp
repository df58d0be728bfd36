#include "pool.hpp"

#include <pthread.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "options.hpp"
#include "sanitizer.hpp"
#include "worker.hpp"

namespace simt {
namespace {

constexpr std::size_t signal_stack_bytes = 64 << 10;
constexpr unsigned patience_periods = 12;  // of SIMT_WATCHDOG_MS, for a block that stays silent
constexpr int hang_exit_code = 25;

using Job = std::function<void(unsigned rank, Worker&)>;

// Semaphores, because they are invisible to ThreadSanitizer: a mutex would order workers of one
// launch among each other, and so hide races between blocks. The edges that are real, from the host
// to a worker and back, are stated.
struct Member {
  Worker worker;
  std::binary_semaphore start{0};
  const Job* job = nullptr;  // null: end the thread
  char started = 0, ended = 0;
  std::uint64_t seen_moves = 0;  // switches and yields
  std::thread thread;
};

class Pool {
 public:
  ~Pool() {
    for (auto& member : members_) {
      member->job = nullptr;
      member->start.release();
    }
    for (auto& member : members_) member->thread.join();
  }

  Worker& worker(unsigned rank) {
    while (members_.size() <= rank) {
      Member& member = *members_.emplace_back(std::make_unique<Member>());
      member.thread =
          std::thread([this, &member, r = unsigned(members_.size() - 1)] { serve(member, r); });
    }
    return members_[rank]->worker;
  }

  void run(unsigned count, const Job& job) {
    worker(count - 1);
    for (unsigned i = 0; i < count; ++i) {
      Member& member = *members_[i];
      member.job = &job;
      happens_before(&member.started);
      member.start.release();
    }
    unsigned silent_periods = 0;
    const auto period = std::chrono::milliseconds(options().watchdog_ms);
    for (unsigned i = 0; i < count; ++i) {
      while (!done_.try_acquire_for(period)) {
        silent_periods = has_moved(count) ? 0 : silent_periods + 1;
        if (silent_periods) report_hang(count, silent_periods);
      }
    }
    for (unsigned i = 0; i < count; ++i) happens_after(&members_[i]->ended);
  }

 private:
  void serve(Member& member, unsigned rank) {
    // The overflow of a fiber's stack must be reported from some other stack. (AddressSanitizer
    // brings its own.)
    const auto signal_stack = std::make_unique<unsigned char[]>(signal_stack_bytes);
    const stack_t alternative{signal_stack.get(), 0, signal_stack_bytes};
    if (!under_asan) sigaltstack(&alternative, nullptr);
    for (;;) {
      member.start.acquire();
      happens_after(&member.started);
      if (!member.job) return;
      (*member.job)(rank, member.worker);
      happens_before(&member.ended);
      done_.release();
    }
  }

  bool has_moved(unsigned count) {
    bool moved = false;
    for (unsigned i = 0; i < count; ++i) {
      const Worker& w = members_[i]->worker;
      const std::uint64_t now = w.switches + w.yields;
      moved |= now != std::exchange(members_[i]->seen_moves, now);
    }
    return moved;
  }

  // A thread that polls without a yield point keeps its OS thread for ever; from outside it looks
  // like a long computation. So the first period of silence gives a warning, and only the last ends
  // the process.
  void report_hang(unsigned count, unsigned periods) {
    if (periods != 1 && periods < patience_periods) return;
    for (unsigned i = 0; i < count; ++i) {
      const Worker& w = members_[i]->worker;
      if (!w.busy) continue;
      std::fprintf(stderr,
                   "simt: no collective, barrier or yield for %u ms in block %llu: if it polls, it "
                   "must call simt::yield() (core's wait_until does) or __nanosleep [%s]\n",
                   periods * options().watchdog_ms,
                   static_cast<unsigned long long>(w.block_index.load()), reproduction().c_str());
    }
    if (periods < patience_periods) {
      std::fprintf(stderr,
                   "simt: the process ends after %u ms of this, %u times SIMT_WATCHDOG_MS\n",
                   patience_periods * options().watchdog_ms, patience_periods);
      return;
    }
    std::fprintf(stderr, "simt: giving up after %u ms, %u times SIMT_WATCHDOG_MS\n",
                 periods * options().watchdog_ms, periods);
    std::_Exit(hang_exit_code);
  }

  std::counting_semaphore<> done_{0};
  std::vector<std::unique_ptr<Member>> members_;
};

std::unique_ptr<Pool> instance;

Pool& pool() {
  if (!instance) {
    instance = std::make_unique<Pool>();
    // A forked child (a death test) has none of the threads: it starts a pool of its own.
    static const int once = pthread_atfork(nullptr, nullptr, [] { (void)instance.release(); });
    (void)once;
  }
  return *instance;
}

}  // namespace

void run_on_workers(unsigned count, const Job& job) {
  pool().run(count, job);
}

Worker& worker_of_rank(unsigned rank) {
  return pool().worker(rank);
}

}  // namespace simt
