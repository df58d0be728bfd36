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

/// Up to two ranks are searched for at once.
inline constexpr int most_ranks = 2;

template <int Threads, class C>
struct SelectStorage {
  static constexpr int bins_per_thread = 4;
  static constexpr int bins_count = bins_per_thread * Threads;
  static constexpr unsigned most_listed = Threads >= 256 ? 128 : 32;  ///< are compared with all
  static_assert(most_ranks * most_listed <= Threads);

  std::uint32_t bins[bins_count];
  std::uint32_t sums[Threads / warp_threads];
  // Of each rank:
  std::uint32_t list[most_ranks][most_listed];
  OrderedBits<C> keys[most_ranks][most_listed];  ///< of the list
  std::uint32_t listed[most_ranks];
  std::uint32_t chosen[most_ranks];
  FoundBin found[most_ranks];
};

/// Finds the bins that hold the items of these ranks; all are counted. The whole block; ends with a
/// barrier.
template <int Threads, int Ranks, class C>
__device__ __forceinline__ void block_find_bins(SelectStorage<Threads, C>& shared,
                                                const std::uint32_t (&ranks)[Ranks]) {
  constexpr int warps = Threads / warp_threads;
  constexpr int own = SelectStorage<Threads, C>::bins_per_thread;
  const auto first_bin = static_cast<int>(threadIdx.x) * own;
  std::uint32_t counts = 0;
#pragma unroll
  for (int i = 0; i < own; ++i) counts += shared.bins[first_bin + i];
  const std::uint32_t through = warp_inclusive_sum(counts);
  if (lane_index() == warp_threads - 1) shared.sums[warp_index()] = through;
  __syncthreads();  // the sums of all warps are there
  const std::uint32_t before =
      warp_sum(lane_index() < warp_index() && lane_index() < warps ? shared.sums[lane_index()]
                                                                   : 0u) +
      through - counts;
#pragma unroll
  for (int r = 0; r < Ranks; ++r) {
    if (ranks[r] < before || ranks[r] - before >= counts) continue;
    std::uint32_t below = before;
    int bin = first_bin;
    for (; ranks[r] - below >= shared.bins[bin]; ++bin) below += shared.bins[bin];
    shared.found[r] = {static_cast<unsigned>(bin), below, shared.bins[bin]};
  }
  __syncthreads();  // the bins are found
}

/// Finds the items of one or two ranks by the superkey that begins with coordinate `primary`; its
/// first word is from `least` to `greatest`. Items have count, exists(i), and key(i, k), word k of
/// the superkey. Their indices are in shared.chosen then; `ranks` is changed. The whole block; ends
/// with a barrier.
template <int Threads, class C, class Items, int Ranks>
__device__ __forceinline__ void block_select(SelectStorage<Threads, C>& shared, const Items& items,
                                             int dimensions, std::uint32_t (&ranks)[Ranks],
                                             OrderedBits<C> least, OrderedBits<C> greatest) {
  static_assert(Ranks <= most_ranks);
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
    if (threadIdx.x < Ranks) shared.listed[threadIdx.x] = 0;
    __syncthreads();  // the bins are empty
    for_each_left([&](std::uint32_t, Bits, unsigned bin) { atomicAdd(&shared.bins[bin], 1u); });
    __syncthreads();  // all keys are counted
    block_find_bins(shared, ranks);
    FoundBin found[Ranks];
    bool are_few = true;
#pragma unroll
    for (int r = 0; r < Ranks; ++r) {
      found[r] = shared.found[r];
      are_few = are_few && found[r].inside <= Storage::most_listed;
    }
    if (are_few) {
      for_each_left([&](std::uint32_t i, Bits key, unsigned bin) {
#pragma unroll
        for (int r = 0; r < Ranks; ++r) {
          if (bin != found[r].bin) continue;
          const std::uint32_t to = atomicAdd(&shared.listed[r], 1u);
          shared.list[r][to] = i;
          shared.keys[r][to] = key;
        }
      });
      __syncthreads();  // the lists are there
#pragma unroll
      for (int r = 0; r < Ranks; ++r) {
        const unsigned place = threadIdx.x - static_cast<unsigned>(r) * Storage::most_listed;
        if (place >= found[r].inside) continue;
        const std::uint32_t own = shared.list[r][place];
        const Bits own_key = shared.keys[r][place];
        std::uint32_t less = 0;
        bool has_ties = false;
#pragma unroll 4
        for (unsigned i = 0; i < found[r].inside; ++i) {
          less += shared.keys[r][i] < own_key ? 1 : 0;
          has_ties = has_ties || (shared.keys[r][i] == own_key && i != place);
        }
        for (unsigned i = 0; i < found[r].inside && has_ties; ++i) {
          if (shared.keys[r][i] != own_key) continue;
          for (int j = k + 1; j <= dimensions; ++j) {
            const Bits own_word = items.key(own, j);
            const Bits other_word = items.key(shared.list[r][i], j);
            if (own_word == other_word) continue;
            less += other_word < own_word ? 1 : 0;
            break;
          }
        }
        if (less == ranks[r] - found[r].below) shared.chosen[r] = own;
      }
      __syncthreads();  // the items are chosen
      return;
    }
    if constexpr (Ranks == 2) {
      // Many tie: one rank after the other.
#pragma unroll 1
      for (int r = Ranks - 1; r >= 0; --r) {
        std::uint32_t one[1] = {r == 0 ? ranks[0] : ranks[1]};
        block_select(shared, items, dimensions, one, least, greatest);
        if (r > 0 && threadIdx.x == 0) shared.chosen[r] = shared.chosen[0];
        __syncthreads();  // it is kept
      }
      return;
    }
    ranks[0] -= found[0].below;
    least += static_cast<Bits>(found[0].bin) << digit.shift;
    greatest = least + std::min<Bits>(greatest - least, (Bits{1} << digit.shift) - 1);
    if (!digit.is_last()) continue;
    known[k++] = least;
    least = 0;
    greatest = static_cast<Bits>(~Bits{0});
  }
}

}  // namespace warpath::kd_tree::detail
