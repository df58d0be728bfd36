// Warp collectives: everything that the lanes of a warp do together.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

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

template <class F>
void for_each_lane(std::uint32_t lanes, F f) {
  if (lanes == ~0u) {
    for (unsigned i = 0; i < warp_size; ++i) f(i);
  } else {
    for (; lanes; lanes &= lanes - 1) f(unsigned(std::countr_zero(lanes)));
  }
}

// The operations. Each is a function of its own even where two would compute the same, because
// lanes that meet in different operations are an error.
namespace combine {

inline void sync(Warp&, std::uint32_t) {}

inline std::uint32_t votes(const Warp& w, std::uint32_t lanes) {
  std::uint32_t result = 0;
  for_each_lane(lanes, [&](unsigned i) { result |= std::uint32_t(w.in[i] != 0) << i; });
  return result;
}

inline void give_all(Warp& w, std::uint32_t lanes, std::uint64_t value) {
  for_each_lane(lanes, [&](unsigned i) { w.out[i] = value; });
}

inline void ballot(Warp& w, std::uint32_t lanes) {
  give_all(w, lanes, votes(w, lanes));
}
inline void any(Warp& w, std::uint32_t lanes) {
  give_all(w, lanes, votes(w, lanes) != 0);
}
inline void all(Warp& w, std::uint32_t lanes) {
  give_all(w, lanes, votes(w, lanes) == lanes);
}

enum class Shuffle { index, up, down, exclusive_or };

template <Shuffle>
void shuffle(Warp& w, std::uint32_t lanes) {
  for_each_lane(lanes, [&](unsigned i) {
    const int source = w.argument[i];
    w.out[i] = lanes >> source & 1 ? w.in[source] : undefined_lane;
  });
}

inline void match_any(Warp& w, std::uint32_t lanes) {
  for_each_lane(lanes, [&](unsigned i) {
    std::uint32_t same = 0;
    for_each_lane(lanes, [&](unsigned j) { same |= std::uint32_t(w.in[j] == w.in[i]) << j; });
    w.out[i] = same;
  });
}

inline void match_all(Warp& w, std::uint32_t lanes) {
  const std::uint64_t first = w.in[std::countr_zero(lanes)];
  bool same = true;
  for_each_lane(lanes, [&](unsigned i) { same &= w.in[i] == first; });
  give_all(w, lanes, same ? lanes : 0);
}

template <class T, class Operation>
void reduce(Warp& w, std::uint32_t lanes) {
  bool first = true;
  T result{};
  for_each_lane(lanes, [&](unsigned i) {
    const T value = from_bits<T>(w.in[i]);
    result = first ? value : Operation{}(result, value);
    first = false;
  });
  give_all(w, lanes, to_bits(result));
}

}  // namespace combine

}  // namespace simt
