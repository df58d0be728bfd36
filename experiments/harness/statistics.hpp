// Median, quantiles and noise of a point's samples, and when to stop sampling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/config.hpp"

namespace warpath::harness {

struct TimeSummary {
  double median = 0;  ///< all in milliseconds
  double min = 0;
  double p10 = 0;
  double p90 = 0;
  double noise = 0;  ///< relative half-width of the median's 95 % confidence interval; 1 for fewer
                     ///< than 6 samples
  std::int64_t samples = 0;
};

/// `samples_ms` must not be empty.
TimeSummary summarize(std::vector<double> samples_ms);

enum class Stop { noise, time, samples };
constexpr auto enum_table(Stop) {
  return std::to_array<EnumName<Stop>>(
      {{Stop::noise, "noise"}, {Stop::time, "time"}, {Stop::samples, "samples"}});
}

/// With fewer samples than this, the noise of their median is not known.
inline constexpr std::int64_t fewest_samples = 6;

/// Why to stop measuring a point, if it is time to. `seconds` is the wall time that its samples
/// took so far, discarded ones included. Before it has the fewest samples, a point gets ten times
/// the time that it should take.
std::optional<Stop> stop_reason(const Measure& measure, const std::vector<double>& samples_ms,
                                double seconds);

}  // namespace warpath::harness
