// Any set operation on ints, chosen at run time: compiled once, in int_sets.cu and int_pairs.cu,
// for all tests. Its 16 cases are every operation, with Duplicates and without, on keys and on
// pairs.
#pragma once

#include <cuda_runtime.h>

#include "balanced_path_sets/variant.hpp"
#include "core/span.hpp"

namespace warpath {
class DeviceCount;
class Workspace;
}  // namespace warpath

namespace warpath::balanced_path_sets::test {

/// Rising or falling, so that both are the same kernels.
struct Order {
  bool falls = false;
  __host__ __device__ bool operator()(int x, int y) const { return falls ? x > y : x < y; }
};

/// What of a call can be chosen at run time.
struct Case {
  SetOperation operation = SetOperation::set_union;
  bool duplicates = true;
  Order order = {};
};

void int_sets(const Case& which, DeviceSpan<const int> a, DeviceSpan<const int> b,
              DeviceSpan<int> out, DeviceCount& count, Workspace& workspace, cudaStream_t stream,
              const Options& options = {});

void int_pairs(const Case& which, DeviceSpan<const int> a, DeviceSpan<const int> a_values,
               DeviceSpan<const int> b, DeviceSpan<const int> b_values, DeviceSpan<int> out,
               DeviceSpan<int> out_values, DeviceCount& count, Workspace& workspace,
               cudaStream_t stream, const Options& options = {});

}  // namespace warpath::balanced_path_sets::test
