// CUB's device-wide selections, as peers of warp_compaction: the cuda backend only.
#pragma once

#include <cstdint>
#include <stdexcept>

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

#ifdef SIMT_EMULATION
// The harness never prepares a peer here: it needs a GPU.
template <class T>
harness::Execution select_if(const T*, T*, std::int64_t*, std::int64_t, KeyBelow<T>) {
  throw std::logic_error("CUB needs the cuda backend");
}
template <class T>
harness::Execution select_flagged(const T*, const std::uint8_t*, T*, std::int64_t*, std::int64_t) {
  throw std::logic_error("CUB needs the cuda backend");
}
template <class T>
harness::Execution unique(const T*, T*, std::int64_t*, std::int64_t) {
  throw std::logic_error("CUB needs the cuda backend");
}
template <class K>
harness::Execution unique_by_key(const K*, const std::uint32_t*, K*, std::uint32_t*, std::int64_t*,
                                 std::int64_t) {
  throw std::logic_error("CUB needs the cuda backend");
}
#endif

}  // namespace warpath::experiments::cub_select
