#include "harness/estimate.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <thread>

#include "harness/device.hpp"
#include "harness/error.hpp"
#include "harness/group_run.hpp"
#include "harness/progress.hpp"
#include "harness/value.hpp"

namespace warpath::harness {
namespace {

/// Inputs, oracle and comparison pass through the host's memory at about this rate.
constexpr double host_bytes_per_second = 0.5e9;
/// Warm-up and samples of a quick point.
constexpr double seconds_a_point = 0.1;
/// Steps of a kernel on the SIMT executor, a second and core. Measured on two cores of a server,
/// with the program's own build (-Og): 2 to 18 million pairs of points in space, 5 to 12
/// million elements of the other techniques.
constexpr double executor_steps_per_second = 5e6;
/// Steps of a host variant; 160 million such pairs, and a few hundred million elements.
constexpr double host_steps_per_second = 1.5e8;
constexpr double most_executor_seconds = 3600;

double steps(const Technique& technique, const Parameters& problem) {
  if (technique.steps) return technique.steps(problem);
  return static_cast<double>(technique.device_bytes(problem)) / 4;
}

double executor_seconds(const Technique& technique, const Parameters& problem) {
  const auto cores = static_cast<double>(std::max(1U, std::thread::hardware_concurrency()));
  return steps(technique, problem) / executor_steps_per_second / cores;
}

/// "n=4096": the parameter that has to be reduced least for the point to take `seconds` at most.
std::optional<std::string> size_that_would_do(const Point& point, double seconds) {
  std::optional<std::string> best;
  int least_halvings = 64;
  for (const Parameter& parameter : point.technique->parameters) {
    if (!parameter.shapes_problem) continue;
    Parameters problem = point.problem();
    const Value& value = problem.all().at(parameter.name);
    if (!std::holds_alternative<std::int64_t>(value)) continue;
    std::int64_t size = std::get<std::int64_t>(value);
    for (int halvings = 1; halvings < least_halvings; ++halvings) {
      size /= 2;
      if (size < 1 || static_cast<double>(size) < parameter.least) break;
      problem.set(parameter.name, size);
      if (executor_seconds(*point.technique, problem) > seconds) continue;
      least_halvings = halvings;
      best = parameter.name + "=" + std::to_string(size);
    }
  }
  return best;
}

}  // namespace

Estimate estimate(const Group& group, const std::vector<const Point*>& points) {
  Estimate sum;
  if (points.empty()) return sum;
  const Technique& technique = *points.front()->technique;
  const Parameters problem = points.front()->problem();
  sum.least = static_cast<double>(technique.device_bytes(problem)) / host_bytes_per_second;
  sum.most = sum.least;
  for (const Point* point : points) {
    if (point->variant->runs == Runs::elsewhere) continue;
    if (emulated && point->variant->runs == Runs::anywhere) {
      // Verified, and not timed.
      const double execution = executor_seconds(technique, problem);
      sum.executor += execution;
      sum.least += execution;
      sum.most += execution;
      continue;
    }
    const bool host = point->variant->runs == Runs::host;
    const double execution = host ? steps(technique, problem) / host_steps_per_second : 0;
    sum.least += std::max(seconds_a_point, 2 * execution);
    const double bound = group.experiment->config.measure.max_seconds;
    const double fewest = static_cast<double>(fewest_samples) * execution;
    sum.most += seconds_a_point + 2 * execution + std::max(bound, std::min(10 * bound, fewest));
  }
  return sum;
}

std::string why_not_here(const Point& point) {
  if (point.variant->runs == Runs::elsewhere) return "measured by " + point.variant->program;
  if (!emulated) return "";
  if (point.variant->runs == Runs::gpu) return "needs a GPU";
  const std::int64_t bytes = point.technique->device_bytes(point.problem());
  const std::int64_t free = free_device_bytes();
  return bytes > free ? "does not fit: " + bytes_text(free) + " are free" : "";
}

void check_executor_time(const std::vector<Pending>& pending, const RunOptions& options) {
  if (!emulated) return;
  double total = 0;
  double longest = 0;
  std::size_t count = 0;
  const Pending* worst = nullptr;
  for (const Pending& each : pending) {
    std::vector<const Point*> here;
    for (const Point* point : each.points) {
      if (why_not_here(*point).empty()) here.push_back(point);
    }
    const double seconds = estimate(*each.group, here).executor;
    total += seconds;
    count += here.size();
    if (seconds <= longest) continue;
    longest = seconds;
    worst = &each;
  }
  if (worst == nullptr) return;
  const Config& config = worst->group->experiment->config;
  const bool has_smoke = options.profile != "smoke" && config.profiles.contains("smoke");
  const std::string duration = "about " + duration_text(total);
  if (total > most_executor_seconds && !options.force) {
    const Point& point = *worst->points.front();
    const auto size = size_that_would_do(point, most_executor_seconds / static_cast<double>(count));
    std::string text = config.file + ": here kernels run on the CPU, which would take " + duration;
    text += "; the limit is " + duration_text(most_executor_seconds) + ". The longest is ";
    text += point.name() + ".";
    if (size) text += " --set " + *size + " would do.";
    if (has_smoke) text += " --profile smoke has sizes for this backend.";
    throw UserError(text + " --force runs it as it is");
  }
  if (has_smoke && options.overrides.empty()) {
    std::fprintf(
        stderr,
        "%s: the profile \"%s\" has sizes for a GPU; here kernels run on the CPU, are "
        "verified and not timed, and take %s. --profile smoke has sizes for this backend\n",
        config.file.c_str(), options.profile.c_str(), duration.c_str());
  }
}

}  // namespace warpath::harness
