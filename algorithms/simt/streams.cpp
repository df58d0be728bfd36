#include "streams.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <set>
#include <vector>

#include "diagnostics.hpp"
#include "everlasting.hpp"
#include "options.hpp"

namespace {

struct Operation {
  std::uint64_t number;  // in the order of the host's calls
  std::function<bool()> ready;
  std::function<void()> run;
};

struct EventState {
  std::uint64_t recorded = 0, done = 0;  // how many recordings were asked for, and have happened
  bool timing = true;
  std::chrono::steady_clock::time_point when{};
};

}  // namespace

struct CUstream_st {
  int device;
  bool blocking;  // ordered with the default stream
  bool destroyed;
  std::deque<Operation> queue;
};

struct CUevent_st {
  std::shared_ptr<EventState> state;
};

namespace simt {
namespace {

struct Streams {
  std::recursive_mutex mutex;
  CUstream_st defaults[max_devices];
  std::vector<std::unique_ptr<CUstream_st>> created;
  std::set<CUevent_st*> events;
  cudaError_t sticky[max_devices]{};
  std::uint64_t operations = 0;
  std::uint64_t rng = 88172645463325252ull + options().seed * 0x9E3779B97F4A7C15ull;

  Streams() {
    for (unsigned d = 0; d < max_devices; ++d) defaults[d] = {int(d), true, false, {}};
  }
};

Streams& streams() {
  return everlasting<Streams>();
}

// The legacy default stream waits for all blocking streams of its device, and they for it.
bool comes_first(const CUstream_st& other, const CUstream_st& s) {
  return &other != &s && !other.queue.empty() &&
         other.queue.front().number < s.queue.front().number;
}

bool can_run(const CUstream_st& s) {
  if (s.queue.empty()) return false;
  const Operation& first = s.queue.front();
  if (first.ready && !first.ready()) return false;
  const CUstream_st& by_default = streams().defaults[s.device];
  if (&s != &by_default) return !s.blocking || !comes_first(by_default, s);
  for (const auto& other : streams().created)
    if (other->blocking && other->device == s.device && comes_first(*other, s)) return false;
  return true;
}

void remove_destroyed() {
  std::erase_if(streams().created, [](const auto& s) { return s->destroyed && s->queue.empty(); });
}

bool step() {
  Streams& all = streams();
  std::vector<CUstream_st*> candidates;
  for (CUstream_st& s : all.defaults)
    if (can_run(s)) candidates.push_back(&s);
  for (const auto& s : all.created)
    if (can_run(*s)) candidates.push_back(s.get());
  if (candidates.empty()) return false;
  all.rng ^= all.rng << 13;
  all.rng ^= all.rng >> 7;
  all.rng ^= all.rng << 17;
  CUstream_st& s = *candidates[(all.rng >> 33) % candidates.size()];
  Operation operation = std::move(s.queue.front());
  s.queue.pop_front();
  operation.run();
  return true;
}

template <class Done>
void run_until(Done done) {
  const std::lock_guard lock(streams().mutex);
  while (!done()) {
    if (step()) continue;
    std::fprintf(stderr,
                 "simt: streams deadlocked: each waits for an event that no other will record\n");
    std::abort();
  }
  remove_destroyed();
}

bool idle(int device) {
  if (!streams().defaults[device].queue.empty()) return false;
  for (const auto& s : streams().created)
    if (s->device == device && !s->queue.empty()) return false;
  return true;
}

}  // namespace

std::recursive_mutex& runtime_mutex() {
  return streams().mutex;
}

cudaError_t sticky_error(int device) {
  return streams().sticky[device];
}
void set_sticky_error(int device, cudaError_t e) {
  streams().sticky[device] = e;
}

bool any_sticky_error() {
  return std::any_of(std::begin(streams().sticky), std::end(streams().sticky),
                     [](cudaError_t e) { return e != cudaSuccess; });
}

int& current_device() {
  static thread_local int device = 0;
  return device;
}

CUstream_st* find_stream(cudaStream_t handle) {
  if (!handle) return &streams().defaults[current_device()];
  for (const auto& s : streams().created)
    if (s.get() == handle && !s->destroyed) return handle;
  return nullptr;
}

int stream_device(const CUstream_st& s) {
  return s.device;
}

cudaStream_t create_stream(int device, bool non_blocking) {
  return streams().created.emplace_back(new CUstream_st{device, !non_blocking, false, {}}).get();
}

void destroy_stream(cudaStream_t s) {
  s->destroyed = true;
  remove_destroyed();
}

void enqueue(CUstream_st& s, std::function<void()> run, std::function<bool()> ready) {
  s.queue.push_back({++streams().operations, std::move(ready), std::move(run)});
  if (!options().lazy) run_stream(s);
}

bool stream_is_idle(const CUstream_st& s) {
  return s.queue.empty();
}

void run_stream(CUstream_st& s) {
  run_until([&] { return s.queue.empty(); });
}
void run_device(int device) {
  run_until([&] { return idle(device); });
}
void run_everything() {
  run_until([] {
    for (unsigned d = 0; d < max_devices; ++d)
      if (!idle(int(d))) return false;
    return true;
  });
}
void run_one() {
  step();
  remove_destroyed();
}

// ---------------------------------------------------------------- events

cudaEvent_t create_event(bool timing) {
  auto* e = new CUevent_st{std::make_shared<EventState>()};
  e->state->timing = timing;
  streams().events.insert(e);
  return e;
}

CUevent_st* find_event(cudaEvent_t e) {
  return streams().events.count(e) ? e : nullptr;
}

void destroy_event(cudaEvent_t e) {
  streams().events.erase(e);
  delete e;  // operations in queues keep its state
}

void record_event(CUevent_st& e, CUstream_st& s) {
  const std::uint64_t number = ++e.state->recorded;
  enqueue(s, [state = e.state, number] {
    state->done = number;
    state->when = std::chrono::steady_clock::now();
  });
}

// An event that was never recorded delays nothing. Later recordings do not concern this wait.
void wait_event(CUstream_st& s, CUevent_st& e) {
  enqueue(
      s, [] {}, [state = e.state, number = e.state->recorded] { return state->done >= number; });
}

void run_event(CUevent_st& e) {
  run_until([state = e.state, number = e.state->recorded] { return state->done >= number; });
}

bool event_is_done(const CUevent_st& e) {
  return e.state->done >= e.state->recorded;
}

bool elapsed(const CUevent_st& from, const CUevent_st& to, float& milliseconds) {
  const EventState &a = *from.state, &b = *to.state;
  if (!a.timing || !b.timing || !a.done || !b.done) return false;
  milliseconds = std::chrono::duration<float, std::milli>(b.when - a.when).count();
  return true;
}

}  // namespace simt
