#include "warp_compaction/comparisons.hpp"
#include "warp_compaction/warp_compaction.cuh"

namespace warpath::experiments {
namespace {

struct CountedEqual {
  unsigned long long* calls;
  __device__ bool operator()(std::uint32_t x, std::uint32_t y) const {
    atomicAdd(calls, 1ull);
    return x == y;
  }
};

}  // namespace

std::int64_t comparisons_of_unique(DeviceSpan<const std::uint32_t> in,
                                   DeviceSpan<std::uint32_t> out, DeviceCount& kept,
                                   Workspace& workspace, cudaStream_t stream,
                                   const warp_compaction::Options& options) {
  DeviceCount calls(stream);
  calls.set_zero(stream);
  warp_compaction::unique(in, out, kept, workspace, stream,
                          CountedEqual{reinterpret_cast<unsigned long long*>(calls.data())},
                          options);
  return calls.get(stream);
}

}  // namespace warpath::experiments
