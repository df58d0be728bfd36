// The fast build: whole tuples in columns, and no reference arrays.
//
//   gather     tuples to columns, in the order-preserving form
//   a level    while segments are larger than a block holds: the exact median of each segment by
//              selection (median_selection.cuh), and one pass that moves its tuples to the sides of
//              it, in any order within them, since nothing of the tree depends on that
//   finish     a block for each segment that is left (subtree.cuh)
//
// Memory: two copies of the tuples and their numbers, and for selections up to three quarters of
// one, or one and a half where blocks are small (most_copied).
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/cuda_check.cuh"
#include "core/divide_up.hpp"
#include "core/key_order.cuh"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "kd_tree/median_selection.cuh"
#include "kd_tree/memory.cuh"
#include "kd_tree/subtree.cuh"
#include "kd_tree/tree.cuh"
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

/// Where the next tuple of either side of a segment goes.
struct SideEnds {
  std::uint32_t less;
  std::uint32_t greater;
};

template <class Ends>
__global__ void begin_sides_kernel(partitioners::Level level, Ends* ends) {
  const std::uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= level.segments()) return;
  const partitioners::Segment segment = level.segment(k);
  ends[k] = {segment.begin, segment.median() + 1};
}

/// Moves the tuples of each segment to the sides of its median, which becomes a node. Block (tile,
/// segment).
template <class Tile, class C>
__global__ void __launch_bounds__(Tile::threads)
    move_to_sides_kernel(TupleColumns<C> from, TupleColumns<C> to, partitioners::Level level,
                         int primary, SuperkeyRows<C> medians, SideEnds* ends,
                         std::uint32_t* entries) {
  struct Storage {
    SideEnds of_warp[Tile::warps];
    SideEnds base;
  };
  auto& shared = dynamic_shared<Storage>();
  const std::uint32_t number = blockIdx.x % level.segments();
  const partitioners::Segment segment = level.segment(number);
  const std::uint32_t first =
      segment.begin + blockIdx.x / level.segments() * static_cast<unsigned>(Tile::capacity);
  if (first >= segment.end) return;
  const OrderedBits<C>* const median = medians.row(number);
  const TilePlaces<Tile> places(first, segment.end);

  OrderedBits<C> keys[Tile::items];
  places.load(from.bits + primary * from.stride, keys);
  unsigned less[Tile::items];
  unsigned greater[Tile::items];
  SideEnds counts{0, 0};
#pragma unroll
  for (int t = 0; t < Tile::items; ++t) {
    const std::int64_t i = places.place(t);
    const int order = places.exists(t) ? compare_to_row(from, i, keys[t], median, primary) : 0;
    less[t] = __ballot_sync(full_warp, order < 0);
    greater[t] = __ballot_sync(full_warp, order > 0);
    counts.less += static_cast<unsigned>(__popc(less[t]));
    counts.greater += static_cast<unsigned>(__popc(greater[t]));
    if (places.exists(t) && order == 0) entries[number] = from.references[i];
  }
  if (lane_index() == 0) shared.of_warp[warp_index()] = counts;
  __syncthreads();  // the counts of all warps are there
  if (warp_index() == 0) {
    const bool is_warp = lane_index() < Tile::warps;
    const unsigned all_less = warp_sum(is_warp ? shared.of_warp[lane_index()].less : 0u);
    const unsigned all_greater = warp_sum(is_warp ? shared.of_warp[lane_index()].greater : 0u);
    if (lane_index() == 0) {
      shared.base = {atomicAdd(&ends[number].less, all_less),
                     atomicAdd(&ends[number].greater, all_greater)};
    }
  }
  __syncthreads();  // where the block's tuples go is known
  SideEnds next = shared.base;
  for (int warp = 0; warp < warp_index(); ++warp) {
    next.less += shared.of_warp[warp].less;
    next.greater += shared.of_warp[warp].greater;
  }
  std::uint32_t targets[Tile::items];
  unsigned moved = 0;
#pragma unroll
  for (int t = 0; t < Tile::items; ++t) {
    const bool is_less = (less[t] >> lane_index() & 1) != 0;
    targets[t] = is_less ? next.less + static_cast<unsigned>(__popc(less[t] & lanes_below()))
                         : next.greater + static_cast<unsigned>(__popc(greater[t] & lanes_below()));
    if (((less[t] | greater[t]) >> lane_index() & 1) != 0) moved |= 1u << t;
    next.less += static_cast<unsigned>(__popc(less[t]));
    next.greater += static_cast<unsigned>(__popc(greater[t]));
  }
  const auto store = [&](auto* column, const auto& values) {
#pragma unroll
    for (int t = 0; t < Tile::items; ++t) {
      if ((moved >> t & 1) != 0) column[targets[t]] = values[t];
    }
  };
  store(to.bits + primary * to.stride, keys);
  for (int k = 0; k < from.dimensions; ++k) {
    if (k == primary) continue;
    places.load(from.bits + k * from.stride, keys);
    store(to.bits + k * to.stride, keys);
  }
  std::uint32_t references[Tile::items];
  places.load(from.references, references);
  store(to.references, references);
}

/// Builds the tree of n > 0 tuples.
template <class Shape, class C>
class FastBuild {
 public:
  /// references: those of the tuples, or null for all.
  FastBuild(const Points<C>& points, const std::uint32_t* references, std::int64_t n,
            std::uint32_t* medians, BuildMemory& memory, cudaStream_t stream)
      : dimensions_(points.dimensions),
        n_(n),
        references_(references),
        coordinates_(points.coordinates.data),
        medians_(medians),
        memory_(memory),
        stream_(stream) {}

  /// `first_nan` becomes the index of the first NaN among the coordinates, or -1.
  void run(DeviceCount& first_nan) {
    take_memory();
    auto* const nan = reinterpret_cast<unsigned long long*>(first_nan.data());
    WARPATH_CUDA_CHECK(cudaMemsetAsync(nan, 0xFF, sizeof *nan, stream_));
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(divide_up(n_, 256), 1 << 20));
    launch({blocks, 256, 0, stream_}, gather_columns_kernel<C>, coordinates_, references_, from_,
           n_, nan);
    int number = 0;
    for (; level_of(number).largest_segment() > Shape::capacity; ++number) {
      select_medians(level_of(number));
      move_to_sides(level_of(number));
      std::swap(from_, to_);
    }
    // Entries of the last level without a node.
    const std::int64_t last = first_entry(level_count(n_) - 1);
    WARPATH_CUDA_CHECK(cudaMemsetAsync(
        medians_ + last, 0xFF,
        static_cast<std::size_t>(median_entries(n_) - last) * sizeof(std::uint32_t), stream_));
    launch({level_of(number).segments(), Shape::threads, subtree_bytes<Shape, C>(dimensions_),
            stream_},
           finish_subtrees_kernel<Shape, C>, from_, level_of(number), medians_);
  }

  /// Where the medians of the last level that was split were searched for; one a segment.
  [[nodiscard]] const SearchedPart* parts() const { return selection_.parts; }

 private:
  using Bits = OrderedBits<C>;
  using Tile = PassTile<256, 8>;
  static constexpr std::size_t pass_bytes = 2 * (Tile::warps + 1) * sizeof(SideEnds);

  [[nodiscard]] partitioners::Level level_of(int number) const {
    return {static_cast<std::uint32_t>(n_), number};
  }
  [[nodiscard]] int primary_of(partitioners::Level level) const {
    return level.number % dimensions_;
  }

  void take_memory() {
    // Round 1 of level 0 copies most, but for what each segment may copy besides.
    std::int64_t copied = 0;
    std::int64_t segments = 1;
    for (int number = 0; level_of(number).largest_segment() > Shape::capacity; ++number) {
      segments = level_of(number).segments();
      copied = std::max(copied, segments * most_copied<Shape>(level_of(number).largest_segment()));
    }
    const std::int64_t d = dimensions_;
    const auto [bits, references, copied_bits, copied_references, rows, parts, ends] =
        memory_.arrays
            .template take<Bits, std::uint32_t, Bits, std::uint32_t, Bits, SearchedPart, SideEnds>(
                stream_, 2 * d * n_, 2 * n_, 2 * d * copied, 2 * copied, 3 * (d + 1) * segments,
                segments, segments);
    from_ = {bits, references, n_, dimensions_};
    to_ = {bits + d * n_, references + n_, n_, dimensions_};
    selection_.copied[0] = {copied_bits, copied_references, copied, dimensions_};
    selection_.copied[1] = {copied_bits + d * copied, copied_references + copied, copied,
                            dimensions_};
    selection_.medians = {rows, dimensions_};
    selection_.brackets = {rows + (d + 1) * segments, dimensions_};
    selection_.parts = parts;
    ends_ = ends;
  }

  void select_medians(partitioners::Level level) {
    selection_.tuples = from_;
    selection_.level = level;
    selection_.primary = primary_of(level);
    const unsigned segments = level.segments();
    const std::size_t shared_bytes = subtree_bytes<Shape, C>(dimensions_);
    int round = 0;
    std::int64_t count = level.largest_segment();
    std::int64_t room = 0;
    for (; count > Shape::capacity; ++round) {
      launch({segments, Shape::threads, shared_bytes, stream_}, find_brackets_kernel<Shape, C>,
             selection_, round, static_cast<std::uint32_t>(room));
      const std::int64_t tiles = divide_up(count, Tile::capacity);
      room = most_copied<Shape>(count);
      launch({static_cast<unsigned>(tiles) * segments, Tile::threads, pass_bytes, stream_},
             copy_brackets_kernel<Tile, C>, selection_, segments, static_cast<std::uint32_t>(room),
             static_cast<std::uint32_t>(Shape::capacity));
      count = room;
    }
    launch({segments, Shape::threads, shared_bytes, stream_}, find_medians_kernel<Shape, C>,
           selection_, round, static_cast<std::uint32_t>(room));
  }

  void move_to_sides(partitioners::Level level) {
    const unsigned segments = level.segments();
    launch({static_cast<unsigned>(divide_up(segments, 256)), 256, 0, stream_},
           begin_sides_kernel<SideEnds>, level, ends_);
    const std::int64_t tiles = divide_up(std::int64_t{level.largest_segment()}, Tile::capacity);
    launch({static_cast<unsigned>(tiles) * segments, Tile::threads, pass_bytes, stream_},
           move_to_sides_kernel<Tile, C>, from_, to_, level, primary_of(level), selection_.medians,
           ends_, medians_ + first_entry(level.number));
  }

  int dimensions_;
  std::int64_t n_;
  const std::uint32_t* references_;
  const C* coordinates_;
  std::uint32_t* medians_;
  BuildMemory& memory_;
  cudaStream_t stream_;
  TupleColumns<C> from_{};
  TupleColumns<C> to_{};
  Selection<C> selection_{};
  SideEnds* ends_ = nullptr;
};

/// Blocks that finish subtrees: of as many tuples as two blocks of a multiprocessor hold, or fewer.
using LargeSubtrees = SubtreeShape<1024, 4>;
using SmallSubtrees = SubtreeShape<128, 4>;
inline constexpr std::size_t most_subtree_bytes = 112 << 10;

/// Builds the tree of n > 0 tuples, those of `references`, or all where that is null.
template <class C>
void run_fast_build(const Points<C>& points, const std::uint32_t* references, std::int64_t n,
                    std::uint32_t* medians, DeviceCount& first_nan, BuildMemory& memory,
                    cudaStream_t stream) {
  const std::size_t room = std::min(device_shared_bytes(), most_subtree_bytes);
  if (subtree_bytes<LargeSubtrees, C>(points.dimensions) <= room) {
    FastBuild<LargeSubtrees, C>(points, references, n, medians, memory, stream).run(first_nan);
  } else {
    FastBuild<SmallSubtrees, C>(points, references, n, medians, memory, stream).run(first_nan);
  }
}

}  // namespace warpath::kd_tree::detail
