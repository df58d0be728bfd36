// Set operations on sorted multisets: the public host functions.
//
// Source: S. Baxter, "Modern GPU 1.1", NVIDIA Research 2013, https://moderngpu.github.io/ ,
// "Multisets". The semantics are those of std::set_intersection, set_union, set_difference and
// set_symmetric_difference, to the element: keys, and their values, come from the input that C++
// takes them from (A, wherever both match).
//   Types           Key, Value: trivially copyable and default constructible; a key has at most 64
//                   bytes, and an alignment of at most 16.
//   Extra memory    single_pass: 17 bytes a tile of 3744 to 5888 elements and 2 KiB;
//                   count_scan_stream: 17 bytes a tile of 1408 and 2 KiB; compact: that, and as
//                   many elements as both inputs have, in whole tiles.
//   Preconditions   a and b are sorted by `less`, a strict weak order; with Duplicates = false no
//                   key occurs twice in one of them. Where checks are on (core/checked.hpp), a call
//                   throws std::invalid_argument with the first index that breaks this, or is NaN;
//                   where they are off, the result is undefined, and may be written beyond the
//                   output. Always tested, before anything is launched: the output has room for the
//                   worst case and overlaps no input.
// The number of outputs stays on the device. Nothing is allocated outside the workspace; nothing
// synchronises (but the checks). Counts may pass 2^31.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "balanced_path_sets/dispatch.cuh"
#include "core/buffer.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"

namespace warpath::balanced_path_sets {

namespace detail {

/// Any type but Options, which come last.
template <class T>
concept Comparator = !std::is_same_v<T, Options>;

/// The arrays of a call; Value is NoValue where there are keys alone.
template <class Key, class Value>
struct Arrays {
  DeviceSpan<const Key> a;
  DeviceSpan<const Value> a_values;
  DeviceSpan<const Key> b;
  DeviceSpan<const Value> b_values;
  DeviceSpan<Key> out;
  DeviceSpan<Value> out_values;
};

/// Throws unless the arrays fit the operation and each other.
template <SetOperation operation, class Key, class Value>
void require_arrays(const Arrays<Key, Value>& arrays) {
  const auto& [a, a_values, b, b_values, out, out_values] = arrays;
  require_span("a", a);
  require_span("b", b);
  const std::int64_t needed = most_outputs(operation, a.count, b.count);
  require_span("out", out);
  require_room("out", out, needed);
  require_apart("a", a, "out", out);
  require_apart("b", b, "out", out);
  if constexpr (!std::is_same_v<Value, NoValue>) {
    require_span("a_values", a_values);
    require_span("b_values", b_values);
    require_span("out_values", out_values);
    require_count("a_values", a_values.count, "a", a.count);
    require_count("b_values", b_values.count, "b", b.count);
    require_room("out_values", out_values, needed);
    require_apart("a_values", a_values, "out", out);
    require_apart("b_values", b_values, "out", out);
    require_apart("a", a, "out_values", out_values);
    require_apart("b", b, "out_values", out_values);
    require_apart("a_values", a_values, "out_values", out_values);
    require_apart("b_values", b_values, "out_values", out_values);
    require_apart("out", out, "out_values", out_values);
  }
}

template <SetOperation operation, bool Duplicates, class Key, class Value, class Less>
void require_and_run(const Arrays<Key, Value>& arrays, DeviceCount& count, Workspace& workspace,
                     cudaStream_t stream, Less less, const Options& options) {
  require_enum("variant", options.variant);
  require_arrays<operation>(arrays);
  require_apart("a", arrays.a, "count", count.span());
  require_apart("b", arrays.b, "count", count.span());
  require_apart("count", count.span(), "out", arrays.out);
  if constexpr (!std::is_same_v<Value, NoValue>) {
    require_apart("a_values", arrays.a_values, "count", count.span());
    require_apart("b_values", arrays.b_values, "count", count.span());
    require_apart("count", count.span(), "out_values", arrays.out_values);
  }
  require_set<Duplicates>("a", arrays.a, less, stream);
  require_set<Duplicates>("b", arrays.b, less, stream);
  if (arrays.a.count + arrays.b.count == 0) return count.set_zero(stream);
  run<operation, Duplicates>(
      Call<Key, Value, Less>{{arrays.a.data, arrays.a_values.data, arrays.a.count},
                             {arrays.b.data, arrays.b_values.data, arrays.b.count},
                             {arrays.out.data, arrays.out_values.data},
                             count.data(),
                             less,
                             workspace,
                             stream},
      options);
}

}  // namespace detail

/// Any of the operations, on keys alone. out: most_outputs elements.
template <SetOperation operation, bool Duplicates = true, class Key,
          detail::Comparator Less = std::less<Key>>
void set_operation(InputSpan<Key> a, InputSpan<Key> b, DeviceSpan<Key> out, DeviceCount& count,
                   Workspace& workspace, cudaStream_t stream, Less less = {},
                   const Options& options = {}) {
  detail::require_and_run<operation, Duplicates>(
      detail::Arrays<Key, NoValue>{a, {}, b, {}, out, {}}, count, workspace, stream, less, options);
}
/// The same by operator <.
template <SetOperation operation, bool Duplicates = true, class Key>
void set_operation(InputSpan<Key> a, InputSpan<Key> b, DeviceSpan<Key> out, DeviceCount& count,
                   Workspace& workspace, cudaStream_t stream, const Options& options) {
  set_operation<operation, Duplicates>(a, b, out, count, workspace, stream, std::less<Key>{},
                                       options);
}

/// The same on keys with values: a_values and b_values have one for each key; both outputs
/// most_outputs elements.
template <SetOperation operation, bool Duplicates = true, class Key, class Value,
          detail::Comparator Less = std::less<Key>>
void set_operation_by_key(InputSpan<Key> a, InputSpan<Value> a_values, InputSpan<Key> b,
                          InputSpan<Value> b_values, DeviceSpan<Key> out,
                          DeviceSpan<Value> out_values, DeviceCount& count, Workspace& workspace,
                          cudaStream_t stream, Less less = {}, const Options& options = {}) {
  detail::require_and_run<operation, Duplicates>(
      detail::Arrays<Key, Value>{a, a_values, b, b_values, out, out_values}, count, workspace,
      stream, less, options);
}
/// The same by operator <.
template <SetOperation operation, bool Duplicates = true, class Key, class Value>
void set_operation_by_key(InputSpan<Key> a, InputSpan<Value> a_values, InputSpan<Key> b,
                          InputSpan<Value> b_values, DeviceSpan<Key> out,
                          DeviceSpan<Value> out_values, DeviceCount& count, Workspace& workspace,
                          cudaStream_t stream, const Options& options) {
  set_operation_by_key<operation, Duplicates>(a, a_values, b, b_values, out, out_values, count,
                                              workspace, stream, std::less<Key>{}, options);
}

// Each operation by its name. After the stream: nothing, the comparator, the Options, or both.

/// The elements of A that have a match in B. out: as many as the shorter input.
template <bool Duplicates = true, class Key, class... LessAndOptions>
void set_intersection(InputSpan<Key> a, InputSpan<Key> b, DeviceSpan<Key> out, DeviceCount& count,
                      Workspace& workspace, cudaStream_t stream,
                      const LessAndOptions&... less_and_options) {
  set_operation<SetOperation::intersection, Duplicates>(a, b, out, count, workspace, stream,
                                                        less_and_options...);
}
template <bool Duplicates = true, class Key, class Value, class... LessAndOptions>
void set_intersection_by_key(InputSpan<Key> a, InputSpan<Value> a_values, InputSpan<Key> b,
                             InputSpan<Value> b_values, DeviceSpan<Key> out,
                             DeviceSpan<Value> out_values, DeviceCount& count, Workspace& workspace,
                             cudaStream_t stream, const LessAndOptions&... less_and_options) {
  set_operation_by_key<SetOperation::intersection, Duplicates>(
      a, a_values, b, b_values, out, out_values, count, workspace, stream, less_and_options...);
}

/// The elements of A, and those of B that have no match in A. out: as many as both inputs.
template <bool Duplicates = true, class Key, class... LessAndOptions>
void set_union(InputSpan<Key> a, InputSpan<Key> b, DeviceSpan<Key> out, DeviceCount& count,
               Workspace& workspace, cudaStream_t stream,
               const LessAndOptions&... less_and_options) {
  set_operation<SetOperation::set_union, Duplicates>(a, b, out, count, workspace, stream,
                                                     less_and_options...);
}
template <bool Duplicates = true, class Key, class Value, class... LessAndOptions>
void set_union_by_key(InputSpan<Key> a, InputSpan<Value> a_values, InputSpan<Key> b,
                      InputSpan<Value> b_values, DeviceSpan<Key> out, DeviceSpan<Value> out_values,
                      DeviceCount& count, Workspace& workspace, cudaStream_t stream,
                      const LessAndOptions&... less_and_options) {
  set_operation_by_key<SetOperation::set_union, Duplicates>(
      a, a_values, b, b_values, out, out_values, count, workspace, stream, less_and_options...);
}

/// The elements of A that have no match in B. out: as many as A.
template <bool Duplicates = true, class Key, class... LessAndOptions>
void set_difference(InputSpan<Key> a, InputSpan<Key> b, DeviceSpan<Key> out, DeviceCount& count,
                    Workspace& workspace, cudaStream_t stream,
                    const LessAndOptions&... less_and_options) {
  set_operation<SetOperation::difference, Duplicates>(a, b, out, count, workspace, stream,
                                                      less_and_options...);
}
template <bool Duplicates = true, class Key, class Value, class... LessAndOptions>
void set_difference_by_key(InputSpan<Key> a, InputSpan<Value> a_values, InputSpan<Key> b,
                           InputSpan<Value> b_values, DeviceSpan<Key> out,
                           DeviceSpan<Value> out_values, DeviceCount& count, Workspace& workspace,
                           cudaStream_t stream, const LessAndOptions&... less_and_options) {
  set_operation_by_key<SetOperation::difference, Duplicates>(
      a, a_values, b, b_values, out, out_values, count, workspace, stream, less_and_options...);
}

/// The elements of either input without a match in the other. out: as many as both inputs.
template <bool Duplicates = true, class Key, class... LessAndOptions>
void set_symmetric_difference(InputSpan<Key> a, InputSpan<Key> b, DeviceSpan<Key> out,
                              DeviceCount& count, Workspace& workspace, cudaStream_t stream,
                              const LessAndOptions&... less_and_options) {
  set_operation<SetOperation::symmetric_difference, Duplicates>(a, b, out, count, workspace, stream,
                                                                less_and_options...);
}
template <bool Duplicates = true, class Key, class Value, class... LessAndOptions>
void set_symmetric_difference_by_key(InputSpan<Key> a, InputSpan<Value> a_values, InputSpan<Key> b,
                                     InputSpan<Value> b_values, DeviceSpan<Key> out,
                                     DeviceSpan<Value> out_values, DeviceCount& count,
                                     Workspace& workspace, cudaStream_t stream,
                                     const LessAndOptions&... less_and_options) {
  set_operation_by_key<SetOperation::symmetric_difference, Duplicates>(
      a, a_values, b, b_values, out, out_values, count, workspace, stream, less_and_options...);
}

}  // namespace warpath::balanced_path_sets
