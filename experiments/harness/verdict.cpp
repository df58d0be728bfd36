#include "harness/verdict.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/error.hpp"
#include "harness/value.hpp"

namespace warpath::harness {
namespace {

/// A row with its parameters as values again.
struct Candidate {
  const Json* row;
  Parameters parameters;  ///< with `variant`
};

Parameters parameters_of(const Json& row, const Technique& technique) {
  Parameters parameters;
  parameters.set("variant", row.at("variant").get<std::string>());
  for (const Parameter& parameter : technique.parameters) {
    parameters.set(
        parameter.name,
        read_value(Node("record", parameter.name, row.at("params").at(parameter.name)), parameter));
  }
  return parameters;
}

/// The parameters that are not at their default, and the variant.
std::string describe(const Parameters& parameters, const Technique& technique) {
  std::string text = "variant:" + parameters.text("variant");
  for (const Parameter& parameter : technique.parameters) {
    const Value& value = parameters.all().at(parameter.name);
    if (value != parameter.default_value) text += " " + parameter.name + ":" + to_text(value);
  }
  return text;
}

std::string why_no_time(const Json& row) {
  if (row.contains("error")) return row.at("error").get<std::string>();
  return row.value("skipped", "it was not measured");
}

/// The metric's value for one row, or what is missing for it.
struct Reading {
  std::optional<double> value;
  std::string missing;
  bool wrong_answer = false;
};

class Judge {
 public:
  Judge(const Config& config, const std::vector<Json>& rows) : technique_(*config.technique) {
    for (const Json& row : rows) candidates_.push_back({&row, parameters_of(row, technique_)});
  }

  Json verdict(const Expected& expected) const {
    Json verdict;
    verdict["kind"] = enum_name(expected.kind);
    verdict["where"] = Json::parse(expected.where_text);
    verdict["metric"] = enum_name(expected.metric);
    if (!expected.counter.empty()) verdict["counter"] = expected.counter;
    if (!expected.baseline_text.empty()) verdict["baseline"] = Json::parse(expected.baseline_text);
    verdict["published"] = expected.published ? Json(*expected.published) : Json(nullptr);
    if (expected.at_least) verdict["at_least"] = *expected.at_least;
    if (expected.at_most) verdict["at_most"] = *expected.at_most;
    decide(expected, verdict);
    verdict["source"] = expected.source;
    return verdict;
  }

 private:
  /// Whether more is better: as the bound says, or, of a comparison, as the metric does.
  static bool wants_more(const Expected& expected) {
    if (expected.kind != Kind::comparison) return expected.at_least.has_value();
    return expected.metric == Metric::speedup_over || expected.metric == Metric::gb_per_s ||
           expected.metric == Metric::percent_of_peak;
  }

  static const char* word(const Expected& expected, bool holds) {
    if (expected.kind == Kind::comparison) return "SHOWN";
    if (expected.kind == Kind::aim) return holds ? "MET" : "MISSED";
    return holds ? "REPRODUCED" : "DIFFERS";
  }

  Reading read(const Expected& expected, const Candidate& candidate) const {
    const Json& row = *candidate.row;
    if (row.at("verified") == "failed") return {{}, why_no_time(row), true};
    if (expected.metric == Metric::counter) {
      const Json& counters = row.at("counters");
      if (!counters.contains(expected.counter)) return {{}, "no counter " + expected.counter};
      if (!counters.at(expected.counter).is_number()) {
        return {{}, "the counter " + expected.counter + " is not finite"};
      }
      return {counters.at(expected.counter).get<double>(), ""};
    }
    if (row.at("time_ms").is_null()) return {{}, why_no_time(row)};
    const double median = row.at("time_ms").at("median").get<double>();
    if (expected.metric == Metric::time_ms) return {median, ""};
    if (expected.metric == Metric::gb_per_s || expected.metric == Metric::percent_of_peak) {
      const Json& value = row.at(std::string(enum_name(expected.metric)));
      if (value.is_null()) return {{}, "no ceiling is known for this row"};
      return {value.get<double>(), ""};
    }
    Parameters wanted = candidate.parameters;
    for (const auto& [name, value] : expected.baseline.all()) wanted.set(name, value);
    for (const Candidate& other : candidates_) {
      if (!(other.parameters == wanted)) continue;
      if (other.row->at("time_ms").is_null())
        return {{}, "the baseline: " + why_no_time(*other.row)};
      const double baseline = other.row->at("time_ms").at("median").get<double>();
      return {expected.metric == Metric::ratio ? median / baseline : baseline / median, ""};
    }
    return {{}, "no row is the baseline " + describe(wanted, technique_)};
  }

  void decide(const Expected& expected, Json& verdict) const {
    const bool any_variant = !mentions(expected.where, "variant");
    // By setting: the best value of the variants that stand for it.
    std::map<std::string, std::pair<double, Parameters>> best;
    std::map<std::string, std::string> missing;
    bool wrong_answer = false;
    for (const Candidate& candidate : candidates_) {
      if (!holds(expected.where, candidate.parameters)) continue;
      if (any_variant && candidate.row->at("role") != "technique") continue;
      Parameters setting = candidate.parameters;
      if (any_variant) setting.set("variant", std::string("any"));
      const std::string key = describe(setting, technique_);
      const Reading reading = read(expected, candidate);
      wrong_answer = wrong_answer || reading.wrong_answer;
      if (!reading.value) {
        missing.emplace(key, reading.missing);
        continue;
      }
      const auto found = best.find(key);
      const bool is_better =
          found == best.end() || (wants_more(expected) ? *reading.value > found->second.first
                                                       : *reading.value < found->second.first);
      if (is_better) {
        best.insert_or_assign(key, std::make_pair(*reading.value, candidate.parameters));
      }
    }
    for (const auto& [key, value] : best) missing.erase(key);

    verdict["measured"] = nullptr;
    if (!missing.empty()) {
      const auto& [setting, reason] = *missing.begin();
      std::string text = reason + " (" + setting;
      if (missing.size() > 1)
        text += " and " + std::to_string(missing.size() - 1) + " more settings";
      verdict["missing"] = text + ")";
    }
    if (best.empty()) {
      if (missing.empty()) verdict["missing"] = "no point of this run is such a one";
      const bool is_judged = wrong_answer && expected.kind != Kind::comparison;
      verdict["verdict"] = is_judged ? word(expected, false) : "NOT TESTABLE HERE";
      return;
    }
    if (!missing.empty()) {
      verdict["settings"] = {{"judged", best.size()}, {"all", best.size() + missing.size()}};
    }
    const auto [lowest, highest] = std::minmax_element(
        best.begin(), best.end(),
        [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
    const bool too_low = expected.at_least && lowest->second.first < *expected.at_least;
    const bool too_high = expected.at_most && highest->second.first > *expected.at_most;
    const bool low_decides = too_low || (wants_more(expected) && !too_high);
    const auto& [measured, at] = low_decides ? lowest->second : highest->second;
    verdict["measured"] = measured;
    verdict["at"] = to_json(at);
    verdict["verdict"] = word(expected, !(wrong_answer || too_low || too_high));
  }

  const Technique& technique_;
  std::vector<Candidate> candidates_;
};

}  // namespace

Json judge(const Config& config, const std::vector<Json>& rows) {
  Json verdicts = Json::array();
  const Judge judge(config, rows);
  for (const Expected& expected : config.expected) verdicts.push_back(judge.verdict(expected));
  return verdicts;
}

Json judge_again(const Json& archive, const Config& config, const std::filesystem::path& file) {
  try {
    Json judged = archive;
    judged["verdicts"] = judge(config, archive.at("rows").get<std::vector<Json>>());
    return judged;
  } catch (const Json::exception& error) {
    throw UserError(file.string() + ": is no archive of " + config.file + ": " + error.what());
  }
}

}  // namespace warpath::harness
