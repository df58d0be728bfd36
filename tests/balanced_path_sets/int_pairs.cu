// The calls of int_sets.hpp on keys with values.
#include "balanced_path_sets/balanced_path_sets.cuh"
#include "int_sets.hpp"

namespace warpath::balanced_path_sets::test {
namespace {

template <bool Duplicates>
void run(const Case& which, DeviceSpan<const int> a, DeviceSpan<const int> a_values,
         DeviceSpan<const int> b, DeviceSpan<const int> b_values, DeviceSpan<int> out,
         DeviceSpan<int> out_values, DeviceCount& count, Workspace& workspace, cudaStream_t stream,
         const Options& options) {
  switch (which.operation) {
    case SetOperation::intersection:
      return set_intersection_by_key<Duplicates>(a, a_values, b, b_values, out, out_values, count,
                                                 workspace, stream, which.order, options);
    case SetOperation::set_union:
      return set_union_by_key<Duplicates>(a, a_values, b, b_values, out, out_values, count,
                                          workspace, stream, which.order, options);
    case SetOperation::difference:
      return set_difference_by_key<Duplicates>(a, a_values, b, b_values, out, out_values, count,
                                               workspace, stream, which.order, options);
    case SetOperation::symmetric_difference:
      return set_symmetric_difference_by_key<Duplicates>(a, a_values, b, b_values, out, out_values,
                                                         count, workspace, stream, which.order,
                                                         options);
  }
}

}  // namespace

void int_pairs(const Case& which, DeviceSpan<const int> a, DeviceSpan<const int> a_values,
               DeviceSpan<const int> b, DeviceSpan<const int> b_values, DeviceSpan<int> out,
               DeviceSpan<int> out_values, DeviceCount& count, Workspace& workspace,
               cudaStream_t stream, const Options& options) {
  if (which.duplicates)
    return run<true>(which, a, a_values, b, b_values, out, out_values, count, workspace, stream,
                     options);
  run<false>(which, a, a_values, b, b_values, out, out_values, count, workspace, stream, options);
}

}  // namespace warpath::balanced_path_sets::test
