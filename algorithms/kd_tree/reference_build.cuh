// The builds of the source: a reference array for each coordinate, sorted by the superkey that
// begins with it, and split level after level about the medians of one of them.
//
//   four_partitioners   sort all D arrays; remove duplicates from each; partition levels 0, 1, ...
//   half_sorts          sort array 0; remove duplicates; its median is level 0's. Copy what is less
//                       and what is greater to the other arrays, sort each half of each; partition
//                       levels 1, 2, ...
//
// Memory: each array has two sides, since a level moves all arrays but the primary one.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/launch.cuh"
#include "core/superkey.cuh"
#include "kd_tree/distinct.cuh"
#include "kd_tree/memory.cuh"
#include "kd_tree/nodes.cuh"
#include "kd_tree/tree.cuh"
#include "kd_tree/variant.hpp"
#include "merge_sort/merge_sort.cuh"
#include "partitioners/partitioners.cuh"
#include "warp_compaction/warp_compaction.cuh"

namespace warpath::kd_tree {

namespace detail {

/// numbers becomes 0, 1, ... without left_out[0]; with it, if null.
template <class Number>
__global__ void number_all_but_kernel(Number* numbers, std::int64_t count, const Number* left_out) {
  const std::int64_t gap = left_out == nullptr ? count : std::int64_t{*left_out};
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    numbers[i] = static_cast<Number>(i < gap ? i : i + 1);
  }
}

template <class C>
class ReferenceBuild {
 public:
  /// n > 0 points; medians: median_entries(n).
  ReferenceBuild(const Points<C>& points, std::uint32_t* medians, BuildMemory& memory,
                 cudaStream_t stream, const Options& options)
      : points_(points),
        n_(points.count()),
        medians_(medians),
        memory_(memory),
        stream_(stream),
        options_(options),
        first_nan_(stream) {
    const std::int64_t values = n_ * (options.removes_duplicates ? 2 : 1);
    const auto [references, sorted] =
        memory.arrays.template take<std::uint32_t, C>(stream, 2 * points.dimensions * n_, values);
    std::uint32_t* next = references;
    for (int k = 0; k < points.dimensions; ++k) {
      arrays_[k] = {next, next + n_};
      next += 2 * n_;
    }
    values_ = sorted;
  }

  /// A subtree whose root lies on level `level`, 1 or more, of its tree: of n > 0 of the points,
  /// none of them NaN. references: to these, in the order of the superkey by which the level above
  /// splits. Of equal points, the lesser ones come first. left_out: on the device, the number of
  /// the one point that is not in the subtree; null if all are. The stores are those of the
  /// subtree.
  void run_subtree(int level, const std::uint32_t* references, std::int64_t n,
                   const std::uint32_t* left_out) {
    first_level_ = level;
    n_ = n;
    const int sorted = primary_of(-1);
    copy(arrays_[sorted].now, references, n_);
    for (int k = 0; k < points_.dimensions; ++k) {
      if (k == sorted) continue;
      // Sorts read points in the order of their numbers faster than in any other.
      launch({blocks_of_256(n_), 256, 0, stream_}, number_all_but_kernel<std::uint32_t>,
             arrays_[k].now, n_, left_out);
      sort(k, 0, n_);
    }
    partition_levels(0);
  }

  /// Returns the number of nodes.
  std::int64_t run() {
    const std::int64_t tuples = n_;
    sort_all(0);
    merge_sort::require_no_nan(first_nan_, tuples_by(0), stream_);
    if (options_.removes_duplicates) n_ = remove_duplicates(0);
    clear_entries(medians_, median_entries(n_), median_entries(tuples), stream_);
    if (options_.variant == Variant::half_sorts) {
      sort_halves();
      partition_levels(1);
    } else {
      sort_others();
      partition_levels(0);
    }
    return n_;
  }

 private:
  /// A reference array, and the memory that it moves to.
  struct Array {
    std::uint32_t* now = nullptr;
    std::uint32_t* other = nullptr;
  };

  /// The coordinate by which a level splits.
  [[nodiscard]] int primary_of(int level) const {
    return (first_level_ + level) % points_.dimensions;
  }
  [[nodiscard]] Tuples<C> tuples_by(int primary) const {
    return {points_.coordinates, points_.dimensions, primary};
  }

  /// Sorts places [begin, begin + count) of array k.
  void sort(int k, std::int64_t begin, std::int64_t count) {
    merge_sort::sort_superkeys(tuples_by(k), {arrays_[k].now + begin, count}, {values_, count},
                               first_nan_, memory_.steps, stream_,
                               options_.sort.value_or(merge_sort::fastest_for_superkeys(count)));
  }
  /// Array k has all points.
  void sort_all(int k) {
    const DeviceSpan<std::uint32_t> references{arrays_[k].now, points_.count()};
    merge_sort::iota_references(references, stream_);
    sort(k, 0, points_.count());
    tell(options_.after_step, Step::sort, k);
  }

  /// Removes the references of duplicates from array k, all of whose points are sorted. Returns how
  /// many are left, once they are.
  std::int64_t remove_duplicates(int k) {
    Array& array = arrays_[k];
    const std::int64_t count = points_.count();
    std::swap(array.now, array.other);
    const std::int64_t kept =
        keep_distinct<C>(tuples_by(k), {values_, count}, {array.other, count},
                         {values_ + count, count}, {array.now, count}, memory_.steps, stream_);
    tell(options_.after_step, Step::remove_duplicates, k);
    return kept;
  }

  void sort_others() {
    for (int k = 1; k < points_.dimensions; ++k) {
      sort_all(k);
      if (options_.removes_duplicates) remove_duplicates(k);
    }
  }

  /// After the first level: array 0 is split where it is, and the others are sorted in halves.
  void sort_halves() {
    const partitioners::Segment all{0, static_cast<std::uint32_t>(n_)};
    copy(medians_, arrays_[0].now + all.median(), 1);
    for (int k = 1; k < points_.dimensions; ++k) {
      copy(arrays_[k].now, arrays_[0].now, n_);
      for (const partitioners::Segment& half : {all.less_side(), all.greater_side()}) {
        sort(k, half.begin, half.count());
      }
      tell(options_.after_step, Step::sort, k);
    }
  }
  void copy(std::uint32_t* to, const std::uint32_t* from, std::int64_t count) {
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(to, from,
                                       static_cast<std::size_t>(count) * sizeof(std::uint32_t),
                                       cudaMemcpyDeviceToDevice, stream_));
  }

  /// All levels from `first` on; of a tree that the source's last partitioner makes alone, that
  /// one.
  void partition_levels(int first) {
    const bool is_source = options_.partition.variant == partitioners::Variant::source;
    // The source's last partitioner ends the build: it makes the nodes of the last two levels.
    const int last = is_source ? partitioners::leaf_level(n_) : partitioners::last_level(n_);
    for (int level = std::min(first, last); level <= last; ++level) partition_level(level);
  }
  void partition_level(int level) {
    const int primary = primary_of(level);
    partitioners::ReferenceArray others[most_dimensions];
    std::size_t count = 0;
    for (int k = 0; k < points_.dimensions; ++k) {
      if (k == primary) continue;
      others[count++] = {{arrays_[k].now, n_}, {arrays_[k].other, n_}};
      std::swap(arrays_[k].now, arrays_[k].other);
    }
    const std::int64_t entries = std::int64_t{1} << level;
    std::uint32_t* const of_level = medians_ + first_entry(level);
    const bool is_last = level == partitioners::last_level(n_);
    partitioners::partition_level(
        tuples_by(primary), level, {arrays_[primary].now, n_}, std::span(others, count),
        {{of_level, entries}, {of_level + entries, is_last ? 0 : 2 * entries}}, memory_.steps,
        stream_, options_.partition);
    tell(options_.after_step, Step::partition, level);
  }

  Points<C> points_;
  std::int64_t n_;       // of references in an array
  int first_level_ = 0;  // of the tree, where this is a subtree
  std::uint32_t* medians_;
  BuildMemory& memory_;
  cudaStream_t stream_;
  Options options_;
  DeviceCount first_nan_;
  Array arrays_[most_dimensions];
  C* values_ = nullptr;  // of the array that is sorted; twice as many where duplicates are removed
};

}  // namespace detail
}  // namespace warpath::kd_tree
