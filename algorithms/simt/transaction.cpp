#include "transaction.hpp"

#include <cstring>

#include "diagnostics.hpp"
#include "options.hpp"
#include "sanitizer.hpp"
#include "worker.hpp"

namespace simt {
namespace {

constexpr unsigned char not_landed = 0xCE;

Worker::Transaction& state_of(TxBarrier* b, Site site) {
  const auto found = worker->transactions.find(b);
  if (found == worker->transactions.end())
    fail("transaction barrier at %s:%d used before tx_init", site.file, site.line);
  return found->second;
}

Worker::Transaction& find_or_create(TxBarrier* b) {
  const Unobserved books;
  return worker->transactions[b];
}

bool complete(const TxBarrier& b, const Worker::Transaction& t) {
  std::int64_t due = t.expected;
  for (const auto& copy : t.copies) due -= copy.bytes;
  return !b.pending && !due;
}

void add_waiting(Worker::Transaction& t) {
  const Unobserved books;
  t.waiting.push_back(self);
}

// Ends the phase if it is complete and a thread waits for it: the copies land now.
void settle(TxBarrier* b, Worker::Transaction& t) {
  if (t.waiting.empty() || !complete(*b, t)) return;
  happens_after(b);
  for (const auto& copy : t.copies) std::memcpy(copy.to, copy.from, copy.bytes);
  const Unobserved books;
  t.copies.clear();
  t.expected = 0;
  b->pending = b->count;
  b->phase ^= 1;
  happens_before(b);
  ++worker->progress;
  for (Thread* waiting : t.waiting)
    if (waiting != self) worker->wake(waiting->warp, 1u << waiting->lane);
  t.waiting.clear();
}

// What comes now belongs to the next phase. A phase that no thread has waited for yet could have
// ended at any time before; now it must.
void end_complete_phase(TxBarrier* b, Worker::Transaction& t) {
  if (!complete(*b, t)) return;
  add_waiting(t);
  settle(b, t);
}

}  // namespace

void require_compiled_for(unsigned capability, const char* simt_file, int simt_line) {
  if (options().ptx >= capability) return;
  fail("trap at %s:%d, which needs code for compute capability %u.%u; this is compiled for %u.%u",
       simt_file, simt_line, capability / 10, capability % 10, options().ptx / 10,
       options().ptx % 10);
}

void tx_init(TxBarrier* b, unsigned count, const char* simt_file, int simt_line) {
  if (!count || count > 1023)
    fail("tx_init at %s:%d: %u arrivals; expected 1 to 1023", simt_file, simt_line, count);
  auto& t = find_or_create(b);
  if (!t.waiting.empty() || !t.copies.empty())
    fail("tx_init at %s:%d of a transaction barrier that is in use", simt_file, simt_line);
  *b = {std::uint16_t(count), std::uint16_t(count), 0, 0};
  t.expected = 0;
}

void tx_arrive(TxBarrier* b, unsigned expected_bytes, const char* simt_file, int simt_line) {
  self->site = SIMT_HERE;
  auto& t = state_of(b, SIMT_HERE);
  end_complete_phase(b, t);
  if (!b->pending)
    fail("tx_arrive at %s:%d: more arrivals than the %u of the transaction barrier's phase",
         simt_file, simt_line, b->count);
  happens_before(b);
  t.expected += expected_bytes;
  --b->pending;
  settle(b, t);
}

void tx_copy(TxBarrier* b, void* dst, const void* src, unsigned bytes, const char* simt_file,
             int simt_line) {
  self->site = SIMT_HERE;
  const auto addresses =
      reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src);
  if ((addresses | bytes) % 16)
    fail("bulk copy at %s:%d: %p <- %p, %u bytes: addresses and size must be multiples of 16",
         simt_file, simt_line, dst, src, bytes);
  auto& t = state_of(b, SIMT_HERE);
  end_complete_phase(b, t);
  std::memset(dst, not_landed, bytes);
  happens_before(b);  // the thread that waits lands the copy over the poison
  {
    const Unobserved books;
    t.copies.push_back({dst, src, bytes, SIMT_HERE});
  }
  settle(b, t);
}

void tx_wait(TxBarrier* b, unsigned parity, const char* simt_file, int simt_line) {
  self->site = SIMT_HERE;
  auto& t = state_of(b, SIMT_HERE);
  while (unsigned(b->phase & 1) == (parity & 1)) {
    add_waiting(t);
    settle(b, t);
    if (t.waiting.empty()) break;
    worker->block(*self);
    worker->suspend();
  }
  happens_after(b);
}

void Worker::check_transactions_at_end() {
  for (const auto& [address, t] : transactions) {
    if (t.copies.empty()) continue;
    const Site s = t.copies.front().site;
    report_at_end(text("the block did not wait for its bulk copy at %s:%d", s.file, s.line));
  }
}

}  // namespace simt
