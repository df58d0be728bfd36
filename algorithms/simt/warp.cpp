#include "warp.hpp"

#include "diagnostics.hpp"
#include "sanitizer.hpp"
#include "worker.hpp"

namespace simt {

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
  const unsigned first = index * warp_size;
  SIMT_IF_TSAN(for_each_lane(lanes, [&](unsigned i) { happens_after(&lane_in[first + i]); });)
  if (lanes) operation(w, lanes);
  w.collecting &= ~lanes;
  SIMT_IF_TSAN(for_each_lane(lanes, [&](unsigned i) { happens_before(&lane_out[first + i]); });)
  wake(index, arriving_lane < 0 ? lanes : lanes & ~(1u << arriving_lane));
  (void)first;
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
  happens_before(&k.lane_in[t.rank]);
  if (!k.try_collective(t.warp, mask, operation, int(lane))) {
    k.block(t);
    k.suspend();
  } else {
    schedule_point();
  }
  happens_after(&k.lane_out[t.rank]);
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
