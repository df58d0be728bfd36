// Shared memory of the running block.
//
// Dynamic: an arena, new for each block and filled with poison. Static: `__shared__` is
// `thread_local`, which is right because an OS thread runs one block at a time; the worker fills it
// with poison before each block, so that a block never finds another block's values in it.
#pragma once

#include <cstddef>
#include <memory>

namespace simt {

extern __thread unsigned char*
    dynamic_smem;  // 128-byte aligned; what `dynamic_shared<T>()` of core returns
extern __thread std::size_t dynamic_smem_size;

constexpr unsigned char shared_poison = 0xCD;

/// The arena of one block's dynamic shared memory.
class DynamicArena {
 public:
  explicit DynamicArena(std::size_t bytes);
  ~DynamicArena();
  DynamicArena(const DynamicArena&) = delete;
  DynamicArena& operator=(const DynamicArena&) = delete;
  [[nodiscard]] unsigned char* begin() const { return begin_; }

  /// How many bytes beyond the end the nearest byte lies that was overwritten; -1: none was.
  [[nodiscard]] std::ptrdiff_t overrun() const;
  /// Its block has ended: who still reads it, through a cluster, must not find what was there.
  void expire();

 private:
  std::size_t bytes_, storage_bytes_;
  std::unique_ptr<unsigned char[]> storage_;
  unsigned char* begin_;
};

/// Fills the calling OS thread's static shared memory with poison. It overwrites the executor's own
/// thread-local variables, too: only a worker may call this, before it sets them up for a block.
void poison_static_shared();

/// Static shared memory of another OS thread lies as far from its anchor as ours from ours.
unsigned char* thread_local_anchor();

}  // namespace simt
