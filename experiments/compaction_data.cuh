// The elements and predicates of the compaction experiments, shared with their peers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace warpath::experiments {

/// Elements of 4 and 8 bytes are integers, as the peers are tuned for; this is one of 16. What
/// decides is the key: uniform in [0, 2^31), or the number of a run.
struct alignas(16) Element16 {
  std::uint32_t key;
  std::uint32_t payload[3];
  __host__ __device__ bool operator==(const Element16& other) const {
    return key == other.key && payload[0] == other.payload[0] && payload[1] == other.payload[1] &&
           payload[2] == other.payload[2];
  }
};

__host__ __device__ inline std::uint32_t key_of(std::uint32_t element) {
  return element;
}
__host__ __device__ inline std::uint32_t key_of(std::uint64_t element) {
  return static_cast<std::uint32_t>(element);
}
__host__ __device__ inline std::uint32_t key_of(const Element16& element) {
  return element.key;
}

/// A record of `Count` units, and aligned to one. The first of them decides, or what of it fits 32
/// bits.
template <class Unit, int Count>
struct Record {
  Unit units[Count];
};
template <class Unit, int Count>
__host__ __device__ std::uint32_t key_of(const Record<Unit, Count>& record) {
  return static_cast<std::uint32_t>(record.units[0]);
}

/// Keeps an element if its key is below a bound: the share `bound / 2^31` of uniform keys.
template <class T>
struct KeyBelow {
  std::uint32_t bound;
  __host__ __device__ bool operator()(const T& element) const { return key_of(element) < bound; }
};

}  // namespace warpath::experiments
