#include "barrier.hpp"

#include <cstring>

#include "diagnostics.hpp"
#include "gang.hpp"
#include "options.hpp"
#include "sanitizer.hpp"
#include "worker.hpp"

namespace simt {
namespace {

bool same_line(const Site& a, const Site& b) {
  return a.line == b.line && (a.file == b.file || !std::strcmp(a.file, b.file));
}

[[noreturn]] void report_divergence(const Site& here, const Site& others) {
  if (same_line(here, others))
    fail(
        "barrier divergence: the thread waits at %s:%d, others of its block at another barrier on "
        "the same line",
        here.file, here.line);
  fail("barrier divergence: the thread waits at %s:%d, others of its block at %s:%d", here.file,
       here.line, others.file, others.line);
}

}  // namespace

void Worker::release_barrier() {
  happens_after(&barrier_in);
  happens_before(&barrier_out);
  ++progress;
  barrier.count = barrier.votes;
  barrier.all = barrier.votes == int(barrier.arrived);
  barrier.arrived = 0;
  barrier.votes = 0;
  for (unsigned w = 0; w < warp_count; ++w) {
    wake(w, warps[w].at_barrier);
    warps[w].at_barrier = 0;
  }
}

void block_barrier(Site site, int predicate) {
  Worker& w = *worker;
  Thread& t = *self;
  t.site = site;
  if (!w.barrier.arrived) w.barrier.site = site;
  if (site.barrier != w.barrier.site.barrier || !same_line(site, w.barrier.site))
    report_divergence(site, w.barrier.site);
  if (w.live != w.thread_count && options().strict)
    fail("barrier divergence: the thread waits at %s:%d but %u threads of its block have ended",
         site.file, site.line, w.thread_count - w.live);
  w.barrier.votes += predicate != 0;
  happens_before(&w.barrier_in);
  if (++w.barrier.arrived == w.live) {
    w.release_barrier();
    schedule_point();
  } else {
    w.warps[t.warp].at_barrier |= 1u << t.lane;
    w.block(t);
    w.suspend();
  }
  happens_after(&w.barrier_out);
}

int barrier_votes(Vote vote) {
  const Worker::Barrier& b = worker->barrier;
  if (vote == Vote::count) return b.count;
  return vote == Vote::all ? b.all : b.count != 0;
}

void Worker::barrier_after_exit(const Thread&) {
  if (!barrier.arrived) return;
  if (options().strict)
    fail("barrier divergence: the thread has ended while %u threads of its block wait at %s:%d",
         barrier.arrived, barrier.site.file, barrier.site.line);
  if (barrier.arrived == live) release_barrier();
}

// Between two barriers of the block its first live thread meets the other blocks. It may block the
// OS thread, because all other fibers of the block wait for it at the second barrier.
void cluster_barrier(Site site) {
  block_barrier(site);
  Worker& w = *worker;
  if (!w.gang) return;
  unsigned first = 0;
  while (!w.warps[first].live) ++first;
  if (self->warp == first && self->lane == unsigned(std::countr_zero(w.warps[first].live)))
    w.gang->wait(w, site);
  block_barrier(site);
}

void grid_barrier(Site site) {
  if (!worker->grid->launch->cooperative)
    fail("grid barrier at %s:%d in a kernel that was not launched cooperatively", site.file,
         site.line);
  cluster_barrier(site);
}

unsigned cluster_rank() {
  return worker->rank;
}
unsigned cluster_size() {
  return worker->gang ? worker->gang->size() : 1;
}

void* map_shared_rank(void* pointer, unsigned rank) {
  const Gang* gang = worker->gang;
  const unsigned size = cluster_size();
  if (rank >= size) fail("map_shared_rank: there is no block %u in a cluster of %u", rank, size);
  if (!gang) return pointer;
  auto* address = static_cast<unsigned char*>(pointer);
  if (address >= dynamic_smem && address < dynamic_smem + dynamic_smem_size)
    return gang->arena(rank) + (address - dynamic_smem);
  return gang->anchor(rank) + (address - thread_local_anchor());
}

}  // namespace simt
