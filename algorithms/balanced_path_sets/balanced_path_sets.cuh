// Set operations on sorted multisets: the public host functions.
//
// Source: seed 003 (S. Baxter, Modern GPU 1.1, "Multisets", NVIDIA 2013). The semantics are those
// of std::set_intersection, set_union, set_difference and set_symmetric_difference, to the element:
// keys, and their values, come from the input that C++ takes them from (A, wherever both match).
//   Extra memory    single_pass: 17 bytes a tile of 3744 to 5888 elements and 2 KiB;
//                   count_scan_stream: 17 bytes a tile of 1408; compact: that, and as many elements
//                   as both inputs have.
//   Preconditions   a and b are sorted by `less`, a strict weak order; with Duplicates = false no
//                   key occurs twice in one of them. A checked build throws std::invalid_argument
//                   with the first index that breaks this, or is NaN; else the result is undefined.
//                   The output has room for the worst case and overlaps no input: else an exception
//                   before anything is launched.
// The number of outputs stays on the device. Nothing is allocated outside the workspace; nothing
// synchronises (but a checked build). Counts may pass 2^31.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "balanced_path_sets/dispatch.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"

namespace warpath::balanced_path_sets {

/// The most outputs that an operation on so many elements can have.
template <SetOperation operation>
std::int64_t most_outputs(std::int64_t a, std::int64_t b) {
  if (operation == SetOperation::intersection) return std::min(a, b);
  return operation == SetOperation::difference ? a : a + b;
}

/// Any of the operations, on keys alone. out: most_outputs elements.
template <SetOperation operation, bool Duplicates = true, class Key, class Less = std::less<Key>>
void set_operation(DeviceSpan<const Key> a, DeviceSpan<const Key> b, DeviceSpan<Key> out,
                   DeviceCount& count, Workspace& workspace, cudaStream_t stream,
                   const Options& options = {}, Less less = {}) {
  require_room("out", out, most_outputs<operation>(a.count, b.count));
  require_apart("a", a, "out", out);
  require_apart("b", b, "out", out);
  require_set<Duplicates>("a", a, less, stream);
  require_set<Duplicates>("b", b, less, stream);
  if (a.count + b.count == 0) return count.set_zero(stream);
  run<operation, Duplicates>(Call<Key, NoValue, Less>{{a.data, nullptr, a.count},
                                                      {b.data, nullptr, b.count},
                                                      {out.data, nullptr},
                                                      count.data(),
                                                      less,
                                                      workspace,
                                                      stream},
                             options);
}

/// The same on keys with values: a_values and b_values have one for each key; both outputs
/// most_outputs elements.
template <SetOperation operation, bool Duplicates = true, class Key, class Value,
          class Less = std::less<Key>>
void set_operation_by_key(DeviceSpan<const Key> a, DeviceSpan<const Value> a_values,
                          DeviceSpan<const Key> b, DeviceSpan<const Value> b_values,
                          DeviceSpan<Key> out, DeviceSpan<Value> out_values, DeviceCount& count,
                          Workspace& workspace, cudaStream_t stream, const Options& options = {},
                          Less less = {}) {
  require_count("a_values", a_values.count, "a", a.count);
  require_count("b_values", b_values.count, "b", b.count);
  require_room("out", out, most_outputs<operation>(a.count, b.count));
  require_room("out_values", out_values, most_outputs<operation>(a.count, b.count));
  const auto require_all_apart = [&](const char* name, auto output) {
    require_apart("a", a, name, output);
    require_apart("a_values", a_values, name, output);
    require_apart("b", b, name, output);
    require_apart("b_values", b_values, name, output);
  };
  require_all_apart("out", out);
  require_all_apart("out_values", out_values);
  require_apart("out", out, "out_values", out_values);
  require_set<Duplicates>("a", a, less, stream);
  require_set<Duplicates>("b", b, less, stream);
  if (a.count + b.count == 0) return count.set_zero(stream);
  run<operation, Duplicates>(Call<Key, Value, Less>{{a.data, a_values.data, a.count},
                                                    {b.data, b_values.data, b.count},
                                                    {out.data, out_values.data},
                                                    count.data(),
                                                    less,
                                                    workspace,
                                                    stream},
                             options);
}

}  // namespace warpath::balanced_path_sets
