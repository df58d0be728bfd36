// Cooperative groups: the block, its tiles, the cluster and the grid.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_block {
 public:
  static void sync(SIMT_SITE) { simt::block_barrier(SIMT_HERE); }
  static unsigned thread_rank() { return simt::self->rank; }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};

inline thread_block this_thread_block() {
  return {};
}

/// A power of two of neighbouring lanes of one warp.
template <unsigned Size, class Parent = thread_block>
class thread_block_tile {
  static_assert(Size && Size <= 32 && !(Size & (Size - 1)), "a tile is a power of two up to 32");

 public:
  static unsigned thread_rank() { return simt::lane() & (Size - 1); }
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  static unsigned meta_group_rank() { return simt::self->rank / Size; }
  static unsigned meta_group_size() { return (thread_block::num_threads() + Size - 1) / Size; }

  static void sync(SIMT_SITE) { __syncwarp(mask(), simt_file, simt_line); }
  static unsigned ballot(int predicate, SIMT_SITE) {
    return __ballot_sync(mask(), predicate, simt_file, simt_line) >> first();
  }
  static int any(int predicate, SIMT_SITE) {
    return __any_sync(mask(), predicate, simt_file, simt_line);
  }
  static int all(int predicate, SIMT_SITE) {
    return __all_sync(mask(), predicate, simt_file, simt_line);
  }
  template <class T>
  static unsigned match_any(T value, SIMT_SITE) {
    return __match_any_sync(mask(), value, simt_file, simt_line) >> first();
  }
  // Trivially copyable values of up to 32 bytes, as on a GPU.
  template <class T>
  static T shfl(T value, int source, SIMT_SITE) {
    return by_words(value, [&](std::uint64_t word) {
      return __shfl_sync(mask(), word, source, int(Size), simt_file, simt_line);
    });
  }
  template <class T>
  static T shfl_up(T value, unsigned delta, SIMT_SITE) {
    return by_words(value, [&](std::uint64_t word) {
      return __shfl_up_sync(mask(), word, delta, int(Size), simt_file, simt_line);
    });
  }
  template <class T>
  static T shfl_down(T value, unsigned delta, SIMT_SITE) {
    return by_words(value, [&](std::uint64_t word) {
      return __shfl_down_sync(mask(), word, delta, int(Size), simt_file, simt_line);
    });
  }
  template <class T>
  static T shfl_xor(T value, int lane_mask, SIMT_SITE) {
    return by_words(value, [&](std::uint64_t word) {
      return __shfl_xor_sync(mask(), word, lane_mask, int(Size), simt_file, simt_line);
    });
  }

 private:
  // A lane exchanges 8 bytes at a time.
  template <class T, class ShuffleWord>
  static T by_words(T value, ShuffleWord shuffle_word) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 32,
                  "a tile exchanges trivially copyable values of up to 32 bytes");
    std::uint64_t words[(sizeof(T) + 7) / 8]{};
    std::memcpy(words, &value, sizeof(T));
    for (std::uint64_t& word : words) word = shuffle_word(word);
    std::memcpy(&value, words, sizeof(T));
    return value;
  }
  static unsigned first() { return simt::lane() & ~(Size - 1); }
  static unsigned mask() { return (~0u >> (32 - Size)) << first(); }
};

template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

class cluster_group {
 public:
  static void sync(SIMT_SITE) { simt::cluster_barrier(SIMT_HERE); }
  static unsigned block_rank() { return simt::cluster_rank(); }
  static unsigned num_blocks() { return simt::cluster_size(); }
  static unsigned thread_rank() {
    return block_rank() * thread_block::num_threads() + simt::self->rank;
  }
  static unsigned num_threads() { return num_blocks() * thread_block::num_threads(); }
  template <class T>
  static T* map_shared_rank(T* pointer, unsigned rank) {
    return static_cast<T*>(simt::map_shared_rank(pointer, rank));
  }
};

inline cluster_group this_cluster() {
  return {};
}

class grid_group {
 public:
  static bool is_valid() { return true; }
  static void sync(SIMT_SITE) { simt::grid_barrier(SIMT_HERE); }
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + simt::self->rank;
  }
};

inline grid_group this_grid() {
  return {};
}

template <class Group>
void sync(const Group&, SIMT_SITE) {
  Group::sync(simt_file, simt_line);
}

}  // namespace cooperative_groups
