// CUDA's warp and block functions.
#pragma once

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's.

#include "../barrier.hpp"
#include "../diagnostics.hpp"
#include "../sanitizer.hpp"
#include "../site.hpp"
#include "../warp.hpp"

SIMT_BEGIN_UNOBSERVED

// ---------------------------------------------------------------- block
namespace simt {
template <class Unique>
inline char barrier_identity = 0;
}  // namespace simt

template <class Unique>
void simt_syncthreads(Unique, SIMT_SITE) {
  simt::block_barrier({simt_file, simt_line, &simt::barrier_identity<Unique>});
}
template <class Unique>
int simt_syncthreads_vote(Unique, simt::Vote vote, int predicate, SIMT_SITE) {
  simt::block_barrier({simt_file, simt_line, &simt::barrier_identity<Unique>}, predicate);
  return simt::barrier_votes(vote);
}
// Macros, since each lambda expression has a type of its own, which tells apart two barriers that a
// kernel's macro puts into two branches on one line.
#define __syncthreads() simt_syncthreads([] {})
#define __syncthreads_count(...) simt_syncthreads_vote([] {}, simt::Vote::count, __VA_ARGS__)
#define __syncthreads_and(...) simt_syncthreads_vote([] {}, simt::Vote::all, __VA_ARGS__)
#define __syncthreads_or(...) simt_syncthreads_vote([] {}, simt::Vote::any, __VA_ARGS__)

// ---------------------------------------------------------------- votes
inline void __syncwarp(unsigned mask = ~0u, SIMT_SITE) {
  simt::warp_collective(mask, simt::combine::sync, 0, 0, SIMT_HERE);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, SIMT_SITE) {
  return unsigned(simt::warp_collective(mask, simt::combine::ballot, predicate != 0, 0, SIMT_HERE));
}
inline int __any_sync(unsigned mask, int predicate, SIMT_SITE) {
  return int(simt::warp_collective(mask, simt::combine::any, predicate != 0, 0, SIMT_HERE));
}
inline int __all_sync(unsigned mask, int predicate, SIMT_SITE) {
  return int(simt::warp_collective(mask, simt::combine::all, predicate != 0, 0, SIMT_HERE));
}
/// The lanes that have not ended: on a GPU it may be fewer, so correct code cannot depend on it.
inline unsigned __activemask() {
  return simt::live_lanes();
}

// ---------------------------------------------------------------- matches and reductions
template <class T>
unsigned __match_any_sync(unsigned mask, T value, SIMT_SITE) {
  return unsigned(
      simt::warp_collective(mask, simt::combine::match_any, simt::to_bits(value), 0, SIMT_HERE));
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* predicate, SIMT_SITE) {
  const auto lanes = unsigned(
      simt::warp_collective(mask, simt::combine::match_all, simt::to_bits(value), 0, SIMT_HERE));
  *predicate = lanes != 0;
  return lanes;
}

#define SIMT_REDUCE(name, T, operation)                                                   \
  inline T __reduce_##name##_sync(unsigned mask, T value, SIMT_SITE) {                    \
    return simt::from_bits<T>(simt::warp_collective(mask, simt::combine::operation,       \
                                                    simt::to_bits(value), 0, SIMT_HERE)); \
  }
SIMT_REDUCE(add, unsigned, add)
SIMT_REDUCE(add, int, add)
SIMT_REDUCE(min, unsigned, min_unsigned)
SIMT_REDUCE(min, int, min_signed)
SIMT_REDUCE(max, unsigned, max_unsigned)
SIMT_REDUCE(max, int, max_signed)
SIMT_REDUCE(and, unsigned, bit_and)
SIMT_REDUCE(or, unsigned, bit_or)
SIMT_REDUCE(xor, unsigned, bit_xor)
#undef SIMT_REDUCE

// ---------------------------------------------------------------- shuffles
namespace simt {

template <class T>
T shuffle(unsigned mask, Warp::Combine kind, T value, int source, Site site) {
  return from_bits<T>(warp_collective(mask, kind, to_bits(value), source, site));
}

inline void check_width(int width, Site site) {
  if (width < 1 || width > 32 || (width & (width - 1)))
    fail("shuffle at %s:%d with width %d; expected a power of two up to 32", site.file, site.line,
         width);
}

}  // namespace simt

// A warp of `width` lanes is the segment [first, first + width) of the calling lane. What would
// come from outside of it is the lane's own value.
template <class T>
T __shfl_sync(unsigned mask, T value, int source_lane, int width = 32, SIMT_SITE) {
  simt::check_width(width, SIMT_HERE);
  const int first = int(simt::lane()) & -width;
  return simt::shuffle(mask, simt::combine::shuffle_index, value,
                       first | (source_lane & (width - 1)), SIMT_HERE);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_SITE) {
  simt::check_width(width, SIMT_HERE);
  const int lane = int(simt::lane()), first = lane & -width;
  const bool inside = delta <= unsigned(lane - first);
  return simt::shuffle(mask, simt::combine::shuffle_up, value, inside ? lane - int(delta) : lane,
                       SIMT_HERE);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_SITE) {
  simt::check_width(width, SIMT_HERE);
  const int lane = int(simt::lane()), last = (lane & -width) + width - 1;
  const bool inside = delta <= unsigned(last - lane);
  return simt::shuffle(mask, simt::combine::shuffle_down, value, inside ? lane + int(delta) : lane,
                       SIMT_HERE);
}
// Unlike the others it may read from earlier segments: only what lies beyond the own one is cut
// off.
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, SIMT_SITE) {
  simt::check_width(width, SIMT_HERE);
  const int lane = int(simt::lane()), last = (lane & -width) + width - 1;
  const int source = lane ^ (lane_mask & 31);
  return simt::shuffle(mask, simt::combine::shuffle_xor, value, source > last ? lane : source,
                       SIMT_HERE);
}

SIMT_END_UNOBSERVED

// NOLINTEND(bugprone-reserved-identifier)
