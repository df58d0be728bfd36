// `single_pass`: every key is read once and every output written once. A first kernel finds the
// ends of the tiles; one persistent kernel does the rest.
//
// While a block's workers are at a tile, the keys of its next tile are on their way to shared
// memory. One more warp, the helper, does whatever waits for global memory: it draws the tile after
// the next, starts bulk copies of the next one's keys, publishes how many outputs the tile has, and
// looks back for the place of the tile before. A tile is stored when the next one has been worked
// on, so that its place has had that long to become known; and so a block holds three stages.
//
//   tile       k-1                k                      k+1              k+2
//   its stage  place, store       work, count, compact   keys on the way  drawn
//
// There is one block barrier for each tile, after its work and the search for the last one's
// place. Besides, workers wait until the tile's keys are loaded, and the helper until they have
// stored the tile whose stage the next one takes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "balanced_path_sets/block_set_operation.cuh"
#include "balanced_path_sets/tuning.hpp"
#include "core/block_look_back.cuh"
#include "core/bulk_load.cuh"
#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/look_back.cuh"
#include "core/merge_path.cuh"
#include "core/partition_point.cuh"

namespace warpath::balanced_path_sets::detail {

/// Where merge path can meet a cross-diagonal: it has taken `low` to `high` elements of a.
struct MergeRange {
  std::int64_t low;
  std::int64_t high;
};

/// The first `count` elements of merge path, of which a_count come from a.
struct MergePoint {
  std::int64_t count;
  std::int64_t a_count;

  /// Between two points of the path.
  [[nodiscard]] __device__ static MergeRange range(const MergePoint& from, const MergePoint& to,
                                                   std::int64_t diagonal) {
    return {max(from.a_count, diagonal - (to.count - to.a_count)),
            min(to.a_count, diagonal - (from.count - from.a_count))};
  }
};

/// Finds the same points as find_set_partitions_kernel, faster. A warp finds EndsPerWarp ends. 1:
/// all lanes search for it. 32: halves of the warp search for the first and for the last end, then
/// each lane searches between those two, starting on the straight line between them: if the inputs
/// are mixed evenly, its end lies close.
template <int EndsPerWarp, bool Duplicates, class Key, class Value, class Less>
__global__ void find_tile_ends_kernel(Input<Key, Value> a, Input<Key, Value> b,
                                      std::int64_t tile_items, std::int64_t tiles, Less less,
                                      std::int64_t* ends) {
  static_assert(EndsPerWarp == 1 || EndsPerWarp == warp_threads);
  hopper::let_next_kernel_start();
  const std::int64_t first =
      EndsPerWarp *
      (static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_threads) + warp_index());
  if (first > tiles) return;
  const std::int64_t all = a.count + b.count;
  const auto diagonal_of = [&](std::int64_t end) { return min(end * tile_items, all); };
  const auto is_taken = [&](std::int64_t diagonal, std::int64_t i) {
    return !less(b.keys[diagonal - 1 - i], a.keys[i]);
  };
  const auto warp_merge_path = [&]<int Lanes>(std::int64_t diagonal) {
    const MergeRange range = MergePoint::range({0, 0}, {all, a.count}, diagonal);
    // If the inputs are mixed evenly, both are used up at the same pace.
    const float share = static_cast<float>(a.count) / static_cast<float>(all);
    const auto guess = static_cast<std::int64_t>(static_cast<float>(diagonal) * share);
    return range.low + warp_partition_point_near<Lanes>(
                           min(max(guess, range.low), range.high) - range.low,
                           range.high - range.low,
                           [&](std::int64_t i) { return is_taken(diagonal, range.low + i); });
  };
  const std::int64_t end = first + (EndsPerWarp == 1 ? 0 : lane_index());
  const std::int64_t diagonal = diagonal_of(end);
  std::int64_t a_merged = 0;
  if constexpr (EndsPerWarp == 1) {
    a_merged = warp_merge_path.template operator()<warp_threads>(diagonal);
  } else {
    constexpr int half = warp_threads / 2;
    MergePoint outer{diagonal_of(first + (lane_index() < half ? 0 : warp_threads - 1)), 0};
    outer.a_count = warp_merge_path.template operator()<half>(outer.count);
    const MergePoint from{diagonal_of(first), __shfl_sync(full_warp, outer.a_count, 0)};
    const MergePoint to{diagonal_of(first + warp_threads - 1),
                        __shfl_sync(full_warp, outer.a_count, half)};
    const MergeRange range = MergePoint::range(from, to, diagonal);
    const auto share = static_cast<float>(diagonal - from.count) /
                       static_cast<float>(max(to.count - from.count, std::int64_t{1}));
    const auto line = from.a_count + static_cast<std::int64_t>(
                                         share * static_cast<float>(to.a_count - from.a_count));
    const std::int64_t guess = min(max(line, range.low), range.high);
    a_merged = range.low + partition_point_near(
                               guess - range.low, range.high - range.low, std::int64_t{128},
                               [&](std::int64_t i) { return is_taken(diagonal, range.low + i); });
  }
  const auto point = balance<Duplicates>(a.keys, a_merged, b.keys, b.count, diagonal,
                                         BiasedRunBegin<>{global_bias_levels}, less);
  if ((EndsPerWarp > 1 || lane_index() == 0) && end <= tiles) ends[end] = packed(point);
}

template <class Shape, class Key, class Value>
struct SinglePassStorage {
  static constexpr int stages = 3;
  /// The inputs' parts keep their places in cache lines.
  static constexpr int line_keys = hopper::cache_line_elements<Key>;
  /// A tile has tile_items + 1 keys at most, and an extension of each input; each part begins and
  /// ends anywhere in a line.
  static constexpr int most_keys = Shape::tile_items + 3 + 4 * (line_keys - 1);
  static constexpr int stage_keys = divide_up(most_keys, line_keys) * line_keys;
  struct Nothing {};
  using Picks = std::conditional_t<std::is_same_v<Value, NoValue>, Nothing,
                                   std::uint16_t[2][Shape::tile_items]>;
  struct Drawn {
    TileTicket ticket;
    SetTile tile;
  };
  alignas(hopper::cache_line_bytes) Key keys[stages * stage_keys];
  Picks picks;     ///< where among `keys` each output of a tile was
  Drawn drawn[8];  ///< of which five are in use, from the oldest to be stored to the newest
  std::int64_t place;
  int warp_outputs[2][Shape::warps];
  hopper::TransactionBarrier loaded[stages];
  hopper::TransactionBarrier stored;
};

/// One block's work.
template <class Shape, SetOperation operation, bool Duplicates, class Key, class Value, class Less>
class SinglePass {
 public:
  using Storage = SinglePassStorage<Shape, Key, Value>;
  using Drawn = typename Storage::Drawn;

  __device__ SinglePass(const Input<Key, Value>& a, const Input<Key, Value>& b,
                        const Output<Key, Value>& out, const std::int64_t* ends,
                        const LookBack& look_back, Less less)
      : shared_(dynamic_shared<Storage>()),
        a_(a),
        b_(b),
        out_(out),
        ends_(ends),
        look_back_(look_back),
        less_(less) {}

  /// All threads of the block, before any role.
  __device__ void init() {
    if (threadIdx.x == 0) {
      for (auto& loaded : shared_.loaded) hopper::init(loaded, 1);
      hopper::init(shared_.stored, Shape::warps);
    }
    __syncthreads();  // the barriers are there
  }

  /// The warps that work on keys.
  __device__ __forceinline__ void work() {
    hopper::block_barrier();  // tile 0 is drawn
    Outputs last{};
    for (int k = 0;; ++k) {
      const bool is_tile = drawn(k).ticket.tile >= 0;
      const bool is_mixed = is_tile && drawn(k).tile.is_mixed();
      Slots<Key, Shape::items> slots;
      slots.commit = 0;
      if (is_tile) hopper::wait(shared_.loaded[k % Storage::stages], k / Storage::stages % 2);
      if (is_mixed) slots = mixed_slots(drawn(k).tile);
      const int through = warp_inclusive_sum(slots.count());
      if (lane_index() == warp_threads - 1) shared_.warp_outputs[k % 2][warp_index()] = through;
      // No thread needs the keys any more, and the warps' counts are there; so is the next tile's
      // ticket. The last tile has a place, and its outputs lie side by side.
      hopper::block_barrier();
      Batch batch;
      if (takes_early && k > 0) take(k - 1, last, thread(), batch);
      Outputs outputs{};
      if (is_mixed) {
        outputs = {stage_begin(k), warps_outputs(k, Shape::warps), false};
        const int before = warps_outputs(k, warp_index()) + through - slots.count();
        slots.compact(slots.results, shared_.keys + outputs.first + before);
        if constexpr (has_values) slots.compact(slots.indices, shared_.picks[k % 2] + before);
      } else if (is_tile) {
        outputs = of_one_input(drawn(k).tile);
      }
      if (k > 0) {
        if (!takes_early) take(k - 1, last, thread(), batch);
        store(k - 1, last, batch);
      }
      if (!is_tile) return;
      last = outputs;
    }
  }

  /// The warp that helps.
  __device__ __forceinline__ void help(std::int64_t* count) {
    hopper::wait_for_kernel_before();  // the tiles' ends are there
    draw(0);
    load(0);
    draw(1);
    hopper::block_barrier();  // tile 0 is drawn
    int last = 0;
    for (int k = 0;; ++k) {
      draw(k + 2);
      // Tile k + 1 takes the stage of tile k - 2.
      if (k >= 2) hopper::wait(shared_.stored, (k - 2) % 2);
      load(k + 1);
      if (k > 0) find_place(k - 1, last, count);
      hopper::block_barrier();  // that of the workers, after their counts
      const TileTicket ticket = drawn(k).ticket;
      if (ticket.tile < 0) return;
      const SetTile tile = drawn(k).tile;
      last = tile.is_mixed() ? warps_outputs(k, Shape::warps) : of_one_input(tile).count;
      if (lane_index() == 0) look_back_.publish(ticket, static_cast<unsigned>(last));
      look_back_.clear(ticket);
    }
  }

 private:
  static constexpr bool has_values = !std::is_same_v<Value, NoValue>;
  /// Where most values are wanted, they are asked for as early as can be.
  static constexpr bool takes_early = has_values && takes_from_b(operation);
  /// What a tile leaves in its stage to be stored: `count` keys from `first` on.
  struct Outputs {
    int first;
    int count;
    bool is_part;  ///< as they were loaded, and not picked
  };

  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  /// Where the stage of the k-th tile begins.
  __device__ static int stage_begin(int k) { return k % Storage::stages * Storage::stage_keys; }
  __device__ Drawn& drawn(int k) const { return shared_.drawn[k % 8]; }

  /// The helper draws the block's k-th tile.
  __device__ void draw(int k) {
    TileTicket ticket;
    if (is_more_) ticket = look_back_.draw();
    const bool is_tile = ticket.tile >= 0;
    is_more_ = is_tile && !look_back_.draws_once();
    if (k == 0 && is_tile) look_back_.prefetch(ticket);
    SetTile tile;
    if (is_tile) {
      tile = partitioned_tile(ticket.tile, Shape::tile_items, a_.count, b_.count, ends_);
      tile.a_begin = stage_begin(k) + hopper::place_in_cache_line(a_.keys + tile.a0);
      const int a_end = tile.a_begin + tile.a_loaded();
      tile.b_begin = (a_end + Storage::line_keys - 1) / Storage::line_keys * Storage::line_keys +
                     hopper::place_in_cache_line(b_.keys + tile.b0);
    }
    if (lane_index() == 0) drawn(k) = {ticket, tile};
    __syncwarp();
  }

  /// The helper starts the loads of the k-th tile's keys, if there is such a tile.
  __device__ void load(int k) {
    auto& loaded = shared_.loaded[k % Storage::stages];
    unsigned bytes = 0;
    if (drawn(k).ticket.tile >= 0) {
      const SetTile tile = drawn(k).tile;
      bytes = hopper::warp_bulk_load(shared_.keys + tile.a_begin, a_.keys + tile.a0,
                                     tile.a_loaded(), tile.a0, a_.count - tile.a0, loaded) +
              hopper::warp_bulk_load(shared_.keys + tile.b_begin, b_.keys + tile.b0,
                                     tile.b_loaded(), tile.b0, b_.count - tile.b0, loaded);
    }
    __syncwarp();  // what lanes have copied is there
    if (lane_index() == 0) hopper::arrive_expect(loaded, bytes);
  }
  /// What a thread finds in a tile to which both inputs give something.
  __device__ __forceinline__ Slots<Key, Shape::items> mixed_slots(const SetTile& tile) const {
    const Key* keys = shared_.keys;
    const Key* a = keys + tile.a_begin;
    const Key* b = keys + tile.b_begin;
    const ThreadPart part = thread_part<Shape>(tile, thread());
    const int a_merged = bounded_merge_path<Shape::tile_items + 1>(a, tile.a_count, b, tile.b_count,
                                                                   part.begin, less_);
    const auto point = balance<Duplicates, int>(a, a_merged, b, tile.b_count, part.begin,
                                                GallopingRunBegin{}, less_);
    return thread_slots<Shape, operation>(keys, tile, part, point, less_);
  }

  /// How many outputs of the k-th tile the first `warps` warps have. One full warp.
  __device__ int warps_outputs(int k, int warps) const {
    return warp_sum(lane_index() < warps ? shared_.warp_outputs[k % 2][lane_index()] : 0);
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
    const std::int64_t place =
        warp_place(look_back_, ticket, static_cast<unsigned>(outputs), count);
    if (lane_index() == 0) shared_.place = place;
  }

  /// Some of a thread's outputs of a tile, of which each thread has every so many.
  struct Batch {
    static constexpr int size = Shape::batch;
    static constexpr int tile_step = size * Shape::threads;
    Key keys[size] = {};
    Value values[size] = {};

    template <class Act>
    __device__ __forceinline__ static void for_each(int first, int count, Act act) {
#pragma unroll
      for (int j = 0; j < size; ++j) {
        const int i = first + j * Shape::threads;
        if (i < count) act(j, i);
      }
    }
  };
  /// Takes outputs of the k-th tile from number `first` on.
  __device__ __forceinline__ void take(int k, const Outputs& outputs, int first,
                                       Batch& batch) const {
    Batch::for_each(first, outputs.count,
                    [&](int j, int i) { batch.keys[j] = shared_.keys[outputs.first + i]; });
    if constexpr (has_values) {
      const SetTile tile = drawn(k).tile;
      Batch::for_each(first, outputs.count, [&](int j, int i) {
        const int pick = outputs.is_part ? outputs.first + i : shared_.picks[k % 2][i];
        batch.values[j] = tile.value(a_, b_, pick);
      });
    }
  }
  /// Stores the k-th tile's outputs, of which the first are taken. Its stage is free then.
  __device__ __forceinline__ void store(int k, const Outputs& outputs, Batch& batch) const {
    const std::int64_t place = shared_.place;
    for (int first = thread(); first < outputs.count;) {
      Batch::for_each(first, outputs.count,
                      [&](int j, int i) { out_.keys[place + i] = batch.keys[j]; });
      if constexpr (has_values) {
        Batch::for_each(first, outputs.count,
                        [&](int j, int i) { out_.values[place + i] = batch.values[j]; });
      }
      first += Batch::tile_step;
      take(k, outputs, first, batch);
    }
    hopper::fence_for_bulk();
    __syncwarp();
    if (lane_index() == 0) hopper::arrive(shared_.stored);
  }

  Storage& shared_;
  const Input<Key, Value>& a_;
  const Input<Key, Value>& b_;
  const Output<Key, Value>& out_;
  const std::int64_t* ends_;
  const LookBack& look_back_;
  Less less_;
  bool is_more_ = true;  // in the helper: tiles to draw
};

/// Starts early, after find_tile_ends_kernel. Any grid; Shape::block_threads threads and
/// sizeof(SinglePassStorage) bytes of shared memory a block; `ends` are what find_tile_ends_kernel
/// has found; look_back is for as many tiles as there are. *count becomes the number of outputs.
template <class Shape, SetOperation operation, bool Duplicates, class Key, class Value, class Less>
__global__ void __launch_bounds__(Shape::block_threads, Shape::blocks)
    single_pass_kernel(Input<Key, Value> a, Input<Key, Value> b, Output<Key, Value> out,
                       const std::int64_t* ends, LookBack look_back, std::int64_t* count,
                       Less less) {
  SinglePass<Shape, operation, Duplicates, Key, Value, Less> single_pass(a, b, out, ends, look_back,
                                                                         less);
  single_pass.init();
  if (warp_index() < Shape::warps) {
    single_pass.work();
  } else {
    single_pass.help(count);
  }
}

}  // namespace warpath::balanced_path_sets::detail
