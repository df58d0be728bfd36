// `compact` with Duplicates = false, in a source file of its own, so that both compile side by
// side.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "balanced_path_sets/variant.hpp"
#include "core/buffer.cuh"
#include "core/span.hpp"

namespace warpath::experiments {

/// No key occurs twice in a, or in b.
void compact_without_duplicates(balanced_path_sets::SetOperation operation,
                                DeviceSpan<const std::int32_t> a, DeviceSpan<const std::int32_t> b,
                                DeviceSpan<std::int32_t> out, DeviceCount& count,
                                Workspace& workspace, cudaStream_t stream);

}  // namespace warpath::experiments
