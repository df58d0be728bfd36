// A tree of tuples that lie on several devices, as each of them can ask it.
//
// Queries go from node to node without order: over a link each step would take some microsecond, in
// a device's own memory a third of one. So each device has all tuples and all median stores, and
// answers queries of its own.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/devices.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "kd_tree/arguments.cuh"
#include "kd_tree/queries.cuh"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree {

/// A copy of a tree on each of several devices, which must outlive it.
template <class C>
class TreeOnDevices {
 public:
  /// parts, medians, nodes: as build_on_devices() was given them, and returned. They are read in
  /// the devices' streams, which wait for each other, and are no longer needed once these are done.
  /// Extra memory: on each device, all tuples and all stores. Throws std::invalid_argument, which
  /// names the argument; CudaError, which says how many bytes are needed and how many are free.
  TreeOnDevices(const Devices& devices, std::type_identity_t<std::span<const Points<C>>> parts,
                std::type_identity_t<DeviceSpan<const std::uint32_t>> medians, std::int64_t nodes)
      : dimensions_(parts.empty() ? 1 : parts.front().dimensions), nodes_(nodes) {
    const std::int64_t n = detail::require_parts(devices, parts);
    require_in_range("nodes", nodes, 0, n);
    require_room("medians", medians, median_entries(nodes));
    const std::int64_t entries = median_entries(nodes);
    devices.meet();  // all parts and the stores are there
    for (int i = 0; i < devices.count(); ++i) {
      const CurrentDevice current(devices.ordinal(i));
      const cudaStream_t stream = devices.stream(i);
      OfDevice own{DeviceBuffer<C>(n * dimensions_, stream),
                   DeviceBuffer<std::uint32_t>(entries, stream)};
      std::int64_t first = 0;
      for (int j = 0; j < devices.count(); ++j) {
        const DeviceSpan<const C> part = parts[static_cast<std::size_t>(j)].coordinates;
        devices.copy(own.coordinates.data() + first, i, part.data, j, part.count);
        first += part.count;
      }
      devices.copy(own.medians.data(), i, medians.data, 0, entries);
      copies_.push_back(std::move(own));
    }
    devices.meet();  // nothing is read any more
  }

  /// The copy of device i, which must be current: for queries in its stream, or after what that
  /// holds now. All copies have the same answers.
  [[nodiscard]] MedianTree<C> on(int i) const {
    require_in_range("i", i, 0, static_cast<std::int64_t>(copies_.size()) - 1);
    const OfDevice& own = copies_[static_cast<std::size_t>(i)];
    return {{own.coordinates.span(), dimensions_}, own.medians.span(), nodes_};
  }

 private:
  struct OfDevice {
    DeviceBuffer<C> coordinates;
    DeviceBuffer<std::uint32_t> medians;
  };
  int dimensions_;
  std::int64_t nodes_;
  std::vector<OfDevice> copies_;
};

}  // namespace warpath::kd_tree
