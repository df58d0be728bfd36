#include "harness/dry_run.hpp"

#include <algorithm>
#include <cstdio>

#include "harness/progress.hpp"
#include "harness/value.hpp"

namespace warpath::harness {
namespace {

/// Guesses, good to a factor of a few: inputs, oracle and comparison pass through the host's memory
/// at about this rate, and a point takes at least this long for warm-up and samples.
constexpr double host_bytes_per_second = 0.5e9;
constexpr double seconds_a_point = 0.1;

}  // namespace

void print_dry_run(const std::vector<Experiment>& experiments) {
  double least = 0;
  double most = 0;
  std::size_t points = 0;
  for (const Group& group : group_points(experiments)) {
    const Point& first = *group.points.front();
    const std::int64_t bytes = first.technique->device_bytes(first.problem());
    const auto members = static_cast<double>(group.points.size());
    const double setup = static_cast<double>(bytes) / host_bytes_per_second;
    least += setup + members * seconds_a_point;
    most += setup + members * (seconds_a_point + group.experiment->config.measure.max_seconds);
    for (const Point* point : group.points) {
      std::printf("%s  %s\n", point->name().c_str(), bytes_text(bytes).c_str());
      ++points;
    }
  }
  std::printf("%zu points; about %s, at most about %s\n", points, duration_text(least).c_str(),
              duration_text(most).c_str());
}

}  // namespace warpath::harness
