#include "harness/summary.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace warpath::harness {
namespace {

using Line = std::vector<std::string>;

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string number(const Json& value, const char* format) {
  if (!value.is_number()) return "-";
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value.get<double>());
  return text.data();
}

void print_table(const std::vector<Line>& lines) {
  std::vector<std::size_t> width(lines.front().size());
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) width[i] = std::max(width[i], line[i].size());
  }
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool last = i + 1 == line.size();
      std::printf("%-*s%s", last ? 0 : static_cast<int>(width[i]), line[i].c_str(),
                  last ? "\n" : "  ");
    }
  }
}

/// Parameters whose value differs between rows.
std::vector<std::string> varying(const Json& rows) {
  std::vector<std::string> names;
  for (const auto& [name, first] : rows.front().at("params").items()) {
    for (const Json& row : rows) {
      if (row.at("params").at(name) != first) {
        names.push_back(name);
        break;
      }
    }
  }
  return names;
}

std::string note(const Json& row) {
  if (row.contains("error")) return "FAILED: " + text_of(row.at("error"));
  if (row.contains("skipped")) return text_of(row.at("skipped"));
  return "";
}

void print_rows(const Json& rows) {
  const std::vector<std::string> columns = varying(rows);
  for (const auto& [name, value] : rows.front().at("params").items()) {
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
      std::printf("%s:%s ", name.c_str(), text_of(value).c_str());
    }
  }
  Line header = {"variant"};
  header.insert(header.end(), columns.begin(), columns.end());
  header.insert(header.end(), {"median ms", "+-%", "GB/s", "% of peak", "verified", ""});
  std::vector<Line> lines = {header};
  for (const Json& row : rows) {
    Line line = {text_of(row.at("variant"))};
    for (const std::string& name : columns) line.push_back(text_of(row.at("params").at(name)));
    const Json& time = row.at("time_ms");
    line.push_back(time.is_null() ? "-" : number(time.at("median"), "%.5f"));
    line.push_back(time.is_null() ? "-" : number(100 * time.at("noise").get<double>(), "%.1f"));
    line.push_back(number(row.at("gb_per_s"), "%.1f"));
    line.push_back(number(row.at("percent_of_peak"), "%.1f"));
    line.push_back(text_of(row.at("verified")));
    line.push_back(note(row));
    lines.push_back(line);
  }
  std::printf("\n");
  print_table(lines);
}

/// Digits enough to tell the measured value from each bound that it differs from.
std::string digits_for(const Json& verdict) {
  for (int digits = 3; digits < 9; ++digits) {
    const std::string format = "%." + std::to_string(digits) + "g";
    const auto looks_equal = [&](const char* bound) {
      return verdict.contains(bound) && verdict.at(bound) != verdict.at("measured") &&
             number(verdict.at(bound), format.c_str()) ==
                 number(verdict.at("measured"), format.c_str());
    };
    if (!looks_equal("at_least") && !looks_equal("at_most")) return format;
  }
  return "%.9g";
}

}  // namespace

void print_verdicts(const Json& verdicts) {
  for (const Json& verdict : verdicts) {
    const std::string format = digits_for(verdict);
    const auto figure = [&](const char* name) { return number(verdict.at(name), format.c_str()); };
    const char* const metric = verdict.contains("counter") ? "counter" : "metric";
    std::printf("%s (%s): %s", text_of(verdict.at("verdict")).c_str(),
                text_of(verdict.at("kind")).c_str(), text_of(verdict.at(metric)).c_str());
    if (verdict.contains("baseline")) std::printf(" %s", verdict.at("baseline").dump().c_str());
    std::printf(" where %s: measured %s", verdict.at("where").dump().c_str(),
                figure("measured").c_str());
    if (verdict.contains("at_least")) std::printf(", at least %s", figure("at_least").c_str());
    if (verdict.contains("at_most")) std::printf(", at most %s", figure("at_most").c_str());
    if (!verdict.at("published").is_null()) {
      std::printf(", published %s", figure("published").c_str());
    }
    if (verdict.contains("missing"))
      std::printf(" (missing: %s)", text_of(verdict.at("missing")).c_str());
    std::printf("\n");
  }
}

void print_summary(const Json& archive) {
  std::printf("\n%s/%s: %s\n", text_of(archive.at("technique")).c_str(),
              text_of(archive.at("experiment")).c_str(), text_of(archive.at("title")).c_str());
  if (!archive.at("rows").empty()) print_rows(archive.at("rows"));
  print_verdicts(archive.at("verdicts"));
}

}  // namespace warpath::harness
