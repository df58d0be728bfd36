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
#include "merge_sort/long_ties.cuh"
#include "merge_sort/orders.cuh"
#include "merge_sort/passes.cuh"
#include "merge_sort/radix_sort.cuh"
#include "merge_sort/ties.cuh"
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

  [[nodiscard]] __device__ __forceinline__ std::uint32_t reference(std::int64_t i) const {
    return references[i];
  }
  [[nodiscard]] __device__ __forceinline__ SuperkeyItem<C> item(std::uint32_t reference) const {
    return SuperkeyItem<C>::of_bits(key_bits(tuple(reference)[primary]), reference);
  }
  [[nodiscard]] __device__ __forceinline__ SuperkeyItem<C> load(std::int64_t i) const {
    return item(references[i]);
  }
  [[nodiscard]] __device__ __forceinline__ bool has_nan(std::uint32_t reference, int k) const {
    const C coordinate = tuple(reference)[k];
    return coordinate != coordinate;  // never, of integers
  }
  /// Notes the first NaN of a tuple, if it has any.
  __device__ void report(std::uint32_t reference) const {
    for (int k = 0; k < dimensions; ++k) {
      if (!has_nan(reference, k)) continue;
      const auto index =
          static_cast<unsigned long long>(reference) * static_cast<unsigned long long>(dimensions) +
          static_cast<unsigned long long>(k);
      atomicMin(first_nan, index);
      return;
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ const C* tuple(std::uint32_t reference) const {
    return coordinates + std::int64_t{reference} * dimensions;
  }
};

/// Sorts references by ties of `sorted` values, or lists those that shared memory does not hold.
template <class Tuning, class Shape, class C, class Sorted>
void find_ties(const Sorted& sorted, std::uint32_t* references, const TiedRuns& longer,
               std::int64_t n, const Superkeys<C>& superkeys, int depth, cudaStream_t stream) {
  launch({static_cast<unsigned>(divide_up(n, Shape::tile_items)), Shape::threads,
          sizeof(TiesStorage<C, Shape>), stream, starts_early},
         sort_ties_kernel<Tuning, Shape, C, Sorted>, sorted, references, n, superkeys, depth,
         longer);
}

/// Sorts references by ties in coordinates 1, 2, ... of their superkeys, once they are sorted by
/// coordinate 0, of which `sorted` are the values; `depth` is dimensions, or one more if ties are
/// not yet in the order of the references.
template <class Tuning, class C, class Sorted>
void sort_ties(const Sorted& sorted, const SuperkeyColumns<C>& home,
               const SuperkeyColumns<C>& spare, const TiedLists& lists, std::int64_t n,
               const Superkeys<C>& superkeys, int depth, cudaStream_t stream) {
  if (n < Tuning::least_for_sparse_ties) {
    find_ties<Tuning, typename Tuning::TiesShape>(sorted, home.references, lists.list(1), n,
                                                  superkeys, depth, stream);
  } else {
    find_ties<Tuning, typename Tuning::SparseTiesShape>(sorted, home.references, lists.list(1), n,
                                                        superkeys, depth, stream);
  }
  if (lists.capacity == 0) return;
  const auto kernel = sort_long_ties_kernel<Tuning, C>;
  constexpr std::size_t shared_bytes = sizeof(LongTiesStorage<Tuning, C>);
  constexpr unsigned threads = Tuning::SortShape::threads;
  const std::int64_t resident = resident_blocks(kernel, threads, shared_bytes);
  const std::int64_t blocks = std::min(resident, divide_up(n, Tuning::TiesShape::most_ranked));
  launch({static_cast<unsigned>(blocks), threads, shared_bytes, stream, starts_early}, kernel,
         between_passes(home), spare, superkeys, depth,
         passes_of<Tuning>(n, Variant::multiway_merge).merges, lists);
}

template <class Tuning, class C>
void run_sort_superkeys(const Tuples<C>& tuples, DeviceSpan<std::uint32_t> references,
                        DeviceSpan<C> values, DeviceCount& first_nan, Workspace& workspace,
                        cudaStream_t stream, const Options& options) {
  const std::int64_t n = references.count;
  WARPATH_CUDA_CHECK(cudaMemsetAsync(first_nan.data(), 0xFF, sizeof(std::int64_t), stream));
  if (n == 0) return;
  const int dimensions = tuples.dimensions;
  const bool is_source = options.variant == Variant::binary_merge;
  const bool is_radix = options.variant == Variant::key_then_ties;
  // Ties in coordinates 1 to depth - 1 are sorted after all values.
  const int depth = is_source ? 1 : is_radix ? dimensions + 1 : dimensions;
  const std::int64_t most_runs = depth == 1 ? 0 : n / (Tuning::TiesShape::most_ranked + 1);
  const std::int64_t spare_count = is_radix || most_runs > 0 ? n : spare_items<Tuning>(n, options);
  const std::int64_t words = depth == 1 ? 0 : TiedLists::words_of(depth);
  // Once all values are sorted, lists of runs lie where positions were.
  const std::int64_t sort_bytes =
      is_radix ? radix_bytes<Tuning, C>(n, options) : position_bytes<Tuning>(n, options);
  const std::int64_t list_bytes = 2 * most_runs * static_cast<std::int64_t>(sizeof(TiedRun));
  const auto [spare_values, spare_references, bytes, counts] =
      workspace.template take<C, std::uint32_t, unsigned char, unsigned long long>(
          stream, spare_count, spare_count, std::max(sort_bytes, list_bytes), words);
  const SuperkeyColumns<C> home{values.data, references.data, /*is_result=*/true};
  const SuperkeyColumns<C> spare{spare_values, spare_references};
  if (words > 0) {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(
        counts, 0, static_cast<std::size_t>(words) * sizeof(unsigned long long), stream));
  }
  const C* const coordinates = tuples.coordinates.data;
  const Superkeys<C> superkeys{coordinates, dimensions, tuples.primary};
  const GatheredItems<C> items{coordinates, dimensions, tuples.primary, references.data,
                               reinterpret_cast<unsigned long long*>(first_nan.data())};
  if (is_source) {
    sort_columns<Tuning>(items, home, spare, bytes, n, BySuperkey<C>{superkeys}, stream, options);
    return;
  }
  auto* const runs = reinterpret_cast<TiedRun*>(bytes);
  const TiedLists lists{{runs, runs + most_runs}, most_runs, counts};
  if (is_radix) {
    radix_sort<Tuning>(items, home, spare, bytes, n, stream, options);
    sort_ties<Tuning>(SortedBits<C>{&spare.bits(0), values.data}, home, spare, lists, n, superkeys,
                      depth, stream);
    return;
  }
  sort_columns<Tuning>(items, home, spare, bytes, n, ByFirstCoordinate<C>{}, stream, options);
  if (depth == 1) return;
  sort_ties<Tuning>(SortedValues<C>{values.data}, home, spare, lists, n, superkeys, depth, stream);
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
