// The elements and predicates of the compaction experiments, shared with their peers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace warpath::experiments {

/// Elements of 4, 8 and 16 bytes. What decides is `key`, uniform in [0, 2^31) or the number of a
/// run.
struct Element4 {
  std::uint32_t key;
  __host__ __device__ bool operator==(const Element4& other) const { return key == other.key; }
};
struct alignas(8) Element8 {
  std::uint32_t key;
  std::uint32_t payload;
  __host__ __device__ bool operator==(const Element8& other) const {
    return key == other.key && payload == other.payload;
  }
};
struct alignas(16) Element16 {
  std::uint32_t key;
  std::uint32_t payload[3];
  __host__ __device__ bool operator==(const Element16& other) const {
    return key == other.key && payload[0] == other.payload[0] && payload[1] == other.payload[1] &&
           payload[2] == other.payload[2];
  }
};

/// Keeps an element if its key is below a bound: the share `bound / 2^31` of uniform keys.
template <class T>
struct KeyBelow {
  std::uint32_t bound;
  __host__ __device__ bool operator()(const T& element) const { return element.key < bound; }
};

}  // namespace warpath::experiments
