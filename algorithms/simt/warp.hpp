// Warp collectives: everything that the lanes of a warp do together.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sanitizer.hpp"
#include "site.hpp"
#include "thread.hpp"

namespace simt {

/// Waits until every live lane of `mask` has called it with the same mask and operation; returns
/// this lane's result.
std::uint64_t warp_collective(std::uint32_t mask, Warp::Combine, std::uint64_t in,
                              std::int32_t argument, Site);

/// The lanes of this warp that have not ended.
std::uint32_t live_lanes();

// A lane that reads from one that takes no part gets this: on a GPU the value is undefined.
constexpr std::uint64_t undefined_lane = 0xBADBADBADBADBADBull;

SIMT_BEGIN_UNOBSERVED
template <class T>
std::uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>,
                "a lane can exchange at most 8 bytes");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
SIMT_END_UNOBSERVED

// The operations. Each is a function of its own even where two would compute the same, because
// lanes that meet in different operations are an error. They work on the executor's books, so they
// live in warp.cpp, where no sanitizer watches.
namespace combine {

void sync(Warp&, std::uint32_t lanes);
void ballot(Warp&, std::uint32_t lanes);
void any(Warp&, std::uint32_t lanes);
void all(Warp&, std::uint32_t lanes);
void match_any(Warp&, std::uint32_t lanes);
void match_all(Warp&, std::uint32_t lanes);
void shuffle_index(Warp&,
                   std::uint32_t lanes);  // these four read from the lane that `argument` names
void shuffle_up(Warp&, std::uint32_t lanes);
void shuffle_down(Warp&, std::uint32_t lanes);
void shuffle_xor(Warp&, std::uint32_t lanes);
void add(Warp&, std::uint32_t lanes);  // wraps, and so serves signed values, too
void min_signed(Warp&, std::uint32_t lanes);
void min_unsigned(Warp&, std::uint32_t lanes);
void max_signed(Warp&, std::uint32_t lanes);
void max_unsigned(Warp&, std::uint32_t lanes);
void bit_and(Warp&, std::uint32_t lanes);
void bit_or(Warp&, std::uint32_t lanes);
void bit_xor(Warp&, std::uint32_t lanes);

}  // namespace combine

}  // namespace simt
