// Sorts references to tuples by superkey: the value array of the source, and what finds NaN.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/superkey.cuh"
#include "merge_sort/dispatch.cuh"
#include "merge_sort/items.cuh"
#include "merge_sort/orders.cuh"
#include "merge_sort/tuning.hpp"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::detail {

/// The items that are sorted first: of each reference, the tuple's coordinate `primary`. Looks at
/// all of the tuple's coordinates for NaN; the least index of one goes to `first_nan`.
template <class C>
struct GatheredItems {
  const C* coordinates;  // tuple r begins at coordinate r * dimensions
  int dimensions;
  int primary;
  const std::uint32_t* references;
  unsigned long long* first_nan;

  [[nodiscard]] __device__ __forceinline__ SuperkeyItem<C> load(std::int64_t i) const {
    const std::uint32_t reference = references[i];
    return SuperkeyItem<C>::of(coordinates[std::int64_t{reference} * dimensions + primary],
                               reference);
  }
  /// Whether tuple i has a NaN. Does not branch, so that the loads of many tuples are under way.
  [[nodiscard]] __device__ __forceinline__ bool is_broken(std::int64_t i) const {
    bool is_broken = false;
    if constexpr (std::is_floating_point_v<C>) {
      const C* const tuple = coordinates + std::int64_t{references[i]} * dimensions;
#pragma unroll 4
      for (int k = 0; k < dimensions; ++k) is_broken |= tuple[k] != tuple[k];
    }
    return is_broken;
  }
  /// Notes the NaN that tuple i has, if any.
  __device__ void report(std::int64_t i) const {
    const std::int64_t begin = std::int64_t{references[i]} * dimensions;
    for (int k = 0; k < dimensions; ++k) {
      if (coordinates[begin + k] != coordinates[begin + k]) {
        atomicMin(first_nan, static_cast<unsigned long long>(begin + k));
      }
    }
  }
};

/// How many tied values one thread sorts.
inline constexpr int most_tied = 32;

/// Brings references whose values tie into the superkey order: the thread of the first one sorts
/// them. Of more than `most_tied`, *is_needed says whether there are any that are not in order. Any
/// grid.
template <class C>
__global__ void sort_ties_kernel(SuperkeyColumns<C> columns, std::int64_t n, BySuperkey<C> order,
                                 unsigned* is_needed) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    const auto bits = key_bits(columns.values[i]);
    const auto is_tied = [&](std::int64_t j) {
      return j >= 0 && j < n && key_bits(columns.values[j]) == bits;
    };
    if (!is_tied(i + 1)) continue;
    // Before and after i, as far as it matters.
    int before = is_tied(i - most_tied) ? most_tied : 0;
    int after = is_tied(i + most_tied) ? most_tied : 1;
    while (before + after < most_tied && is_tied(i - before - 1)) ++before;
    while (before + after < most_tied && is_tied(i + after + 1)) ++after;
    std::uint32_t* const references = columns.references + i;
    if (before + after >= most_tied) {
      if (order.is_tied_less(references[1], references[0])) atomicExch(is_needed, 1U);
    } else if (before == 0) {
      for (int next = 1; next <= after; ++next) {
        const std::uint32_t reference = references[next];
        int place = next;
        for (; place > 0 && order.is_tied_less(reference, references[place - 1]); --place) {
          references[place] = references[place - 1];
        }
        references[place] = reference;
      }
    }
  }
}

/// The same items with the second coordinate of the superkey beside the first, which each load
/// gathers from the tuple: where many values tie, few pairs of them do.
template <class C>
struct TiedItem {
  OrderedBits<C> first;
  OrderedBits<C> second;
  std::uint32_t reference;
};
template <class C>
struct TiedColumns {
  using Item = TiedItem<C>;
  SuperkeyColumns<C> columns;
  const C* seconds;  ///< coordinate 1 of the superkey of tuple 0
  int dimensions;
  __device__ __forceinline__ Item load(std::int64_t i) const {
    const std::uint32_t reference = columns.references[i];
    return {key_bits(columns.values[i]), key_bits(seconds[std::int64_t{reference} * dimensions]),
            reference};
  }
  __device__ __forceinline__ void store(std::int64_t i, const Item& item) const {
    columns.values[i] = key_of_bits<C>(item.first);
    columns.references[i] = item.reference;
  }
};
template <class C>
struct ByTwoCoordinates {
  static constexpr bool is_total = true;
  BySuperkey<C> rest;
  __device__ __forceinline__ bool operator()(const TiedItem<C>& a, const TiedItem<C>& b) const {
    if (a.first != b.first) return a.first < b.first;
    if (a.second != b.second) return a.second < b.second;
    return rest.is_tied_less(a.reference, b.reference);
  }
};

/// sort_superkeys() of arguments that are right. `binary_merge` is as the source has it: whenever
/// it compares two values that tie, it reads their tuples. `multiway_merge` sorts by value and
/// reference alone, and then each short run of tied values; if there are long ones that are not in
/// order, it sorts once more, by two coordinates, and reads tuples where these tie.
template <class Tuning, class C>
void run_sort_superkeys(const Tuples<C>& tuples, DeviceSpan<std::uint32_t> references,
                        DeviceSpan<C> values, DeviceCount& first_nan, Workspace& workspace,
                        cudaStream_t stream, const Options& options) {
  using TiedTuning = TuningOf<sizeof(TiedItem<C>)>;
  const std::int64_t n = references.count;
  WARPATH_CUDA_CHECK(cudaMemsetAsync(first_nan.data(), 0xFF, sizeof(std::int64_t), stream));
  if (n == 0) return;
  const int dimensions = tuples.dimensions;
  const bool reads_ties = options.variant == Variant::binary_merge || dimensions == 1;
  const std::int64_t spare_count = std::max(spare_items<Tuning>(n, options),
                                            reads_ties ? 0 : spare_items<TiedTuning>(n, options));
  const std::int64_t bytes = std::max(position_bytes<Tuning>(n, options),
                                      reads_ties ? 0 : position_bytes<TiedTuning>(n, options));
  const auto [spare_values, spare_references, positions, is_needed] =
      workspace.template take<C, std::uint32_t, unsigned char, unsigned>(
          stream, spare_count, spare_count, bytes, reads_ties ? 0 : 1);
  const GatheredItems<C> items{tuples.coordinates.data, dimensions, tuples.primary, references.data,
                               reinterpret_cast<unsigned long long*>(first_nan.data())};
  const SuperkeyColumns<C> home{values.data, references.data};
  const SuperkeyColumns<C> spare{spare_values, spare_references};
  const BySuperkey<C> order{tuples.coordinates.data, dimensions, tuples.primary};
  if (reads_ties) {
    sort_columns<Tuning>(items, home, spare, positions, n, order, stream, options);
    return;
  }
  sort_columns<Tuning>(items, home, spare, positions, n, ByFirstCoordinate<C>{}, stream, options);
  WARPATH_CUDA_CHECK(cudaMemsetAsync(is_needed, 0, sizeof(unsigned), stream));
  const std::int64_t blocks = std::min<std::int64_t>(divide_up(n, 256), 1 << 20);
  launch({static_cast<unsigned>(blocks), 256, 0, stream}, sort_ties_kernel<C>, home, n, order,
         is_needed);
  const C* const seconds = tuples.coordinates.data + (tuples.primary + 1) % dimensions;
  const TiedColumns<C> tied_home{home, seconds, dimensions};
  sort_columns<TiedTuning>(tied_home, tied_home, TiedColumns<C>{spare, seconds, dimensions},
                           positions, n, ByTwoCoordinates<C>{order}, stream, options,
                           Condition{is_needed});
}

/// references[i] becomes i.
template <class Reference>
__global__ void iota_kernel(Reference* references, std::int64_t n) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    references[i] = static_cast<Reference>(i);
  }
}

}  // namespace warpath::merge_sort::detail
