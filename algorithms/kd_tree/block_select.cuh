// The tuple of a rank among many, by a block that reads their keys again for each digit.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "core/key_order.cuh"
#include "core/warp.cuh"
#include "kd_tree/columns.cuh"
#include "kd_tree/digit.cuh"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree::detail {

template <int Threads, class C>
struct SelectStorage {
  static constexpr int bins_per_thread = 4;
  static constexpr int bins_count = bins_per_thread * Threads;
  static constexpr unsigned most_listed = 128;  ///< are compared each with all
  static_assert(most_listed <= Threads);

  std::uint32_t bins[bins_count];
  std::uint32_t sums[Threads / warp_threads];
  std::uint32_t list[most_listed];
  OrderedBits<C> keys[most_listed];  ///< of the list
  std::uint32_t listed;
  std::uint32_t chosen;
  FoundBin found;
};

/// Finds the bin that holds the item of a rank; all are counted. The whole block; ends with a
/// barrier.
template <int Threads, class C>
__device__ __forceinline__ FoundBin block_find_bin(SelectStorage<Threads, C>& shared,
                                                   std::uint32_t rank) {
  constexpr int warps = Threads / warp_threads;
  constexpr int own = SelectStorage<Threads, C>::bins_per_thread;
  const auto first_bin = static_cast<int>(threadIdx.x) * own;
  std::uint32_t counts = 0;
#pragma unroll
  for (int i = 0; i < own; ++i) counts += shared.bins[first_bin + i];
  const std::uint32_t through = warp_inclusive_sum(counts);
  if (lane_index() == warp_threads - 1) shared.sums[warp_index()] = through;
  __syncthreads();  // the sums of all warps are there
  std::uint32_t below =
      warp_sum(lane_index() < warp_index() && lane_index() < warps ? shared.sums[lane_index()]
                                                                   : 0u) +
      through - counts;
  if (rank >= below && rank - below < counts) {
    int bin = first_bin;
    for (; rank - below >= shared.bins[bin]; ++bin) below += shared.bins[bin];
    shared.found = {static_cast<unsigned>(bin), below, shared.bins[bin]};
  }
  __syncthreads();  // the bin is found
  return shared.found;
}

/// Finds the item of a rank by the superkey that begins with coordinate `primary`; its first word
/// is from `least` to `greatest`. Items have count, exists(i), and key(i, k), word k of the
/// superkey. Returns its index. The whole block; ends with a barrier.
template <int Threads, class C, class Items>
__device__ __forceinline__ std::uint32_t block_select(SelectStorage<Threads, C>& shared,
                                                      const Items& items, int dimensions,
                                                      std::uint32_t rank, OrderedBits<C> least,
                                                      OrderedBits<C> greatest) {
  using Bits = OrderedBits<C>;
  using Storage = SelectStorage<Threads, C>;
  constexpr int batch = 4;      // keys that a thread loads at once
  Bits known[most_dimensions];  // the words that all items share that are left
  for (int k = 0;;) {
    const Digit<Bits> digit(least, greatest, Storage::bins_count);
    const auto is_left = [&](std::uint32_t i) {
      if (i >= items.count || !items.exists(i)) return false;
      for (int j = 0; j < k; ++j) {
        if (items.key(i, j) != known[j]) return false;
      }
      return true;
    };
    const auto for_each_left = [&](const auto& action) {
      for (std::uint64_t first = threadIdx.x; first < items.count; first += batch * Threads) {
        Bits keys[batch];
        bool left[batch];
#pragma unroll
        for (int u = 0; u < batch; ++u) {
          const auto i = static_cast<std::uint32_t>(first + static_cast<unsigned>(u * Threads));
          left[u] = is_left(i);
          keys[u] = left[u] ? items.key(i, k) : Bits{0};
        }
#pragma unroll
        for (int u = 0; u < batch; ++u) {
          const auto i = static_cast<std::uint32_t>(first + static_cast<unsigned>(u * Threads));
          if (left[u] && keys[u] >= least && keys[u] <= greatest)
            action(i, keys[u], digit.bin(keys[u]));
        }
      }
    };
    for (auto bin = static_cast<int>(threadIdx.x); bin < Storage::bins_count; bin += Threads) {
      shared.bins[bin] = 0;
    }
    if (threadIdx.x == 0) shared.listed = 0;
    __syncthreads();  // the bins are empty
    for_each_left([&](std::uint32_t, Bits, unsigned bin) { atomicAdd(&shared.bins[bin], 1u); });
    __syncthreads();  // all keys are counted
    const FoundBin found = block_find_bin(shared, rank);
    rank -= found.below;
    if (found.inside <= Storage::most_listed) {
      for_each_left([&](std::uint32_t i, Bits key, unsigned bin) {
        if (bin != found.bin) return;
        const std::uint32_t to = atomicAdd(&shared.listed, 1u);
        shared.list[to] = i;
        shared.keys[to] = key;
      });
      __syncthreads();  // the list is there
      if (threadIdx.x < found.inside) {
        const std::uint32_t own = shared.list[threadIdx.x];
        const Bits own_key = shared.keys[threadIdx.x];
        std::uint32_t less = 0;
        bool has_ties = false;
#pragma unroll 4
        for (unsigned i = 0; i < found.inside; ++i) {
          less += shared.keys[i] < own_key ? 1 : 0;
          has_ties = has_ties || (shared.keys[i] == own_key && i != threadIdx.x);
        }
        for (unsigned i = 0; i < found.inside && has_ties; ++i) {
          if (shared.keys[i] != own_key) continue;
          for (int j = k + 1; j <= dimensions; ++j) {
            const Bits own_word = items.key(own, j);
            const Bits other_word = items.key(shared.list[i], j);
            if (own_word == other_word) continue;
            less += other_word < own_word ? 1 : 0;
            break;
          }
        }
        if (less == rank) shared.chosen = own;
      }
      __syncthreads();  // the item is chosen
      return shared.chosen;
    }
    least += static_cast<Bits>(found.bin) << digit.shift;
    greatest = least + std::min<Bits>(greatest - least, (Bits{1} << digit.shift) - 1);
    if (!digit.is_last()) continue;
    known[k++] = least;
    least = 0;
    greatest = static_cast<Bits>(~Bits{0});
  }
}

}  // namespace warpath::kd_tree::detail
