#include <stdexcept>

#include "balanced_path_sets/balanced_path_sets.cuh"
#include "balanced_path_sets/no_duplicates.hpp"

namespace warpath::experiments {

using balanced_path_sets::SetOperation;

void compact_without_duplicates(SetOperation operation, DeviceSpan<const std::int32_t> a,
                                DeviceSpan<const std::int32_t> b, DeviceSpan<std::int32_t> out,
                                DeviceCount& count, Workspace& workspace, cudaStream_t stream) {
  const balanced_path_sets::Options options{balanced_path_sets::Variant::compact};
  switch (operation) {
    case SetOperation::intersection:
      return balanced_path_sets::set_intersection<false>(a, b, out, count, workspace, stream,
                                                         options);
    case SetOperation::set_union:
      return balanced_path_sets::set_union<false>(a, b, out, count, workspace, stream, options);
    case SetOperation::difference:
      return balanced_path_sets::set_difference<false>(a, b, out, count, workspace, stream,
                                                       options);
    case SetOperation::symmetric_difference:
      return balanced_path_sets::set_symmetric_difference<false>(a, b, out, count, workspace,
                                                                 stream, options);
  }
  throw std::logic_error("unknown operation");
}

}  // namespace warpath::experiments
