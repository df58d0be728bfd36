// Where a merge of sorted runs in host memory is cut, exactly: on the host, since they lie there.
//
// All runs keep an interval that the cut lies in. The middles of all intervals are candidates; the
// pivot is the one that has as much of the intervals in candidates before it as after it. Whatever
// comes before the pivot is counted, and all intervals end or begin there: that removes at least a
// quarter of what is left in them, however the keys lie.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace warpath::multi_gpu_sort::detail {

/// There are no such cuts: what `less` says of two keys does not go with what it says of others.
[[noreturn]] inline void throw_of_no_cut(std::int64_t rank) {
  throw std::invalid_argument("less: no cut of the sorted parts has " + std::to_string(rank) +
                              " elements before it, behind the cut before: expected a strict weak "
                              "ordering of the keys (of floating-point numbers: no NaN)");
}

/// Finds how many elements of each run come before a place of the merged sequence. Of equal keys,
/// those of earlier runs come first. Several threads may ask at once.
template <class K, class Less>
class HostSplits {
 public:
  HostSplits(std::vector<std::span<const K>> runs, Less less)
      : runs_(std::move(runs)), less_(less) {}

  /// Before element `rank`, at most the number of all. known: as many as come before an earlier one
  /// at least. Throws std::invalid_argument if there is no such cut, since `less` is no order.
  [[nodiscard]] std::vector<std::int64_t> before(std::int64_t rank,
                                                 const std::vector<std::int64_t>& known) const {
    const std::int64_t more = rank - sum(known);
    std::vector<Interval> intervals;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const auto count = static_cast<std::int64_t>(runs_[r].size());
      intervals.push_back({known[r], std::min(known[r] + more, count)});
    }
    for (;;) {
      std::vector<std::int64_t> counts;
      for (const Interval& interval : intervals) counts.push_back(interval.low);
      if (sum(counts) == rank) return counts;
      const bool is_left = std::any_of(intervals.begin(), intervals.end(),
                                       [](const auto& interval) { return interval.width() > 0; });
      if (!is_left) throw_of_no_cut(rank);
      const std::size_t own = pivot_run(intervals);
      counts = before_middle_of(own, intervals);
      const bool is_before = sum(counts) < rank;  // the pivot is, too
      for (std::size_t r = 0; r < runs_.size(); ++r) {
        if (is_before) {
          intervals[r].low = counts[r] + (r == own ? 1 : 0);
        } else {
          intervals[r].high = counts[r];
        }
      }
    }
  }

 private:
  /// Places of a run.
  struct Interval {
    std::int64_t low;
    std::int64_t high;
    [[nodiscard]] std::int64_t width() const { return high - low; }
    [[nodiscard]] std::int64_t middle() const { return low + width() / 2; }
  };

  static std::int64_t sum(const std::vector<std::int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  }
  [[nodiscard]] const K& key(std::size_t r, std::int64_t place) const {
    return runs_[r][static_cast<std::size_t>(place)];
  }

  /// The run whose middle is the pivot.
  [[nodiscard]] std::size_t pivot_run(const std::vector<Interval>& intervals) const {
    std::vector<std::size_t> candidates;
    std::int64_t all = 0;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      if (intervals[r].width() > 0) candidates.push_back(r);
      all += intervals[r].width();
    }
    std::stable_sort(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
      return less_(key(a, intervals[a].middle()), key(b, intervals[b].middle()));
    });
    std::int64_t passed = 0;
    for (const std::size_t r : candidates) {
      passed += intervals[r].width();
      if (2 * passed >= all) return r;
    }
    return candidates.back();
  }
  /// How many elements of each run come before the middle of run `own`.
  [[nodiscard]] std::vector<std::int64_t> before_middle_of(
      std::size_t own, const std::vector<Interval>& intervals) const {
    const std::int64_t place = intervals[own].middle();
    const K& pivot = key(own, place);
    std::vector<std::int64_t> counts;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const auto begin = runs_[r].begin();
      const auto low = begin + intervals[r].low;
      const auto high = begin + intervals[r].high;
      if (r == own) {
        counts.push_back(place);
      } else if (r < own) {
        counts.push_back(std::upper_bound(low, high, pivot, less_) - begin);
      } else {
        counts.push_back(std::lower_bound(low, high, pivot, less_) - begin);
      }
    }
    return counts;
  }

  std::vector<std::span<const K>> runs_;
  Less less_;
};

}  // namespace warpath::multi_gpu_sort::detail
