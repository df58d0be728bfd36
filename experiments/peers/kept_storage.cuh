// Temporary storage for Thrust, so that no allocation of a peer is timed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/buffer.cuh"

namespace warpath::experiments {

/// An allocator that keeps what it has, and gives it out again in the next call.
class KeptStorage {
 public:
  using value_type = char;

  char* allocate(std::ptrdiff_t bytes) {
    auto free = std::find_if(blocks_.begin(), blocks_.end(), [bytes](const Block& block) {
      return !block.is_used && bytes <= block.memory.count();
    });
    if (free == blocks_.end()) {
      free = blocks_.insert(free, {DeviceBuffer<char>(std::max<std::ptrdiff_t>(bytes, 1)), false});
    }
    free->is_used = true;
    return free->memory.data();
  }
  void deallocate(char* memory, std::size_t) {
    for (Block& block : blocks_) {
      if (block.memory.data() == memory) block.is_used = false;
    }
  }

 private:
  struct Block {
    DeviceBuffer<char> memory;
    bool is_used;
  };
  std::vector<Block> blocks_;
};

}  // namespace warpath::experiments
