// Measures the points that share one problem: each is verified, then all are sampled in turn, in
// random order.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "harness/gpu_clock.hpp"
#include "harness/point.hpp"
#include "harness/statistics.hpp"

namespace warpath::harness {

enum class Verified { passed, failed, not_verified };
constexpr auto enum_table(Verified) {
  return std::to_array<EnumName<Verified>>({{Verified::passed, "passed"},
                                            {Verified::failed, "failed"},
                                            {Verified::not_verified, "not_verified"}});
}

/// How PointResult::skipped begins if memory is too small; the caller reports such points.
inline constexpr std::string_view does_not_fit = "does not fit: needs ";
/// How it begins if a variant refused with NoRoom.
inline constexpr std::string_view no_room = "does not fit now: ";
/// How it begins if no sample was taken at full speed.
inline constexpr std::string_view throttled = "the GPU throttled";

/// What a point's record says.
struct PointResult {
  Verified verified = Verified::not_verified;
  std::optional<TimeSummary> time;  ///< only of a point that is verified
  std::optional<Stop> stop;
  std::int64_t discarded_samples = 0;  ///< taken while the GPU throttled
  std::vector<double> sm_clocks_mhz;   ///< one a sample, where it can be read
  std::optional<Cost> cost;
  std::map<std::string, double> counters;
  std::map<std::string, std::string> choices;
  std::string skipped;  ///< why there is no time although nothing is wrong
  std::string error;    ///< what went wrong
};

class GroupRun {
 public:
  /// Called once for every point, as soon as its result stands.
  using Finished = std::function<void(const Point&, const PointResult&)>;

  /// `points` share technique and problem, and outlive the run. Without `timed` they are only
  /// verified.
  GroupRun(const std::vector<const Point*>& points, const Measure& measure, bool timed,
           GpuClock& clock, std::uint64_t seed, Finished finished);

  /// Returns early when interrupted(), and when the device is lost; points without a result by then
  /// are not reported. Throws nothing that one point did wrong: that is in its result.
  void run();

  /// Whether a point has left the device such that it refuses all further work of this process, as
  /// after an illegal access. Only a new process can go on.
  [[nodiscard]] bool device_lost() const { return device_lost_; }

 private:
  struct Member {
    const Point* point;
    PointResult result;
    Execution execution;
    Execution restore;
    std::vector<double> samples_ms;
    double seconds = 0;
    bool done = false;
  };

  void finish(Member& member);
  /// Hands the result over if it stands.
  void report(const Member& member);
  void fail(Member& member, const std::string& error);
  void skip(Member& member, const std::string& why);
  void skip_what_cannot_run();
  void build_problem();
  /// Calls `step`; an exception fails the member.
  template <class Step>
  void guard(Member& member, const Step& step);
  void prepare(Member& member);
  /// Before an execution.
  void restore(Member& member);
  void verify(Member& member);
  void measure_in_turn(Runs lane);
  void warm_up(Member& member);
  void sample(Member& member);
  void sample_gpu(Member& member);
  [[nodiscard]] SampleShape shape(const Member& member) const;
  [[nodiscard]] Measure limits(const Member& member) const;
  [[nodiscard]] bool must_stop() const;

  std::vector<Member> members_;
  Measure measure_;
  bool timed_;
  GpuClock& clock_;
  std::mt19937_64 random_;
  Finished finished_;
  std::unique_ptr<Problem> problem_;
  bool device_lost_ = false;
};

}  // namespace warpath::harness
