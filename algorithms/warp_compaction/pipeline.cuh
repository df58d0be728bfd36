// `single_pass`, the Hopper pipeline: the same algorithm as in single_pass.cuh, with its steps in
// different warps of one large block a multiprocessor. A ring of stages lies between them, so that
// every step runs at its own pace:
//
//   loader      draws tiles, and brings them by bulk copies          -> loaded
//   compactors  compact the tile in place                            -> compacted
//   publisher   publishes how many were kept                         -> copied
//   placer      looks back for the tile's place                      -> placed
//   copiers     copy what was kept to its place                      -> copied: the stage is free
//
// What makes it fast on an H200 is what is waited for. A tile's sum is published as soon as the
// tile is compacted, whatever its block still has to place; and a tile is drawn only when its stage
// is free, since all later tiles wait for a drawn one. One placer is faster than several: the pace
// that it sets keeps the loads of all blocks from coming in bursts, in which some tiles land late
// and hold up all later ones.
#pragma once

#include <cstdint>

#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/look_back.cuh"
#include "core/warp.cuh"
#include "warp_compaction/columns.cuh"
#include "warp_compaction/segment.cuh"
#include "warp_compaction/tuning.hpp"

namespace warpath::warp_compaction {

constexpr int whole_lines(std::size_t bytes) {
  return static_cast<int>((bytes + hopper::bulk_bytes - 1) / hopper::bulk_bytes *
                          hopper::bulk_bytes);
}

/// A column of a tile that bulk copies bring. In front of it lies a halo of whole 16-byte lines,
/// for the element before.
template <class T, int TileItems>
struct StagedColumn {
  static constexpr int halo_bytes = whole_lines(sizeof(T));
  alignas(128) unsigned char bytes[halo_bytes + TileItems * sizeof(T)];

  __device__ T* elements() { return reinterpret_cast<T*>(bytes + halo_bytes); }

  /// What a load of `count` elements brings: the halo perhaps, whole lines, and a few bytes that
  /// are no whole line.
  struct Load {
    int before;
    int lines;
    int rest;
    [[nodiscard]] __device__ unsigned bulk() const { return static_cast<unsigned>(before + lines); }
  };
  __device__ static Load load_of(int count, bool with_halo) {
    const int bytes = count * static_cast<int>(sizeof(T));
    const int lines = bytes / hopper::bulk_bytes * hopper::bulk_bytes;
    return {with_halo ? halo_bytes : 0, lines, bytes - lines};
  }
  /// One full warp. The rest is there once the warp has arrived at the barrier.
  __device__ void load(const T* from, Load load, hopper::TransactionBarrier& loaded) {
    auto* target = reinterpret_cast<unsigned char*>(elements());
    const auto* source = reinterpret_cast<const unsigned char*>(from);
    if (lane_index() < load.rest)
      target[load.lines + lane_index()] = source[load.lines + lane_index()];
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
  __device__ static Load load_of(int, bool) { return {}; }
  __device__ void load(const NoCompanion*, Load, hopper::TransactionBarrier&) {}
};

template <class Rule, class Shape>
struct PipelineStorage {
  struct Stage {
    StagedColumn<typename Rule::Item, Shape::tile_items> items;
    StagedColumn<typename Rule::Companion, Shape::tile_items> companions;
    TileTicket ticket;
    std::int64_t place;  ///< in the output, of the tile's first kept item
    int warp_kept[Shape::warps];
    hopper::TransactionBarrier loaded;
    hopper::TransactionBarrier compacted;
    hopper::TransactionBarrier placed;
    hopper::TransactionBarrier copied;
  };
  Stage stages[Shape::stages];
};

/// Where a role is in the ring of stages, and the parity of the phase that it waits for there.
template <int Stages>
struct RingPosition {
  int stage = 0;
  unsigned parity = 0;

  __device__ void advance() {
    if (++stage == Stages) {
      stage = 0;
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
  using Stage = typename Storage::Stage;

  __device__ Pipeline(const Columns<const Item, const Companion>& in,
                      const Columns<Item, Companion>& out, const LookBack& look_back)
      : stages_(dynamic_shared<Storage>().stages), in_(in), out_(out), look_back_(look_back) {}

  /// All threads of the block, before any role.
  __device__ void init() {
    if (threadIdx.x < Shape::stages) {
      hopper::init(stages_[threadIdx.x].loaded, 1);
      hopper::init(stages_[threadIdx.x].compacted, Shape::warps);
      hopper::init(stages_[threadIdx.x].placed, 1);
      hopper::init(stages_[threadIdx.x].copied, Shape::copiers + 1);  // and the publisher
    }
    __syncthreads();
  }

  __device__ void load() {
    RingPosition<Shape::stages> position;
    for (int tile = 0;; ++tile, position.advance()) {
      Stage& stage = stages_[position.stage];
      if (tile >= Shape::stages) hopper::wait(stage.copied, position.parity ^ 1);
      const TileTicket ticket = look_back_.draw();
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
    RingPosition<Shape::stages> position;
    for (;; position.advance()) {
      Stage& stage = stages_[position.stage];
      hopper::wait(stage.loaded, position.parity);
      const TileTicket ticket = stage.ticket;
      if (ticket.tile >= 0) {
        const TilePointers<Item, Companion> tile{stage.items.elements(),
                                                 stage.companions.elements()};
        const int kept = warp_compact_segment<Shape>(
            rule, warp, TilePointers<const Item, const Companion>{tile.items, tile.companions},
            tile, begin(ticket), count(ticket));
        if (lane_index() == 0) stage.warp_kept[warp] = kept;
        hopper::fence_for_bulk();  // the stage is loaded again by bulk copies
      }
      arrive(stage.compacted);
      if (ticket.tile < 0) return;
    }
  }

  __device__ void publish() {
    RingPosition<Shape::stages> position;
    for (;; position.advance()) {
      Stage& stage = stages_[position.stage];
      hopper::wait(stage.compacted, position.parity);
      const TileTicket ticket = stage.ticket;
      if (ticket.tile < 0) return;
      const unsigned sum = tile_kept(stage);
      if (lane_index() == 0) look_back_.publish(ticket, sum);
      // A tile can be placed and copied before its own sum is published: the stage is not free yet.
      arrive(stage.copied);
    }
  }

  __device__ void place(std::int64_t* kept) {
    RingPosition<Shape::stages> position;
    for (;; position.advance()) {
      Stage& stage = stages_[position.stage];
      hopper::wait(stage.compacted, position.parity);
      const TileTicket ticket = stage.ticket;
      if (ticket.tile >= 0) {
        const unsigned sum = tile_kept(stage);
        const auto place = static_cast<std::int64_t>(look_back_.sum_before(ticket, sum));
        if (lane_index() == 0) {
          stage.place = place;
          if (ticket.tile == look_back_.tiles() - 1) *kept = place + sum;
        }
      }
      arrive(stage.placed);
      if (ticket.tile < 0) return;
    }
  }

  __device__ void copy(int copier) {
    RingPosition<Shape::stages> position;
    for (;; position.advance()) {
      Stage& stage = stages_[position.stage];
      hopper::wait(stage.placed, position.parity);
      if (stage.ticket.tile < 0) return;
      std::int64_t place = stage.place;
      for (int warp = 0; warp < Shape::warps; ++warp) {
        const int kept = stage.warp_kept[warp];
        if (warp % Shape::copiers == copier) {
          warp_copy_segment<Shape, Rule>(out_, place,
                                         TilePointers<const Item, const Companion>{
                                             stage.items.elements(), stage.companions.elements()},
                                         warp, kept);
        }
        place += kept;
      }
      arrive(stage.copied);
    }
  }

 private:
  __device__ static std::int64_t begin(TileTicket ticket) {
    return ticket.tile * Shape::tile_items;
  }
  __device__ int count(TileTicket ticket) const {
    return static_cast<int>(
        min(static_cast<std::int64_t>(Shape::tile_items), in_.count - begin(ticket)));
  }
  __device__ void start_load(Stage& stage, TileTicket ticket) {
    const bool with_halo = Rule::looks_back && ticket.tile > 0;
    const auto items = stage.items.load_of(count(ticket), with_halo);
    const auto companions = stage.companions.load_of(count(ticket), with_halo);
    stage.items.load(in_.items + begin(ticket), items, stage.loaded);
    stage.companions.load(column_at(in_.companions, begin(ticket)), companions, stage.loaded);
    __syncwarp();  // the bytes that lanes have copied are there before the arrival says so
    if (lane_index() == 0) hopper::arrive_expect(stage.loaded, items.bulk() + companions.bulk());
  }
  __device__ static unsigned tile_kept(const Stage& stage) {
    return static_cast<unsigned>(
        warp_sum(lane_index() < Shape::warps ? stage.warp_kept[lane_index()] : 0));
  }
  __device__ static void arrive(hopper::TransactionBarrier& barrier) {
    __syncwarp();
    if (lane_index() == 0) hopper::arrive(barrier);
  }

  Stage* stages_;
  const Columns<const Item, const Companion>& in_;
  const Columns<Item, Companion>& out_;
  const LookBack& look_back_;
};

/// Launched like single_pass_kernel, with sizeof(PipelineStorage<Rule, Shape>) bytes of shared
/// memory. The input columns are aligned to 16 bytes.
template <class Rule, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    pipeline_kernel(Rule rule,
                    Columns<const typename Rule::Item, const typename Rule::Companion> in,
                    Columns<typename Rule::Item, typename Rule::Companion> out, LookBack look_back,
                    std::int64_t* kept) {
  Pipeline<Rule, Shape> pipeline(in, out, look_back);
  pipeline.init();
  const int role = warp_index() - Shape::warps - Shape::copiers;
  if (warp_index() < Shape::warps) {
    pipeline.compact(rule, warp_index());
  } else if (role < 0) {
    pipeline.copy(warp_index() - Shape::warps);
  } else if (role == 0) {
    pipeline.place(kept);
  } else if (role == 1) {
    pipeline.publish();
  } else {
    pipeline.load();
  }
}

}  // namespace warpath::warp_compaction
