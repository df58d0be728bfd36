#include "harness/group_run.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include "core/cuda_check.cuh"
#include "harness/device.hpp"
#include "harness/interrupt.hpp"
#include "harness/value.hpp"

namespace warpath::harness {
namespace {

/// Samples after which a host variant may stop: it is a baseline, and often slow.
constexpr std::int64_t host_min_samples = fewest_samples;

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

GroupRun::GroupRun(const std::vector<const Point*>& points, const Measure& measure, bool timed,
                   GpuClock& clock, std::uint64_t seed, Finished finished)
    : measure_(measure),
      timed_(timed),
      clock_(clock),
      random_(seed),
      finished_(std::move(finished)) {
  for (const Point* point : points) members_.push_back({point, {}, {}, {}, {}, 0, false});
}

void GroupRun::finish(Member& member) {
  member.done = true;
  member.execution = nullptr;
  member.restore = nullptr;
}

void GroupRun::report(const Member& member) {
  if (member.done) finished_(*member.point, member.result);
}

void GroupRun::fail(Member& member, const std::string& error) {
  member.result.error = error;
  member.result.time.reset();
  finish(member);
}

void GroupRun::skip(Member& member, const std::string& why) {
  member.result.skipped = why;
  finish(member);
}

void GroupRun::run() {
  if (must_stop()) return;
  skip_what_cannot_run();
  for (Member& member : members_) {
    if (must_stop()) return;
    if (!member.done) guard(member, [&] { verify(member); });
  }
  if (timed_) {
    if (!emulated) measure_in_turn(Runs::anywhere);
    measure_in_turn(Runs::host);
  }
  problem_.reset();
}

void GroupRun::skip_what_cannot_run() {
  const Point& first = *members_.front().point;
  std::int64_t needed = 0;
  std::int64_t free = 0;
  std::string error;
  try {
    needed = first.technique->device_bytes(first.problem());
    free = free_device_bytes();
  } catch (const std::exception& exception) {
    error = exception.what();
  }
  for (Member& member : members_) {
    if (member.point->variant->runs == Runs::elsewhere) {
      skip(member, member.point->variant->program + " has not measured it yet");
    } else if (!error.empty()) {
      fail(member, error);
    } else if (emulated && member.point->variant->runs == Runs::gpu) {
      skip(member, "needs a GPU");
    } else if (needed + clock_.flush_bytes() > free) {
      skip(member, std::string(does_not_fit) + bytes_text(needed) + " of memory, and " +
                       bytes_text(free) + " are free");
    }
    report(member);
  }
}

void GroupRun::build_problem() {
  const Point& first = *members_.front().point;
  problem_ = first.technique->make_problem(first.problem());
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
}

template <class Step>
void GroupRun::guard(Member& member, const Step& step) {
  try {
    if (!problem_) build_problem();
    if (!must_stop()) step();
  } catch (const NoRoom& refusal) {
    skip(member, std::string(no_room) + refusal.what());
  } catch (const NotHere& refusal) {
    skip(member, refusal.what());
  } catch (const std::exception& exception) {
    fail(member, exception.what());
    device_lost_ = !device_is_usable();
  }
  // Not before: what goes wrong while a result is kept is no error of the point.
  report(member);
}

bool GroupRun::must_stop() const {
  return interrupted() || device_lost_;
}

void GroupRun::prepare(Member& member) {
  if (member.execution) return;
  member.execution = problem_->prepare(member.point->parameters);
  member.restore = problem_->restore();
}

void GroupRun::restore(Member& member) {
  if (member.restore) clock_.run(member.restore);
}

void GroupRun::verify(Member& member) {
  prepare(member);
  problem_->poison(clock_.stream());
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(clock_.stream()));
  restore(member);
  clock_.run(member.execution);
  if (interrupted()) return;
  const auto wrong = problem_->mismatch(member.point->parameters, clock_.stream());
  member.result.cost = problem_->cost();
  member.result.counters = problem_->counters();
  member.result.choices = problem_->choices();
  if (wrong) {
    member.result.verified = Verified::failed;
    fail(member, "wrong answer: " + *wrong);
    return;
  }
  member.result.verified = Verified::passed;
  const bool has_a_clock = !emulated || member.point->variant->runs == Runs::host;
  if (timed_ && has_a_clock) return;
  skip(member, timed_ ? "emulated backend: correct, not timed" : "verified only");
}

void GroupRun::measure_in_turn(Runs lane) {
  std::vector<Member*> active;
  for (Member& member : members_) {
    const bool host = member.point->variant->runs == Runs::host;
    if (!member.done && host == (lane == Runs::host)) active.push_back(&member);
  }
  for (Member* member : active) {
    if (must_stop()) return;
    guard(*member, [&] { warm_up(*member); });
  }
  while (!active.empty() && !must_stop()) {
    std::shuffle(active.begin(), active.end(), random_);
    for (Member* member : active) {
      if (must_stop()) return;
      if (member->done) continue;
      guard(*member, [&] { sample(*member); });
    }
    std::erase_if(active, [](const Member* member) { return member->done; });
  }
}

void GroupRun::warm_up(Member& member) {
  prepare(member);
  if (member.point->variant->runs == Runs::host) return;  // the verification was its first run
  // The workspace grows, and code is loaded, while nothing is held back.
  restore(member);
  clock_.run(member.execution);
  // Two samples as they will be taken, and a GPU that has left its idle clocks.
  const Stopwatch stopwatch;
  for (int i = 0; i < 2 || (i < 100 && stopwatch.seconds() < 0.02); ++i) {
    if (interrupted()) return;
    clock_.sample(member.execution, shape(member));
  }
}

SampleShape GroupRun::shape(const Member& member) const {
  return {measure_.cache, measure_.launches, member.point->variant->waits_for_gpu, member.restore};
}

Measure GroupRun::limits(const Member& member) const {
  Measure limits = measure_;
  if (member.point->variant->runs == Runs::host) {
    limits.min_samples = std::min(limits.min_samples, host_min_samples);
  }
  return limits;
}

void GroupRun::sample(Member& member) {
  prepare(member);
  if (member.point->variant->runs == Runs::host) {
    restore(member);
    const Stopwatch stopwatch;
    member.execution(clock_.stream());
    member.samples_ms.push_back(stopwatch.seconds() * 1000);
    member.seconds += stopwatch.seconds();
  } else {
    const Stopwatch stopwatch;
    sample_gpu(member);
    member.seconds += stopwatch.seconds();
  }
  const auto stop = stop_reason(limits(member), member.samples_ms, member.seconds);
  if (!stop) return;
  member.result.stop = stop;
  if (member.samples_ms.empty()) {
    member.result.skipped = std::string(throttled) + " in every one of " +
                            std::to_string(member.result.discarded_samples) + " samples";
  } else {
    member.result.time = summarize(member.samples_ms);
  }
  finish(member);
}

void GroupRun::sample_gpu(Member& member) {
  const Sample sample = clock_.sample(member.execution, shape(member));
  const auto highest = clock_.max_sm_clock_mhz();
  if (highest && sample.sm_clock_mhz && *sample.sm_clock_mhz < measure_.min_clock * *highest) {
    ++member.result.discarded_samples;
    return;
  }
  member.samples_ms.push_back(sample.milliseconds);
  if (sample.sm_clock_mhz) member.result.sm_clocks_mhz.push_back(*sample.sm_clock_mhz);
}

}  // namespace warpath::harness
