#include "warp.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "diagnostics.hpp"
#include "sanitizer.hpp"
#include "worker.hpp"

namespace simt {
namespace {

constexpr std::uint32_t all_lanes = ~0u;

template <class F>
void for_each_lane(std::uint32_t lanes, F f) {
  if (lanes == all_lanes) {
    for (unsigned i = 0; i < warp_size; ++i) f(i);
  } else {
    for (; lanes; lanes &= lanes - 1) f(unsigned(std::countr_zero(lanes)));
  }
}

void give_all(Warp& w, std::uint32_t lanes, std::uint64_t value) {
  for_each_lane(lanes, [&](unsigned i) { w.out[i] = value; });
}

std::uint32_t votes(const Warp& w, std::uint32_t lanes) {
  std::uint32_t result = 0;
  for_each_lane(lanes, [&](unsigned i) { result |= std::uint32_t(w.in[i] != 0) << i; });
  return result;
}

void shuffle(Warp& w, std::uint32_t lanes) {
  for_each_lane(lanes, [&](unsigned i) {
    const int source = w.argument[i];
    w.out[i] = lanes >> source & 1 ? w.in[source] : undefined_lane;
  });
}

template <class T, class Operation>
void reduce(Warp& w, std::uint32_t lanes, Operation operation) {
  T result = from_bits<T>(w.in[std::countr_zero(lanes)]);
  for_each_lane(lanes & (lanes - 1),
                [&](unsigned i) { result = operation(result, from_bits<T>(w.in[i])); });
  give_all(w, lanes, to_bits(result));
}

}  // namespace

namespace combine {

void sync(Warp&, std::uint32_t) {}
void ballot(Warp& w, std::uint32_t lanes) {
  give_all(w, lanes, votes(w, lanes));
}
void any(Warp& w, std::uint32_t lanes) {
  give_all(w, lanes, votes(w, lanes) != 0);
}
void all(Warp& w, std::uint32_t lanes) {
  give_all(w, lanes, votes(w, lanes) == lanes);
}

void match_any(Warp& w, std::uint32_t lanes) {
  for_each_lane(lanes, [&](unsigned i) {
    std::uint32_t same = 0;
    for_each_lane(lanes, [&](unsigned j) { same |= std::uint32_t(w.in[j] == w.in[i]) << j; });
    w.out[i] = same;
  });
}

void match_all(Warp& w, std::uint32_t lanes) {
  const std::uint64_t first = w.in[std::countr_zero(lanes)];
  bool same = true;
  for_each_lane(lanes, [&](unsigned i) { same &= w.in[i] == first; });
  give_all(w, lanes, same ? lanes : 0);
}

void shuffle_index(Warp& w, std::uint32_t lanes) {
  shuffle(w, lanes);
}
void shuffle_up(Warp& w, std::uint32_t lanes) {
  shuffle(w, lanes);
}
void shuffle_down(Warp& w, std::uint32_t lanes) {
  shuffle(w, lanes);
}
void shuffle_xor(Warp& w, std::uint32_t lanes) {
  shuffle(w, lanes);
}

void add(Warp& w, std::uint32_t lanes) {
  reduce<unsigned>(w, lanes, std::plus<>());
}
void bit_and(Warp& w, std::uint32_t lanes) {
  reduce<unsigned>(w, lanes, std::bit_and<>());
}
void bit_or(Warp& w, std::uint32_t lanes) {
  reduce<unsigned>(w, lanes, std::bit_or<>());
}
void bit_xor(Warp& w, std::uint32_t lanes) {
  reduce<unsigned>(w, lanes, std::bit_xor<>());
}

void min_signed(Warp& w, std::uint32_t lanes) {
  reduce<int>(w, lanes, [](int a, int b) { return std::min(a, b); });
}
void min_unsigned(Warp& w, std::uint32_t lanes) {
  reduce<unsigned>(w, lanes, [](unsigned a, unsigned b) { return std::min(a, b); });
}
void max_signed(Warp& w, std::uint32_t lanes) {
  reduce<int>(w, lanes, [](int a, int b) { return std::max(a, b); });
}
void max_unsigned(Warp& w, std::uint32_t lanes) {
  reduce<unsigned>(w, lanes, [](unsigned a, unsigned b) { return std::max(a, b); });
}

}  // namespace combine

namespace {

// What ThreadSanitizer's edges hang on. All lanes of a warp meet in one object, as a block does in
// its barrier, since each must leave before any can come again. Those of a part of it, whom others
// pass by, have one object each.
void arrives(Worker& k, const Thread& t, std::uint32_t mask) {
  happens_before(mask == all_lanes ? &k.warp_in[t.warp] : &k.lane_in[t.rank]);
}
void leaves(Worker& k, const Thread& t, std::uint32_t mask) {
  happens_after(mask == all_lanes ? &k.warp_out[t.warp] : &k.lane_out[t.rank]);
}
void all_have_arrived(Worker& k, unsigned warp, std::uint32_t mask, std::uint32_t lanes) {
  if (!under_tsan) return;
  if (mask == all_lanes) return happens_after(&k.warp_in[warp]);
  for_each_lane(lanes, [&](unsigned i) { happens_after(&k.lane_in[warp * warp_size + i]); });
}
void all_may_leave(Worker& k, unsigned warp, std::uint32_t mask, std::uint32_t lanes) {
  if (!under_tsan) return;
  if (mask == all_lanes) return happens_before(&k.warp_out[warp]);
  for_each_lane(lanes, [&](unsigned i) { happens_before(&k.lane_out[warp * warp_size + i]); });
}

}  // namespace

std::uint32_t live_lanes() {
  return worker->warps[self->warp].live;
}

// Completes the collective if every live lane of the mask waits in it. arriving_lane: -1 if a lane
// has ended instead.
bool Worker::try_collective(unsigned index, std::uint32_t mask, Warp::Combine operation,
                            int arriving_lane) {
  Warp& w = warps[index];
  const std::uint32_t lanes = mask & w.live;
  if ((w.collecting & lanes) != lanes) return false;
  if (!w.uniform) {
    for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
      const unsigned other = std::countr_zero(rest);
      if (w.mask[other] == mask && w.combine[other] == operation) continue;
      // The other lane may wait for lanes that do not include this one, and come here afterwards:
      // divergent code is legal. It is an error once the two wait for each other.
      if (arriving_lane < 0 || !(w.mask[other] >> arriving_lane & 1)) return false;
      const Thread& a = threads[index * warp_size + arriving_lane];
      const Thread& b = threads[index * warp_size + other];
      fail(
          "mismatched warp collectives: thread %u (mask %08x) at %s:%d, thread %u (mask %08x) at "
          "%s:%d",
          a.rank, mask, a.site.file, a.site.line, b.rank, w.mask[other], b.site.file, b.site.line);
    }
  }
  all_have_arrived(*this, index, mask, lanes);
  if (lanes) operation(w, lanes);
  w.collecting &= ~lanes;
  all_may_leave(*this, index, mask, lanes);
  wake(index, arriving_lane < 0 ? lanes : lanes & ~(1u << arriving_lane));
  return true;
}

std::uint64_t warp_collective(std::uint32_t mask, Warp::Combine operation, std::uint64_t in,
                              std::int32_t argument, Site site) {
  Worker& k = *worker;
  Thread& t = *self;
  Warp& w = k.warps[t.warp];
  const unsigned lane = t.lane;
  t.site = site;
  if (!(mask >> lane & 1))
    fail("the mask %08x of the warp collective at %s:%d lacks the calling lane %u", mask, site.file,
         site.line, lane);
  if (!w.collecting) {
    w.uniform = true;
    w.uniform_mask = mask;
    w.uniform_combine = operation;
  } else {
    w.uniform = w.uniform && w.uniform_mask == mask && w.uniform_combine == operation;
  }
  w.in[lane] = in;
  w.argument[lane] = argument;
  w.mask[lane] = mask;
  w.combine[lane] = operation;
  w.collecting |= 1u << lane;
  arrives(k, t, mask);
  if (!k.try_collective(t.warp, mask, operation, int(lane))) {
    k.block(t);
    k.suspend();
  } else {
    schedule_point();
  }
  leaves(k, t, mask);
  return w.out[lane];
}

// Lanes that have ended no longer count, so that the rest may be complete now.
void Worker::collectives_after_exit(const Thread& ended) {
  Warp& w = warps[ended.warp];
  for (std::uint32_t rest = w.collecting; rest; rest &= rest - 1) {
    const unsigned lane = std::countr_zero(rest);
    if (!(w.mask[lane] >> ended.lane & 1)) continue;
    if (try_collective(ended.warp, w.mask[lane], w.combine[lane], -1))
      rest &= w.collecting | (rest & -rest);
  }
}

}  // namespace simt
