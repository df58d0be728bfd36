#include "harness/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace warpath::harness {
namespace {

/// Between the two nearest ranks, linearly.
double quantile(const std::vector<double>& sorted, double share) {
  const double rank = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], rank - static_cast<double>(below));
}

/// The number of samples below the true median is binomial(n, 1/2); its normal approximation says
/// between which ranks the median lies in 95 of 100 cases, for any distribution of the times.
double median_noise(const std::vector<double>& sorted, double median) {
  const auto n = static_cast<double>(sorted.size());
  if (std::ssize(sorted) < fewest_samples || !(median > 0)) return 1;
  const double reach = 1.96 * std::sqrt(n) / 2;
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - reach)));
  const auto high = static_cast<std::size_t>(std::min(n - 1, std::ceil(n / 2 + reach)));
  return (sorted[high] - sorted[low]) / 2 / median;
}

}  // namespace

TimeSummary summarize(std::vector<double> samples_ms) {
  std::sort(samples_ms.begin(), samples_ms.end());
  TimeSummary summary;
  summary.median = quantile(samples_ms, 0.5);
  summary.min = samples_ms.front();
  summary.p10 = quantile(samples_ms, 0.1);
  summary.p90 = quantile(samples_ms, 0.9);
  summary.noise = median_noise(samples_ms, summary.median);
  summary.samples = static_cast<std::int64_t>(samples_ms.size());
  return summary;
}

std::optional<Stop> stop_reason(const Measure& measure, const std::vector<double>& samples_ms,
                                double seconds) {
  const auto count = static_cast<std::int64_t>(samples_ms.size());
  // Of many samples the noise changes slowly: looked at every time, it would take longer than they.
  const bool looks = count % (1 + count / 64) == 0;
  if (count >= measure.min_samples && looks && summarize(samples_ms).noise <= measure.max_noise) {
    return Stop::noise;
  }
  if (count >= measure.max_samples) return Stop::samples;
  const double most_seconds = (count < fewest_samples ? 10 : 1) * measure.max_seconds;
  if (seconds >= most_seconds) return Stop::time;
  return std::nullopt;
}

}  // namespace warpath::harness
