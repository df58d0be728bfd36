// Single-pass prefix sums over tiles: ordered tickets and decoupled look-back.
//
// Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
// NVIDIA 2016. A tile publishes its own sum as soon as it has it, and then finds the sum of all
// tiles before it from what they have published. Tiles are taken in the order of their tickets and
// wait only for earlier tickets, whose blocks already run: so every wait ends, whatever the
// scheduling.
//
// Better than the paper, in three ways:
// - A look is three coalesced loads, however far back it reaches; the paper's walk takes one round
//   trip for every 32 tiles. For this, tiles are grouped in rows of 32. A tile publishes its sum,
//   and adds it to the sum of its row; the last tile of a row, once it knows the sum before it,
//   publishes the sum up to the end of its row: the checkpoint of the next row. A look reads the
//   tile's own row, the sums of the 32 rows before it and their checkpoints: a thousand tiles, more
//   than a GPU has in flight.
// - No launch clears the words. There are two halves of them: a call uses one and clears the other
//   for the next call; the ticket says which. So a call is one kernel, in a replayed graph as well.
// - A small call waits for less: where there are no more tiles than blocks, a block draws once; and
//   it can have the words that it will look at brought to L2 while it counts its tile.
//
// The paper's words: its aggregate is a tile's `sum` here; its inclusive prefix is published for
// the last tile of a row only, as the next row's `checkpoint`.
//
// A word carries flag and sum together, so one relaxed access is the whole message: there is
// nothing else to order.
#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/prefetch.cuh"
#include "core/warp.cuh"

namespace warpath {

/// A tile's number, and which half of the status words the call uses.
struct TileTicket {
  std::int64_t tile = -1;  ///< -1: no more tiles
  int half = 0;
};

/// The look-back state of one kernel call, in global memory; zero before the first call, and left
/// ready for the next call by each call. A tile's sum is below 2^25, the sum of all of them below
/// 2^63. A call can have several sums of each tile, which have the tile's ticket in common. Calls
/// that share the state must not overlap.
class LookBack {
 public:
  /// Bytes of memory for calls of at most `tiles` tiles: 9 a tile, and 2 KiB.
  static constexpr std::int64_t bytes(std::int64_t tiles) {
    return header_bytes + 2 * half_bytes(rows(tiles));
  }

  /// What a call of `tiles` tiles with `sums` sums each takes, as a number of tiles with one sum.
  static constexpr std::int64_t capacity_for(std::int64_t tiles, int sums) {
    return tiles + (sums - 1) * rows(tiles) * warp_threads;
  }

  LookBack() = default;
  /// For a call of `tiles` tiles, with `sums` sums each, and memory for `capacity` tiles with one.
  LookBack(unsigned char* memory, std::int64_t capacity, std::int64_t tiles, int sums = 1)
      : memory_(memory), row_capacity_(rows(capacity)), tiles_(tiles), sums_(sums) {}

  [[nodiscard]] __device__ std::int64_t tiles() const { return tiles_; }

  /// Whether every block of the call draws just once, since there are no more tiles than blocks.
  [[nodiscard]] __device__ bool draws_once() const { return tiles_ <= gridDim.x; }

  /// Takes the next tile for this block. One full warp. Every block draws until it gets -1, and
  /// then no more; or once, if draws_once(). The later a tile is drawn the better: from then on,
  /// all later tiles wait for its sum.
  [[nodiscard]] __device__ TileTicket draw() const {
    std::uint64_t drawn = 0;
    if (lane_index() == 0) drawn = Long(header()[0]).fetch_add(1, cuda::std::memory_order_relaxed);
    drawn = __shfl_sync(full_warp, drawn, 0);
    const int half = static_cast<int>(drawn >> 63);
    const auto number = static_cast<std::int64_t>(drawn & ~published);
    // The last draw of a call gives the other half to the next call.
    const std::int64_t draws = (draws_once() ? 0 : tiles_) + gridDim.x;
    if (number == draws - 1 && lane_index() == 0) {
      Long(header()[0]).store(half == 0 ? published : 0, cuda::std::memory_order_relaxed);
    }
    return {number < tiles_ ? number : -1, half};
  }

  /// Has the words brought to L2 that the tile's publish() and sum_before() go to first. One full
  /// warp. It saves 0.2 us of a small call where L2 is cold (H200), and takes registers.
  __device__ void prefetch(TileTicket ticket) const {
    const std::int64_t row = ticket.tile / warp_threads;
    // The sums of a row may lie in five sectors.
    constexpr int sector_words = 32 / sizeof(std::uint32_t);
    constexpr int sectors = warp_threads / sector_words + 1;
    if (lane_index() < sectors) {
      const int word = min(lane_index() * sector_words, warp_threads - 1);
      prefetch_to_l2(sums(ticket.half) + row * warp_threads + word);
    } else if (lane_index() == sectors) {
      prefetch_to_l2(row_sums(ticket.half) + row);
    } else if (lane_index() == sectors + 1) {
      prefetch_to_l2(checkpoints(ticket.half) + row);
    }
  }

  /// Clears a tile's share of the words that the previous call used. One full warp, once for each
  /// tile that is drawn.
  __device__ void clear(TileTicket ticket) const {
    const int other = 1 - ticket.half;
    const auto used = static_cast<std::int64_t>(header()[1 + other]);
    if (used <= tiles_) {  // the usual case: a row for each of the first tiles
      if (ticket.tile < used) clear_row(other, ticket.tile);
    } else {
      const std::int64_t share = divide_up(used, tiles_);
      const std::int64_t end = min((ticket.tile + 1) * share, used);
      for (std::int64_t row = ticket.tile * share; row < end; ++row) clear_row(other, row);
    }
    if (ticket.tile == 0 && lane_index() == 0) {
      header()[1 + ticket.half] = static_cast<std::uint64_t>(first_row(sums_));
    }
  }

  /// Publishes the tile's own sum, of those that it has number `which`. One thread.
  __device__ void publish(TileTicket ticket, unsigned sum, int which = 0) const {
    const std::int64_t row = first_row(which) + ticket.tile / warp_threads;
    Word(sums(ticket.half)[row * warp_threads + ticket.tile % warp_threads])
        .store(sum_published | sum, cuda::std::memory_order_relaxed);
    Long(row_sums(ticket.half)[row]).fetch_add(one_tile | sum, cuda::std::memory_order_relaxed);
  }

  /// The sum of all tiles before this one, in every lane. One full warp; `own_sum` is what the tile
  /// publishes, as number `which`.
  [[nodiscard]] __device__ std::uint64_t sum_before(TileTicket ticket, unsigned own_sum,
                                                    int which = 0) const {
    const std::int64_t row = first_row(which) + ticket.tile / warp_threads;
    const int place_in_row = static_cast<int>(ticket.tile % warp_threads);
    const bool is_before = lane_index() < place_in_row;
    // Nothing comes before the first row; in memory there are the rows of the sum before.
    const bool is_row_before = lane_index() < ticket.tile / warp_threads;
    const bool is_start = lane_index() == ticket.tile / warp_threads;
    std::uint64_t before = 0;
    wait_until([&] {
      // Lane i looks at tile i of the own row, at the row i + 1 rows up, and at what comes before
      // the row i rows up. At no more than it needs: many blocks look at the same few lines.
      const std::uint32_t in_row =
          is_before ? read(sums(ticket.half) + row * warp_threads + lane_index()) : 0;
      const std::uint64_t row_sum =
          is_row_before ? read(row_sums(ticket.half) + row - 1 - lane_index()) : 0;
      std::uint64_t checkpoint = is_start ? published : 0;
      if (is_row_before) checkpoint = read(checkpoints(ticket.half) + row - lane_index());
      // The nearest checkpoint ends the look; every row after it must be complete.
      const unsigned known = __ballot_sync(full_warp, checkpoint != 0);
      if (known == 0) return false;
      const int rows_up = __ffs(static_cast<int>(known)) - 1;
      const bool is_row_counted = lane_index() < rows_up;
      const bool is_missing =
          (is_before && in_row == 0) || (is_row_counted && row_sum / one_tile != warp_threads);
      if (__any_sync(full_warp, is_missing)) return false;
      // Below 2^31 in a lane, but not over the warp.
      const std::uint64_t sum = (in_row & ~sum_published) +
                                (is_row_counted ? static_cast<unsigned>(row_sum % one_tile) : 0);
      before = __shfl_sync(full_warp, checkpoint & ~published, rows_up) + warp_sum(sum);
      return true;
    });
    if (place_in_row == warp_threads - 1 && lane_index() == 0) {
      Long(checkpoints(ticket.half)[row + 1])
          .store(published | (before + own_sum), cuda::std::memory_order_relaxed);
    }
    return before;
  }

 private:
  using Long = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>;
  using Word = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>;
  static constexpr std::uint64_t published = 1ull << 63;
  static constexpr std::uint32_t sum_published = 1u << 31;
  static constexpr std::uint64_t one_tile =
      1ull << 32;  // a row's word: how many tiles, above the sum of them
  static constexpr std::int64_t unused_rows = warp_threads;
  // The ticket, whose top bit is the half, and for each half the rows of its last call.
  static constexpr std::int64_t header_bytes = 256;

  // Rows of a call: one more than it fills has a checkpoint.
  static constexpr std::int64_t rows(std::int64_t tiles) { return tiles / warp_threads + 1; }
  /// The rows of one sum come after those of another.
  [[nodiscard]] __device__ std::int64_t first_row(int which) const { return which * rows(tiles_); }
  // A half: checkpoints, row sums and sums. Before each of the first two, 256 bytes stay unused:
  // without them, large calls took up to 0.4 % longer on an H200.
  static constexpr std::int64_t half_bytes(std::int64_t rows) {
    return 2 * (rows + unused_rows) * static_cast<std::int64_t>(sizeof(std::uint64_t)) +
           rows * warp_threads * static_cast<std::int64_t>(sizeof(std::uint32_t));
  }
  __device__ std::uint64_t* header() const { return reinterpret_cast<std::uint64_t*>(memory_); }
  __device__ std::uint64_t* checkpoints(int half) const {
    return reinterpret_cast<std::uint64_t*>(memory_ + header_bytes +
                                            half * half_bytes(row_capacity_)) +
           unused_rows;
  }
  __device__ std::uint64_t* row_sums(int half) const {
    return checkpoints(half) + row_capacity_ + unused_rows;
  }
  __device__ std::uint32_t* sums(int half) const {
    return reinterpret_cast<std::uint32_t*>(row_sums(half) + row_capacity_);
  }
  __device__ void clear_row(int half, std::int64_t row) const {
    sums(half)[row * warp_threads + lane_index()] = 0;
    if (lane_index() == 0) checkpoints(half)[row] = row_sums(half)[row] = 0;
  }
  __device__ static std::uint32_t read(std::uint32_t* word) {
    return Word(*word).load(cuda::std::memory_order_relaxed);
  }
  __device__ static std::uint64_t read(std::uint64_t* word) {
    return Long(*word).load(cuda::std::memory_order_relaxed);
  }

  unsigned char* memory_ = nullptr;
  std::int64_t row_capacity_ = 0;  // of a half
  std::int64_t tiles_ = 0;         // of this call
  int sums_ = 1;                   // of a tile
};

}  // namespace warpath
