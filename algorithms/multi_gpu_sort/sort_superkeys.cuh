// Sorts tuples that lie on several devices by superkey: the public host function.
//
// Source: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Two GPU Sort". It is the tuples
// that come to other devices, and not references to them: a part's references stay those of its own
// tuples, each of them once.
//
//   swap_merge       tuples that belong to the other half change places with those that are there;
//                    the references to the two of them stay where they are, and are merged
//   splitter_merge   each device sorts references to its tuples, and writes the tuples in this
//   order
//                    to the devices that they belong to; there references to what has come are
//                    merged, all runs at once
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/devices.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "merge_sort/merge_superkeys.cuh"
#include "multi_gpu_sort/arguments.cuh"
#include "multi_gpu_sort/swap_merge.cuh"
#include "multi_gpu_sort/team.cuh"
#include "multi_gpu_sort/tuple_team.cuh"
#include "multi_gpu_sort/tuples.cuh"
#include "multi_gpu_sort/variant.hpp"

namespace warpath::multi_gpu_sort {

namespace detail {

/// How many tuples of each source (column) lie before each device's slice (row), and before the
/// end. Blocks the host, until all that is in the streams is done. Throws if there is NaN.
template <class C>
std::vector<std::vector<std::int64_t>> find_slices(const TupleTeam<C>& team) {
  const Devices& devices = team.devices();
  std::vector<merge_sort::SuperkeyPart<C>> sorted;
  std::vector<std::int64_t> ranks;
  for (int i = 0; i < team.count(); ++i) {
    const auto& own = team.sorted(i);
    sorted.push_back({{own.values, own.references}, own.tuples.coordinates});
    if (i > 0) devices.wait(0, i);
    ranks.push_back(team.begin(i));
  }
  ranks.push_back(team.begin(team.count()));
  const CurrentDevice current(devices.ordinal(0));
  const cudaStream_t stream = devices.stream(0);
  std::vector<std::int64_t> found(sorted.size() * ranks.size());
  DeviceBuffer<std::int64_t> positions(static_cast<std::int64_t>(found.size()), stream);
  merge_sort::find_superkey_splits<C>(sorted, team.dimensions(), team.order().primary, ranks,
                                      positions.span(), stream);
  team.require_no_nan();
  WARPATH_CUDA_CHECK(cudaMemcpyAsync(found.data(), positions.data(),
                                     found.size() * sizeof(std::int64_t), cudaMemcpyDeviceToHost,
                                     stream));
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  std::vector<std::vector<std::int64_t>> slices;
  for (auto row = found.begin(); row != found.end(); row += team.count()) {
    slices.emplace_back(row, row + team.count());
  }
  return slices;
}

template <class C>
void splitter_merge(TupleTeam<C>& team) {
  team.start_sorts_of_sources();
  const auto slices = find_slices(team);  // and so parts may be written
  team.tell(Step::split);
  const auto count = static_cast<std::size_t>(team.count());
  // Of each part (row), where what comes from each device (column) begins.
  std::vector<std::vector<std::int64_t>> begins(count);
  std::int64_t moved = 0;
  for (std::size_t to = 0; to < count; ++to) {
    std::int64_t next = 0;
    for (std::size_t from = 0; from < count; ++from) {
      const std::int64_t length = slices[to + 1][from] - slices[to][from];
      begins[to].push_back(next);
      next += length;
      if (from != to) moved += length;
    }
  }
  for (std::size_t from = 0; from < count; ++from) {
    std::vector<std::int64_t> places;
    std::vector<std::int64_t> ends;
    for (std::size_t to = 0; to < count; ++to) {
      places.push_back(begins[to][from]);
      ends.push_back(slices[to + 1][from]);
    }
    team.send(static_cast<int>(from), places, ends);
  }
  team.tell(Step::exchange, moved);
  team.devices().meet();  // all tuples are there
  for (int i = 0; i < team.count(); ++i)
    team.merge_received(i, begins[static_cast<std::size_t>(i)]);
  team.tell(Step::merge);
}

/// Throws unless all arrays are apart, and of sizes that fit.
template <class C>
void require_tuple_arrays(const Devices& devices, std::span<const SourceTuples<C>> sources,
                          std::span<const TuplePart<C>> parts, int dimensions, int primary) {
  require_count("sources", static_cast<std::int64_t>(sources.size()), "devices", devices.count());
  require_count("parts", static_cast<std::int64_t>(parts.size()), "devices", devices.count());
  struct Array {
    std::string name;
    DeviceSpan<const unsigned char> bytes;
    bool is_source;
  };
  std::vector<Array> arrays;
  const auto add = [&](const std::string& name, auto span, bool is_source) {
    require_span(name, span);
    const DeviceSpan<const unsigned char> bytes{
        reinterpret_cast<const unsigned char*>(span.data),
        span.count * static_cast<std::int64_t>(sizeof *span.data)};
    for (const Array& other : arrays) {
      if (is_source && other.is_source) continue;  // both are only read
      require_apart(other.name, other.bytes, name, bytes);
    }
    arrays.push_back({name, bytes, is_source});
  };
  const auto require_tuple_count = [&](const std::string& name, DeviceSpan<const C> coordinates) {
    require_tuples(Tuples<C>{coordinates, dimensions, primary}, 0, name + ".coordinates");
    const std::int64_t n = coordinates.count / dimensions;
    require_in_range("the number of tuples of " + name, n, 0,
                     std::numeric_limits<std::uint32_t>::max());
    return n;
  };
  std::int64_t given = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string own = "sources[" + std::to_string(i) + "]";
    const SourceTuples<C>& source = sources[i];
    const std::int64_t n = require_tuple_count(own, source.coordinates);
    given += n;
    add(own + ".coordinates", source.coordinates, true);
    if (source.numbers.data == nullptr && source.numbers.count == 0) continue;
    require_count(own + ".numbers", source.numbers.count, own + ".coordinates by dimensions", n);
    add(own + ".numbers", source.numbers, true);
  }
  std::int64_t taken = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string own = "parts[" + std::to_string(i) + "]";
    const TuplePart<C>& part = parts[i];
    const std::int64_t n = require_tuple_count(own, part.coordinates);
    taken += n;
    const std::string expected = own + ".coordinates by dimensions";
    require_count(own + ".numbers", part.numbers.count, expected, n);
    require_count(own + ".references", part.references.count, expected, n);
    require_count(own + ".values", part.values.count, expected, n);
    add(own + ".coordinates", part.coordinates, false);
    add(own + ".numbers", part.numbers, false);
    add(own + ".references", part.references, false);
    add(own + ".values", part.values, false);
  }
  if (given != taken) {
    throw std::invalid_argument("parts have room for " + std::to_string(taken) +
                                " tuples: expected " + std::to_string(given) +
                                ", as many as sources have");
  }
}

}  // namespace detail

/// Sorts the tuples of all sources by the superkey that begins with coordinate `primary`: they
/// become the tuples parts[0].references[0], [1], ..., then those of parts[1], and so on. Tuples,
/// with their numbers, lie at any place of the part that they belong to. Of wholly equal tuples,
/// those of earlier sources and places come first.
///
/// sources, parts: one a device, on it; of any sizes less than 2^32 tuples each, and as many in
/// all, of `dimensions` coordinates, 1 to 16: int32, int64, float or double. No part overlaps
/// another array. options.variant: swap_merge or splitter_merge; options.exchange: direct. All
/// devices need access to each other. Blocks the host while sources are sorted. Extra memory: four
/// numbers for each tuple, and what a sort needs; of swap_merge two. Throws std::invalid_argument,
/// which names the argument, or the number of the first source's first tuple that has NaN: then the
/// parts may have been written; CudaError, which says how many bytes are needed and how many are
/// free.
template <class C>
void sort_superkeys(const Devices& devices,
                    std::type_identity_t<std::span<const SourceTuples<C>>> sources,
                    std::type_identity_t<std::span<const TuplePart<C>>> parts, int dimensions,
                    int primary, Memory& memory, const Options& options = {}) {
  detail::require_access(devices, "expected devices that have, since tuples of all are compared");
  detail::require_options(devices, options);
  detail::require_memory(devices, memory);
  if (options.variant == Variant::radix_exchange) {
    throw std::invalid_argument(
        "options.variant is radix_exchange: expected swap_merge or splitter_merge for superkeys");
  }
  if (options.exchange != Exchange::direct) {
    throw std::invalid_argument(
        "options.exchange is copy: expected direct, by which kernels move tuples");
  }
  detail::require_tuple_arrays(devices, sources, parts, dimensions, primary);
  detail::TupleTeam<C> team(devices, sources, parts, dimensions, primary, memory, options);
  if (options.variant == Variant::swap_merge) {
    detail::SwapMerge(team).run();
  } else {
    detail::splitter_merge(team);
  }
}

}  // namespace warpath::multi_gpu_sort
