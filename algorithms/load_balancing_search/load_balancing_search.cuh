// Load-balancing search: which object has a work item? The public host functions.
//
// Source: S. Baxter, "Modern GPU 1.1", NVIDIA Research 2013, https://moderngpu.github.io/ ,
// "Load-Balancing Search".
//
// Object o has counts[o] >= 0 work items. `scan` is the exclusive scan of the counts, so that
// object o has the work items [scan[o], scan[o + 1]), the last one those up to `items`. The caller
// computes the scan; Offset is a signed integer of 4 or 8 bytes, Index any integer of 4 or 8 bytes
// that holds an object's number.
//   Extra memory    output_aligned, upper_bound and interval_move: none; merge_path: 8 bytes a tile
//                   of 128 x items_per_thread work items and objects; for_each_work_item: a tile of
//                   1408, and as much interval_expand where it calls that (README, Interval expand
//                   and interval move).
//   Preconditions   scan begins with 0, never decreases, and passes `items` nowhere: where checks
//                   are on (core/checked.hpp), a call throws std::invalid_argument with the first
//                   index that breaks this; where they are off, the result is undefined. Sizes,
//                   overlaps and options are always tested.
// Nothing is allocated outside the workspace; nothing synchronises (but the checks).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "core/buffer.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "load_balancing_search/kernels.cuh"
#include "load_balancing_search/variant.hpp"

namespace warpath::load_balancing_search {

namespace detail {

/// Whether an object begins before the previous one, or after all work items, or is the first and
/// does not begin at 0.
struct IsBrokenScan {
  std::int64_t items;
  template <class Offset>
  __device__ bool operator()(const Offset* scan, std::int64_t i) const {
    const auto begin = static_cast<std::int64_t>(scan[i]);
    if (i == 0) return begin != 0;
    return begin < static_cast<std::int64_t>(scan[i - 1]) || begin > items;
  }
};

/// Where checks are on: throws std::invalid_argument unless `scan` is an exclusive scan of counts
/// that are not negative and whose sum is at most `items`.
template <class Offset>
void require_scan_of_counts(const Work<Offset>& work, cudaStream_t stream) {
  if (!is_checked()) return;
  const std::int64_t index = first_broken(DeviceSpan<const Offset>{work.scan, work.objects},
                                          IsBrokenScan{work.items}, stream);
  if (index < 0) return;
  Offset found[2] = {};  // the one before it, and this one
  const std::int64_t from = index > 0 ? index - 1 : 0;
  WARPATH_CUDA_CHECK(cudaMemcpyAsync(found + (index > 0 ? 0 : 1), work.scan + from,
                                     sizeof(Offset) * static_cast<std::size_t>(index - from + 1),
                                     cudaMemcpyDeviceToHost, stream));
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  const std::string what =
      "scan[" + std::to_string(index) + "] is " + std::to_string(found[1]) + ": expected ";
  if (index == 0) throw std::invalid_argument(what + "0, where the first object begins");
  if (found[1] < found[0]) {
    throw std::invalid_argument(what + "at least scan[" + std::to_string(index - 1) + "], " +
                                std::to_string(found[0]) + ", since no count is negative");
  }
  throw std::invalid_argument(what + "at most " + std::to_string(work.items) +
                              ", the number of work items");
}

}  // namespace detail

/// The work of a call, checked: what all host functions demand of `items` and `scan`. A function
/// that launches a kernel of your own begins with it.
template <class Scan>
Work<std::remove_const_t<Scan>> checked_work(std::int64_t items, DeviceSpan<Scan> scan,
                                             cudaStream_t stream) {
  using Offset = std::remove_const_t<Scan>;
  static_assert(std::is_signed_v<Offset> && std::is_integral_v<Offset> &&
                    (sizeof(Offset) == 4 || sizeof(Offset) == 8),
                "offsets are signed integers of 4 or 8 bytes");
  require_span("scan", scan);
  require_in_range("items", items, 0, std::numeric_limits<Offset>::max());
  if (items > 0) {
    require_in_range("scan: the number of objects", scan.count, 1,
                     std::numeric_limits<std::int64_t>::max() - items);
  }
  const Work<Offset> work{items, scan.data, scan.count};
  detail::require_scan_of_counts(work, stream);
  return work;
}

/// objects[i] becomes the number of the object that work item i belongs to. scan: one element an
/// object; objects: at least `items` elements.
template <class Scan, class Index>
void load_balancing_search(std::int64_t items, DeviceSpan<Scan> scan, DeviceSpan<Index> objects,
                           Workspace& workspace, cudaStream_t stream, const Options& options = {}) {
  static_assert(std::is_integral_v<Index> && (sizeof(Index) == 4 || sizeof(Index) == 8),
                "objects are numbered by integers of 4 or 8 bytes");
  require_enum("variant", options.variant);
  detail::require_items_per_thread(options.items_per_thread);
  const auto work = checked_work(items, scan, stream);
  require_span("objects", objects);
  require_room("objects", objects, items);
  require_apart("scan", scan, "objects", objects);
  if (scan.count > 0) {
    require_in_range("the last object's number", scan.count - 1, 0,
                     static_cast<std::int64_t>(std::min(
                         static_cast<std::uint64_t>(std::numeric_limits<Index>::max()),
                         static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))));
  }
  if (items > 0) detail::run(work, objects.data, workspace, stream, options);
}

}  // namespace warpath::load_balancing_search
