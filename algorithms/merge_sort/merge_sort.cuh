// Merge sort of keys, of key-value pairs, and of references to tuples by superkey: the public host
// functions.
//
// Sources: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "GPU Sort"; R. A. Brown, "Building
// a Balanced k-d Tree in O(kn log n) Time", JCGT 4(1), 2015; N. Satish, M. Harris, M. Garland,
// "Designing Efficient Sorting Algorithms for Manycore GPUs", IPDPS 2009; O. Green, R. McColl,
// D. Bader, "GPU Merge Path: A GPU Merging Algorithm", ICS 2012.
//
// All of them sort in place, keep the order of equal elements (stable), allocate only from the
// workspace, and do not synchronise. Were the comparator no strict weak order, what
// the arrays hold in the end is not specified, but nothing else is read or written.
//   Elements        keys and values of any trivially copyable type. Those of more than 16 bytes,
//                   and others that kernels cannot hold in registers, are sorted by indices.
//   Extra memory    from 100,000 elements on, one copy of what is sorted, and less than 1 % for
//                   positions in runs and lists of ties (2 % of up to 1.5 million keys or pairs of
//                   3 or 4 bytes); where indices are sorted, 4 bytes an element more (8 from 2^32
//                   elements on). Some multiples of 256 bytes for one tile of keys or pairs, or for
//                   512 superkeys. key_then_ties: what CUB's radix sort needs, too.
//   Errors          std::invalid_argument, which names the argument, before anything is launched: a
//                   span with a negative count or without memory; arguments that overlap, or do not
//                   have as many elements; an option that has no such value. CudaError, which says
//                   how many bytes are needed and how many are free, if the workspace cannot grow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "core/superkey.cuh"
#include "merge_sort/arguments.cuh"
#include "merge_sort/pairs.cuh"
#include "merge_sort/superkeys.cuh"
#include "merge_sort/tuning.hpp"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort {

/// Sorts keys by `less`, a device functor: a strict weak order. Where checks are on, a NaN among
/// keys that are compared by < or > is an error.
template <class K, class Less = std::less<>>
void sort_keys(DeviceSpan<K> keys, Workspace& workspace, cudaStream_t stream, Less less = {},
               const Options& options = {}) {
  detail::require_element<K>();
  detail::require_options(options);
  detail::require_comparing(options);
  require_span("keys", keys);
  detail::require_ordered_keys<Less>(keys, stream);
  if (keys.count == 0) return;
  detail::NoValue* const values = nullptr;
  detail::run_sort(detail::Call<K, detail::NoValue, Less>{keys.data, values, keys.count, less,
                                                          workspace, stream, options});
}
template <class K>
void sort_keys(DeviceSpan<K> keys, Workspace& workspace, cudaStream_t stream,
               const Options& options) {
  sort_keys(keys, workspace, stream, std::less<>{}, options);
}

/// Sorts keys by `less`, and each one's value with it. keys, values: n elements.
template <class K, class V, class Less = std::less<>>
void sort_pairs(DeviceSpan<K> keys, DeviceSpan<V> values, Workspace& workspace, cudaStream_t stream,
                Less less = {}, const Options& options = {}) {
  detail::require_element<K>();
  detail::require_element<V>();
  detail::require_options(options);
  detail::require_comparing(options);
  require_span("keys", keys);
  require_span("values", values);
  require_count("values", values.count, "keys", keys.count);
  require_apart("keys", keys, "values", values);
  detail::require_ordered_keys<Less>(keys, stream);
  if (keys.count == 0) return;
  detail::run_sort(detail::Call<K, V, Less>{keys.data, values.data, keys.count, less, workspace,
                                            stream, options});
}
template <class K, class V>
void sort_pairs(DeviceSpan<K> keys, DeviceSpan<V> values, Workspace& workspace, cudaStream_t stream,
                const Options& options) {
  sort_pairs(keys, values, workspace, stream, std::less<>{}, options);
}

/// The source's sort: brings references to tuples into the order of their superkeys, which begin
/// with coordinate tuples.primary; references to equal tuples, in the order of the references.
/// values[i] becomes coordinate `primary` of tuple references[i]: 0.0 where that is -0.0, and some
/// NaN where it is one.
///
/// tuples: at most 2^32 of 1 to 16 coordinates: int32, int64, float or double. references: n
/// numbers of tuples, at most 2^32 - 1, in any order; a tuple may be referenced any number of
/// times, or not at all. values: n elements.
///
/// `first_nan` becomes the index of the first NaN among the coordinates of referenced tuples, tuple
/// * dimensions + coordinate, or -1: call require_no_nan(), which blocks, or look at it on the
/// device. NaN is sorted after all numbers. Where checks are on, a reference to no tuple is an
/// error.
template <class C>
void sort_superkeys(const Tuples<C>& tuples, DeviceSpan<std::uint32_t> references,
                    DeviceSpan<std::type_identity_t<C>> values, DeviceCount& first_nan,
                    Workspace& workspace, cudaStream_t stream, const Options& options = {}) {
  static_assert(std::is_arithmetic_v<C> && (sizeof(C) == 4 || sizeof(C) == 8),
                "a coordinate must be a number of 4 or 8 bytes");
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  detail::require_options(options);
  require_span("tuples", tuples.coordinates);
  require_span("references", references);
  require_span("values", values);
  require_in_range("the number of references", references.count, 0, most);
  require_count("values", values.count, "references", references.count);
  require_apart("tuples", tuples.coordinates, "references", references);
  require_apart("tuples", tuples.coordinates, "values", values);
  require_apart("references", references, "values", values);
  require_apart("first_nan", first_nan.span(), "references", references);
  require_apart("first_nan", first_nan.span(), "values", values);
  require_apart("first_nan", first_nan.span(), "tuples", tuples.coordinates);
  const std::int64_t tuple_count = require_tuples(tuples, references.count);
  require_in_range("the number of tuples", tuple_count, 0, most + 1);
  require_references(DeviceSpan<const std::uint32_t>(references), tuple_count, stream);
  detail::run_sort_superkeys<TuningOf<sizeof(detail::SuperkeyItem<C>)>>(
      tuples, references, values, first_nan, workspace, stream, options);
}

/// Throws std::invalid_argument if sort_superkeys() has found a NaN, with the numbers of its tuple
/// and coordinate. Blocks the host until the work in `stream` is done.
template <class C>
void require_no_nan(const DeviceCount& first_nan, const Tuples<C>& tuples, cudaStream_t stream) {
  const std::int64_t index = first_nan.get(stream);
  if (index < 0) return;
  throw std::invalid_argument("tuples: coordinate " + std::to_string(index % tuples.dimensions) +
                              " of tuple " + std::to_string(index / tuples.dimensions) +
                              " is NaN: expected numbers, which have an order");
}

/// references[i] becomes i: references to all tuples. At most 2^32 - 1.
inline void iota_references(DeviceSpan<std::uint32_t> references, cudaStream_t stream) {
  require_span("references", references);
  require_in_range("the number of references", references.count, 0,
                   std::numeric_limits<std::uint32_t>::max());
  if (references.count == 0) return;
  const std::int64_t blocks = std::min<std::int64_t>(divide_up(references.count, 256), 1 << 20);
  launch({static_cast<unsigned>(blocks), 256, 0, stream}, detail::iota_kernel<std::uint32_t>,
         references.data, references.count);
}

}  // namespace warpath::merge_sort
