// A worker: one OS thread that runs one block at a time, each CUDA thread of it on a fiber.
// Internal to the executor.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "barrier.hpp"
#include "grid.hpp"
#include "shared_memory.hpp"
#include "stacks.hpp"
#include "thread.hpp"
#include "transaction.hpp"

namespace simt {

class Gang;
struct Worker;

/// What the workers of one launch share.
struct Grid {
  const Launch* launch = nullptr;
  std::uint64_t blocks = 0;
  std::vector<Worker*> workers;        // all that may run a block of it
  std::atomic<std::uint64_t> next{0};  // the next block to run
  std::atomic<bool> failed{false};
  std::mutex mutex;
  GridResult result;  // of the first failure

  void report(std::string message, cudaError_t error = cudaErrorLaunchFailure);
};

struct Worker {
  Worker() = default;
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Runs one block to its end or failure. gang: the blocks that run at the same time as this one,
  /// or null.
  void run_block(Grid& grid, std::uint64_t block, Gang* gang, unsigned rank);

  // ---- worker.cpp: scheduling
  void block(Thread& t) {
    Warp& w = warps[t.warp];
    w.ready &= ~(1u << t.lane);
    if (!w.ready) ready_warps &= ~(1u << t.warp);
  }
  void wake(unsigned warp, std::uint32_t lanes) {
    if (!lanes) return;
    warps[warp].ready |= lanes;
    ready_warps |= 1u << warp;
  }
  /// The calling thread cannot go on: runs others until a thread has woken it.
  void suspend();
  /// Takes the calling thread's stack away for good.
  [[noreturn]] void abandon();
  Thread* next_to_run();
  Thread* next_in_turn(const Thread& after);
  void switch_to(Thread* to, bool ended = false);
  [[noreturn]] void report_deadlock();
  void watch_for_livelock(Thread& t, bool alone);

  // ---- warp.cpp, barrier.cpp, transaction.cpp
  bool try_collective(unsigned warp, std::uint32_t mask, Warp::Combine, int arriving_lane);
  void collectives_after_exit(const Thread& ended);
  void release_barrier();
  void barrier_after_exit(const Thread& ended);
  void check_transactions_at_end();
  /// Reports what was found when the block had ended.
  void report_at_end(const std::string& what);

  // ---- the block that runs
  Thread threads[max_block_threads];
  Warp warps[max_warps];
  Grid* grid = nullptr;
  Gang* gang = nullptr;
  unsigned rank = 0;  // within the gang
  unsigned thread_count = 0, warp_count = 0;
  unsigned live = 0;              // threads that have not ended
  std::uint32_t ready_warps = 0;  // a bit for each warp that has a ready lane
  std::uint64_t rng = 0;

  struct Barrier {
    unsigned arrived = 0;
    Site site{};  // of the first that arrived
    int votes = 0;
    int count = 0;  // the result of the last barrier
    bool all = false;
  } barrier;

  struct Transaction {
    struct Copy {
      void* to;
      const void* from;
      unsigned bytes;
      Site site;
    };
    std::int64_t expected = 0;
    std::vector<Copy> copies;
    std::vector<Thread*> waiting;
  };
  std::map<TxBarrier*, Transaction> transactions;

  // ---- progress, for the watchdogs
  std::uint64_t progress = 0;                   // barriers passed and threads ended
  std::uint64_t seen_progress = 0;              // when the spinning began
  std::atomic<std::int64_t> spinning_since{0};  // milliseconds; 0: not spinning
  std::atomic<std::int64_t> last_poll{0};
  std::atomic<bool> busy{false};  // runs a block
  std::atomic<std::uint64_t> block_index{0};
  std::atomic<bool> in_gang_wait{false};   // waits for another block of its gang
  std::atomic<std::uint64_t> switches{0};  // written by this worker only
  std::atomic<std::uint64_t> yields{0};    // likewise; a thread that polls alone does not switch

  // ---- the OS thread
  Stacks stacks;
  unsigned char* ended_stack = nullptr;     // of the thread that has just ended
  std::vector<unsigned char*> kept_stacks;  // of those before it, if the block must not use them
  Context own_context = nullptr;            // the worker's own stack, while a fiber runs
  Context dead_context = nullptr;  // where a fiber that has ended is saved, never to be resumed
  void* own_fake_stack = nullptr;
  const void* own_stack = nullptr;
  std::size_t own_stack_bytes = 0;
  void* own_tsan_fiber = nullptr;

  // ---- objects that ThreadSanitizer's happens-before edges hang on; separate for thread starts
  // and ends, or every race between threads that run to completion one after the other would be
  // hidden
  char block_started = 0, thread_ended = 0, barrier_in = 0, barrier_out = 0;
  char lane_in[max_block_threads], lane_out[max_block_threads];
  char warp_in[max_warps], warp_out[max_warps];  // of collectives of all lanes

 private:
  void set_up(std::uint64_t block);
  void check_at_end(const DynamicArena& arena);
  void order_after_all_threads();
  void tear_down();
  void describe_deadlock();
  static void fiber_main();
  static void arrived();
  void end_thread(Thread& t);
  void call_kernel();
};

extern __thread Worker* worker;  // of the calling OS thread; null outside a block

std::int64_t now_ms();

}  // namespace simt
