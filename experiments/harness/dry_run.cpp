#include "harness/dry_run.hpp"

#include <cstdio>

#include "harness/estimate.hpp"
#include "harness/progress.hpp"
#include "harness/value.hpp"

namespace warpath::harness {

void print_dry_run(const std::vector<Experiment>& experiments,
                   const std::function<bool(const Experiment&, const Point&)>& is_finished) {
  Estimate sum;
  std::size_t points = 0;
  std::size_t finished = 0;
  std::size_t elsewhere = 0;
  for (const Group& group : group_points(experiments)) {
    const Point& first = *group.points.front();
    const std::string bytes = bytes_text(first.technique->device_bytes(first.problem()));
    std::vector<const Point*> pending;
    for (const Point* point : group.points) {
      std::string remark = why_not_here(*point);
      ++points;
      if (is_finished(*group.experiment, *point)) {
        remark = "finished";
        ++finished;
      } else if (remark.empty()) {
        pending.push_back(point);
      } else {
        ++elsewhere;
      }
      std::printf("%s  %s%s\n", point->name().c_str(), bytes.c_str(),
                  remark.empty() ? "" : (" (" + remark + ")").c_str());
    }
    const Estimate more = estimate(group, pending);
    sum.least += more.least;
    sum.most += more.most;
    sum.executor += more.executor;
  }
  std::printf("%zu points", points);
  if (finished > 0) std::printf(", %zu of them finished", finished);
  if (elsewhere > 0) std::printf(", %zu of them cannot run here", elsewhere);
  std::printf("; about %s, at most about %s", duration_text(sum.least).c_str(),
              duration_text(sum.most).c_str());
  if (sum.executor > 0) {
    std::printf("; kernels run on the CPU for %s of it, and are not timed",
                duration_text(sum.executor).c_str());
  }
  std::printf("\n");
}

}  // namespace warpath::harness
