// `single_pass`, the Hopper pipeline: the same algorithm as in single_pass.cuh, with its steps in
// different warps of one large block a multiprocessor, each of which runs at its own pace:
//
//   loader      draws a tile, and brings it to a stage by bulk copies    -> stage.loaded
//   compactors  take it into registers: the stage is free                -> stage.taken
//               decide which items are kept                              -> slot.counted
//               write those to the ring                                  -> slot.written
//               (of elements that do not go through registers: only now is the stage free)
//   publisher   publishes how many they are                              -> slot.copied
//   placer      looks back for the tile's place                          -> slot.placed
//   copiers     copy the kept items from the ring to their place         -> slot.copied
//
//   in             stages, a tile each              ring of kept items            out
//    |             +---+---+---+                    +-------------------+          ^
//    +-- loader -->| 0 | 1 | 2 |-- compactors ----->| . . # # # # # . . |- copiers +
//                  +---+---+---+   (in registers)   +-------------------+
//                                       | counts             | place
//                                       v                    |
//                  slots, a tile each   [ 0 ][ 1 ] ...  [ 15 ]
//                                       publisher: sum to the look-back; placer: place from it
//
// A tile has a stage from its draw until it is in registers (or, by the other way of
// pipeline_segment.cuh, what it keeps in the ring), a slot from its count until it is copied, and
// in the ring as many places as it keeps items. Stages, slots and the ring are each taken in the
// order of the tiles, and used again in that order.
//
// What makes it fast on an H200 is what is waited for, and what is held while waiting. A tile waits
// long for its place; what it holds then is room for the items that it keeps, in the ring, and not
// a whole stage. Its sum is published as soon as it is counted, and it is drawn only when its stage
// is free, since all later tiles wait for a drawn one. One placer is faster than several: the pace
// that it sets keeps the loads of all blocks from coming in bursts, in which some tiles land late
// and hold up all later ones.
#pragma once

#include <cstdint>

#include "core/block_look_back.cuh"
#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/look_back.cuh"
#include "core/warp.cuh"
#include "warp_compaction/columns.cuh"
#include "warp_compaction/pipeline_segment.cuh"
#include "warp_compaction/segment.cuh"
#include "warp_compaction/tuning.hpp"

namespace warpath::warp_compaction::detail {

/// `bytes`, rounded up to whole lines.
constexpr int whole_lines(std::size_t bytes, int line = hopper::bulk_bytes) {
  return static_cast<int>(divide_up(static_cast<std::int64_t>(bytes), line)) * line;
}

/// A column of a tile that bulk copies bring. It begins a cache line, and in front of it lies a
/// halo of whole 16-byte lines, for the element before.
template <class T, int TileItems>
struct StagedColumn {
  static constexpr int halo_bytes = whole_lines(sizeof(T));
  static constexpr int front_bytes = whole_lines(sizeof(T), hopper::cache_line_bytes);
  alignas(hopper::cache_line_bytes) unsigned char bytes[front_bytes + TileItems * sizeof(T)];

  __device__ T* elements() { return reinterpret_cast<T*>(bytes + front_bytes); }

  /// What a load of `count` elements brings: the halo perhaps, whole lines, and a few bytes that
  /// are no whole line.
  struct Load {
    int before;
    int lines;
    int rest;
    [[nodiscard]] __device__ unsigned bulk() const { return static_cast<unsigned>(before + lines); }
  };
  /// Of elements that begin a line, or of a few that do not.
  __device__ static Load load_of(int count, bool with_halo, bool is_aligned) {
    const int bytes = count * static_cast<int>(sizeof(T));
    const int lines = is_aligned ? bytes / hopper::bulk_bytes * hopper::bulk_bytes : 0;
    return {with_halo ? halo_bytes : 0, lines, bytes - lines};
  }
  /// One full warp. The rest is there once the warp has arrived at the barrier.
  __device__ void load(const T* from, Load load, hopper::TransactionBarrier& loaded) {
    auto* target = reinterpret_cast<unsigned char*>(elements());
    const auto* source = reinterpret_cast<const unsigned char*>(from);
    for (int i = lane_index(); i < load.rest; i += warp_threads) {
      target[load.lines + i] = source[load.lines + i];
    }
    if (lane_index() == 0 && load.bulk() > 0) {
      hopper::bulk_load(target - load.before, source - load.before, load.bulk(), loaded);
    }
  }
};
template <int TileItems>
struct StagedColumn<NoCompanion, TileItems> {
  struct Load {
    [[nodiscard]] __device__ unsigned bulk() const { return 0; }
  };
  __device__ NoCompanion* elements() { return nullptr; }
  __device__ static Load load_of(int, bool, bool) { return {}; }
  __device__ void load(const NoCompanion*, Load, hopper::TransactionBarrier&) {}
};

template <class Rule, class Shape>
struct PipelineStorage {
  using Written = std::conditional_t<Rule::writes_companion, typename Rule::Companion, NoCompanion>;
  struct Stage {
    StagedColumn<typename Rule::Item, Shape::tile_items> items;
    StagedColumn<typename Rule::Companion, Shape::tile_items> companions;
    TileTicket ticket;
    hopper::TransactionBarrier loaded;
    hopper::TransactionBarrier taken;
  };
  struct Slot {
    TileTicket ticket;
    std::int64_t place;  ///< in the output, of the tile's first kept item
    int warp_kept[Shape::warps];
    hopper::TransactionBarrier counted;
    hopper::TransactionBarrier written;
    hopper::TransactionBarrier placed;
    hopper::TransactionBarrier copied;
  };
  Stage stages[Shape::stages];
  RingColumn<typename Rule::Item, Shape::ring_items> items;
  RingColumn<Written, Shape::ring_items> companions;
  [[no_unique_address]] typename SegmentOf<Rule, Shape>::Lists lists;
  Slot slots[Shape::slots];
};

/// Where a role is in a cycle of stages or slots, and the parity of the phase that it waits for
/// there.
template <int Length>
struct CyclePosition {
  int index = 0;
  unsigned parity = 0;

  __device__ void advance() {
    if (++index == Length) {
      index = 0;
      parity ^= 1;
    }
  }
};

/// One block's pipeline. Each role is a loop over the block's tiles that ends with a ticket of -1.
template <class Rule, class Shape>
class Pipeline {
 public:
  using Item = typename Rule::Item;
  using Companion = typename Rule::Companion;
  using Storage = PipelineStorage<Rule, Shape>;
  using Segment = SegmentOf<Rule, Shape>;
  using Stage = typename Storage::Stage;
  using Slot = typename Storage::Slot;
  using StagePosition = CyclePosition<Shape::stages>;
  using SlotPosition = CyclePosition<Shape::slots>;

  /// `head`: as in pipeline_kernel.
  __device__ Pipeline(const Columns<const Item, const Companion>& in,
                      const Columns<Item, Companion>& out, const LookBack& look_back, int head)
      : shared_(dynamic_shared<Storage>()),
        in_(in),
        out_(out),
        look_back_(look_back),
        missing_(head > 0 ? Shape::tile_items - head : 0) {}

  /// All threads of the block, before any role.
  __device__ void init() {
    if (threadIdx.x < Shape::stages) {
      Stage& stage = shared_.stages[threadIdx.x];
      hopper::init(stage.loaded, 1);
      hopper::init(stage.taken, Shape::warps);
    }
    if (threadIdx.x < Shape::slots) {
      Slot& slot = shared_.slots[threadIdx.x];
      hopper::init(slot.counted, Shape::warps);
      hopper::init(slot.written, Shape::warps);
      hopper::init(slot.placed, 1);
      hopper::init(slot.copied, Shape::copiers + 1);  // and the publisher
    }
    __syncthreads();
  }

  /// All threads of the block, after init(): each warp has one role.
  __device__ void run(const Rule& rule, std::int64_t* kept) {
    const int role = warp_index() - Shape::warps - Shape::copiers;
    if (warp_index() < Shape::warps) {
      compact(rule, warp_index());
    } else if (role < 0) {
      copy(warp_index() - Shape::warps);
    } else if (role == 0) {
      place(kept);
    } else if (role == 1) {
      publish();
    } else {
      load();
    }
  }

  __device__ void load() {
    StagePosition position;
    for (int tile = 0;; ++tile, position.advance()) {
      Stage& stage = shared_.stages[position.index];
      if (tile >= Shape::stages) hopper::wait(stage.taken, position.parity ^ 1);
      const bool is_drawn = tile == 0 || !look_back_.draws_once();
      const TileTicket ticket = is_drawn ? look_back_.draw() : TileTicket{};
      if (lane_index() == 0) stage.ticket = ticket;
      if (ticket.tile < 0) {
        arrive(stage.loaded);
        return;
      }
      start_load(stage, ticket);
      look_back_.clear(ticket);
    }
  }

  __device__ void compact(const Rule& rule, int warp) {
    StagePosition taking;
    SlotPosition filling;
    Room room(shared_.slots);
    for (unsigned ring_begin = 0;; taking.advance(), filling.advance()) {
      Stage& stage = shared_.stages[taking.index];
      Slot& slot = shared_.slots[filling.index];
      hopper::wait(stage.loaded, taking.parity);
      const TileTicket ticket = stage.ticket;
      room.take_slot();
      if (warp == 0 && lane_index() == 0) slot.ticket = ticket;
      if (ticket.tile < 0) {
        arrive(slot.counted);
        return;
      }
      Segment segment(shared_.lists, warp);
      if (count(ticket) == Shape::tile_items) {
        take<true>(rule, ticket, stage, segment);
      } else {
        take<false>(rule, ticket, stage, segment);
      }
      if (lane_index() == 0) slot.warp_kept[warp] = segment.kept();
      arrive(slot.counted);
      hopper::wait(slot.counted, filling.parity);

      unsigned rank = ring_begin;
      unsigned ring_end = ring_begin;
#pragma unroll
      for (int w = 0; w < Shape::warps; ++w) {
        if (w < warp) rank += slot.warp_kept[w];
        ring_end += slot.warp_kept[w];
      }
      room.take_items(ring_end);
      segment.write(shared_.items, shared_.companions, rank);
      if constexpr (!Segment::leaves_its_stage) arrive(stage.taken);
      arrive(slot.written);
      ring_begin = ring_end;
    }
  }

  __device__ void publish() {
    for (SlotPosition position;; position.advance()) {
      Slot& slot = shared_.slots[position.index];
      hopper::wait(slot.counted, position.parity);
      const TileTicket ticket = slot.ticket;
      if (ticket.tile < 0) return;
      const unsigned sum = tile_kept(slot);
      if (lane_index() == 0) look_back_.publish(ticket, sum);
      // A tile can be placed and copied before its own sum is published: the slot is not free yet.
      arrive(slot.copied);
    }
  }

  __device__ void place(std::int64_t* kept) {
    for (SlotPosition position;; position.advance()) {
      Slot& slot = shared_.slots[position.index];
      hopper::wait(slot.counted, position.parity);
      const TileTicket ticket = slot.ticket;
      if (ticket.tile >= 0) {
        const unsigned sum = tile_kept(slot);
        const std::int64_t place = warp_place(look_back_, ticket, sum, kept);
        if (lane_index() == 0) slot.place = place;
      }
      arrive(slot.placed);
      if (ticket.tile < 0) return;
    }
  }

  __device__ void copy(int copier) {
    unsigned ring_begin = 0;
    for (SlotPosition position;; position.advance()) {
      Slot& slot = shared_.slots[position.index];
      hopper::wait(slot.placed, position.parity);
      if (slot.ticket.tile < 0) return;
      hopper::wait(slot.written, position.parity);
      const unsigned sum = tile_kept(slot);
      const int kept = static_cast<int>(sum);
      Segment::copy_out(out_.items + slot.place, shared_.items, ring_begin, kept, copier);
      if constexpr (Rule::writes_companion) {
        Segment::copy_out(out_.companions + slot.place, shared_.companions, ring_begin, kept,
                          copier);
      }
      ring_begin += sum;
      arrive(slot.copied);
    }
  }

 private:
  /// A compactor's view of what is free, of slots and of the ring. All compactors of a block come
  /// to the same.
  class Room {
   public:
    __device__ explicit Room(Slot* slots) : slots_(slots) {}

    /// Waits until the next tile can have the next slot. One slot stays free: until all compactors
    /// have counted a tile, one of them may still read the slot that lies a cycle before it.
    __device__ void take_slot() {
      while (held_slots_ >= Shape::slots - 1) free_oldest();
      ++held_slots_;
    }
    /// Waits until the ring has room for the items before number `end`.
    __device__ void take_items(unsigned end) {
      while (end - begin_ > Shape::ring_items) free_oldest();
    }

   private:
    __device__ void free_oldest() {
      Slot& slot = slots_[oldest_.index];
      hopper::wait(slot.copied, oldest_.parity);
      begin_ += tile_kept(slot);
      oldest_.advance();
      --held_slots_;
    }

    Slot* slots_;
    SlotPosition oldest_;
    int held_slots_ = 0;
    unsigned begin_ = 0;  // of the items in the ring
  };

  [[nodiscard]] __device__ std::int64_t begin(TileTicket ticket) const {
    return max(ticket.tile * Shape::tile_items - missing_, std::int64_t{0});
  }
  [[nodiscard]] __device__ int count(TileTicket ticket) const {
    const std::int64_t end = (ticket.tile + 1) * Shape::tile_items - missing_;
    return static_cast<int>(min(end, in_.count) - begin(ticket));
  }
  __device__ void start_load(Stage& stage, TileTicket ticket) {
    const bool with_halo = Rule::reads_previous && ticket.tile > 0;
    const bool is_aligned = missing_ == 0 || ticket.tile > 0;
    const auto items = stage.items.load_of(count(ticket), with_halo, is_aligned);
    const auto companions = stage.companions.load_of(count(ticket), with_halo, is_aligned);
    stage.items.load(in_.items + begin(ticket), items, stage.loaded);
    stage.companions.load(column_at(in_.companions, begin(ticket)), companions, stage.loaded);
    __syncwarp();  // the bytes that lanes have copied are there before the arrival says so
    if (lane_index() == 0) hopper::arrive_expect(stage.loaded, items.bulk() + companions.bulk());
  }
  /// Takes a compactor's segment of the tile from its stage, and decides.
  template <bool IsFull>
  __device__ __forceinline__ void take(const Rule& rule, TileTicket ticket, Stage& stage,
                                       Segment& segment) {
    segment.template take<IsFull>({stage.items.elements(), stage.companions.elements()},
                                  begin(ticket), count(ticket));
    if constexpr (Segment::leaves_its_stage) arrive(stage.taken);
    segment.template decide<IsFull>(rule, begin(ticket), count(ticket));
  }
  __device__ static unsigned tile_kept(const Slot& slot) {
    return warp_sum(
        static_cast<unsigned>(lane_index() < Shape::warps ? slot.warp_kept[lane_index()] : 0));
  }
  __device__ static void arrive(hopper::TransactionBarrier& barrier) {
    __syncwarp();
    if (lane_index() == 0) hopper::arrive(barrier);
  }

  Storage& shared_;
  const Columns<const Item, const Companion>& in_;
  const Columns<Item, Companion>& out_;
  const LookBack& look_back_;
  int missing_;  ///< items that the first tile has less than the others
};

/// How many items lie before the first one that begins a line in each column, with room for a halo
/// before it; -1 if there is none.
template <class Rule>
int items_before_lines(const InputOf<Rule>& in, int line) {
  const auto begins_line = [line]<class T>(const T* column, int i) {
    if constexpr (is_column<T>) {
      const auto bytes = static_cast<std::uintptr_t>(i) * sizeof(T);
      const bool has_halo = !Rule::reads_previous || i == 0 ||
                            bytes >= static_cast<std::uintptr_t>(whole_lines(sizeof(T)));
      return has_halo && (reinterpret_cast<std::uintptr_t>(column) + bytes) % line == 0;
    } else {
      return true;
    }
  };
  for (int i = 0; i < 2 * line; ++i) {
    if (begins_line(in.items, i) && begins_line(in.companions, i)) return i;
  }
  return -1;
}
/// The same for cache lines, unless these are many items, or else for the lines of bulk copies.
template <class Rule>
int items_before_lines(const InputOf<Rule>& in) {
  const int items = items_before_lines<Rule>(in, hopper::cache_line_bytes);
  const bool are_few = items * element_bytes<Rule> <= 1024;
  return items >= 0 && are_few ? items : items_before_lines<Rule>(in, hopper::bulk_bytes);
}

/// Launched like single_pass_kernel, with sizeof(PipelineStorage<Rule, Shape>) bytes of shared
/// memory. `head` items lie before the first one that begins a line in each column: if there are
/// any, they are the first tile, and look_back is for one tile more.
template <class Rule, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    pipeline_kernel(Rule rule, InputOf<Rule> in, OutputOf<Rule> out, LookBack look_back,
                    std::int64_t* kept, int head) {
  static_assert(sizeof(PipelineStorage<Rule, Shape>) <= hopper::max_shared_bytes);
  Pipeline<Rule, Shape> pipeline(in, out, look_back, head);
  pipeline.init();
  pipeline.run(rule, kept);
}

}  // namespace warpath::warp_compaction::detail
