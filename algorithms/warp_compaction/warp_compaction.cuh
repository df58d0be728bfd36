// Stream compaction: the public host functions.
//
// Source: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Remove Duplicates" and "Differences
// from the Compaction Algorithm Paper"; M. Billeter, O. Olsson, U. Assarsson, "Efficient Stream
// Compaction on Wide SIMD Many-Core Architectures", HPG 2009.
//
// All of them keep the order (stable), leave the number of kept elements on the device, allocate
// only from the workspace, and do not synchronise. The element type is that of the output. n may
// pass 2^31.
//   Elements        any type that is trivially copyable and copy-assignable, of at most 256 bytes,
//                   aligned to at most 16; for others the call does not compile.
//   Extra memory    single_pass: 9 bytes a tile, and 2 KiB; two_pass_copy: a copy of what is
//                   written, in whole 256 bytes, and 16 KiB; two_pass_recount: 16 KiB.
//   Errors          std::invalid_argument, which names the argument, before anything is launched: a
//                   span with a negative count or without memory; an output that has fewer elements
//                   than the input, or overlaps another argument; an option that has no such value.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

#include "core/buffer.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "core/superkey.cuh"
#include "warp_compaction/arguments.cuh"
#include "warp_compaction/dispatch.cuh"
#include "warp_compaction/rules.cuh"
#include "warp_compaction/variant.hpp"

namespace warpath::warp_compaction {

/// Keeps the elements for which `predicate(element)` holds, a device functor that can be called
/// where it is const. in, out: n elements.
template <class T, class Predicate>
void compact_if(InputSpan<T> in, DeviceSpan<T> out, Predicate predicate, DeviceCount& kept,
                Workspace& workspace, cudaStream_t stream, const Options& options = {}) {
  detail::require_element<T>();
  detail::require_options(options);
  require_span("in", in);
  require_span("out", out);
  require_room("out", out, in.count);
  require_apart("in", in, "out", out);
  require_apart("in", in, "kept", kept.span());
  require_apart("kept", kept.span(), "out", out);
  if (in.count == 0) return kept.set_zero(stream);
  detail::run(detail::KeepIf<T, Predicate>{predicate}, {in.data, nullptr, in.count},
              {out.data, nullptr, out.count}, kept.data(), workspace, stream, options);
}

/// Keeps the elements whose flag is not zero. in, flags, out: n elements.
template <class Flag, class T>
void compact_flagged(InputSpan<T> in, DeviceSpan<Flag> flags, DeviceSpan<T> out, DeviceCount& kept,
                     Workspace& workspace, cudaStream_t stream, const Options& options = {}) {
  using Rule = detail::KeepFlagged<T, std::remove_const_t<Flag>>;
  detail::require_element<T>();
  detail::require_element<std::remove_const_t<Flag>>();
  detail::require_options(options);
  require_span("in", in);
  require_span("flags", flags);
  require_span("out", out);
  require_count("flags", flags.count, "in", in.count);
  require_room("out", out, in.count);
  require_apart("in", in, "out", out);
  require_apart("in", in, "kept", kept.span());
  require_apart("kept", kept.span(), "out", out);
  require_apart("flags", flags, "out", out);
  require_apart("flags", flags, "kept", kept.span());
  if (in.count == 0) return kept.set_zero(stream);
  detail::run(Rule{}, {in.data, flags.data, in.count}, {out.data, nullptr, out.count}, kept.data(),
              workspace, stream, options);
}

/// Keeps the first element of every run of equal ones: those for which `equal(the one before,
/// element)` does not hold, a device functor that can be called where it is const. Neighbours in
/// the input are compared, so that only an equivalence relation gives what std::unique does.
/// in, out: n elements.
template <class T, class Equal = std::equal_to<>>
void unique(InputSpan<T> in, DeviceSpan<T> out, DeviceCount& kept, Workspace& workspace,
            cudaStream_t stream, Equal equal = {}, const Options& options = {}) {
  detail::require_element<T>();
  detail::require_options(options);
  require_span("in", in);
  require_span("out", out);
  require_room("out", out, in.count);
  require_apart("in", in, "out", out);
  require_apart("in", in, "kept", kept.span());
  require_apart("kept", kept.span(), "out", out);
  if (in.count == 0) return kept.set_zero(stream);
  detail::run(detail::KeepFirstOfRun<T, detail::NoCompanion, Equal>{equal},
              {in.data, nullptr, in.count}, {out.data, nullptr, out.count}, kept.data(), workspace,
              stream, options);
}
template <class T>
void unique(InputSpan<T> in, DeviceSpan<T> out, DeviceCount& kept, Workspace& workspace,
            cudaStream_t stream, const Options& options) {
  unique(in, out, kept, workspace, stream, std::equal_to<>{}, options);
}

/// Keeps the first key of every run of equal ones, as above, and its value. keys, values,
/// out_keys, out_values: n elements.
template <class K, class V, class Equal = std::equal_to<>>
void unique_by_key(InputSpan<K> keys, InputSpan<V> values, DeviceSpan<K> out_keys,
                   DeviceSpan<V> out_values, DeviceCount& kept, Workspace& workspace,
                   cudaStream_t stream, Equal equal = {}, const Options& options = {}) {
  detail::require_element<K>();
  detail::require_element<V>();
  detail::require_options(options);
  require_span("keys", keys);
  require_span("values", values);
  require_span("out_keys", out_keys);
  require_span("out_values", out_values);
  require_count("values", values.count, "keys", keys.count);
  require_room("out_keys", out_keys, keys.count);
  require_room("out_values", out_values, keys.count);
  require_apart("keys", keys, "out_keys", out_keys);
  require_apart("values", values, "out_values", out_values);
  require_apart("keys", keys, "out_values", out_values);
  require_apart("values", values, "out_keys", out_keys);
  require_apart("out_keys", out_keys, "out_values", out_values);
  require_apart("keys", keys, "kept", kept.span());
  require_apart("values", values, "kept", kept.span());
  require_apart("kept", kept.span(), "out_keys", out_keys);
  require_apart("kept", kept.span(), "out_values", out_values);
  if (keys.count == 0) return kept.set_zero(stream);
  detail::run(detail::KeepFirstOfRun<K, V, Equal>{equal}, {keys.data, values.data, keys.count},
              {out_keys.data, out_values.data, out_keys.count}, kept.data(), workspace, stream,
              options);
}
template <class K, class V>
void unique_by_key(InputSpan<K> keys, InputSpan<V> values, DeviceSpan<K> out_keys,
                   DeviceSpan<V> out_values, DeviceCount& kept, Workspace& workspace,
                   cudaStream_t stream, const Options& options) {
  unique_by_key(keys, values, out_keys, out_values, kept, workspace, stream, std::equal_to<>{},
                options);
}

/// The source's operation on superkey-sorted references: keeps the references whose tuple differs
/// from the one before it, and their values. values[i] is coordinate `primary` of tuple
/// references[i]; the tuples are read only where two values tie. `first_disorder` becomes the index
/// of the first reference whose tuple is less than the one before it, which means that the sort
/// before has failed; or -1. values, references, out_values, out_references: n elements; tuples:
/// all that are referenced, 1 to 16 coordinates each. Coordinates are numbers, and not NaN;
/// references are integers. Where checks are on, a NaN among values or tuples, a reference to no
/// tuple and a value that is not its tuple's coordinate are errors too.
template <class C, class R>
void remove_duplicates(InputSpan<C> values, InputSpan<R> references,
                       const std::type_identity_t<Tuples<C>>& tuples, DeviceSpan<C> out_values,
                       DeviceSpan<R> out_references, DeviceCount& kept, DeviceCount& first_disorder,
                       Workspace& workspace, cudaStream_t stream, const Options& options = {}) {
  static_assert(std::is_arithmetic_v<C> && sizeof(C) <= 8, "a coordinate must be a number");
  static_assert(std::is_integral_v<R>, "a reference must be an integer: the number of a tuple");
  detail::require_options(options);
  require_span("values", values);
  require_span("references", references);
  require_span("tuples", tuples.coordinates);
  require_span("out_values", out_values);
  require_span("out_references", out_references);
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
  const auto require_own_memory = [&](const char* name, const DeviceCount& count) {
    require_apart("values", values, name, count.span());
    require_apart("references", references, name, count.span());
    require_apart("tuples", tuples.coordinates, name, count.span());
    require_apart(name, count.span(), "out_values", out_values);
    require_apart(name, count.span(), "out_references", out_references);
  };
  require_own_memory("kept", kept);
  require_own_memory("first_disorder", first_disorder);
  require_apart("kept", kept.span(), "first_disorder", first_disorder.span());
  const std::int64_t tuple_count = require_tuples(tuples, references.count);
  require_no_nan("values", values, stream);
  require_no_nan("tuples", tuples.coordinates, stream);
  require_references(references, tuple_count, stream);
  detail::require_values_of_tuples(values, references, tuples.coordinates, tuples.dimensions,
                                   tuples.primary, stream);
  WARPATH_CUDA_CHECK(cudaMemsetAsync(first_disorder.data(), 0xFF, sizeof(std::int64_t), stream));
  if (values.count == 0) return kept.set_zero(stream);
  detail::run(
      detail::KeepDistinctTuple<C, R>(tuples.coordinates.data, tuples.dimensions, tuples.primary,
                                      reinterpret_cast<unsigned long long*>(first_disorder.data())),
      {values.data, references.data, values.count},
      {out_values.data, out_references.data, out_values.count}, kept.data(), workspace, stream,
      options);
}

}  // namespace warpath::warp_compaction
