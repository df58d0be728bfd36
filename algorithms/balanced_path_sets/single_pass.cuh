// `single_pass`: every key is read once and every output written once, by one persistent kernel.
//
// While a block works on a tile, the keys of its next tile are on their way to shared memory, and
// one warp that does not work on keys, the helper, does whatever waits for global memory: it draws
// the tile after the next and searches both its ends, publishes how many outputs the tile has, and
// looks back for the place of the tile before. A tile is stored when the next one has been worked
// on, so that its place has had that long to become known; and so a block holds three stages.
//
//   tile       k-1                k                      k+1              k+2
//   its stage  place, store       work, count, compact   keys on the way  drawn, both ends searched
//
// The searches are over both inputs. Where these are large, the probes of every tile would cost a
// good part of the tile itself; so a kernel before finds the corners, the points of merge path
// every corner_items elements, and a tile's searches stay between two of them, among keys that are
// wanted anyway.
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <type_traits>

#include "balanced_path_sets/block_set_operation.cuh"
#include "balanced_path_sets/tuning.hpp"
#include "core/launch.cuh"
#include "core/look_back.cuh"
#include "core/partition_point.cuh"

namespace warpath::balanced_path_sets {

inline constexpr std::int64_t corner_items = std::int64_t{1} << 18;

/// Merge path's point on a cross-diagonal, by Lanes lanes for each: of the first `diagonal`
/// elements, how many come from a, if that is known to be in [low, high]. One full warp.
template <int Lanes, class Key, class Less>
__device__ __forceinline__ std::int64_t warp_merge_path(const Key* a, const Key* b,
                                                        std::int64_t diagonal, std::int64_t low,
                                                        std::int64_t high, Less less) {
  return low + warp_partition_point<Lanes>(high - low, [&](std::int64_t i) {
           return !less(b[diagonal - 1 - low - i], a[low + i]);
         });
}

/// The points of merge path on every corner_items-th cross-diagonal: `corners` of them, from the
/// first on. A warp each.
template <class Key, class Less>
__global__ void find_corners_kernel(const Key* a, std::int64_t a_count, const Key* b,
                                    std::int64_t b_count, std::int64_t corners, Less less,
                                    std::int64_t* a_of_corner) {
  const std::int64_t corner = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_threads) +
                              static_cast<std::int64_t>(warp_index());
  if (corner >= corners) return;
  const std::int64_t diagonal = min(corner * corner_items, a_count + b_count);
  const std::int64_t point = warp_merge_path<warp_threads>(
      a, b, diagonal, max(std::int64_t{0}, diagonal - b_count), min(diagonal, a_count), less);
  if (lane_index() == 0) a_of_corner[corner] = point;
}

template <class Shape, class Key, class Value>
struct SinglePassStorage {
  static constexpr int stages = 3;
  /// Loads are of whole lines of 16 bytes: the inputs' parts keep their alignment.
  static constexpr int line_keys = 16 / static_cast<int>(sizeof(Key));
  /// A tile has tile_items + 1 keys at most, and an extension of each input; each part begins and
  /// ends anywhere in a line.
  static constexpr int most_keys = Shape::tile_items + 3 + 4 * (line_keys - 1);
  static constexpr int stage_keys = (most_keys + line_keys - 1) / line_keys * line_keys;
  struct Nothing {};
  using Picks = std::conditional_t<std::is_same_v<Value, NoValue>, Nothing,
                                   std::uint16_t[2][Shape::tile_items]>;
  struct Drawn {
    TileTicket ticket;
    SetTile tile;
  };
  alignas(16) Key keys[stages * stage_keys];
  Picks picks;     ///< where among `keys` each output of a tile was
  Drawn drawn[4];  ///< from the tile to be stored to the one that is drawn
  std::int64_t place;
  int warp_outputs[2][Shape::warps];
};

/// One block's work. All its threads do every step together.
template <class Shape, SetOperation operation, bool Duplicates, class Key, class Value, class Less>
class SinglePass {
 public:
  using Storage = SinglePassStorage<Shape, Key, Value>;
  using Drawn = typename Storage::Drawn;

  /// a_of_corner: the corners, or null if tiles search the whole inputs.
  __device__ SinglePass(const Input<Key, Value>& a, const Input<Key, Value>& b,
                        const Output<Key, Value>& out, const std::int64_t* a_of_corner,
                        const LookBack& look_back, Less less)
      : shared_(dynamic_shared<Storage>()),
        a_(a),
        b_(b),
        out_(out),
        a_of_corner_(a_of_corner),
        look_back_(look_back),
        less_(less) {}

  __device__ __forceinline__ void run(std::int64_t* count) {
    Outputs last{};
    // In the first two rounds there is nothing to work on yet.
    for (int k = -2;; ++k) {
      __pipeline_wait_prior(0);
      __syncthreads();  // tile k's keys are there, tile k + 1 is known, the next stage is stored
      const TileTicket ticket = k < 0 ? TileTicket{} : drawn(k).ticket;
      const bool is_tile = ticket.tile >= 0;
      if (k >= -1) load(k + 1);

      Slots<Key, Shape::items> slots;
      slots.commit = 0;
      const bool is_mixed = is_tile && drawn(k).tile.a_count > 0 && drawn(k).tile.b_count > 0;
      if (is_helper()) {
        draw(k + 2);
      } else if (is_mixed) {
        slots = thread_slots<Shape, operation, Duplicates>(static_cast<const Key*>(shared_.keys),
                                                           drawn(k).tile, thread(), less_);
      }
      const int through = warp_inclusive_sum(slots.count());
      if (!is_helper() && lane_index() == warp_threads - 1) {
        shared_.warp_outputs[k & 1][warp_index()] = through;
      }
      __syncthreads();  // the warps' counts are there, and no thread needs the keys any more
      int before = through - slots.count();
      Outputs outputs{};
      if (is_mixed) {
        outputs.first = stage_begin(k);
#pragma unroll
        for (int warp = 0; warp < Shape::warps; ++warp) {
          if (warp < warp_index()) before += shared_.warp_outputs[k & 1][warp];
          outputs.count += shared_.warp_outputs[k & 1][warp];
        }
      } else if (is_tile) {
        outputs = of_one_input(drawn(k).tile);
      }

      if (is_helper()) {
        if (is_tile) {
          if (lane_index() == 0) look_back_.publish(ticket, static_cast<unsigned>(outputs.count));
          look_back_.clear(ticket);
        }
        if (k > 0) find_place(k - 1, last.count, count);
      } else if (is_mixed) {
        slots.compact(slots.results, shared_.keys + stage_begin(k) + before);
        if constexpr (has_values) slots.compact(slots.indices, shared_.picks[k % 2] + before);
      }
      __syncthreads();  // tile k - 1 has its place, tile k's outputs lie side by side
      if (k > 0) store(k - 1, last);
      if (k >= 0 && !is_tile) return;
      last = outputs;
    }
  }

 private:
  static constexpr bool has_values = !std::is_same_v<Value, NoValue>;
  /// What a tile leaves in its stage to be stored: `count` keys from `first` on.
  struct Outputs {
    int first;
    int count;
    bool is_part;  ///< as they were loaded, and not picked
  };

  __device__ static int thread() {
    return static_cast<int>(threadIdx.x);
  }
  __device__ static bool is_helper() {
    return warp_index() == Shape::warps;
  }
  /// Where the stage of the k-th tile begins, for k of 0 or more.
  __device__ static int stage_begin(int k) {
    return k % Storage::stages * Storage::stage_keys;
  }
  __device__ Drawn& drawn(int k) const {
    return shared_.drawn[k % 4];
  }

  /// The helper draws the block's k-th tile, and finds out where it begins and ends.
  __device__ void draw(int k) {
    TileTicket ticket;
    if (is_more_) ticket = look_back_.draw();
    is_more_ = ticket.tile >= 0;
    SetTile tile;
    if (is_more_) tile = find_tile(ticket.tile, stage_begin(k));
    if (lane_index() == 0) drawn(k) = {ticket, tile};
  }

  /// Half of the warp searches the tile's begin, the other half its end.
  __device__ SetTile find_tile(std::int64_t number, int stage) const {
    constexpr int half = warp_threads / 2;
    const std::int64_t begin = number * Shape::tile_items;
    const std::int64_t end = min(begin + Shape::tile_items, a_.count + b_.count);
    const std::int64_t diagonal = lane_index() < half ? begin : end;
    std::int64_t low = max(std::int64_t{0}, diagonal - b_.count);
    std::int64_t high = min(diagonal, a_.count);
    if (a_of_corner_ != nullptr) {
      const std::int64_t corner = diagonal / corner_items;
      const std::int64_t a_corner = a_of_corner_[corner];
      const std::int64_t a_next = a_of_corner_[corner + 1];
      low = max(low, max(a_corner, diagonal - ((corner + 1) * corner_items - a_next)));
      high = min(high, min(a_next, diagonal - (corner * corner_items - a_corner)));
    }
    const std::int64_t a_merged =
        warp_merge_path<half>(a_.keys, b_.keys, diagonal, low, high, less_);
    const std::int64_t point =
        packed(balance<Duplicates>(a_.keys, a_merged, b_.keys, b_.count, diagonal,
                                   biased_binary_search::global_levels, less_));
    SetTile tile(unpacked(__shfl_sync(full_warp, point, 0)), begin,
                 unpacked(__shfl_sync(full_warp, point, half)), end, a_.count, b_.count);
    tile.a_begin = stage + place_in_line(a_.keys + tile.a0);
    const int a_end = tile.a_begin + tile.a_loaded();
    tile.b_begin = (a_end + Storage::line_keys - 1) / Storage::line_keys * Storage::line_keys +
                   place_in_line(b_.keys + tile.b0);
    return tile;
  }
  __device__ static int place_in_line(const Key* keys) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(keys) / sizeof(Key) %
                            Storage::line_keys);
  }

  /// Starts the loads of the k-th tile's keys.
  __device__ void load(int k) {
    if (drawn(k).ticket.tile >= 0) {
      const SetTile tile = drawn(k).tile;
      load(shared_.keys + tile.a_begin, a_, tile.a0, tile.a_loaded());
      load(shared_.keys + tile.b_begin, b_, tile.b0, tile.b_loaded());
    }
    __pipeline_commit();
  }
  /// Loads every line in which one of `count` keys lies, but nothing outside the input.
  __device__ static void load(Key* to, const Input<Key, Value>& input, std::int64_t first,
                              int count) {
    constexpr int line_keys = Storage::line_keys;
    const Key* from = input.keys + first;
    const int begin = -place_in_line(from);
    const int end = begin + (count - begin + line_keys - 1) / line_keys * line_keys;
    if (first + begin >= 0 && first + end <= input.count) {
      for (int i = begin + thread() * line_keys; i < end; i += Shape::block_threads * line_keys) {
        __pipeline_memcpy_async(to + i, from + i, 16);
      }
    } else {
      for (int i = thread(); i < count; i += Shape::block_threads) {
        __pipeline_memcpy_async(to + i, from + i, sizeof(Key));
      }
    }
  }

  /// Of a tile in which one input has nothing: all that the other has, or nothing.
  __device__ static Outputs of_one_input(const SetTile& tile) {
    if (tile.b_count == 0) {
      return {tile.a_begin, operation == SetOperation::intersection ? 0 : tile.a_count, true};
    }
    return {tile.b_begin, takes_from_b(operation) ? tile.b_count : 0, true};
  }

  /// The helper finds the place of the k-th tile's outputs.
  __device__ void find_place(int k, int outputs, std::int64_t* count) {
    const TileTicket ticket = drawn(k).ticket;
    const auto place =
        static_cast<std::int64_t>(look_back_.sum_before(ticket, static_cast<unsigned>(outputs)));
    if (lane_index() == 0) {
      shared_.place = place;
      if (ticket.tile == look_back_.tiles() - 1) *count = place + outputs;
    }
  }

  __device__ void store(int k, const Outputs& outputs) const {
    const Key* keys = shared_.keys + outputs.first;
    const std::int64_t place = shared_.place;
    for (int i = thread(); i < outputs.count; i += Shape::block_threads) {
      out_.keys[place + i] = keys[i];
    }
    if constexpr (has_values) {
      const SetTile tile = drawn(k).tile;
#pragma unroll 4
      for (int i = thread(); i < outputs.count; i += Shape::block_threads) {
        const int index = outputs.is_part ? outputs.first + i : shared_.picks[k % 2][i];
        out_.values[place + i] = tile.value(a_, b_, index);
      }
    }
  }

  Storage& shared_;
  const Input<Key, Value>& a_;
  const Input<Key, Value>& b_;
  const Output<Key, Value>& out_;
  const std::int64_t* a_of_corner_;
  const LookBack& look_back_;
  Less less_;
  bool is_more_ = true;  // in the helper: tiles to draw
};

/// Any grid; Shape::block_threads threads and sizeof(SinglePassStorage) bytes of shared memory a
/// block; look_back is for as many tiles as there are. *count becomes the number of outputs.
template <class Shape, SetOperation operation, bool Duplicates, class Key, class Value, class Less>
__global__ void __launch_bounds__(Shape::block_threads, Shape::blocks)
    single_pass_kernel(Input<Key, Value> a, Input<Key, Value> b, Output<Key, Value> out,
                       const std::int64_t* a_of_corner, LookBack look_back, std::int64_t* count,
                       Less less) {
  SinglePass<Shape, operation, Duplicates, Key, Value, Less>(a, b, out, a_of_corner, look_back,
                                                             less)
      .run(count);
}

}  // namespace warpath::balanced_path_sets
