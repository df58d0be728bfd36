// Device memory that a variant needs beside inputs and result: ours a workspace, a peer its
// temporary storage.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/buffer.cuh"

namespace warpath::experiments {

/// An allocator for CUB and Thrust that keeps what it has and gives it out again in the next call,
/// so that no allocation of a peer is timed.
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
  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const Block& block : blocks_) sum += block.memory.count();
    return sum;
  }

 private:
  struct Block {
    DeviceBuffer<char> memory;
    bool is_used;
  };
  std::vector<Block> blocks_;
};

/// A new one with each variant that is prepared, so that bytes() is what this variant has needed
/// when it was verified. From then on our variants share the last workspace: all that they need
/// together is what the largest needs. A peer keeps its storage.
struct Scratch {
  std::unique_ptr<Workspace> workspace = std::make_unique<Workspace>();
  std::shared_ptr<KeptStorage> peer = std::make_shared<KeptStorage>();

  [[nodiscard]] std::int64_t bytes() const { return workspace->bytes() + peer->bytes(); }
};

}  // namespace warpath::experiments
