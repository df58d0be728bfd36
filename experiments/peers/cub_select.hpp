// CUB's device-wide selections, as peers of warp_compaction: the cuda backend only.
#pragma once

#include <cstdint>
#include <memory>

#include "compaction_data.cuh"
#include "harness/technique.hpp"
#include "scratch.cuh"

namespace warpath::experiments::cub_select {

// Each makes the execution, with its temporary storage in `storage`; all pointers are device
// memory, *kept becomes the count.
//
// Called as CUB's documentation says, with the least work per call: temporary storage is asked for
// and allocated once, outside of what is timed, and the count of elements has 32 bits where they
// do: If, Flagged and Unique take 64 bits and work in partitions of 32 whatever they are given, but
// UniqueByKey computes all its offsets in the type that it is given (2^28 pairs on an H200: 1.78 ms
// with 64 bits, 1.04 with 32).
using Storage = std::shared_ptr<KeptStorage>;
template <class T>
harness::Execution select_if(const T* in, T* out, std::int64_t* kept, std::int64_t n,
                             KeyBelow<T> predicate, const Storage& storage);
template <class T>
harness::Execution select_flagged(const T* in, const std::uint8_t* flags, T* out,
                                  std::int64_t* kept, std::int64_t n, const Storage& storage);
template <class T>
harness::Execution unique(const T* in, T* out, std::int64_t* kept, std::int64_t n,
                          const Storage& storage);
template <class K>
harness::Execution unique_by_key(const K* keys, const std::uint32_t* values, K* out_keys,
                                 std::uint32_t* out_values, std::int64_t* kept, std::int64_t n,
                                 const Storage& storage);

}  // namespace warpath::experiments::cub_select
