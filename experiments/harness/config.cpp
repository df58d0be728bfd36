#include "harness/config.hpp"

#include <algorithm>
#include <cmath>

#include "harness/error.hpp"
#include "harness/json_file.hpp"
#include "harness/nearest.hpp"
#include "harness/values.hpp"

namespace warpath::harness {
namespace {

std::string slug(const Node& node) {
  std::string text = node.text();
  if (text.empty() ||
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos) {
    node.expected("a name of lower-case letters, digits and _");
  }
  // The name becomes part of file and folder names.
  if (text.size() > 100) node.expected("a name of at most 100 characters");
  return text;
}

std::string optional_text(const Node& node, const std::string& key) {
  return node.has(key) ? node[key].text() : "";
}

const Technique& find_technique(const Node& node, const std::vector<Technique>& techniques) {
  const std::string name = node.text();
  std::vector<std::string> known;
  for (const Technique& technique : techniques) {
    if (technique.name == name) return technique;
    known.push_back(technique.name);
  }
  node.fail("unknown technique \"" + abridged(name) + "\"" + suggestion(name, known));
}

Parameters read_settings(const Node& node, const Technique& technique) {
  if (!node.is_object()) node.expected("an object of parameters and values");
  Parameters settings;
  for (const std::string& name : node.keys()) {
    settings.set(name, read_value(node[name], find_parameter(technique, name, node[name])));
  }
  return settings;
}

std::vector<Values> read_value_lists(const Node& node, const Technique& technique) {
  if (!node.is_object()) node.expected("an object of parameters and their values");
  std::vector<Values> lists;
  for (const std::string& name : node.keys()) {
    lists.emplace_back(name, read_values(node[name], find_parameter(technique, name, node[name])));
  }
  return lists;
}

void check_zip(const Node& node, const Sweep& sweep) {
  for (const Values& list : sweep.zip) {
    if (list.second.size() != sweep.zip.front().second.size()) {
      node.fail("\"" + list.first + "\" has " + std::to_string(list.second.size()) +
                " values and \"" + sweep.zip.front().first + "\" has " +
                std::to_string(sweep.zip.front().second.size()) +
                "; lists that are zipped must have one length");
    }
    for (const Values& crossed : sweep.cross) {
      if (crossed.first == list.first) {
        node.fail("\"" + list.first + "\" is in cross and in zip; keep one of them");
      }
    }
  }
}

Sweep read_sweep(const Node& node, const Technique& technique) {
  node.expect_object({}, {"cross", "zip", "exclude"});
  Sweep sweep;
  if (node.has("cross")) sweep.cross = read_value_lists(node["cross"], technique);
  if (node.has("zip")) {
    sweep.zip = read_value_lists(node["zip"], technique);
    check_zip(node["zip"], sweep);
  }
  if (node.has("exclude")) {
    for (const Node& element : node["exclude"].elements()) {
      sweep.exclude.push_back(read_condition(element, technique));
    }
  }
  return sweep;
}

Measure read_measure(const Node& node) {
  node.expect_object({}, {"cache", "min_samples", "max_samples", "max_noise", "max_seconds",
                          "min_clock", "launches"});
  Measure measure;
  if (node.has("cache")) measure.cache = node["cache"].named<Cache>("cache");
  if (node.has("min_samples")) measure.min_samples = node["min_samples"].integer(1, 100'000);
  measure.max_samples = std::max(measure.max_samples, measure.min_samples);
  if (node.has("max_samples")) {
    measure.max_samples = node["max_samples"].integer(measure.min_samples, 100'000);
  }
  if (node.has("max_noise")) measure.max_noise = node["max_noise"].real(0, 1);
  if (node.has("max_seconds")) measure.max_seconds = node["max_seconds"].real(0.001, 3600);
  if (node.has("min_clock")) measure.min_clock = node["min_clock"].real(0, 1);
  if (node.has("launches")) measure.launches = node["launches"].integer(1, 1000);
  if (measure.launches > 1 && measure.cache == Cache::cold) {
    node["launches"].fail("only the first of " + std::to_string(measure.launches) +
                          " launches would find a cold cache; set \"cache\": \"warm\", or "
                          "\"launches\": 1");
  }
  return measure;
}

/// Each kind needs what it is judged by or told apart by, and no more.
void check_kind(const Node& node, const Expected& expected) {
  const bool has_bound = expected.at_least || expected.at_most;
  if (expected.at_least && expected.at_most && *expected.at_least > *expected.at_most) {
    node.fail("\"at_least\" is above \"at_most\": nothing fulfils both");
  }
  if (expected.kind == Kind::comparison) {
    if (has_bound) node.fail("a comparison is not judged: remove \"at_least\" and \"at_most\"");
    if (!expected.published) node.fail("a comparison needs \"published\": what is shown beside?");
  } else if (!has_bound) {
    node.fail("the key \"at_least\" or \"at_most\" is missing: what would count as " +
              std::string(expected.kind == Kind::claim ? "reproduced?" : "met?"));
  }
  if (expected.kind == Kind::aim && expected.published) {
    node.fail("an aim has no \"published\": make that a claim or a comparison of its own");
  }
  if (expected.kind != Kind::aim && expected.source.empty()) {
    node.fail("a " + std::string(enum_name(expected.kind)) + " needs \"source\": who says so?");
  }
}

Expected read_expected(const Node& node, const Technique& technique) {
  node.expect_object({"kind", "where", "metric"},
                     {"baseline", "counter", "published", "at_least", "at_most", "source"});
  Expected expected;
  expected.kind = node["kind"].named<Kind>("kind");
  expected.where = read_condition(node["where"], technique);
  expected.where_text = node["where"].json_text();
  expected.metric = node["metric"].named<Metric>("metric");
  const std::string metric(enum_name(expected.metric));
  const bool compares = expected.metric == Metric::speedup_over || expected.metric == Metric::ratio;
  if (compares != node.has("baseline")) {
    node.fail(compares ? "the metric " + metric + " needs the key \"baseline\""
                       : "the metric " + metric + " has no baseline; remove the key");
  }
  if (compares) {
    expected.baseline = read_settings(node["baseline"], technique);
    if (expected.baseline.all().empty()) {
      node["baseline"].expected("what differs in the row that is compared with");
    }
    expected.baseline_text = node["baseline"].json_text();
  }
  const bool counts = expected.metric == Metric::counter;
  if (counts != node.has("counter")) {
    node.fail(counts ? "the metric counter needs the key \"counter\": the name of one"
                     : "the metric " + metric + " is no counter; remove the key \"counter\"");
  }
  if (counts) expected.counter = node["counter"].text();
  if (counts && expected.counter.empty()) node["counter"].expected("the name of a counter");
  const auto bound = [&](const std::string& key) -> std::optional<double> {
    if (!node.has(key)) return std::nullopt;
    return node[key].real(0, 1e18);
  };
  expected.published = bound("published");
  expected.at_least = bound("at_least");
  expected.at_most = bound("at_most");
  expected.source = optional_text(node, "source");
  check_kind(node, expected);
  return expected;
}

}  // namespace

Config read_config(const std::filesystem::path& file, const std::vector<Technique>& techniques) {
  const Node root = read_document(file);
  root.expect_object({"schema", "technique", "experiment", "title", "sweep"},
                     {"source", "figure", "claim", "fixed", "profiles", "measure", "expected"});
  if (root["schema"].json_text() != "1") root["schema"].expected("1, the only format there is");
  Config config;
  config.file = file.string();
  config.technique = &find_technique(root["technique"], techniques);
  const Technique& technique = *config.technique;
  config.experiment = slug(root["experiment"]);
  config.title = root["title"].text();
  config.source = optional_text(root, "source");
  config.figure = optional_text(root, "figure");
  config.claim = optional_text(root, "claim");
  if (root.has("fixed")) config.fixed = read_settings(root["fixed"], technique);
  for (const Node& element : root["sweep"].elements()) {
    config.sweeps.push_back(read_sweep(element, technique));
  }
  if (root.has("profiles")) {
    const Node profiles = root["profiles"];
    if (!profiles.is_object()) profiles.expected("an object of profiles");
    for (const std::string& name : profiles.keys()) {
      config.profiles[name] = read_value_lists(profiles[name], technique);
    }
  }
  if (root.has("measure")) config.measure = read_measure(root["measure"]);
  if (root.has("expected")) {
    for (const Node& element : root["expected"].elements()) {
      config.expected.push_back(read_expected(element, technique));
    }
  }
  return config;
}

}  // namespace warpath::harness
