// A gang: the blocks of a cluster, or of a cooperative grid, which run at the same time, an OS
// thread each.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "site.hpp"

namespace simt {

struct Worker;

class Gang {
 public:
  explicit Gang(unsigned size) : arena_(size), anchor_(size) {}

  [[nodiscard]] unsigned size() const { return unsigned(arena_.size()); }

  /// Each block enters before its first thread runs, and leaves after its last; all wait for each
  /// other both times, so that shared memory that others may map exists as long as any block runs.
  void enter(unsigned rank, unsigned char* arena, unsigned char* anchor);
  void leave(unsigned rank, Worker& w);
  /// False once a launch has failed. All blocks of a gang get the same answer between two of their
  /// blocks.
  [[nodiscard]] bool goes_on() const { return goes_on_; }
  /// The barrier between blocks; called by one thread of each block.
  void wait(Worker& w, Site site);

  [[nodiscard]] unsigned char* arena(unsigned rank) const { return arena_[rank]; }
  [[nodiscard]] unsigned char* anchor(unsigned rank) const { return anchor_[rank]; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned arrived_ = 0, entered_ = 0, left_ = 0;
  unsigned long phase_ = 0, generation_ = 0;
  bool goes_on_ = true;
  Site site_{};  // where the first of the arrived waits
  std::vector<unsigned char*> arena_;
  std::vector<unsigned char*> anchor_;
};

}  // namespace simt
