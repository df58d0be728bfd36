// The stacks of one worker's fibers, each above a page that cannot be touched.
#pragma once

#include <cstddef>
#include <vector>

namespace simt {

class Stacks {
 public:
  Stacks() = default;
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  /// The lowest address of a free stack of bytes().
  unsigned char* take();
  void give(unsigned char* stack) { free_.push_back(stack); }
  /// All stacks are free again, whatever was on them.
  void reset();
  /// Gives the memory, not the addresses, back to the system.
  void trim();

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void reserve();

  unsigned char* region_ = nullptr;
  std::size_t bytes_ = 0;     // of one stack
  std::size_t distance_ = 0;  // from one to the next
  unsigned carved_ = 0;       // how many have been taken at least once
  std::vector<unsigned char*> free_;
};

}  // namespace simt
