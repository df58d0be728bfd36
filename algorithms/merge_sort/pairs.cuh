// Sorts keys, and perhaps their values. Small ones move with every pass; of large ones, indices are
// sorted, and each key and value moves once.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "merge_sort/dispatch.cuh"
#include "merge_sort/items.cuh"
#include "merge_sort/orders.cuh"
#include "merge_sort/tuning.hpp"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::detail {

/// Keys and values in device memory, and how they are sorted.
template <class K, class V, class Less>
struct Call {
  K* keys;
  V* values;
  std::int64_t n;  ///< 1 or more
  Less less;
  Workspace& workspace;
  cudaStream_t stream;
  const Options& options;
};

/// Whether such keys or values can be a part of an item, in shared memory and registers.
template <class T>
inline constexpr bool fits_item = sizeof(T) <= 16 && alignof(T) <= 16 &&
                                  std::is_default_constructible_v<T>&& std::is_copy_constructible_v<
                                      T>&& std::is_copy_assignable_v<T>;

/// Keys and values move in every pass.
template <class Tuning, class K, class V, class Less>
void run_sort_items(const Call<K, V, Less>& call) {
  const std::int64_t spare = spare_items<Tuning>(call.n, call.options);
  const bool has_values = !std::is_same_v<V, NoValue>;
  const auto [keys, values, positions] = call.workspace.template take<K, V, unsigned char>(
      call.stream, spare, has_values ? spare : 0, position_bytes<Tuning>(call.n, call.options));
  const Columns<K, V> home{call.keys, call.values};
  sort_columns<Tuning>(home, home, Columns<K, V>{keys, values}, positions, call.n,
                       ByKey<K, V, Less>{call.less}, call.stream, call.options);
}

/// The sequence 0, 1, 2, ...
template <class Index>
struct IndexItems {
  __device__ __forceinline__ Item<Index, NoValue> load(std::int64_t i) const {
    return {static_cast<Index>(i)};
  }
};

/// to[i] becomes from[indices[i]].
template <class Index, class T>
__global__ void gather_kernel(const Index* indices, const T* from, T* to, std::int64_t n) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    memcpy(static_cast<void*>(to + i), static_cast<const void*>(from + indices[i]), sizeof(T));
  }
}

/// Brings the elements into the order of the indices, by way of `copy`.
template <class Index, class T>
void gather(const Index* indices, T* elements, T* copy, std::int64_t n, cudaStream_t stream) {
  const std::int64_t blocks = std::min<std::int64_t>(divide_up(n, 256), 1 << 20);
  launch({static_cast<unsigned>(blocks), 256, 0, stream}, gather_kernel<Index, T>, indices,
         elements, copy, n);
  WARPATH_CUDA_CHECK(cudaMemcpyAsync(static_cast<void*>(elements), copy,
                                     static_cast<std::size_t>(n) * sizeof(T),
                                     cudaMemcpyDeviceToDevice, stream));
}

/// Indices of type Index are sorted by their keys; then keys and values are gathered.
template <class Tuning, class Index, class K, class V, class Less>
void run_sort_indices(const Call<K, V, Less>& call) {
  constexpr bool has_values = !std::is_same_v<V, NoValue>;
  const std::int64_t n = call.n;
  // The copy of the keys is made once the indices are sorted: until then it is their spare column.
  constexpr std::int64_t copied_bytes = std::max(sizeof(K), sizeof(Index));
  const auto [indices, copied_keys, copied_values, positions] =
      call.workspace.template take<Index, unsigned char, V, unsigned char>(
          call.stream, n, n * copied_bytes, has_values ? n : 0,
          position_bytes<Tuning>(n, call.options));
  using IndexColumns = Columns<Index, NoValue>;
  sort_columns<Tuning>(IndexItems<Index>{}, IndexColumns{indices, nullptr},
                       IndexColumns{reinterpret_cast<Index*>(copied_keys), nullptr}, positions, n,
                       ByIndexedKey<K, Index, Less>{call.keys, call.less}, call.stream,
                       call.options);
  gather(indices, call.keys, reinterpret_cast<K*>(copied_keys), n, call.stream);
  if constexpr (has_values) gather(indices, call.values, copied_values, n, call.stream);
}

template <class K, class V, class Less>
void run_sort(const Call<K, V, Less>& call) {
  if constexpr (fits_item<K> && fits_item<V>) {
    run_sort_items<TuningOf<sizeof(Item<K, V>)>>(call);
  } else if (call.n < std::int64_t{1} << 32) {
    run_sort_indices<TuningOf<sizeof(std::uint32_t)>, std::uint32_t>(call);
  } else {
    run_sort_indices<TuningOf<sizeof(std::uint64_t)>, std::uint64_t>(call);
  }
}

}  // namespace warpath::merge_sort::detail
