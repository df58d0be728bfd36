// Merges sorted runs that lie anywhere, or a slice of what they are merged to: as a merge pass does
// (merge_runs.cuh), with a pointer for each run. Kernels read the runs where they lie: also in the
// memory of another device, if the current one has access to it.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "core/warp.cuh"
#include "merge_sort/arguments.cuh"
#include "merge_sort/items.cuh"
#include "merge_sort/merge_runs.cuh"
#include "merge_sort/orders.cuh"
#include "merge_sort/pairs.cuh"
#include "merge_sort/partition.cuh"
#include "merge_sort/tuning.hpp"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort {

/// The least power of two that is not less.
constexpr int power_of_two_from(int count) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(count)));
}

/// The most runs that are merged at once: a lane for each.
inline constexpr int most_runs = warp_threads;

namespace detail {

/// Sorted runs as one group of a merge: item i of run r is item (r << index_bits) + i. The first
/// run has items.
template <class K, class V>
struct ScatteredRuns {
  using Item = detail::Item<K, V>;
  static constexpr int index_bits = 48;
  static constexpr std::int64_t run_items = std::int64_t{1} << index_bits;

  const K* keys[most_runs];
  const V* values[most_runs];
  std::int64_t counts[most_runs];
  int ways;  ///< a power of two: the runs, and others without items after them
  int slack;

  [[nodiscard]] __device__ __forceinline__ std::int64_t run_count(std::int64_t begin) const {
    return counts[begin >> index_bits];
  }
  [[nodiscard]] __device__ __forceinline__ Item load(std::int64_t i) const {
    const std::int64_t run = i >> index_bits;
    const std::int64_t place = i & (run_items - 1);
    if constexpr (std::is_same_v<V, NoValue>) {
      return {keys[run][place]};
    } else {
      return {keys[run][place], values[run][place]};
    }
  }
};

/// Items `first` to first + count - 1 of what runs are merged to, in tiles of about tile_items.
struct Slice {
  std::int64_t first;
  std::int64_t count;
  int tile_items;

  [[nodiscard]] __host__ __device__ std::int64_t tiles() const {
    return divide_up(count, tile_items);
  }
  /// Of all that is merged, the first item of a tile; of the one after the last tile, the end.
  [[nodiscard]] __device__ __forceinline__ std::int64_t begin(std::int64_t tile) const {
    return first + min(tile * tile_items, count);
  }
};

/// positions[ways * i + r] becomes how many items of run r come before tile i of the slice, or
/// before its end: exactly there and before its first tile, else give or take the slack, or less
/// where an end is nearer. A warp for each.
template <class K, class V, class Less>
__global__ void find_slice_positions_kernel(ScatteredRuns<K, V> runs, Slice slice, Less less,
                                            std::int64_t* positions) {
  const std::int64_t tile =
      static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_threads) + warp_index();
  if (tile > slice.tiles()) return;
  const int lane = lane_index();
  const std::int64_t rank = slice.begin(tile);
  // No tile begins before the slice, or after its end.
  const std::int64_t to_end = min(rank - slice.first, slice.first + slice.count - rank);
  runs.slack = static_cast<int>(min(static_cast<std::int64_t>(runs.slack), to_end));
  const std::int64_t own = lane < runs.ways ? runs.counts[lane] : 0;
  const auto all = static_cast<std::int64_t>(warp_sum(static_cast<std::uint64_t>(own)));
  const std::int64_t position = rank == all ? own : warp_find_position(runs, runs, 0, rank, less);
  if (lane < runs.ways) positions[runs.ways * tile + lane] = position;
}

/// Where the items of a slice go.
template <class K, class V>
struct SliceColumns {
  Columns<K, V> columns;
  std::int64_t first;
  __device__ __forceinline__ void store(std::int64_t i, const Item<K, V>& item) const {
    columns.store(i - first, item);
  }
};

/// Merges a slice of the runs: one block a tile.
template <class Shape, class K, class V, class Less>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    merge_slice_kernel(ScatteredRuns<K, V> runs, SliceColumns<K, V> out,
                       const std::int64_t* positions, Less less) {
  auto& shared = dynamic_shared<MergeStorage<Item<K, V>, Shape>>();
  hopper::wait_for_kernel_before();
  constexpr OutputTile all{};
  if (warp_index() == 0) {
    const std::int64_t place = runs.ways * std::int64_t{blockIdx.x} + lane_index();
    const bool is_run = lane_index() < runs.ways;
    warp_set_pieces(shared, runs, all, is_run ? positions[place] : 0,
                    is_run ? positions[place + runs.ways] : 0);
  }
  __syncthreads();  // the tile's pieces are known
  block_merge_pieces<LowLevelMerge::merge_path>(shared, runs, out, runs.ways, all, less);
}

/// Merges a slice of more than 0 items of runs that have them; their slack is set here. Order: of
/// items.
template <class Shape, class K, class V, class Order>
void merge_slice(ScatteredRuns<K, V> runs, const Columns<K, V>& to, std::int64_t first,
                 std::int64_t count, Order order, Workspace& workspace, cudaStream_t stream) {
  const Slice slice{first, count, Shape::aimed_items};
  runs.slack = Shape::slack;
  const auto [positions] =
      workspace.take<std::int64_t>(stream, (slice.tiles() + 1) * std::int64_t{runs.ways});
  constexpr unsigned threads = 128;
  const std::int64_t warps = divide_up(slice.tiles() + 1, threads / warp_threads);
  launch({static_cast<unsigned>(warps), threads, 0, stream},
         find_slice_positions_kernel<K, V, Order>, runs, slice, order, positions);
  launch({static_cast<unsigned>(slice.tiles()), Shape::threads,
          sizeof(MergeStorage<Item<K, V>, Shape>), stream, /*starts_early=*/true},
         merge_slice_kernel<Shape, K, V, Order>, runs, SliceColumns<K, V>{to, first}, positions,
         order);
}

/// Ranks among all items of the runs, in any order.
struct Ranks {
  std::int64_t values[most_runs + 1];
  int count;
  int runs;                  ///< those without items included
  int number_of[most_runs];  ///< of each run that has items
};

/// positions[ranks.runs * i + r] becomes how many items of run r come before the one of rank i;
/// those of runs without items stay as they are. A block of one warp for each rank.
template <class K, class V, class Less>
__global__ void find_splits_kernel(ScatteredRuns<K, V> runs, Ranks ranks, Less less,
                                   std::int64_t* positions) {
  const int lane = lane_index();
  const std::int64_t rank = ranks.values[blockIdx.x];
  const std::int64_t own = lane < runs.ways ? runs.counts[lane] : 0;
  const auto all = static_cast<std::int64_t>(warp_sum(static_cast<std::uint64_t>(own)));
  const std::int64_t position = rank == all ? own : warp_find_position(runs, runs, 0, rank, less);
  if (own > 0) {
    positions[std::int64_t{ranks.runs} * blockIdx.x + ranks.number_of[lane]] = position;
  }
}

/// The kernel's tile, by the size of an item: as those of sorts, but for up to 32 runs.
template <std::size_t ItemBytes>
using SliceShape = std::conditional_t<
    ItemBytes <= 2, MergeTileShape<256, 31, most_runs, 4, 64>,
    std::conditional_t<ItemBytes <= 8, MergeTileShape<256, 23, most_runs, 4, 64>,
                       std::conditional_t<ItemBytes <= 16, MergeTileShape<256, 15, most_runs>,
                                          MergeTileShape<256, 7, most_runs>>>>;

/// Collects runs for the kernels: those that have items.
template <class K, class V>
class RunsToMerge {
 public:
  /// `name` is that of the argument. Throws if there are too many, or one is no span.
  RunsToMerge(const std::string& name, std::size_t count) : name_(name) {
    if (count > most_runs) {
      throw std::invalid_argument(name + " has " + std::to_string(count) +
                                  " runs: expected at most " + std::to_string(most_runs));
    }
    ranks_.runs = static_cast<int>(count);
  }
  void add(DeviceSpan<const K> keys, DeviceSpan<const V> values) {
    const std::string own = name_ + "[" + std::to_string(added_) + "]";
    require_span(own + ".keys", keys);
    if constexpr (!std::is_same_v<V, NoValue>) {
      require_span(own + ".values", values);
      require_count(own + ".values", values.count, own + ".keys", keys.count);
    }
    const int number = added_++;
    if (keys.count == 0) return;
    ranks_.number_of[kept_] = number;
    runs_.keys[kept_] = keys.data;
    runs_.values[kept_] = values.data;
    runs_.counts[kept_] = keys.count;
    total_ += keys.count;
    ++kept_;
  }
  [[nodiscard]] std::int64_t total() const { return total_; }
  [[nodiscard]] const Ranks& ranks() const { return ranks_; }
  [[nodiscard]] ScatteredRuns<K, V> runs() const {
    ScatteredRuns<K, V> runs = runs_;
    runs.ways = power_of_two_from(kept_);
    runs.slack = 0;
    return runs;
  }

 private:
  std::string name_;
  int added_ = 0;
  int kept_ = 0;
  std::int64_t total_ = 0;
  ScatteredRuns<K, V> runs_{};
  Ranks ranks_{};
};

template <class K, class V, class Order>
void run_merge(const RunsToMerge<K, V>& runs, std::int64_t first, const Columns<K, V>& to,
               std::int64_t count, Order order, Workspace& workspace, cudaStream_t stream) {
  require_in_range("first", first, 0, runs.total());
  if (count > runs.total() - first) {
    throw std::invalid_argument("to holds " + std::to_string(count) +
                                " elements: expected at most " +
                                std::to_string(runs.total() - first) + ", those of all runs from " +
                                std::to_string(first) + " on");
  }
  if (count == 0) return;
  merge_slice<SliceShape<sizeof(Item<K, V>)>>(runs.runs(), to, first, count, order, workspace,
                                              stream);
}

/// What the kernel that finds splits is given. Throws unless the ranks are those of the runs'
/// items, and positions has room.
template <class K, class V>
Ranks require_ranks(const RunsToMerge<K, V>& runs, std::span<const std::int64_t> ranks,
                    DeviceSpan<std::int64_t> positions) {
  require_in_range("the number of ranks", static_cast<std::int64_t>(ranks.size()), 0,
                   most_runs + 1);
  Ranks of_kernel = runs.ranks();
  for (const std::int64_t rank : ranks) {
    require_in_range("ranks[" + std::to_string(of_kernel.count) + "]", rank, 0, runs.total());
    of_kernel.values[of_kernel.count++] = rank;
  }
  require_room("positions", positions, std::int64_t{of_kernel.runs} * of_kernel.count);
  return of_kernel;
}

/// The positions in runs without items. False if there are no others to be found.
inline bool clear_positions(const Ranks& ranks, std::int64_t total,
                            DeviceSpan<std::int64_t> positions, cudaStream_t stream) {
  const std::int64_t needed = std::int64_t{ranks.runs} * ranks.count;
  if (needed == 0) return false;
  WARPATH_CUDA_CHECK(cudaMemsetAsync(
      positions.data, 0, static_cast<std::size_t>(needed) * sizeof(std::int64_t), stream));
  return total > 0;
}

}  // namespace detail

/// A sorted run of keys, and their values.
template <class K, class V>
struct PairRun {
  DeviceSpan<const K> keys;
  DeviceSpan<const V> values;
};

/// Merges sorted runs, or a slice of them: `to` becomes elements first, first + 1, ... of the
/// merged sequence, as many as it holds. Stable: of equal keys, those of earlier runs come first.
///
/// runs: up to most_runs, sorted by `less`; they may lie on any device that the current one has
/// access to (cudaDeviceEnablePeerAccess). to: on the current device, apart from the runs. Keys of
/// at most 16 bytes. Extra memory: a word of 8 bytes for each run and tile of some thousand
/// elements. Throws std::invalid_argument, which names the argument; CudaError if memory lacks.
template <class K, class Less = std::less<>>
void merge_keys(std::type_identity_t<std::span<const DeviceSpan<const K>>> runs, std::int64_t first,
                DeviceSpan<K> to, Workspace& workspace, cudaStream_t stream, Less less = {}) {
  detail::require_element<K>();
  static_assert(detail::fits_item<K>,
                "keys that are merged have at most 16 bytes, and a default constructor");
  detail::RunsToMerge<K, detail::NoValue> collected("runs", runs.size());
  for (const DeviceSpan<const K>& run : runs) {
    collected.add(run, {});
    require_apart("runs", run, "to", DeviceSpan<const K>(to));
  }
  require_span("to", to);
  detail::run_merge(collected, first, detail::Columns<K, detail::NoValue>{to.data, nullptr},
                    to.count, detail::ByKey<K, detail::NoValue, Less>{less}, workspace, stream);
}

/// The same of pairs. keys_to, values_to: as many elements.
template <class K, class V, class Less = std::less<>>
void merge_pairs(std::type_identity_t<std::span<const PairRun<K, V>>> runs, std::int64_t first,
                 DeviceSpan<K> keys_to, DeviceSpan<V> values_to, Workspace& workspace,
                 cudaStream_t stream, Less less = {}) {
  detail::require_element<K>();
  detail::require_element<V>();
  static_assert(detail::fits_item<K> && detail::fits_item<V>,
                "keys and values that are merged have at most 16 bytes, and a default constructor");
  detail::RunsToMerge<K, V> collected("runs", runs.size());
  for (const PairRun<K, V>& run : runs) {
    collected.add(run.keys, run.values);
    require_apart("runs", run.keys, "keys_to", DeviceSpan<const K>(keys_to));
    require_apart("runs", run.values, "values_to", DeviceSpan<const V>(values_to));
  }
  require_span("keys_to", keys_to);
  require_span("values_to", values_to);
  require_count("values_to", values_to.count, "keys_to", keys_to.count);
  require_apart("keys_to", keys_to, "values_to", values_to);
  detail::run_merge(collected, first, detail::Columns<K, V>{keys_to.data, values_to.data},
                    keys_to.count, detail::ByKey<K, V, Less>{less}, workspace, stream);
}

/// Where a merge of sorted runs is cut: positions[runs.size() * i + r] becomes how many keys of run
/// r come before the one of rank ranks[i] in the merged sequence. Runs, and errors, as merge_keys
/// has them. ranks: on the host, at most most_runs + 1, each 0 to the number of all keys.
/// positions: runs.size() * ranks.size() elements, on the current device.
template <class K, class Less = std::less<>>
void find_splits(std::span<const DeviceSpan<const K>> runs, std::span<const std::int64_t> ranks,
                 DeviceSpan<std::int64_t> positions, cudaStream_t stream, Less less = {}) {
  detail::RunsToMerge<K, detail::NoValue> collected("runs", runs.size());
  for (const DeviceSpan<const K>& run : runs) collected.add(run, {});
  const detail::Ranks of_kernel = detail::require_ranks(collected, ranks, positions);
  if (!detail::clear_positions(of_kernel, collected.total(), positions, stream)) return;
  const detail::ByKey<K, detail::NoValue, Less> by_key{less};
  launch({static_cast<unsigned>(ranks.size()), warp_threads, 0, stream},
         detail::find_splits_kernel<K, detail::NoValue, detail::ByKey<K, detail::NoValue, Less>>,
         collected.runs(), of_kernel, by_key, positions.data);
}

}  // namespace warpath::merge_sort
