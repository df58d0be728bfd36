// Partitioning reference arrays about medians, a level of a k-d tree at a time; and stable
// partitions of plain elements: the public host functions.
//
// Source: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Partitioning" and "Building the KD
// Tree"; R. A. Brown, "Building a Balanced k-d Tree in O(kn log n) Time", Journal of Computer
// Graphics Techniques 4(1), 2015, http://jcgt.org/published/0004/01/03/ .
//
// All of them are stable, leave counts on the device, allocate only from the workspace, and do not
// synchronise unless checks are on.
//   Extra memory    source: multi_warp has a copy of the arrays, and 8 bytes a warp and array;
//                   the others none; with notes_sides a bit a tuple more. look_back: 9 bytes for
//                   each 2048 references of each array, and 3 KiB. side_bits: where segments are
//                   large a bit a tuple, 9 bytes for each 4096 references of each array, and 3 KiB;
//                   else none. Partitions of elements: 9 bytes a tile of 7 to 32 KiB (three-way:
//                   18), and 3 KiB.
//   Errors          std::invalid_argument, which names the argument, before anything is launched: a
//                   span with a negative count or without memory; arrays of different sizes; too
//                   little room; arguments that overlap; a number that is out of range.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "core/buffer.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "core/superkey.cuh"
#include "partitioners/arguments.cuh"
#include "partitioners/dispatch.cuh"
#include "partitioners/levels.cuh"
#include "partitioners/partition_dispatch.cuh"
#include "partitioners/selection.hpp"
#include "partitioners/sides.cuh"
#include "partitioners/variant.hpp"

namespace warpath::partitioners {

/// The median stores of two levels. Entry k of a level is the node of its segment k: the reference
/// to its pivot, or no_node; its children are entries 2 k and 2 k + 1 of the next level.
struct MedianStores {
  DeviceSpan<std::uint32_t> of_level;       ///< 2^level entries
  DeviceSpan<std::uint32_t> of_next_level;  ///< 2^(level + 1); only `leaf` writes it
};

/// One level of the breadth-first build of a k-d tree over n references: splits each segment of
/// each array about the tuple at the segment's median in the primary array (levels.cuh). What is
/// less goes to the less side's places of `out`, what is greater to the greater side's, both in
/// their order; the pivot goes to the median store, and its place and those of earlier pivots are
/// not written, nor those of earlier pivots read. The primary array is split where it is: the next
/// level reads it as this one did. The order is that of superkeys that begin with tuples.primary,
/// and of references where tuples are equal.
///
/// primary_references: n references to tuples, each segment sorted by that order. arrays: at most
/// dimensions - 1 others; each segment of each has the references of the primary array's segment,
/// in any order. n is at most most_references; level is 0 to last_level(n). No reference occurs
/// twice, and no coordinate is NaN.
///
/// Options: `source` runs the partitioner of the level (partitioner_of_level), or the one that is
/// named; with notes_sides on sides that were noted first, instead of comparisons. At leaf_level(n)
/// that is `leaf`, which ends the build: it leaves `arrays` as they are, and stores the nodes of
/// this level and, unless this is the last one, of the next.
///
/// What breaks this contract can make kernels write outside the outputs. Where checks are on, these
/// are errors: a NaN among the tuples, a reference to no tuple, one
/// that an array has twice, a segment of the primary array that is not sorted, a segment of another
/// array that has a reference of another segment.
template <class C>
void partition_level(const Tuples<C>& tuples, int level,
                     std::type_identity_t<DeviceSpan<const std::uint32_t>> primary_references,
                     std::span<const ReferenceArray> arrays, const MedianStores& medians,
                     Workspace& workspace, cudaStream_t stream, const Options& options = {}) {
  static_assert(std::is_arithmetic_v<C> && (sizeof(C) == 4 || sizeof(C) == 8),
                "a coordinate must be a number of 4 or 8 bytes");
  require_span("primary_references", primary_references);
  require_span("tuples", tuples.coordinates);
  require_span("medians", medians.of_level);
  require_span("next_medians", medians.of_next_level);
  const std::int64_t n = primary_references.count;
  detail::require_level(n, level);
  const Level of{static_cast<std::uint32_t>(n), level};
  detail::require_options(options, of);
  const std::int64_t tuple_count = require_tuples(tuples, n);
  require_in_range("tuples.count / dimensions", tuple_count, 0, most_references);

  const bool writes_next =
      level < last_level(n) && detail::partitioner_of(of, options) == Partitioner::leaf;
  require_room("medians", medians.of_level, of.segments());
  if (writes_next)
    require_room("next_medians", medians.of_next_level, 2 * std::int64_t{of.segments()});
  require_apart("tuples", tuples.coordinates, "medians", medians.of_level);
  require_apart("tuples", tuples.coordinates, "next_medians", medians.of_next_level);
  require_apart("primary_references", primary_references, "medians", medians.of_level);
  require_apart("primary_references", primary_references, "next_medians", medians.of_next_level);
  require_apart("medians", medians.of_level, "next_medians", medians.of_next_level);
  detail::require_arrays(arrays, tuples.dimensions, primary_references, medians.of_level,
                         medians.of_next_level);
  detail::ArrayList list{};
  for (const ReferenceArray& array : arrays) {
    require_apart("tuples", tuples.coordinates, detail::array_name(list.count, "out"), array.out);
    list.in[list.count] = array.in.data;
    list.out[list.count] = array.out.data;
    ++list.count;
  }
  const detail::TupleOrder<C> order{tuples.coordinates.data, tuples.dimensions, tuples.primary};
  require_no_nan("tuples", tuples.coordinates, stream);
  detail::require_references_of_level(of, order, tuple_count, primary_references, arrays, stream);
  detail::run_level({of, primary_references.data, list, medians.of_level.data,
                     writes_next ? medians.of_next_level.data : nullptr},
                    order, tuple_count, options, workspace, stream);
}

/// The same for one array.
template <class C>
void partition_level(const Tuples<C>& tuples, int level,
                     std::type_identity_t<DeviceSpan<const std::uint32_t>> primary_references,
                     DeviceSpan<const std::uint32_t> in, DeviceSpan<std::uint32_t> out,
                     const MedianStores& medians, Workspace& workspace, cudaStream_t stream,
                     const Options& options = {}) {
  const ReferenceArray array{in, out};
  partition_level(tuples, level, primary_references, std::span(&array, 1), medians, workspace,
                  stream, options);
}

namespace detail {

/// What an element of a partition can be. Does not compile otherwise.
template <class T>
constexpr void require_element() {
  static_assert(std::is_trivially_copyable_v<T> && std::is_copy_assignable_v<T>,
                "an element must be trivially copyable and assignable: kernels copy its bytes");
  static_assert(std::is_default_constructible_v<T>,
                "an element must be default-constructible: kernels hold elements in registers");
  static_assert(alignof(T) <= 16,
                "an element must be aligned to at most 16 bytes: no memory access is wider");
  static_assert(sizeof(T) <= 256, "an element must have at most 256 bytes: partition indices");
}

}  // namespace detail

/// Writes the elements for which is_selected(element) holds, a device functor that can be called
/// as const, to `selected`, and all others to `rest`; `count` becomes the number of the selected
/// ones. in, selected, rest: n elements of at most 256 bytes; n may pass 2^31.
template <class T, class Predicate>
void partition(InputSpan<T> in, DeviceSpan<T> selected, DeviceSpan<T> rest, Predicate is_selected,
               DeviceCount& count, Workspace& workspace, cudaStream_t stream) {
  detail::require_element<T>();
  require_span("in", in);
  require_room("selected", selected, in.count);
  require_room("rest", rest, in.count);
  require_apart("in", in, "selected", selected);
  require_apart("in", in, "rest", rest);
  require_apart("selected", selected, "rest", rest);
  require_apart("in", in, "count", count.span());
  require_apart("count", count.span(), "selected", selected);
  require_apart("count", count.span(), "rest", rest);
  if (in.count == 0) return count.set_zero(stream);
  detail::run_partition<T>(detail::TwoClasses<Predicate>{is_selected}, in,
                           {{selected.data, rest.data}, {count.data()}, nullptr}, workspace,
                           stream);
}

/// The same into one output: the selected elements, and after them the rest. Reads the input twice
/// and asks the predicate twice, since the rest begins where the selected elements end. in, out: n
/// elements.
template <class T, class Predicate>
void partition(InputSpan<T> in, DeviceSpan<T> out, Predicate is_selected, DeviceCount& count,
               Workspace& workspace, cudaStream_t stream) {
  detail::require_element<T>();
  require_span("in", in);
  require_room("out", out, in.count);
  require_apart("in", in, "out", out);
  require_apart("in", in, "count", count.span());
  require_apart("count", count.span(), "out", out);
  if (in.count == 0) return count.set_zero(stream);
  const detail::TwoClasses<Predicate> classes{is_selected};
  const std::int64_t* selected = detail::run_count<T>(classes, in, workspace, stream);
  detail::run_partition<T>(classes, in, {{out.data, out.data}, {count.data()}, selected}, workspace,
                           stream);
}

/// Writes the elements for which is_first holds to `first`, those of the others for which is_second
/// holds to `second`, and all others to `rest`. in, first, second, rest: n elements.
template <class T, class First, class Second>
void partition_three_way(InputSpan<T> in, DeviceSpan<T> first, DeviceSpan<T> second,
                         DeviceSpan<T> rest, First is_first, Second is_second,
                         DeviceCount& first_count, DeviceCount& second_count, Workspace& workspace,
                         cudaStream_t stream) {
  detail::require_element<T>();
  require_span("in", in);
  const auto require_output = [&](const char* name, DeviceSpan<T> out) {
    require_room(name, out, in.count);
    require_apart("in", in, name, out);
    require_apart("first_count", first_count.span(), name, out);
    require_apart("second_count", second_count.span(), name, out);
  };
  require_apart("in", in, "first_count", first_count.span());
  require_apart("in", in, "second_count", second_count.span());
  require_output("first", first);
  require_output("second", second);
  require_output("rest", rest);
  require_apart("first", first, "second", second);
  require_apart("first", first, "rest", rest);
  require_apart("second", second, "rest", rest);
  require_apart("first_count", first_count.span(), "second_count", second_count.span());
  if (in.count == 0) {
    first_count.set_zero(stream);
    second_count.set_zero(stream);
    return;
  }
  detail::run_partition<T>(
      detail::ThreeClasses<First, Second>{is_first, is_second}, in,
      {{first.data, second.data, rest.data}, {first_count.data(), second_count.data()}, nullptr},
      workspace, stream);
}

}  // namespace warpath::partitioners
