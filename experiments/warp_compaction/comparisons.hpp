// How often a variant compares an item with the one before it: the source's variant once, that of
// the paper which it starts from twice. In a source file of its own, so that both compile side by
// side.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/buffer.cuh"
#include "core/span.hpp"
#include "warp_compaction/variant.hpp"

namespace warpath::experiments {

/// The comparisons of one warp_compaction::unique. Waits for the stream.
std::int64_t comparisons_of_unique(DeviceSpan<const std::uint32_t> in,
                                   DeviceSpan<std::uint32_t> out, DeviceCount& kept,
                                   Workspace& workspace, cudaStream_t stream,
                                   const warp_compaction::Options& options);

}  // namespace warpath::experiments
