// CUB's device-wide copies of many arrays, as peers of load_balancing_search: the cuda backend
// only.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/technique.hpp"
#include "scratch.cuh"

namespace warpath::experiments::cub_batched {

/// Interval i, of counts[i] elements, goes from in + gather[i] to out + scatter[i]; all on the
/// device.
struct Intervals {
  const std::int32_t* gather;
  const std::int32_t* scatter;
  const std::int32_t* counts;
  std::int64_t count;
};

// Each makes the execution, with its temporary storage in `storage`, asked for and allocated once,
// outside of what is timed. The pointers come from iterators that add: 4 bytes an interval are read
// and not the 8 of a pointer. Elements have 1, 4, 8, 12 or 16 bytes.
using Storage = std::shared_ptr<KeptStorage>;

/// DeviceCopy::Batched, by elements.
harness::Execution copy(int element_bytes, const void* in, void* out, const Intervals& intervals,
                        const Storage& storage);
/// DeviceMemcpy::Batched, by bytes.
harness::Execution memory_copy(int element_bytes, const void* in, void* out,
                               const Intervals& intervals, const Storage& storage);

}  // namespace warpath::experiments::cub_batched
