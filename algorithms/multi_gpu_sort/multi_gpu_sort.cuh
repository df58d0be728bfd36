// Sorts keys, or keys with their values, that lie on several devices: the public host functions.
// What lies in host memory is sorted by those of host_sort.cuh.
//
// Sources: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Two GPU Sort"; I. Tanasic, L.
// Vilanova, M. Jorda, J. Cabezas, I. Gelado, N. Navarro, W. Hwu, "Comparison Based Sorting for
// Systems with Multiple GPUs", GPGPU-6, 2013, https://doi.org/10.1145/2458523.2458524 .
//
// Each device has a part, of any size. After the sort the parts, one after the other, are sorted,
// and of the sizes that they had.
//
//   Stability       equal keys stay in the order of the parts, and of the places in a part;
//                   radix_exchange sorts numbers of which equal ones are the same
//   Order           all work is put in the devices' own streams, which wait for each other; what
//                   the caller has put there before is done before
//   Extra memory    a copy of each part on its device, and less than 1 % for positions in runs;
//                   with radix_exchange 4 to 6 %
//   Errors          std::invalid_argument, which names the argument; CudaError, which says how many
//                   bytes are needed and how many are free
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "core/devices.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "multi_gpu_sort/arguments.cuh"
#include "multi_gpu_sort/host_sort.cuh"
#include "multi_gpu_sort/radix_exchange.cuh"
#include "multi_gpu_sort/sort_superkeys.cuh"
#include "multi_gpu_sort/splitter_merge.cuh"
#include "multi_gpu_sort/swap_merge.cuh"
#include "multi_gpu_sort/team.cuh"
#include "multi_gpu_sort/variant.hpp"

namespace warpath::multi_gpu_sort {

namespace detail {

template <class T>
void require_parts(const std::string& name, const Devices& devices,
                   std::span<const DeviceSpan<T>> parts) {
  require_count(name, static_cast<std::int64_t>(parts.size()), "devices", devices.count());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string own = name + "[" + std::to_string(i) + "]";
    require_span(own, parts[i]);
    for (std::size_t j = 0; j < i; ++j) {
      require_apart(name + "[" + std::to_string(j) + "]", parts[j], own, parts[i]);
    }
  }
}

/// Whether radix_exchange sorts them.
template <class K, class V, class Less>
inline constexpr bool sorts_by_radix = RadixKey<K>&& std::is_same_v<V, NoValues> &&
                                       (std::is_same_v<Less, std::less<>> ||
                                        std::is_same_v<Less, std::less<K>>);

template <class K, class V, class Less>
void run_sort(const Devices& devices, std::vector<Part<K, V>> parts, Memory& memory, Less less,
              const Options& options) {
  if (options.variant == Variant::radix_exchange && !sorts_by_radix<K, V, Less>) {
    throw std::invalid_argument(
        "options.variant is radix_exchange: expected keys that are numbers of 4 or 8 bytes, "
        "without "
        "values, and std::less");
  }
  Team<K, V, Less> team(devices, std::move(parts), memory, less, options);
  if (options.variant == Variant::radix_exchange) {
    if constexpr (sorts_by_radix<K, V, Less>) RadixExchange<K, Less>(team, memory).run();
  } else if (options.variant == Variant::swap_merge) {
    SwapMerge(team).run();
  } else {
    splitter_merge(team);
  }
}

}  // namespace detail

/// Sorts the keys of all parts by `less`, a device functor: a strict weak order. (By what is none
/// the sort ends, and writes nothing but the keys, of which some may be lost then; where
/// splitter_merge with copies finds no cuts, it throws std::invalid_argument.) parts: one a device,
/// on it. Keys of at most 16 bytes.
template <class K, class Less = std::less<>>
void sort_keys(const Devices& devices, std::span<const DeviceSpan<K>> parts, Memory& memory,
               Less less = {}, const Options& options = {}) {
  detail::require_options(devices, options);
  detail::require_sort_of_keys(options);
  detail::require_memory(devices, memory);
  detail::require_parts("parts", devices, parts);
  std::vector<detail::Part<K, detail::NoValues>> all;
  for (const DeviceSpan<K>& part : parts) all.push_back({part.data, nullptr, part.count});
  detail::run_sort(devices, std::move(all), memory, less, options);
}

/// Sorts the keys of all parts, and each one's value with it. keys, values: one a device, of as
/// many elements; of at most 16 bytes each.
template <class K, class V, class Less = std::less<>>
void sort_pairs(const Devices& devices, std::span<const DeviceSpan<K>> keys,
                std::span<const DeviceSpan<V>> values, Memory& memory, Less less = {},
                const Options& options = {}) {
  detail::require_options(devices, options);
  detail::require_sort_of_keys(options);
  detail::require_memory(devices, memory);
  detail::require_parts("keys", devices, keys);
  detail::require_parts("values", devices, values);
  std::vector<detail::Part<K, V>> all;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string number = "[" + std::to_string(i) + "]";
    require_count("values" + number, values[i].count, "keys" + number, keys[i].count);
    for (std::size_t j = 0; j < keys.size(); ++j) {
      require_apart("keys" + number, keys[i], "values[" + std::to_string(j) + "]", values[j]);
    }
    all.push_back({keys[i].data, values[i].data, keys[i].count});
  }
  detail::run_sort(devices, std::move(all), memory, less, options);
}

}  // namespace warpath::multi_gpu_sort
