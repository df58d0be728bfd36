// CUB's device-wide selections, as peers of warp_compaction: the cuda backend only.
#pragma once

#include <cstdint>

#include "compaction_data.cuh"
#include "harness/technique.hpp"

namespace warpath::experiments::cub_select {

// Each makes the execution, with its temporary storage; all pointers are device memory, *kept
// becomes the count.
template <class T>
harness::Execution select_if(const T* in, T* out, std::int64_t* kept, std::int64_t n,
                             KeyBelow<T> predicate);
template <class T>
harness::Execution select_flagged(const T* in, const std::uint8_t* flags, T* out,
                                  std::int64_t* kept, std::int64_t n);
template <class T>
harness::Execution unique(const T* in, T* out, std::int64_t* kept, std::int64_t n);
template <class K>
harness::Execution unique_by_key(const K* keys, const std::uint32_t* values, K* out_keys,
                                 std::uint32_t* out_values, std::int64_t* kept, std::int64_t n);

}  // namespace warpath::experiments::cub_select
