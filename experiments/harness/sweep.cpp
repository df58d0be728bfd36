#include "harness/sweep.hpp"

#include <algorithm>
#include <set>

#include "harness/error.hpp"
#include "harness/nearest.hpp"

namespace warpath::harness {
namespace {

/// Takes the name out of every list of the sweep and crosses the new values instead.
void override_values(Sweep& sweep, const Values& values) {
  const auto same_name = [&](const Values& list) { return list.first == values.first; };
  std::erase_if(sweep.zip, same_name);
  const auto crossed = std::find_if(sweep.cross.begin(), sweep.cross.end(), same_name);
  if (crossed == sweep.cross.end()) {
    sweep.cross.push_back(values);
  } else {
    crossed->second = values.second;
  }
}

const std::vector<Values>& find_profile(const Config& config, const std::string& name) {
  static const std::vector<Values> as_it_stands;
  const auto found = config.profiles.find(name);
  if (found != config.profiles.end()) return found->second;
  if (name == default_profile) return as_it_stands;
  std::vector<std::string> known = {default_profile};
  for (const auto& [profile, values] : config.profiles) {
    if (profile != default_profile) known.push_back(profile);
  }
  throw UserError(config.file + ": unknown profile \"" + abridged(name) + "\"" +
                  suggestion(name, known));
}

Parameters defaults(const Config& config) {
  Parameters parameters;
  for (const Parameter& parameter : config.technique->parameters) {
    parameters.set(parameter.name, parameter.default_value);
  }
  for (const auto& [name, value] : config.fixed.all()) parameters.set(name, value);
  return parameters;
}

/// How many combinations the sweep has before anything is excluded, as a real so that it cannot
/// overflow.
double combinations(const Sweep& sweep) {
  double count = sweep.zip.empty() ? 1 : static_cast<double>(sweep.zip.front().second.size());
  for (const Values& list : sweep.cross) count *= static_cast<double>(list.second.size());
  return count;
}

const Variant& find_variant(const Technique& technique, const std::string& name) {
  return *std::find_if(technique.variants.begin(), technique.variants.end(),
                       [&](const Variant& variant) { return variant.name == name; });
}

/// Calls `take` with every combination: the last list of `cross` varies fastest.
template <class Take>
void for_each_combination(const Sweep& sweep, std::size_t list, Parameters& point,
                          const Take& take) {
  if (list < sweep.cross.size()) {
    const auto& [name, values] = sweep.cross[list];
    for (const Value& value : values) {
      point.set(name, value);
      for_each_combination(sweep, list + 1, point, take);
    }
    return;
  }
  const std::size_t rows = sweep.zip.empty() ? 1 : sweep.zip.front().second.size();
  for (std::size_t row = 0; row < rows; ++row) {
    for (const auto& [name, values] : sweep.zip) point.set(name, values[row]);
    take(point);
  }
}

std::string why_empty(const std::vector<Sweep>& sweeps) {
  if (sweeps.empty()) return "\"sweep\" has no entry";
  for (const Sweep& sweep : sweeps) {
    if (combinations(sweep) > 0) return "\"exclude\" leaves none";
  }
  for (const auto& lists : {sweeps.front().cross, sweeps.front().zip}) {
    for (const Values& list : lists) {
      if (list.second.empty()) return "\"" + list.first + "\" has no values";
    }
  }
  return "it has no values";
}

}  // namespace

std::vector<Point> expand(const Config& config, const std::string& profile,
                          const std::vector<Values>& overrides, std::int64_t limit) {
  const Technique& technique = *config.technique;
  std::vector<Sweep> sweeps = config.sweeps;
  const Values all_variants = {"variant", [&] {
                                 std::vector<Value> names;
                                 for (const auto& v : technique.variants)
                                   names.emplace_back(v.name);
                                 return names;
                               }()};
  double total = 0;
  for (Sweep& sweep : sweeps) {
    for (const Values& values : find_profile(config, profile)) override_values(sweep, values);
    for (const Values& values : overrides) override_values(sweep, values);
    const auto names_variant = [](const Values& list) { return list.first == "variant"; };
    if (!config.fixed.all().contains("variant") &&
        std::none_of(sweep.cross.begin(), sweep.cross.end(), names_variant) &&
        std::none_of(sweep.zip.begin(), sweep.zip.end(), names_variant)) {
      sweep.cross.push_back(all_variants);
    }
    total += combinations(sweep);
  }
  const std::string where =
      config.file + " with the profile \"" + profile + "\": the sweep expands to ";
  if (total > static_cast<double>(limit)) {
    throw UserError(where + to_text(Value(total)) + " points; the limit is " +
                    std::to_string(limit) +
                    " (narrow it with --set, or lift the limit with --force)");
  }

  std::vector<Point> points;
  std::set<std::string> seen;
  for (const Sweep& sweep : sweeps) {
    Parameters combination = defaults(config);
    for_each_combination(sweep, 0, combination, [&](const Parameters& parameters) {
      for (const Condition& condition : sweep.exclude) {
        if (holds(condition, parameters)) return;
      }
      Point point{&technique, &find_variant(technique, parameters.text("variant")),
                  config.experiment, parameters};
      if (seen.insert(point.name()).second) points.push_back(std::move(point));
    });
  }
  if (points.empty()) throw UserError(where + "nothing: " + why_empty(sweeps));
  return points;
}

}  // namespace warpath::harness
