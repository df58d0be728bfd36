// Device-wide exclusive sum of counts, in place and in one pass.
//
// Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
// NVIDIA 2016; see look_back.cuh.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/block.cuh"
#include "core/block_look_back.cuh"
#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/look_back.cuh"
#include "core/span.hpp"
#include "core/warp.cuh"

namespace warpath {

namespace detail {

inline constexpr int scan_threads = 256;

struct ScanStorage {
  BlockSums<std::int64_t> sums;
  BlockTile tile;
};

/// Any grid of blocks of scan_threads threads; look_back is for divide_up(count, scan_threads)
/// tiles. A template only so that every translation unit may have it.
template <int Threads = scan_threads>
__global__ void __launch_bounds__(Threads)
    exclusive_sum_kernel(std::int64_t* counts, std::int64_t count, LookBack look_back,
                         std::int64_t* total) {
  auto& shared = dynamic_shared<ScanStorage>();
  do {
    const TileTicket ticket = block_draw(look_back, shared.tile);
    if (ticket.tile < 0) return;
    const std::int64_t mine = ticket.tile * Threads + threadIdx.x;
    std::int64_t sum = 0;
    const std::int64_t before =
        block_exclusive_sum(mine < count ? counts[mine] : 0, shared.sums, sum);
    const std::int64_t place = block_place(
        look_back, ticket, [&] { return sum; }, shared.tile, total);
    if (mine < count) counts[mine] = place + before;
    __syncthreads();  // and read
  } while (!look_back.draws_once());
}

}  // namespace detail

/// Replaces each count by the sum of those before it; *total, on the device, becomes the sum of
/// all. Counts are 0 to 2^17 - 1; there is at least one of them. Uses the workspace's look-back
/// state, and leaves its scratch arrays as they are.
inline void exclusive_sum(DeviceSpan<std::int64_t> counts, std::int64_t* total,
                          Workspace& workspace, cudaStream_t stream) {
  constexpr unsigned threads = detail::scan_threads;
  constexpr std::size_t shared_bytes = sizeof(detail::ScanStorage);
  const auto kernel = detail::exclusive_sum_kernel<>;
  const std::int64_t tiles = divide_up(counts.count, threads);
  const LookBack look_back = workspace.look_back(stream, tiles);
  const std::int64_t resident = resident_blocks(kernel, threads, shared_bytes);
  launch({static_cast<unsigned>(std::min(tiles, resident)), threads, shared_bytes, stream}, kernel,
         counts.data, counts.count, look_back, total);
}

}  // namespace warpath
