// The fast build: whole tuples in columns, and no reference arrays.
//
//   gather       tuples to columns, in the order-preserving form
//   up to three  while segments are larger than a block holds: the exact median of each segment of
//   levels       these levels by selection (median_selection.cuh), and one pass that moves all
//                tuples to the segments below, in any order within them, since nothing of the tree
//                depends on that
//   finish       a block for each segment that is left (subtree.cuh)
//
// Memory: two copies of the tuples and their numbers. What selections list, keys and places of an
// eighth of the tuples where segments are large (most_listed), lies where tuples move next.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/cuda_check.cuh"
#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/key_order.cuh"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "kd_tree/distinct.cuh"
#include "kd_tree/median_selection.cuh"
#include "kd_tree/memory.cuh"
#include "kd_tree/subtree.cuh"
#include "kd_tree/tree.cuh"
#include "kd_tree/variant.hpp"
#include "partitioners/levels.cuh"

namespace warpath::kd_tree::detail {

/// Column entries of tuples references[i], or of tuple i where references is null. Notes the least
/// index of a NaN among all coordinates.
template <class C>
__global__ void gather_columns_kernel(const C* coordinates, const std::uint32_t* references,
                                      TupleColumns<C> columns, std::int64_t count,
                                      unsigned long long* first_nan) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const std::uint32_t tuple =
        references == nullptr ? static_cast<std::uint32_t>(i) : references[i];
    const std::int64_t first = std::int64_t{tuple} * columns.dimensions;
    for (int k = 0; k < columns.dimensions; ++k) {
      const C coordinate = coordinates[first + k];
      if (coordinate != coordinate) {
        atomicMin(first_nan, static_cast<unsigned long long>(first + k));
      }
      columns.bits[k * columns.stride + i] = key_bits(coordinate);
    }
    columns.references[i] = tuple;
  }
}

template <class Tile, class C>
struct MoveStorage {
  UnitSplits<C> splits;
  PartStorage<Tile> parts;
  // Of the tuples in the order of their parts:
  std::uint8_t part_of[Tile::capacity];
  OrderedBits<C> column[Tile::capacity];
};

/// Where columns of tuples go that stay on their device: to the same ones, whatever their part.
template <class C>
struct SameColumns {
  static constexpr bool is_same = true;  ///< whatever the part: found once
  TupleColumns<C> columns;
  [[nodiscard]] __device__ __forceinline__ OrderedBits<C>* column(int, int k) const {
    return columns.bits + k * columns.stride;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* references(int) const {
    return columns.references;
  }
};

/// Moves a tile's tuples to their parts, in the order of these first, so that stores are to runs of
/// addresses. parts, exist: as block_place_in_parts() has them; to: the columns of each part;
/// ends[first + p]: where the next tuple of part p goes. The whole block.
template <class Tile, class C, class To>
__device__ __forceinline__ void block_move(MoveStorage<Tile, C>& shared,
                                           const TilePlaces<Tile>& tile,
                                           const TupleColumns<C>& from,
                                           const int (&parts)[Tile::items], unsigned exist,
                                           const To& to, std::uint32_t* ends, std::uint32_t first) {
  std::uint32_t places[Tile::items];
  block_place_in_parts<Tile>(shared.parts, parts, exist, places,
                             [&](int part, std::uint32_t count) {
                               return atomicAdd(&ends[first + static_cast<unsigned>(part)], count);
                             });
#pragma unroll
  for (int t = 0; t < Tile::items; ++t) {
    if ((exist >> t & 1) != 0) shared.part_of[places[t]] = static_cast<std::uint8_t>(parts[t]);
  }
  __syncthreads();  // the parts are there
  const auto place_in_tile = [](int t) {
    return threadIdx.x + static_cast<unsigned>(t * Tile::threads);
  };
  const std::uint32_t total = shared.parts.total;
  std::uint32_t targets[Tile::items];
#pragma unroll
  for (int t = 0; t < Tile::items; ++t) {
    const std::uint32_t i = place_in_tile(t);
    targets[t] = i < total ? i + shared.parts.shifts[shared.part_of[i]] : 0;
  }
  OrderedBits<C> keys[Tile::items];
  std::uint32_t references[Tile::items];
  tile.load(from.column(0), keys);
  const auto move = [&](const auto& values, const auto& load_next, const auto& target_of) {
    auto* const same_target = target_of(0);
#pragma unroll
    for (int t = 0; t < Tile::items; ++t) {
      if ((exist >> t & 1) != 0) shared.column[places[t]] = values[t];
    }
    load_next();
    __syncthreads();  // the column is in the order of the parts
#pragma unroll
    for (int t = 0; t < Tile::items; ++t) {
      const std::uint32_t i = place_in_tile(t);
      if (i < total) {
        auto* const target = To::is_same ? same_target : target_of(shared.part_of[i]);
        using Value = std::remove_pointer_t<decltype(same_target)>;
        target[targets[t]] = static_cast<Value>(shared.column[i]);
      }
    }
    __syncthreads();  // and is read
  };
  for (int k = 0; k < from.dimensions; ++k) {
    move(
        keys,
        [&] {
          if (k + 1 < from.dimensions) {
            tile.load(from.column(k + 1), keys);
          } else {
            tile.load(from.references, references);
          }
        },
        [&](int part) { return to.column(part, k); });
  }
  move(
      references, [] {}, [&](int part) { return to.references(part); });
}

/// Moves the tuples of a group of `depth` levels to the segments of the next one; medians become
/// nodes. ends: where the next tuple of each segment goes. Block (tile, segment of the base).
template <class Tile, class C>
__global__ void __launch_bounds__(Tile::threads, 4)
    move_to_segments_kernel(LevelGroup<C> group, int depth, TupleColumns<C> to, std::uint32_t* ends,
                            std::uint32_t* medians) {
  auto& shared = dynamic_shared<MoveStorage<Tile, C>>();
  hopper::wait_for_kernel_before();
  const TupleColumns<C>& from = group.tuples;
  const std::uint32_t unit = blockIdx.x & (group.base.segments() - 1);
  const TilePlaces<Tile> tile(blockIdx.x >> group.base.number, group.unit(unit));
  if (tile.is_empty()) return;
  shared.splits.load(group, depth, unit);
  __syncthreads();  // the splits are there
  int parts[Tile::items];
  const unsigned exist = find_segments(group, depth, unit, shared.splits, tile, parts,
                                       [&](int above, std::uint32_t segment, std::uint32_t place) {
                                         medians[first_entry(group.base.number + above) + segment] =
                                             from.references[place];
                                       });
  block_move(shared, tile, from, parts, exist, SameColumns<C>{to}, ends, unit << depth);
}

/// Builds the tree of n > 0 tuples. A list longer than MostRead is searched by a round more before
/// one block reads it. Levels of ManySegments segments and more are searched by smaller blocks.
template <class Shape, class C, std::int64_t MostRead = 1 << 16, unsigned ManySegments = 512>
class FastBuild {
 public:
  /// references: those of the tuples, or null for all.
  FastBuild(const Points<C>& points, const std::uint32_t* references, std::int64_t n,
            std::uint32_t* medians, BuildMemory& memory, cudaStream_t stream,
            StepObserver after_step = {})
      : dimensions_(points.dimensions),
        n_(n),
        references_(references),
        coordinates_(points.coordinates.data),
        medians_(medians),
        memory_(memory),
        stream_(stream),
        after_step_(std::move(after_step)) {}

  /// `first_nan` becomes the index of the first NaN among the coordinates, or -1.
  void run(DeviceCount& first_nan) {
    take_memory();
    auto* const nan = reinterpret_cast<unsigned long long*>(first_nan.data());
    WARPATH_CUDA_CHECK(cudaMemsetAsync(nan, 0xFF, sizeof *nan, stream_));
    clear_last_level();
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(divide_up(n_, 256), 1 << 20));
    launch({blocks, 256, 0, stream_}, gather_columns_kernel<C>, coordinates_, references_, from_,
           n_, nan);
    tell(after_step_, Step::gather, 0);
    run_columns();
  }

  /// The columns of the n tuples, to be filled in, by others than run().
  TupleColumns<C> take_columns() {
    take_memory();
    clear_last_level();
    return from_;
  }
  /// All that comes after the columns are filled in.
  void run_columns() {
    int number = 0;
    while (levels_of_group(number) > 0) {
      const int levels = levels_of_group(number);
      selection_.group.tuples = from_;
      selection_.lists[0] = {to_.bits, to_.references};
      selection_.lists[1] = {to_.bits + listed_, to_.references + listed_};
      selection_.group.base = level_of(number);
      selection_.group.base_primary = number % dimensions_;
      for (int depth = 0; depth < levels; ++depth) {
        select_medians(depth, depth == levels - 1);
        tell(after_step_, Step::select, number + depth);
      }
      move_to_segments(levels);
      tell(after_step_, Step::move, number + levels - 1);
      std::swap(from_, to_);
      selection_.group.begins = next_begins_;
      std::swap(next_begins_, spare_begins_);
      number += levels;
    }
    launch({level_of(number).segments(), Shape::threads, subtree_bytes<Shape, C>(dimensions_),
            stream_, starts_early},
           finish_subtrees_kernel<Shape, C>, from_, level_of(number), medians_);
    tell(after_step_, Step::finish, number);
  }

  /// Where the medians of the last level that was split were searched for; one a segment.
  [[nodiscard]] const SearchedPart* parts() const { return selection_.parts; }

 private:
  using Bits = OrderedBits<C>;
  using Tile = BlockShape<256, 8>;
  using CollectTile = BlockShape<128, 16>;
  static constexpr bool starts_early = true;  // all kernels but the first one

  [[nodiscard]] partitioners::Level level_of(int number) const {
    return {static_cast<std::uint32_t>(n_), number};
  }
  /// How many levels are split before tuples move, from level `number` on: 0 if blocks hold its
  /// segments.
  [[nodiscard]] int levels_of_group(int number) const {
    int levels = 0;
    while (levels < most_group_levels &&
           level_of(number + levels).largest_segment() > Shape::capacity) {
      ++levels;
    }
    return levels;
  }

  /// Entries of the last level without a node. Before all kernels: the one after it cannot start
  /// early.
  void clear_last_level() {
    const std::int64_t last = first_entry(level_count(n_) - 1);
    clear_entries(medians_, last, median_entries(n_), stream_);
  }

  void take_memory() {
    std::int64_t listed[2] = {0, 0};
    std::int64_t segments = 1;
    for (int number = 0; level_of(number).largest_segment() > Shape::capacity; ++number) {
      segments = level_of(number).segments();
      std::int64_t room = level_of(number).largest_segment();
      for (auto& most : listed) {
        room = most_listed(room);
        most = std::max(most, segments * room);
      }
    }
    const std::int64_t d = dimensions_;
    listed_ = listed[0];
    const std::int64_t all_bits = std::max(d * n_, listed[0] + listed[1]);
    const std::int64_t all_references = std::max(n_, listed[0] + listed[1]);
    // The medians of a group's levels: less than twice as many as the last of them has.
    const auto [bits, references, rows, parts, places] =
        memory_.arrays.template take<Bits, std::uint32_t, Bits, SearchedPart, std::uint32_t>(
            stream_, 2 * all_bits, 2 * all_references, 4 * (d + 1) * segments, segments,
            6 * segments);
    from_ = {bits, references, n_, dimensions_};
    to_ = {bits + all_bits, references + all_references, n_, dimensions_};
    selection_.group.medians = {rows, dimensions_};
    selection_.brackets = {rows + 2 * (d + 1) * segments, dimensions_};
    selection_.parts = parts;
    ends_ = places;
    spare_begins_ = places + 2 * segments;
    next_begins_ = places + 4 * segments;
  }

  /// A block searches a segment. Few segments: all blocks run at once, so that a block's latency is
  /// the step's, and more threads shorten it. Many: throughput counts, so smaller blocks, more of
  /// them a multiprocessor.
  void select_medians(int depth, bool is_last) {
    if (selection_.group.level(depth).segments() < ManySegments) {
      select_medians_by<512>(depth, is_last);
    } else {
      select_medians_by<256>(depth, is_last);
    }
  }
  template <int Threads>
  void select_medians_by(int depth, bool is_last) {
    selection_.depth = depth;
    const partitioners::Level level = selection_.group.level(depth);
    const unsigned segments = level.segments();
    launch({segments, Threads, sample_bytes<Threads, C>(sample_size(level.largest_segment())),
            stream_, starts_early},
           find_brackets_kernel<Threads, C>, selection_);
    std::int64_t room = most_listed(level.largest_segment());
    launch(by_tile<CollectTile>(selection_.group.base, sizeof(CollectStorage<C>)),
           collect_kernel<CollectTile, C>, selection_, static_cast<std::uint32_t>(room));
    int rounds = 1;
    for (; room > MostRead; ++rounds) {
      const auto from_room = static_cast<std::uint32_t>(room);
      launch({segments, Threads, sample_bytes<Threads, C>(sample_size(from_room)), stream_,
              starts_early},
             find_brackets_again_kernel<Threads, C>, selection_, rounds, from_room);
      const auto tiles = static_cast<unsigned>(divide_up(room, CollectTile::capacity));
      room = most_listed(room);
      launch({tiles * segments, CollectTile::threads, sizeof(CollectStorage<C>), stream_,
              starts_early},
             collect_again_kernel<CollectTile, C>, selection_, rounds, from_room,
             static_cast<std::uint32_t>(room));
    }
    launch({segments, Threads, sizeof(SelectStorage<Threads, C>), stream_, starts_early},
           find_medians_kernel<Threads, C>, selection_, rounds, static_cast<std::uint32_t>(room),
           is_last ? next_begins_ : nullptr, ends_);
  }

  void move_to_segments(int levels) {
    launch(by_tile<Tile>(selection_.group.base, sizeof(MoveStorage<Tile, C>)),
           move_to_segments_kernel<Tile, C>, selection_.group, levels, to_, ends_, medians_);
  }

  /// A block for each tile of each segment.
  template <class Of>
  [[nodiscard]] LaunchShape by_tile(partitioners::Level level, std::size_t shared_bytes) const {
    const std::int64_t tiles = divide_up(std::int64_t{level.largest_segment()}, Of::capacity);
    return {static_cast<unsigned>(tiles) * level.segments(), Of::threads, shared_bytes, stream_,
            starts_early};
  }

  int dimensions_;
  std::int64_t n_;
  const std::uint32_t* references_;
  const C* coordinates_;
  std::uint32_t* medians_;
  BuildMemory& memory_;
  cudaStream_t stream_;
  StepObserver after_step_;
  TupleColumns<C> from_{};
  TupleColumns<C> to_{};
  Selection<C> selection_{};
  std::int64_t listed_ = 0;        ///< room of the first list
  std::uint32_t* ends_ = nullptr;  ///< where the next tuple of each segment goes
  // Where segments begin: of those that tuples move to, and the array that the next ones get.
  std::uint32_t* next_begins_ = nullptr;
  std::uint32_t* spare_begins_ = nullptr;
};

/// Blocks that finish subtrees: of as many tuples as two blocks of a multiprocessor hold, or fewer.
using LargeSubtrees = BlockShape<512, 8>;
using SmallSubtrees = BlockShape<128, 4>;
inline constexpr std::size_t most_subtree_bytes = 112 << 10;

template <class C>
bool has_large_subtrees(int dimensions) {
  const std::size_t room = std::min(device_shared_bytes(), most_subtree_bytes);
  return subtree_bytes<LargeSubtrees, C>(dimensions) <= room;
}

/// Builds the tree of n > 0 tuples, those of `references`, or all where that is null.
template <class C>
void run_fast_build(const Points<C>& points, const std::uint32_t* references, std::int64_t n,
                    std::uint32_t* medians, DeviceCount& first_nan, BuildMemory& memory,
                    cudaStream_t stream, const StepObserver& after_step) {
  if (has_large_subtrees<C>(points.dimensions)) {
    FastBuild<LargeSubtrees, C>(points, references, n, medians, memory, stream, after_step)
        .run(first_nan);
  } else {
    FastBuild<SmallSubtrees, C>(points, references, n, medians, memory, stream, after_step)
        .run(first_nan);
  }
}

}  // namespace warpath::kd_tree::detail
