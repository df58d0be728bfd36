#include "gang.hpp"

#include <chrono>

#include "diagnostics.hpp"
#include "options.hpp"
#include "worker.hpp"

namespace simt {

using namespace std::chrono_literals;

void Gang::enter(unsigned rank, unsigned char* arena, unsigned char* anchor) {
  std::unique_lock lock(mutex_);
  arena_[rank] = arena;
  anchor_[rank] = anchor;
  const unsigned long generation = generation_;
  if (++entered_ == size()) {
    entered_ = left_ = arrived_ = 0;
    ++generation_;
    changed_.notify_all();
  } else {
    changed_.wait(lock, [&] { return generation_ != generation; });
  }
}

void Gang::leave(unsigned rank, Worker& w) {
  std::unique_lock lock(mutex_);
  if (arrived_ && options().strict)
    w.report_at_end(text(
        "barrier divergence: block %u of its cluster or grid has ended, while %u others wait at "
        "the barrier of all blocks at %s:%d",
        rank, arrived_, site_.file, site_.line));
  const unsigned long generation = generation_;
  if (++left_ == size()) {
    goes_on_ = !w.grid->failed;
    ++generation_;
  } else {
    // Those who still run may wait for us at a barrier: with us gone it may be complete.
    if (arrived_ && arrived_ == size() - left_) {
      arrived_ = 0;
      ++phase_;
    }
    changed_.notify_all();
    changed_.wait(lock, [&] { return generation_ != generation; });
  }
  changed_.notify_all();
}

void Gang::wait(Worker& w, Site site) {
  std::unique_lock lock(mutex_);
  if (left_ && options().strict) {
    lock.unlock();
    fail(
        "barrier divergence: the thread waits at the barrier of all blocks at %s:%d, but a block "
        "of "
        "its cluster or grid has ended",
        site.file, site.line);
  }
  if (!arrived_) site_ = site;
  const unsigned long phase = phase_;
  if (++arrived_ == size() - left_) {
    arrived_ = 0;
    ++phase_;
    changed_.notify_all();
    return;
  }
  w.in_gang_wait = true;
  // A failure elsewhere is noticed by looking, which keeps the failing side simple.
  while (phase_ == phase && !w.grid->failed) changed_.wait_for(lock, 20ms);
  w.in_gang_wait = false;
  if (phase_ == phase) {
    lock.unlock();
    w.abandon();
  }
}

}  // namespace simt
