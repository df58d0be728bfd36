// Stream compaction: the public host functions.
//
// Source: seed 000, "Remove Duplicates" and "Differences from the Compaction Algorithm Paper"; M.
// Billeter, O. Olsson, U. Assarsson, "Efficient Stream Compaction on Wide SIMD Many-Core
// Architectures", HPG 2009.
//
// All of them: keep the order (stable), leave the number of kept elements on the device, allocate
// only from the workspace, and do not synchronise. n may pass 2^31. T is trivially copyable, with
// alignment at most 16.
//   Extra memory    single_pass: 9 bytes a tile, and 2 KiB; two_pass_copy: a copy of what is
//                   written, and 16 KiB; two_pass_recount: 16 KiB.
//   Preconditions   an output holds as many elements as the input has, and overlaps no input: else
//                   std::invalid_argument, which names the argument, before anything is launched.
#pragma once

#include <cstdint>
#include <functional>

#include "core/buffer.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "warp_compaction/dispatch.cuh"
#include "warp_compaction/rules.cuh"
#include "warp_compaction/variant.hpp"

namespace warpath::warp_compaction {

/// Keeps the elements for which `predicate(element)` holds, a device functor. in, out: n elements.
template <class T, class Predicate>
void compact_if(DeviceSpan<const T> in, DeviceSpan<T> out, Predicate predicate, DeviceCount& kept,
                Workspace& workspace, cudaStream_t stream, const Options& options = {}) {
  require_room("out", out, in.count);
  require_apart("in", in, "out", out);
  if (in.count == 0) return kept.set_zero(stream);
  run(KeepIf<T, Predicate>{predicate}, {in.data, nullptr, in.count}, {out.data, nullptr, out.count},
      kept.data(), workspace, stream, options);
}

/// Keeps the elements whose flag is not zero. in, flags, out: n elements.
template <class T, class Flag>
void compact_flagged(DeviceSpan<const T> in, DeviceSpan<const Flag> flags, DeviceSpan<T> out,
                     DeviceCount& kept, Workspace& workspace, cudaStream_t stream,
                     const Options& options = {}) {
  require_count("flags", flags.count, "in", in.count);
  require_room("out", out, in.count);
  require_apart("in", in, "out", out);
  require_apart("flags", flags, "out", out);
  if (in.count == 0) return kept.set_zero(stream);
  run(KeepFlagged<T, Flag>{}, {in.data, flags.data, in.count}, {out.data, nullptr, out.count},
      kept.data(), workspace, stream, options);
}

/// Keeps the first element of every run of equal ones. in, out: n elements.
template <class T, class Equal = std::equal_to<>>
void unique(DeviceSpan<const T> in, DeviceSpan<T> out, DeviceCount& kept, Workspace& workspace,
            cudaStream_t stream, const Options& options = {}, Equal equal = {}) {
  require_room("out", out, in.count);
  require_apart("in", in, "out", out);
  if (in.count == 0) return kept.set_zero(stream);
  run(KeepFirstOfRun<T, NoCompanion, Equal>{equal}, {in.data, nullptr, in.count},
      {out.data, nullptr, out.count}, kept.data(), workspace, stream, options);
}

/// Keeps the first key of every run of equal ones, and its value. keys, values, out_keys,
/// out_values: n elements.
template <class K, class V, class Equal = std::equal_to<>>
void unique_by_key(DeviceSpan<const K> keys, DeviceSpan<const V> values, DeviceSpan<K> out_keys,
                   DeviceSpan<V> out_values, DeviceCount& kept, Workspace& workspace,
                   cudaStream_t stream, const Options& options = {}, Equal equal = {}) {
  require_count("values", values.count, "keys", keys.count);
  require_room("out_keys", out_keys, keys.count);
  require_room("out_values", out_values, keys.count);
  require_apart("keys", keys, "out_keys", out_keys);
  require_apart("values", values, "out_values", out_values);
  require_apart("keys", keys, "out_values", out_values);
  require_apart("values", values, "out_keys", out_keys);
  require_apart("out_keys", out_keys, "out_values", out_values);
  if (keys.count == 0) return kept.set_zero(stream);
  run(KeepFirstOfRun<K, V, Equal>{equal}, {keys.data, values.data, keys.count},
      {out_keys.data, out_values.data, out_keys.count}, kept.data(), workspace, stream, options);
}

/// The tuples that references point into: `dimensions` coordinates each.
template <class C>
struct Tuples {
  DeviceSpan<const C> coordinates;
  int dimensions = 1;
  int primary = 0;  ///< the coordinate that the references are sorted by, first of the superkey
};

/// The source's operation on superkey-sorted references: keeps the references whose tuple differs
/// from the one before it, and their values. values[i] is coordinate `primary` of tuple
/// references[i]; the tuples are read only where two values tie. `first_disorder` becomes the index
/// of the first reference whose tuple is less than the one before it, which means that the sort
/// before has failed; or -1. values, references, out_values, out_references: n elements; tuples:
/// all that are referenced. No coordinate is NaN: a checked build throws std::invalid_argument with
/// the index of the first one.
template <class C, class R>
void remove_duplicates(DeviceSpan<const C> values, DeviceSpan<const R> references,
                       const Tuples<C>& tuples, DeviceSpan<C> out_values,
                       DeviceSpan<R> out_references, DeviceCount& kept, DeviceCount& first_disorder,
                       Workspace& workspace, cudaStream_t stream, const Options& options = {}) {
  require_count("references", references.count, "values", values.count);
  require_room("out_values", out_values, values.count);
  require_room("out_references", out_references, values.count);
  require_apart("values", values, "out_values", out_values);
  require_apart("references", references, "out_references", out_references);
  require_apart("values", values, "out_references", out_references);
  require_apart("references", references, "out_values", out_values);
  require_apart("out_values", out_values, "out_references", out_references);
  require_apart("tuples", tuples.coordinates, "out_values", out_values);
  require_apart("tuples", tuples.coordinates, "out_references", out_references);
  require_in_range("dimensions", tuples.dimensions, 1, 16);
  require_in_range("primary", tuples.primary, 0, tuples.dimensions - 1);
  require_no_nan("tuples", tuples.coordinates, stream);
  WARPATH_CUDA_CHECK(cudaMemsetAsync(first_disorder.data(), 0xFF, sizeof(std::int64_t), stream));
  if (values.count == 0) return kept.set_zero(stream);
  run(KeepDistinctTuple<C, R>{tuples.coordinates.data, tuples.dimensions, tuples.primary,
                              reinterpret_cast<unsigned long long*>(first_disorder.data())},
      {values.data, references.data, values.count},
      {out_values.data, out_references.data, out_values.count}, kept.data(), workspace, stream,
      options);
}

}  // namespace warpath::warp_compaction
