// The source's build on several devices: its refactoring, level after level of devices.
//
// Source: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Refactoring the Kd Tree algorithm
// for Multiple GPUs".
//
//   all devices     sort the tuples by the first coordinate's superkey; duplicates, which lie side
//                   by side then, go. The first half of the devices has what is less than the
//                   median, and the median; the others what is greater
//   each half       the same by the next coordinate, until each device has a subtree alone
//   each device     sorts its tuples by the other superkeys, and builds its subtree
//                   (reference_build.cuh)
//
// Each half has a host thread of its own. Where a device's tuples are sorted again, or wholly equal
// ones may have changed places by a swap, they are put in their order: so of equal ones the numbers
// grow with the places, as builds of one device count on. splitter_merge leaves equal ones in the
// order of their devices, and so of their numbers.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/devices.cuh"
#include "core/launch.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "core/superkey.cuh"
#include "kd_tree/distinct.cuh"
#include "kd_tree/join.cuh"
#include "kd_tree/nodes.cuh"
#include "kd_tree/reference_build.cuh"
#include "kd_tree/several_devices.cuh"
#include "kd_tree/shares.hpp"
#include "kd_tree/tree.cuh"
#include "multi_gpu_sort/pieces.hpp"
#include "multi_gpu_sort/sort_superkeys.cuh"

namespace warpath::kd_tree::detail {

template <class C>
class SortedTop {
 public:
  /// parts: one a device, of n > 0 tuples together. medians: on the first device, all no_node.
  SortedTop(const Devices& devices, std::span<const Points<C>> parts, std::int64_t n,
            std::uint32_t* medians, DevicesMemory& memory, const DevicesOptions& options)
      : devices_(devices),
        parts_(parts),
        dimensions_(parts.front().dimensions),
        medians_(medians),
        memory_(memory),
        options_(options),
        tuples_(static_cast<std::size_t>(devices.count())),
        nodes_(n) {
    memory_.of(devices.count() - 1);
    memory_.sort.of(devices.count() - 1);
  }

  /// Returns the number of nodes.
  std::int64_t run() {
    sort_all();
    split(0, devices_, 0);
    devices_.meet();
    return nodes_;
  }

  /// All tuples but duplicates, sorted over the devices, and nothing more.
  std::vector<NumberedTuples<C>> sort_all() {
    take_memory();
    devices_.meet();  // medians may be written
    std::vector<multi_gpu_sort::SourceTuples<C>> sources;
    std::uint32_t first = 0;
    for (const Points<C>& part : parts_) {
      sources.push_back({part.coordinates, {}, first});
      first += static_cast<std::uint32_t>(part.count());
    }
    sort(0, devices_, 0, sources);
    if (options_.build.removes_duplicates) remove_duplicates();
    std::vector<NumberedTuples<C>> all;
    for (const OfDevice& own : tuples_) all.push_back({own.coordinates, own.count, own.numbers, 0});
    return all;
  }
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

 private:
  /// The tuples of a device.
  struct OfDevice {
    C* coordinates = nullptr;
    std::uint32_t* numbers = nullptr;
    C* other_coordinates = nullptr;  ///< what they move to
    std::uint32_t* other_numbers = nullptr;
    std::uint32_t* references = nullptr;  ///< in the order of the last sort
    C* values = nullptr;
    std::int64_t count = 0;   ///< of references
    std::int64_t tuples = 0;  ///< these, and medians that went
  };

  [[nodiscard]] OfDevice& of(int i) { return tuples_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] int primary_of(int level) const { return level % dimensions_; }

  /// Memory for each device's share of the tuples.
  void take_memory() {
    const std::vector<std::int64_t> shares = tree_shares(nodes_, devices_.count());
    devices_.for_each([&](int i, cudaStream_t stream) {
      const std::int64_t n = shares[static_cast<std::size_t>(i)];
      const std::int64_t d = dimensions_;
      const auto [coordinates, others, numbers, other_numbers, references, values] =
          memory_.of(i).tuples.template take<C, C, std::uint32_t, std::uint32_t, std::uint32_t, C>(
              stream, d * n, d * n, n, n, n, n);
      of(i) = {coordinates, numbers, others, other_numbers, references, values, n, n};
    });
  }

  /// Sorts the tuples of some devices, the first of which is device `first`, as a level does.
  void sort(int first, const Devices& devices, int level) {
    std::vector<multi_gpu_sort::SourceTuples<C>> sources;
    for (int i = first; i < first + devices.count(); ++i) {
      OfDevice& own = of(i);
      sources.push_back({{own.coordinates, dimensions_ * own.count}, {own.numbers, own.count}});
      swap_memory(i);
      own.tuples = own.count;
    }
    sort(first, devices, level, sources);
  }
  /// These tuples become those of the devices.
  void sort(int first, const Devices& devices, int level,
            const std::vector<multi_gpu_sort::SourceTuples<C>>& sources) {
    std::vector<multi_gpu_sort::TuplePart<C>> parts;
    for (int i = first; i < first + devices.count(); ++i) {
      const OfDevice& own = of(i);
      parts.push_back({{own.coordinates, dimensions_ * own.count},
                       {own.numbers, own.count},
                       {own.references, own.count},
                       {own.values, own.count}});
    }
    multi_gpu_sort::Options options;
    options.variant = options_.sort;
    options.sort = options_.build.sort.value_or(merge_sort::fastest_for_superkeys(of(first).count));
    multi_gpu_sort::Memory memory = memory_.sort.from(first);
    multi_gpu_sort::sort_superkeys<C>(devices, sources, parts, dimensions_, primary_of(level),
                                      memory, options);
    if (level == 0 && options_.build.removes_duplicates) return;
    const bool is_last = devices.count() == 2;
    if (is_last && options_.sort == multi_gpu_sort::Variant::splitter_merge) return;
    for (int i = first; i < first + devices.count(); ++i) put_in_order(i);
  }
  void put_in_order(int i) {
    pack(i, of(i).references, of(i).count);
    const CurrentDevice current(devices_.ordinal(i));
    merge_sort::iota_references(DeviceSpan<std::uint32_t>{of(i).references, of(i).count},
                                devices_.stream(i));
  }
  /// The tuples of a device that references name, in their order.
  void pack(int i, const std::uint32_t* references, std::int64_t count) {
    OfDevice& own = of(i);
    const CurrentDevice current(devices_.ordinal(i));
    multi_gpu_sort::detail::Outbox<C> outbox;
    outbox.add(0, count, {own.other_coordinates, own.other_numbers, nullptr});
    multi_gpu_sort::detail::pack_tuples(
        multi_gpu_sort::detail::TuplesInOrder<C>{own.coordinates, own.numbers, 0, references,
                                                 nullptr},
        dimensions_, outbox, devices_.stream(i));
    swap_memory(i);
    own.count = own.tuples = count;
  }
  void swap_memory(int i) {
    OfDevice& own = of(i);
    std::swap(own.coordinates, own.other_coordinates);
    std::swap(own.numbers, own.other_numbers);
  }

  /// The tuples of some devices lie in the order of a level: splits them, and all below.
  void split(int first, const Devices& devices, int level) {
    if (devices.count() == 1) {
      build_subtree(first, level);
      return;
    }
    const int half = devices.count() / 2;
    take_median(first + half - 1, level, first / devices.count());
    const Devices less(devices, 0, half);
    const Devices greater(devices, half, half);
    auto of_less = std::async(std::launch::async, [&] { split_half(first, less, level + 1); });
    split_half(first + half, greater, level + 1);
    of_less.get();
  }
  void split_half(int first, const Devices& devices, int level) {
    if (devices.count() > 1) sort(first, devices, level);
    split(first, devices, level);
  }
  /// The last tuple of a device becomes the node of a level, and goes.
  void take_median(int i, int level, int number) {
    OfDevice& own = of(i);
    if (own.count == 0) return;
    --own.count;
    const CurrentDevice current(devices_.ordinal(i));
    launch({1, 1, 0, devices_.stream(i)}, look_up_kernel<std::uint32_t>, own.numbers,
           own.references + own.count, medians_ + first_entry(level) + number);
  }

  /// Duplicates, which lie side by side in the order of all devices, go: all but the first.
  void remove_duplicates() {
    std::vector<std::future<Kept>> all;
    for (int i = 0; i < devices_.count(); ++i) {
      all.push_back(std::async(std::launch::async, [this, i] { return keep_distinct_of(i); }));
    }
    std::vector<std::int64_t> counts;
    std::vector<C> last;  // of the devices before
    for (int i = 0; i < devices_.count(); ++i) {
      Kept kept = all[static_cast<std::size_t>(i)].get();
      if (kept.count > 0) {
        if (kept.first == last) {
          ++kept.references;
          --kept.count;
        }
        last = kept.last;
      }
      pack(i, kept.references, kept.count);
      counts.push_back(kept.count);
    }
    nodes_ = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    share_again(counts);
  }
  /// What is left of a device's tuples, and the first and the last of them.
  struct Kept {
    const std::uint32_t* references = nullptr;
    std::int64_t count = 0;
    std::vector<C> first;
    std::vector<C> last;
  };
  Kept keep_distinct_of(int i) {
    const OfDevice& own = of(i);
    if (own.count == 0) return {};
    const CurrentDevice current(devices_.ordinal(i));
    const cudaStream_t stream = devices_.stream(i);
    BuildMemory& memory = memory_.of(i).build;
    const auto [values, references] =
        memory.arrays.template take<C, std::uint32_t>(stream, own.count, own.count);
    const Tuples<C> tuples{{own.coordinates, dimensions_ * own.count}, dimensions_, 0};
    const std::int64_t kept =
        keep_distinct<C>(tuples, {own.values, own.count}, {own.references, own.count},
                         {values, own.count}, {references, own.count}, memory.steps, stream);
    return {references, kept, tuple_of(i, 0), tuple_of(i, own.count - 1)};
  }
  /// So many tuples lie on each device, in the order of all: each gets its share of them.
  void share_again(const std::vector<std::int64_t>& counts) {
    const std::vector<std::int64_t> shares = tree_shares(nodes_, devices_.count());
    devices_.meet();  // all tuples are in their order
    multi_gpu_sort::detail::for_each_piece(
        counts, shares,
        [&](int to, std::int64_t target, int from, std::int64_t source, std::int64_t length) {
          const std::int64_t d = dimensions_;
          devices_.copy(of(to).other_coordinates + d * target, to,
                        of(from).coordinates + d * source, from, d * length);
          devices_.copy(of(to).other_numbers + target, to, of(from).numbers + source, from, length);
        });
    devices_.meet();  // and with their devices
    for (int i = 0; i < devices_.count(); ++i) {
      OfDevice& own = of(i);
      swap_memory(i);
      own.count = own.tuples = shares[static_cast<std::size_t>(i)];
      const CurrentDevice current(devices_.ordinal(i));
      merge_sort::iota_references(DeviceSpan<std::uint32_t>{own.references, own.count},
                                  devices_.stream(i));
    }
  }
  /// The tuple at a place of a device's order. Blocks the host.
  std::vector<C> tuple_of(int i, std::int64_t place) {
    const OfDevice& own = of(i);
    const cudaStream_t stream = devices_.stream(i);
    const std::uint32_t tuple =
        value_at(DeviceSpan<const std::uint32_t>{own.references, own.count}, place, stream);
    std::vector<C> coordinates(static_cast<std::size_t>(dimensions_));
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(coordinates.data(), own.coordinates + std::int64_t{tuple} * dimensions_,
                        coordinates.size() * sizeof(C), cudaMemcpyDeviceToHost, stream));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    return coordinates;
  }

  /// The subtree of device i, whose root lies on a level.
  void build_subtree(int i, int level) {
    OfDevice& own = of(i);
    if (own.count == 0) return;
    const CurrentDevice current(devices_.ordinal(i));
    const cudaStream_t stream = devices_.stream(i);
    const std::int64_t entries = median_entries(own.count);
    const auto [subtree] = memory_.of(i).medians.template take<std::uint32_t>(stream, entries);
    const std::uint32_t* const median =
        own.tuples > own.count ? own.references + own.count : nullptr;
    ReferenceBuild<C>({{own.coordinates, dimensions_ * own.tuples}, dimensions_}, subtree,
                      memory_.of(i).build, stream, options_.build)
        .run_subtree(level, own.references, own.count, median);
    join_subtree(subtree, own.count, own.numbers, level, i, medians_, stream);
  }

  const Devices& devices_;
  std::span<const Points<C>> parts_;
  int dimensions_;
  std::uint32_t* medians_;
  DevicesMemory& memory_;
  const DevicesOptions& options_;
  std::vector<OfDevice> tuples_;
  std::int64_t nodes_;
};

}  // namespace warpath::kd_tree::detail
