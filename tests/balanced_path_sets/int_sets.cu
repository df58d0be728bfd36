// The calls of int_sets.hpp on keys.
#include "balanced_path_sets/balanced_path_sets.cuh"
#include "int_sets.hpp"

namespace warpath::balanced_path_sets::test {
namespace {

template <bool Duplicates>
void run(const Case& which, DeviceSpan<const int> a, DeviceSpan<const int> b, DeviceSpan<int> out,
         DeviceCount& count, Workspace& workspace, cudaStream_t stream, const Options& options) {
  switch (which.operation) {
    case SetOperation::intersection:
      return set_intersection<Duplicates>(a, b, out, count, workspace, stream, which.order,
                                          options);
    case SetOperation::set_union:
      return set_union<Duplicates>(a, b, out, count, workspace, stream, which.order, options);
    case SetOperation::difference:
      return set_difference<Duplicates>(a, b, out, count, workspace, stream, which.order, options);
    case SetOperation::symmetric_difference:
      return set_symmetric_difference<Duplicates>(a, b, out, count, workspace, stream, which.order,
                                                  options);
  }
}

}  // namespace

void int_sets(const Case& which, DeviceSpan<const int> a, DeviceSpan<const int> b,
              DeviceSpan<int> out, DeviceCount& count, Workspace& workspace, cudaStream_t stream,
              const Options& options) {
  if (which.duplicates) return run<true>(which, a, b, out, count, workspace, stream, options);
  run<false>(which, a, b, out, count, workspace, stream, options);
}

}  // namespace warpath::balanced_path_sets::test
