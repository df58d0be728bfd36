// Device memory that a variant holds beside inputs and result: ours a workspace, a peer's its
// temporary storage. One for each variant, so that each can say how much it is.
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

/// Of the variant that was prepared last; each prepared execution keeps its own.
struct Scratch {
  std::shared_ptr<Workspace> workspace = std::make_shared<Workspace>();
  std::shared_ptr<KeptStorage> peer = std::make_shared<KeptStorage>();

  [[nodiscard]] std::int64_t bytes() const { return workspace->bytes() + peer->bytes(); }
};

}  // namespace warpath::experiments
