#include "harness/record.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/error.hpp"
#include "harness/group_run.hpp"

namespace warpath::harness {
namespace {

bool is_object(const Json& json) {
  return json.is_object();
}
bool is_text(const Json& json) {
  return json.is_string();
}
/// One that can be a time or a rate.
bool is_number(const Json& json) {
  return json.is_number() && json.get<double>() >= 0;
}
bool is_number_or_null(const Json& json) {
  return json.is_null() || is_number(json);
}
/// Null stands for one that is not finite.
bool is_counter(const Json& json) {
  return json.is_null() || json.is_number();
}
bool is_time_or_null(const Json& json) {
  return json.is_null() || json.is_object();
}
template <class Enum>
bool is_one_of(const Json& json) {
  const std::vector<std::string> names = enum_names<Enum>();
  return json.is_string() &&
         std::find(names.begin(), names.end(), json.get<std::string>()) != names.end();
}
bool is_text_or_null(const Json& json) {
  return json.is_null() || json.is_string();
}
bool is_clock(const Json& json) {
  return json == "gpu" || json == "host";
}
bool is_switch(const Json& json) {
  return json.is_boolean();
}
bool is_setting(const Json& json) {
  return json.is_string() || json.is_number();
}

/// A key and what its value must be.
struct Field {
  const char* key;
  bool (*holds)(const Json&);
  const char* expected;
};

std::string fault(const std::string& place, const Json& json, const std::string& expected) {
  return place + ": got " +
         abridged(json.dump(-1, ' ', false, Json::error_handler_t::replace), 80) + ", expected " +
         expected;
}

/// The first fault of what must be there, then of what may be.
std::string fault_of_fields(const std::string& place, const Json& json,
                            const std::vector<Field>& required,
                            const std::vector<Field>& optional = {}) {
  if (!json.is_object()) return fault(place, json, "an object");
  for (const Field& field : required) {
    if (!json.contains(field.key)) return place + ": the key \"" + field.key + "\" is missing";
  }
  for (const std::vector<Field>* fields : {&required, &optional}) {
    for (const Field& field : *fields) {
      if (!json.contains(field.key) || field.holds(json.at(field.key))) continue;
      return fault(place + "." + field.key, json.at(field.key), field.expected);
    }
  }
  return "";
}

std::string fault_of_all(const std::string& place, const Json& json, bool (*holds)(const Json&),
                         const char* expected) {
  for (const auto& [key, value] : json.items()) {
    if (!holds(value)) return fault(place + "." + abridged(key), value, expected);
  }
  return "";
}

/// The first of the texts that is not empty.
std::string first_of(const std::vector<std::string>& faults) {
  const auto found =
      std::find_if(faults.begin(), faults.end(), [](const auto& text) { return !text.empty(); });
  return found == faults.end() ? "" : *found;
}

constexpr const char* a_number = "a number of at least 0";
constexpr const char* a_number_or_null = "a number of at least 0, or null";

}  // namespace

std::string fault_of_row(const Json& row) {
  std::string found =
      fault_of_fields("row", row,
                      {{"variant", is_text, "a text"},
                       {"role", is_one_of<Role>, "a role"},
                       {"runs", is_one_of<Runs>, "where it runs"},
                       {"params", is_object, "an object"},
                       {"verified", is_one_of<Verified>, "passed, failed or not_verified"},
                       {"time_ms", is_time_or_null, "an object or null"},
                       {"items_per_s", is_number_or_null, a_number_or_null},
                       {"gb_per_s", is_number_or_null, a_number_or_null},
                       {"percent_of_peak", is_number_or_null, a_number_or_null},
                       {"counters", is_object, "an object"}},
                      {{"bytes_min", is_number_or_null, a_number_or_null},
                       {"clock", is_clock, "gpu or host"},
                       {"cache", is_text_or_null, "a text or null"},
                       {"launches", is_number_or_null, a_number_or_null},
                       {"peak", is_text, "a text"},
                       {"choices", is_object, "an object"},
                       {"host_is_in_the_time", is_switch, "true or false"},
                       {"run", is_text, "a text"},
                       {"commit", is_text, "a text"},
                       {"skipped", is_text, "a text"},
                       {"error", is_text, "a text"}});
  if (!found.empty()) return found;
  found = first_of(
      {fault_of_all("row.params", row.at("params"), is_setting, "a number or a text"),
       fault_of_all("row.counters", row.at("counters"), is_counter, "a number"),
       fault_of_all("row.choices", row.value("choices", Json::object()), is_text, "a text")});
  if (!found.empty()) return found;
  const Json& time = row.at("time_ms");
  if (time.is_null()) {
    const bool says_why =
        row.at("verified") != "passed" || row.contains("skipped") || row.contains("error");
    return says_why ? "" : "row.time_ms: null, and the row does not say why";
  }
  found = fault_of_fields("row.time_ms", time,
                          {{"median", is_number, a_number},
                           {"min", is_number, a_number},
                           {"p10", is_number, a_number},
                           {"p90", is_number, a_number},
                           {"noise", is_number, a_number},
                           {"samples", is_number, a_number}});
  if (!found.empty()) return found;
  if (row.at("verified") != "passed") return "row.time_ms: of no right answer";
  const auto at = [&time](const char* key) { return time.at(key).get<double>(); };
  const bool rise =
      at("min") <= at("p10") && at("p10") <= at("median") && at("median") <= at("p90");
  return rise ? "" : fault("row.time_ms", time, "min <= p10 <= median <= p90");
}

std::string fault_of_record(const Json& record, const Point& point) {
  std::string found = fault_of_fields("record", record,
                                      {{"run", is_text, "a text"},
                                       {"key", is_object, "an object"},
                                       {"row", is_object, "an object"},
                                       {"ceilings", is_object, "an object"},
                                       {"provenance", is_object, "an object"}},
                                      {{"links", is_object, "an object"}});
  if (found.empty()) {
    found =
        fault_of_fields("provenance", record.at("provenance"), {{"git_commit", is_text, "a text"}});
  }
  if (found.empty()) found = fault_of_row(record.at("row"));
  if (found.empty()) {
    found = fault_of_all("ceilings", record.at("ceilings"), is_number, a_number);
  }
  if (!found.empty()) return found;
  const Json& row = record.at("row");
  if (row.at("variant") != point.variant->name) {
    return fault("row.variant", row.at("variant"), point.variant->name);
  }
  if (row.at("params") != to_json(point.settings())) {
    return fault("row.params", row.at("params"), "those of the point");
  }
  return "";
}

}  // namespace warpath::harness
