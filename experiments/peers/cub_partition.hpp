// CUB's device-wide partitions, as peers of partitioners: the cuda backend only.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/technique.hpp"
#include "scratch.cuh"

namespace warpath::experiments {

/// Whether an element lies in [least, end).
struct InRange {
  std::uint32_t least;
  std::uint32_t end;
  __host__ __device__ bool operator()(std::uint32_t x) const { return least <= x && x < end; }
};

namespace cub_partition {

// Each makes the execution, with its temporary storage in `storage`, asked for and allocated once,
// outside of what is timed; all pointers are device memory. Counts of elements have 32 bits where
// they do.
using Storage = std::shared_ptr<KeptStorage>;

/// DevicePartition::If: the selected elements in their order at the front of `out`, the others in
/// reverse order at its end; *selected becomes how many are selected.
harness::Execution two_way(const std::uint32_t* in, std::uint32_t* out, std::int64_t* selected,
                           std::int64_t n, InRange is_selected, const Storage& storage);

/// DevicePartition::If with two predicates and three outputs; counts[0] and counts[1] become how
/// many go to the first and the second.
harness::Execution three_way(const std::uint32_t* in, std::uint32_t* first, std::uint32_t* second,
                             std::uint32_t* rest, std::int64_t* counts, std::int64_t n,
                             InRange is_first, InRange is_second, const Storage& storage);

}  // namespace cub_partition
}  // namespace warpath::experiments
