#include "worker.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "diagnostics.hpp"
#include "gang.hpp"
#include "options.hpp"
#include "sanitizer.hpp"

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim{1}, gridDim{1};

namespace simt {

__thread Thread* self;
__thread bool random_schedule;
__thread Worker* worker;

namespace {

// Under ThreadSanitizer each CUDA thread of a block keeps a stack of its own: it has a shadow stack
// of its own, and two threads' locals at one address would look like a race.
constexpr bool reuse_stacks = !under_tsan;

std::uint64_t next_random(std::uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

// The first set bit at or after a random position, in a circle.
unsigned any_bit(std::uint32_t bits, unsigned random) {
  const unsigned start = random & 31;
  return (std::countr_zero(std::rotr(bits, int(start))) + start) & 31;
}

}  // namespace

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

void Grid::report(std::string message, cudaError_t error) {
  if (failed.exchange(true)) return;
  const std::lock_guard lock(mutex);
  result = {error, std::move(message)};
}

Worker::~Worker() {
  SIMT_IF_TSAN(for (Thread& t : threads) if (t.tsan_fiber) __tsan_destroy_fiber(t.tsan_fiber);)
}

// ---------------------------------------------------------------- switching

// The first thing that happens on a stack after a switch to it.
void Worker::arrived() {
  SIMT_IF_ASAN({
    const void* from;
    std::size_t bytes;
    void* fake_stack = self ? self->fake_stack : worker->own_fake_stack;
    __sanitizer_finish_switch_fiber(fake_stack, &from, &bytes);
    if (!worker->own_stack) {
      worker->own_stack = from;
      worker->own_stack_bytes = bytes;
    }
  })
  // Only now is the stack of the thread that has ended no longer in use.
  if (worker->ended_stack) {
    unsigned char* stack = std::exchange(worker->ended_stack, nullptr);
    if (reuse_stacks) {
      worker->stacks.give(stack);
    } else {
      worker->kept_stacks.push_back(stack);
    }
  }
}

// to: a thread, or null for the worker's own stack. ended: nothing will return to the running
// stack.
void Worker::switch_to(Thread* to, bool ended) {
  Thread* from = self;
  switches.store(switches.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (to && !to->context) {
    to->stack = stacks.take();
    // Tops are staggered, or the hot ends of all stacks would compete for the same few cache sets.
    const std::size_t stagger = to->rank * 7 % 61 * 64;
    to->context = new_context(to->stack, stacks.bytes() - stagger, fiber_main);
  }
  const Context target = to ? to->context : own_context;
  SIMT_IF_ASAN(__sanitizer_start_switch_fiber(ended  ? nullptr
                                              : from ? &from->fake_stack
                                                     : &own_fake_stack,
                                              to ? to->stack : own_stack,
                                              to ? stacks.bytes() : own_stack_bytes);)
  SIMT_IF_TSAN(
      __tsan_switch_to_fiber(to ? to->tsan_fiber : own_tsan_fiber, __tsan_switch_to_fiber_no_sync);)
  self = to;
  if (to) threadIdx = to->index;
  switch_context(ended ? &dead_context : from ? &from->context : &own_context, target);
  arrived();
}

void Worker::abandon() {
  switch_to(nullptr, true);
  __builtin_unreachable();
}

// ---------------------------------------------------------------- choosing

Thread* Worker::next_to_run() {
  if (!ready_warps) return nullptr;
  if (random_schedule) {
    const std::uint64_t random = next_random(rng);
    const unsigned w = any_bit(ready_warps, unsigned(random >> 20));
    return &threads[w * warp_size + any_bit(warps[w].ready, unsigned(random >> 40))];
  }
  // In order: the same warp as long as it has ready lanes.
  unsigned w = self ? self->warp : 0;
  if (!(ready_warps >> w & 1)) w = std::countr_zero(ready_warps);
  return &threads[w * warp_size + std::countr_zero(warps[w].ready)];
}

// Fair: the next ready lane of this warp, then the next ready warp. A warp that polls must not
// starve the others.
Thread* Worker::next_in_turn(const Thread& after) {
  if (random_schedule) return next_to_run();
  const std::uint32_t later_lanes = warps[after.warp].ready & ~((2u << after.lane) - 1);
  if (later_lanes) return &threads[after.warp * warp_size + std::countr_zero(later_lanes)];
  if (!ready_warps) return nullptr;
  const std::uint32_t later_warps = ready_warps & ~((2u << after.warp) - 1);
  const unsigned w = std::countr_zero(later_warps ? later_warps : ready_warps);
  return &threads[w * warp_size + std::countr_zero(warps[w].ready)];
}

void Worker::suspend() {
  Thread* to = next_to_run();
  if (!to) report_deadlock();
  if (to != self) switch_to(to);
}

void yield(const char* simt_file, int simt_line) {
  if (!self) {  // host code may use the same helpers
    sched_yield();
    return;
  }
  Worker& w = *worker;
  Thread& t = *self;
  t.site = SIMT_HERE;
  w.block(t);
  Thread* to = w.next_in_turn(t);
  w.wake(t.warp, 1u << t.lane);
  if (w.grid->failed.load(std::memory_order_relaxed)) w.abandon();
  w.watch_for_livelock(t, !to);
  if (!to) {
    sched_yield();
  } else if (to != &t) {
    w.switch_to(to);
  }
}

void reschedule() {
  Worker& w = *worker;
  Thread* to = w.next_to_run();
  if (to != self) w.switch_to(to);
}

void fence() {
  static char object;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  // ThreadSanitizer knows no fences. One object for all of them orders more than the hardware does,
  // but never less.
  happens_after(&object);
  happens_before(&object);
}

// ---------------------------------------------------------------- a thread's life

// Nothing that a kernel throws may unwind past the first frame of its fiber.
void Worker::call_kernel() {
  char message[256];
  try {
    grid->launch->invoke(grid->launch->arguments);
    return;
  } catch (const std::exception& e) {
    std::strncpy(message, e.what(), sizeof message - 1);
    message[sizeof message - 1] = 0;
  } catch (...) {
    std::strcpy(message, "of no standard type");
  }
  fail("the kernel threw an exception, which no GPU can: %s", message);
}

void Worker::fiber_main() {
  arrived();
  for (;;) {
    Worker& w = *worker;
    happens_after(&w.block_started);
    w.call_kernel();
    happens_before(&w.thread_ended);
    Thread& me = *self;
    w.end_thread(me);
    Thread* next = w.next_to_run();
    if (!next && w.live) w.report_deadlock();
    if (reuse_stacks && next && !next->context) {  // not started yet: run it here, without a switch
      next->stack = me.stack;
      next->context = &w.dead_context;
      self = next;
      threadIdx = next->index;
      continue;
    }
    w.ended_stack = me.stack;
    w.switch_to(next, true);
  }
}

// The end of a thread may be what others have waited for.
void Worker::end_thread(Thread& t) {
  if (!t.bulk_stores.empty()) {
    const Site s = t.bulk_stores.oldest();
    fail("the thread ended without waiting for its bulk store at %s:%d", s.file, s.line);
  }
  ++progress;
  block(t);
  warps[t.warp].live &= ~(1u << t.lane);
  --live;
  collectives_after_exit(t);
  barrier_after_exit(t);
}

// ---------------------------------------------------------------- a block's life

void Worker::set_up(std::uint64_t index) {
  const Launch& l = *grid->launch;
  const Options& o = options();
  gridDim = l.grid;
  blockDim = l.block;
  blockIdx = {unsigned(index % l.grid.x), unsigned(index / l.grid.x % l.grid.y),
              unsigned(index / l.grid.x / l.grid.y)};
  thread_count = live = l.block.x * l.block.y * l.block.z;
  warp_count = (thread_count + warp_size - 1) / warp_size;
  self = nullptr;
  ended_stack = nullptr;
  for (unsigned char* stack : kept_stacks) stacks.give(stack);
  kept_stacks.clear();
  kept_stacks.reserve(thread_count);  // nothing is allocated on a fiber
  random_schedule = o.seed != 0;
  rng = (index + 1) * 0x9E3779B97F4A7C15ull ^ o.seed * 0xD1B54A32D192ED03ull;
  if (!rng) rng = 1;
  ready_warps = 0;
  barrier = {};
  transactions.clear();
  spinning_since = 0;
  for (unsigned w = 0; w < warp_count; ++w) {
    const unsigned lanes = std::min(warp_size, thread_count - w * warp_size);
    warps[w].ready = warps[w].collecting = warps[w].at_barrier = 0;
    warps[w].live = lanes == warp_size ? ~0u : (1u << lanes) - 1;
    wake(w, warps[w].live);
  }
  for (unsigned i = 0; i < thread_count; ++i) {
    Thread& t = threads[i];
    t.context = t.fake_stack = nullptr;
    t.index = {i % l.block.x, i / l.block.x % l.block.y, i / l.block.x / l.block.y};
    t.rank = std::uint16_t(i);
    t.lane = i % warp_size;
    t.warp = std::uint8_t(i / warp_size);
    t.site = {};
    t.has_waited = false;
    t.pipeline.clear();
    t.bulk_stores.clear();
    SIMT_IF_TSAN(if (!t.tsan_fiber) t.tsan_fiber = __tsan_create_fiber(0);)
  }
}

// After a failure the fibers that were still running are given up where they stand.
void Worker::tear_down() {
  if (!live) return;
  stacks.reset();
  kept_stacks.clear();
  SIMT_IF_TSAN(for (Thread& t
                    : threads) {
    if (t.tsan_fiber) __tsan_destroy_fiber(t.tsan_fiber);
    t.tsan_fiber = nullptr;
  })
}

// What follows the block comes after all that its threads have done, also those that a failure has
// stopped.
void Worker::order_after_all_threads() {
  SIMT_IF_TSAN(for (unsigned i = 0; live && i < thread_count; ++i) {
    __tsan_switch_to_fiber(threads[i].tsan_fiber, __tsan_switch_to_fiber_no_sync);
    happens_before(&thread_ended);
    __tsan_switch_to_fiber(own_tsan_fiber, __tsan_switch_to_fiber_no_sync);
  })
  happens_after(&thread_ended);
}

// What can only be seen when the block has run.
void Worker::check_at_end(const DynamicArena& arena) {
  if (live) return;  // failed already
  const std::ptrdiff_t overrun = arena.overrun();
  if (overrun >= 0)
    report_at_end(
        text("byte %td beyond the end of the %zu bytes of dynamic shared memory was written",
             overrun, dynamic_smem_size));
  check_transactions_at_end();
  const auto has_waited = [](const Thread& t) { return t.has_waited; };
  if (grid->launch->starts_early && std::none_of(threads, threads + thread_count, has_waited))
    report_at_end("no thread has waited for the kernel before, though this one may start early");
}

void Worker::report_at_end(const std::string& what) {
  grid->report(launch_message(
      *grid->launch, what,
      text("found at the end of block (%u,%u,%u)", blockIdx.x, blockIdx.y, blockIdx.z)));
}

void Worker::run_block(Grid& g, std::uint64_t index, Gang* gang_, unsigned rank_) {
  poison_static_shared();
  worker = this;
  grid = &g;
  gang = gang_;
  rank = rank_;
  SIMT_IF_TSAN(if (!own_tsan_fiber) own_tsan_fiber = __tsan_get_current_fiber();)
  set_up(index);
  block_index = index;
  busy = true;
  {
    DynamicArena arena(g.launch->shared_bytes);
    dynamic_smem = arena.begin();
    dynamic_smem_size = g.launch->shared_bytes;
    if (gang) gang->enter(rank, dynamic_smem, thread_local_anchor());
    happens_before(&block_started);
    switch_to(next_to_run());  // returns when the block has ended, or failed
    order_after_all_threads();
    check_at_end(arena);
    if (gang) {
      arena.expire();
      gang->leave(rank, *this);
    }
  }
  busy = false;
  tear_down();
  worker = nullptr;
}

// ---------------------------------------------------------------- watchdogs

void Worker::report_deadlock() {
  describe_deadlock();
  abandon();
}

void Worker::describe_deadlock() {
  std::string who;
  const Thread* shown = nullptr;
  unsigned count = 0;
  for (unsigned i = 0; i < thread_count && count < 4; ++i) {
    const Thread& t = threads[i];
    const Warp& w = warps[t.warp];
    const std::uint32_t bit = 1u << t.lane;
    if (!(w.live & bit)) continue;
    if (shown && shown->site.line == t.site.line && shown->site.file == t.site.file) continue;
    const char* where = w.at_barrier & bit   ? "at the block barrier"
                        : w.collecting & bit ? "in a warp collective"
                                             : "for a transaction barrier";
    who += text("; thread %u waits %s at %s:%d", i, where, t.site.file, t.site.line);
    if (w.collecting & bit) who += text(" (mask %08x)", w.mask[t.lane]);
    shown = &t;
    ++count;
  }
  report_failure("deadlock: %u of %u threads have not ended and none of them can go on%s", live,
                 thread_count, who.c_str());
}

// Polling is a livelock when for a whole period nothing has moved in any block that runs: every
// worker of the grid polls. The clock is read seldom, except by a thread that polls alone: what it
// yields to is the operating system, which may take a while to come back.
void Worker::watch_for_livelock(Thread& t, bool alone) {
  const std::uint64_t count = yields.load(std::memory_order_relaxed) + 1;
  yields.store(count, std::memory_order_relaxed);
  if (!alone && count & 0xFF) return;
  const std::int64_t now = now_ms(), period = options().watchdog_ms;
  const bool has_computed = now - last_poll.exchange(now) > period / 2;
  if (progress != seen_progress || !spinning_since || has_computed) {
    seen_progress = progress;
    spinning_since = now;
    return;
  }
  for (const Worker* w : grid->workers) {
    if (!w->busy || w->in_gang_wait) continue;
    if (!w->spinning_since || now - w->spinning_since < period) return;
    if (now - w->last_poll > period / 2) return;  // it computes
  }
  fail(
      "livelock: the thread has polled for %lld ms (at %s:%d) and no barrier was passed "
      "and no thread ended in "
      "any block that runs; SIMT_WATCHDOG_MS sets how long that may last",
      static_cast<long long>(now - spinning_since), t.site.file, t.site.line);
}

}  // namespace simt
