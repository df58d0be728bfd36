// Bulk loads of arrays that begin and end anywhere in a 16-byte line.
#pragma once

#include <cstdint>

#include "core/hopper.cuh"
#include "core/warp.cuh"

namespace warpath::hopper {

/// Elements of T in a cache line.
template <class T>
inline constexpr int cache_line_elements = cache_line_bytes / static_cast<int>(sizeof(T));

/// Where in its cache line an element lies, in elements.
template <class T>
__device__ __forceinline__ int place_in_cache_line(const T* element) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(element) / sizeof(T) %
                          static_cast<unsigned>(cache_line_elements<T>));
}

/// One full warp loads `count` elements to shared memory, and what lies beside them in their
/// 16-byte lines. `from` and `to` have the same place in a line, better in a cache line, and `to`
/// has room for the lines. The array has `before` elements in front of `from`, and `after` elements
/// from there on (count or more): a line that is not wholly the array's is copied by lanes, and
/// only what is wanted of it. Returns how many bytes will arrive at `loaded`, for arrive_expect();
/// what lanes copy is there once the warp has arrived.
template <class T>
__device__ __forceinline__ unsigned warp_bulk_load(T* to, const T* from, int count,
                                                   std::int64_t before, std::int64_t after,
                                                   TransactionBarrier& loaded) {
  static_assert(bulk_bytes % sizeof(T) == 0 && alignof(T) == sizeof(T),
                "a line holds whole elements");
  constexpr int line = bulk_bytes / static_cast<int>(sizeof(T));
  if (count == 0) return 0;
  int begin = -(place_in_cache_line(from) % line);
  int end = begin + (count - begin + line - 1) / line * line;
  if (before + begin < 0) begin += line;
  if (end > after) end = max(end - line, begin);
  const int lane = lane_index();
  if (lane < min(begin, count)) to[lane] = from[lane];
  if (end + lane < count) to[end + lane] = from[end + lane];
  const auto bytes = static_cast<unsigned>((end - begin) * static_cast<int>(sizeof(T)));
  if (lane == 0 && bytes > 0) bulk_load(to + begin, from + begin, bytes, loaded);
  return bytes;
}

}  // namespace warpath::hopper
