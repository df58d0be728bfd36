// A configuration: what to sweep over, how to measure it, and what was published about it.
// README.md has the format.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/condition.hpp"

namespace warpath::harness {

enum class Cache { cold, warm };
constexpr auto enum_table(Cache) {
  return std::to_array<EnumName<Cache>>({{Cache::cold, "cold"}, {Cache::warm, "warm"}});
}

/// The kind of an expected figure, which decides the possible verdicts.
enum class Kind {
  claim,      ///< of a source: REPRODUCED or DIFFERS
  aim,        ///< of this project: MET or MISSED
  comparison  ///< with what was published of other hardware: SHOWN, and not judged
};
constexpr auto enum_table(Kind) {
  return std::to_array<EnumName<Kind>>(
      {{Kind::claim, "claim"}, {Kind::aim, "aim"}, {Kind::comparison, "comparison"}});
}

/// The quantity of a row that is compared with the expected figure.
enum class Metric { speedup_over, ratio, time_ms, gb_per_s, percent_of_peak, counter };
constexpr auto enum_table(Metric) {
  return std::to_array<EnumName<Metric>>({{Metric::speedup_over, "speedup_over"},
                                          {Metric::ratio, "ratio"},
                                          {Metric::time_ms, "time_ms"},
                                          {Metric::gb_per_s, "gb_per_s"},
                                          {Metric::percent_of_peak, "percent_of_peak"},
                                          {Metric::counter, "counter"}});
}

/// When a point has been measured well enough; README.md says how the noise is estimated.
struct Measure {
  Cache cache = Cache::cold;
  std::int64_t min_samples = 15;
  std::int64_t max_samples = 500;
  double max_noise = 0.02;  ///< relative half-width of the median's 95 % confidence interval
  double max_seconds = 5;   ///< wall time spent on the samples of one point
  double min_clock = 0.75;  ///< samples below this share of the highest SM clock are discarded
  /// Executions on the GPU back to back that are one sample; more than one only with a warm cache.
  std::int64_t launches = 1;
};

/// A parameter and the values it takes.
using Values = std::pair<std::string, std::vector<Value>>;

/// Every combination of `cross`, times every row of `zip`, less what `exclude` says.
struct Sweep {
  std::vector<Values> cross;
  std::vector<Values> zip;  ///< all of one length
  std::vector<Condition> exclude;
};

/// One expected figure.
struct Expected {
  Kind kind = Kind::claim;
  Condition where;
  Parameters baseline;  ///< what differs from the row in the row it is compared with
  Metric metric = Metric::time_ms;
  std::string counter;  ///< of the metric `counter`: its name in the row's counters
  std::optional<double> published;
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::string source;
  std::string where_text;     ///< as the configuration has it, in JSON
  std::string baseline_text;  ///< the same; empty if there is none
};

struct Config {
  std::string file;
  const Technique* technique = nullptr;
  std::string experiment;
  std::string title;
  std::string source;
  std::string figure;
  std::string claim;
  Parameters fixed;
  std::vector<Sweep> sweeps;
  std::map<std::string, std::vector<Values>> profiles;
  Measure measure;
  std::vector<Expected> expected;
};

/// No parameter takes more values than this, not even with --force, so that a typing error does not
/// fill the memory.
inline constexpr std::int64_t max_values = 1'000'000;

/// `techniques` must outlive the result. Throws UserError with file and place.
Config read_config(const std::filesystem::path& file, const std::vector<Technique>& techniques);

/// `name=spec` of --set: values and ranges, separated by commas, like `n=1000,2^20:2^28:*4,5:9:+2`.
Values read_override(const std::string& text, const Technique& technique);

}  // namespace warpath::harness
