// The fast build on several devices: the medians of the first levels by selection over all of them
// (top_selection.cuh), then each tuple goes straight to the device that has its subtree, which
// builds it alone (fast_build.cuh).
//
// A device's columns begin with the coordinate that its subtree's root splits by: so the subtree is
// built as a tree is, and by the numbers that tuples have in all of it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/devices.cuh"
#include "core/divide_up.hpp"
#include "core/key_order.cuh"
#include "core/launch.cuh"
#include "kd_tree/columns.cuh"
#include "kd_tree/fast_build.cuh"
#include "kd_tree/join.cuh"
#include "kd_tree/median_selection.cuh"
#include "kd_tree/parts.cuh"
#include "kd_tree/several_devices.cuh"
#include "kd_tree/top_selection.cuh"
#include "kd_tree/tree.cuh"
#include "multi_gpu_sort/tuples.cuh"

namespace warpath::kd_tree::detail {

/// counts[p] becomes how many of a device's tuples go to part p, that below the medians of `depth`
/// levels. A block a tile, again and again.
template <class Tile, class C>
__global__ void __launch_bounds__(Tile::threads)
    count_parts_kernel(LevelGroup<C> group, int depth, std::uint32_t* counts) {
  struct Storage {
    UnitSplits<C> splits;
    std::uint32_t counts[most_parts];
  };
  auto& shared = dynamic_shared<Storage>();
  shared.splits.load(group, depth, 0);
  if (threadIdx.x < most_parts) shared.counts[threadIdx.x] = 0;
  __syncthreads();  // the splits are there, and all counts are 0
  const auto tiles = static_cast<std::uint32_t>(divide_up(group.base.n, Tile::capacity));
  for (std::uint32_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    const TilePlaces<Tile> tile(number, group.unit(0));
    int parts[Tile::items];
    const unsigned exist = find_segments(group, depth, 0, shared.splits, tile, parts,
                                         [](int, std::uint32_t, std::uint32_t) {});
    for (int part = 0; part < 1 << depth; ++part) {
      int own = 0;
#pragma unroll
      for (int t = 0; t < Tile::items; ++t)
        own += (exist >> t & 1) != 0 && parts[t] == part ? 1 : 0;
      const int of_warp = warp_sum(own);
      if (lane_index() == 0) atomicAdd(&shared.counts[part], static_cast<std::uint32_t>(of_warp));
    }
  }
  __syncthreads();  // all tuples are counted
  if (threadIdx.x < 1u << depth) atomicAdd(&counts[threadIdx.x], shared.counts[threadIdx.x]);
}

/// The columns of all devices, one a part.
template <class C>
struct ColumnsOfParts {
  static constexpr bool is_same = false;
  TupleColumns<C> parts[most_parts];
  int first;  ///< the coordinate that each part's first column is
  [[nodiscard]] __device__ __forceinline__ OrderedBits<C>* column(int part, int k) const {
    const TupleColumns<C>& own = parts[part];
    return own.bits + (k < first ? k + own.dimensions - first : k - first) * own.stride;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* references(int part) const {
    return parts[part].references;
  }
};

/// Moves a device's tuples to the devices whose parts they lie in, `depth` levels below the root.
/// ends: where the next of them goes in each part. A block a tile.
template <class Tile, class C>
__global__ void __launch_bounds__(Tile::threads, 4)
    move_to_devices_kernel(LevelGroup<C> group, int depth, ColumnsOfParts<C> to,
                           std::uint32_t* ends) {
  auto& shared = dynamic_shared<MoveStorage<Tile, C>>();
  const TilePlaces<Tile> tile(blockIdx.x, group.unit(0));
  shared.splits.load(group, depth, 0);
  __syncthreads();  // the splits are there
  int parts[Tile::items];
  const unsigned exist = find_segments(group, depth, 0, shared.splits, tile, parts,
                                       [](int, std::uint32_t, std::uint32_t) {});
  block_move(shared, tile, group.tuples, parts, exist, to, ends, 0);
}

/// MostListed: see TopSelection.
template <class Shape, class C, std::int64_t MostListed = 4096>
class FastTop {
 public:
  /// tuples: of n > 0 on all devices together. medians: on the first one, all no_node.
  FastTop(const Devices& devices, const std::vector<NumberedTuples<C>>& tuples, std::int64_t n,
          int dimensions, std::uint32_t* medians, DevicesMemory& memory)
      : devices_(devices),
        tuples_(tuples),
        n_(n),
        dimensions_(dimensions),
        medians_(medians),
        memory_(memory) {
    while (1 << depth_ < devices.count()) ++depth_;
  }

  /// Throws std::invalid_argument if there is NaN.
  void run() {
    gather();
    Selection selection(devices_, n_, own_);
    std::vector<std::uint32_t> top;
    for (int depth = 0; depth < depth_; ++depth) {
      selection.find(depth);
      for (std::uint32_t s = 0; s < 1u << depth; ++s) top.push_back(selection.median(depth, s));
    }
    move(selection);
    build_subtrees();
    top.resize(std::min(top.size(), static_cast<std::size_t>(median_entries(n_))));
    const CurrentDevice current(devices_.ordinal(0));
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(medians_, top.data(), top.size() * sizeof(std::uint32_t),
                                       cudaMemcpyHostToDevice, devices_.stream(0)));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(devices_.stream(0)));
    devices_.meet();
  }

 private:
  using Tile = BlockShape<256, 8>;
  using Selection = TopSelection<C, MostListed>;

  static unsigned tiles_of(const LevelGroup<C>& group) {
    return static_cast<unsigned>(
        divide_up(std::int64_t{group.base.n}, std::int64_t{Tile::capacity}));
  }

  /// Each device's tuples, by columns and with their numbers.
  void gather() {
    std::vector<DeviceCount> first_nan;
    devices_.for_each([&](int i, cudaStream_t stream) {
      const NumberedTuples<C>& tuples = tuples_[static_cast<std::size_t>(i)];
      const std::int64_t d = dimensions_;
      constexpr std::int64_t listed = most_searches * Selection::most_listed;
      const auto [bits, references, medians, candidates, counts] =
          memory_.of(i)
              .columns.template take<OrderedBits<C>, std::uint32_t, OrderedBits<C>, OrderedBits<C>,
                                     std::uint32_t>(stream, d * tuples.count, tuples.count,
                                                    most_parts * (d + 1), listed * (d + 1),
                                                    most_searches * digit_bins);
      own_.push_back({{bits, references, tuples.count, dimensions_},
                      tuples.count,
                      {medians, dimensions_},
                      {candidates, dimensions_},
                      counts});
      first_nan.emplace_back(stream);
      auto* const nan = reinterpret_cast<unsigned long long*>(first_nan.back().data());
      WARPATH_CUDA_CHECK(cudaMemsetAsync(nan, 0xFF, sizeof *nan, stream));
      if (tuples.count == 0) return;
      const auto blocks =
          static_cast<unsigned>(std::min<std::int64_t>(divide_up(tuples.count, 256), 1 << 20));
      const std::uint32_t* const all = nullptr;
      launch({blocks, 256, 0, stream}, gather_columns_kernel<C>, tuples.coordinates, all,
             own_.back().tuples, tuples.count, nan);
      if (tuples.numbers == nullptr) {
        multi_gpu_sort::detail::number_tuples(references, tuples.count, tuples.first, stream);
      } else {
        devices_.copy(references, i, tuples.numbers, i, tuples.count);
      }
    });
    devices_.for_each([&](int i, cudaStream_t stream) {
      const std::int64_t index = first_nan[static_cast<std::size_t>(i)].get(stream);
      if (index < 0) return;
      throw std::invalid_argument(
          "parts: coordinate " + std::to_string(index % dimensions_) +
          " of the tuple with number " +
          std::to_string(tuples_[static_cast<std::size_t>(i)].first + index / dimensions_) +
          " is NaN: expected numbers");
    });
  }

  /// Tuples go to their devices.
  void move(Selection& selection) {
    const std::vector<std::vector<std::uint32_t>> counts = count_parts(selection);
    ColumnsOfParts<C> to{};
    to.first = depth_ % dimensions_;
    devices_.for_each([&](int i, cudaStream_t stream) {
      std::int64_t count = 0;
      for (const auto& of_source : counts) count += of_source[static_cast<std::size_t>(i)];
      const std::int64_t entries = median_entries(count);
      const auto [subtree] = memory_.of(i).medians.template take<std::uint32_t>(stream, entries);
      subtrees_.push_back(subtree);
      counts_.push_back(count);
      builds_.emplace_back(Points<C>{{nullptr, 0}, dimensions_}, nullptr, count, subtree,
                           memory_.of(i).build, stream);
      if (count > 0) to.parts[i] = builds_.back().take_columns();
    });
    devices_.meet();  // all columns may be written
    std::vector<std::vector<std::uint32_t>> begins(1, std::vector<std::uint32_t>(most_parts, 0));
    for (const auto& of_source : counts) {
      begins.push_back(begins.back());
      for (std::size_t p = 0; p < of_source.size(); ++p) begins.back()[p] += of_source[p];
    }
    devices_.for_each([&](int i, cudaStream_t stream) {
      const LevelGroup<C> group = selection.group(i);
      if (group.base.n == 0) return;
      std::uint32_t* const ends = own_[static_cast<std::size_t>(i)].counts;
      const auto& begin = begins[static_cast<std::size_t>(i)];
      WARPATH_CUDA_CHECK(cudaMemcpyAsync(ends, begin.data(), begin.size() * sizeof(std::uint32_t),
                                         cudaMemcpyHostToDevice, stream));
      launch({tiles_of(group), Tile::threads, sizeof(MoveStorage<Tile, C>), stream},
             move_to_devices_kernel<Tile, C>, group, depth_, to, ends);
    });
    devices_.synchronize();  // all tuples are there, and `begins` is read
  }
  /// How many tuples go from each device (row) to each (column). Blocks the host.
  std::vector<std::vector<std::uint32_t>> count_parts(Selection& selection) {
    std::vector<std::vector<std::uint32_t>> counts(static_cast<std::size_t>(devices_.count()),
                                                   std::vector<std::uint32_t>(most_parts, 0));
    const std::size_t bytes = most_parts * sizeof(std::uint32_t);
    devices_.for_each([&](int i, cudaStream_t stream) {
      const LevelGroup<C> group = selection.group(i);
      std::uint32_t* const of_parts = own_[static_cast<std::size_t>(i)].counts;
      WARPATH_CUDA_CHECK(cudaMemsetAsync(of_parts, 0, bytes, stream));
      if (group.base.n == 0) return;
      launch({std::min(tiles_of(group), 1024u), Tile::threads,
              sizeof(UnitSplits<C>) + most_parts * sizeof(std::uint32_t), stream},
             count_parts_kernel<Tile, C>, group, depth_, of_parts);
    });
    devices_.for_each([&](int i, cudaStream_t stream) {
      WARPATH_CUDA_CHECK(cudaMemcpyAsync(counts[static_cast<std::size_t>(i)].data(),
                                         own_[static_cast<std::size_t>(i)].counts, bytes,
                                         cudaMemcpyDeviceToHost, stream));
    });
    devices_.synchronize();
    return counts;
  }

  /// Each device its own, by a host thread of its own.
  void build_subtrees() {
    std::vector<std::future<void>> all;
    for (int i = 0; i < devices_.count(); ++i) {
      all.push_back(std::async(std::launch::async, [this, i] { build_subtree(i); }));
    }
    for (std::future<void>& one : all) one.get();
  }
  void build_subtree(int i) {
    const auto at = static_cast<std::size_t>(i);
    if (counts_[at] == 0) return;
    const CurrentDevice current(devices_.ordinal(i));
    builds_[at].run_columns();
    join_subtree(subtrees_[at], counts_[at], nullptr, depth_, i, medians_, devices_.stream(i));
  }

  const Devices& devices_;
  const std::vector<NumberedTuples<C>>& tuples_;
  std::int64_t n_;
  int dimensions_;
  std::uint32_t* medians_;
  DevicesMemory& memory_;
  int depth_ = 0;  ///< levels above the subtrees
  std::vector<typename Selection::OfDevice> own_;
  // Of each device's subtree:
  std::deque<FastBuild<Shape, C>> builds_;
  std::vector<std::uint32_t*> subtrees_;
  std::vector<std::int64_t> counts_;
};

/// Builds the tree of n > 0 tuples on all devices.
template <class C>
void run_fast_top(const Devices& devices, const std::vector<NumberedTuples<C>>& tuples,
                  std::int64_t n, int dimensions, std::uint32_t* medians, DevicesMemory& memory) {
  if (has_large_subtrees<C>(dimensions)) {
    FastTop<LargeSubtrees, C>(devices, tuples, n, dimensions, medians, memory).run();
  } else {
    FastTop<SmallSubtrees, C>(devices, tuples, n, dimensions, medians, memory).run();
  }
}

}  // namespace warpath::kd_tree::detail
