#include "harness/row.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/device.hpp"

namespace warpath::harness {
namespace {

/// How fast the multiprocessors ran while the samples were taken; null where the clock cannot be
/// read.
Json clocks(const std::vector<double>& mhz) {
  if (mhz.empty()) return nullptr;
  const TimeSummary summary = summarize(mhz);
  return {{"median", std::round(summary.median)}, {"min", std::round(summary.min)}};
}

/// What the result says of speed; without a time, nulls.
void add_rates(Json& row, const Point& point, const PointResult& result, const Ceilings& ceilings) {
  for (const char* name : {"items_per_s", "bytes_min", "gb_per_s", "percent_of_peak"})
    row[name] = nullptr;
  if (!result.cost) return;
  const Cost& cost = *result.cost;
  row["bytes_min"] = cost.bytes_min;
  if (!result.time || !(result.time->median > 0)) return;
  const double seconds = result.time->median / 1000;
  row["items_per_s"] = static_cast<double>(cost.items) / seconds;
  row["gb_per_s"] = 1e-9 * static_cast<double>(cost.bytes_min) / seconds;
  const bool of_bytes = cost.ceiling == "copy" || cost.ceiling == "fill";
  const double rate = of_bytes ? row["gb_per_s"].get<double>() : cost.operations / seconds;
  const auto peak = best(ceilings, cost.ceiling);
  // The ceilings are the GPU's, unless everything runs on the host.
  if (peak && (emulated || point.variant->runs != Runs::host)) {
    row["percent_of_peak"] = 100 * rate / *peak;
    row["peak"] = cost.ceiling;
  }
}

}  // namespace

Json make_row(const Point& point, const PointResult& result, const Measure& measure,
              const Ceilings& ceilings) {
  const bool host = point.variant->runs == Runs::host;
  Json row;
  row["variant"] = point.variant->name;
  row["role"] = enum_name(point.variant->role);
  row["runs"] = enum_name(point.variant->runs);
  row["params"] = to_json(point.settings());
  row["verified"] = enum_name(result.verified);
  row["time_ms"] = nullptr;
  if (result.time) {
    const TimeSummary& time = *result.time;
    row["time_ms"] = {{"median", time.median}, {"min", time.min},     {"p10", time.p10},
                      {"p90", time.p90},       {"noise", time.noise}, {"samples", time.samples}};
  }
  row["clock"] = host ? "host" : "gpu";
  row["host_is_in_the_time"] = host || point.variant->waits_for_gpu;
  // The CPU's cache is not flushed, and a host variant is timed one execution a sample.
  row["cache"] = host ? Json(nullptr) : Json(enum_name(measure.cache));
  row["launches"] = host ? Json(nullptr) : Json(measure.launches);
  add_rates(row, point, result, ceilings);
  row["counters"] = result.counters;
  row["choices"] = result.choices;
  row["stop"] = result.stop ? Json(enum_name(*result.stop)) : Json(nullptr);
  row["discarded_samples"] = result.discarded_samples;
  row["sm_clock_mhz"] = clocks(result.sm_clocks_mhz);
  if (!result.skipped.empty()) row["skipped"] = result.skipped;
  if (!result.error.empty()) row["error"] = result.error;
  return row;
}

Json ceilings_summary(const Ceilings& ceilings) {
  Json summary = Json::object();
  if (const auto copy = best(ceilings, "copy")) summary["copy_gb_per_s"] = *copy;
  if (const auto fill = best(ceilings, "fill")) summary["fill_gb_per_s"] = *fill;
  if (ceilings.fma_per_s) summary["fma_per_s"] = *ceilings.fma_per_s;
  if (ceilings.ex2_per_s) summary["ex2_per_s"] = *ceilings.ex2_per_s;
  return summary;
}

Ceilings read_ceilings_summary(const Json& summary) {
  Ceilings ceilings;
  const auto value = [&](const char* name) -> std::optional<double> {
    if (!summary.contains(name)) return std::nullopt;
    return summary.at(name).get<double>();
  };
  if (const auto copy = value("copy_gb_per_s")) ceilings.copy.push_back({0, 0, *copy});
  if (const auto fill = value("fill_gb_per_s")) ceilings.fill.push_back({0, 0, *fill});
  ceilings.fma_per_s = value("fma_per_s");
  ceilings.ex2_per_s = value("ex2_per_s");
  return ceilings;
}

void refer_to(const Json& ceilings, const Json& those_of_row, Json& row) {
  if (ceilings == those_of_row || row.at("percent_of_peak").is_null()) return;
  const std::string peak = row.value("peak", "");
  const auto before = best(read_ceilings_summary(those_of_row), peak);
  const auto now = best(read_ceilings_summary(ceilings), peak);
  if (before && now && *now > 0) {
    row["percent_of_peak"] = row.at("percent_of_peak").get<double>() * *before / *now;
  } else {
    row["percent_of_peak"] = nullptr;
    row.erase("peak");
  }
}

}  // namespace warpath::harness
