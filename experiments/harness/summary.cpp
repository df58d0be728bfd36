#include "harness/summary.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/colour.hpp"

namespace warpath::harness {
namespace {

using Line = std::vector<std::string>;

std::string note(const Json& row, std::FILE* out) {
  if (row.contains("error"))
    return coloured("FAILED", Colour::red, out) + ": " + text_of(row.at("error"));
  if (row.contains("skipped")) return text_of(row.at("skipped"));
  return "";
}

void print_rows(const Json& rows, std::FILE* out) {
  const std::vector<std::string> columns = varying_parameters(rows);
  for (const auto& [name, value] : rows.front().at("params").items()) {
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
      std::fprintf(out, "%s:%s ", name.c_str(), text_of(value).c_str());
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
    line.push_back(time.is_null() ? "-" : formatted(time.at("median"), "%.5f"));
    line.push_back(time.is_null() ? "-" : formatted(100 * time.at("noise").get<double>(), "%.1f"));
    line.push_back(formatted(row.at("gb_per_s"), "%.1f"));
    line.push_back(formatted(row.at("percent_of_peak"), "%.1f"));
    line.push_back(text_of(row.at("verified")));
    line.push_back(note(row, out));
    lines.push_back(line);
  }
  std::fprintf(out, "\n");
  print_table(lines, out);
}

/// Digits enough to tell the measured value from each bound that it differs from.
std::string digits_for(const Json& verdict) {
  for (int digits = 3; digits < 9; ++digits) {
    const std::string format = "%." + std::to_string(digits) + "g";
    const auto looks_equal = [&](const char* bound) {
      return verdict.contains(bound) && verdict.at(bound) != verdict.at("measured") &&
             formatted(verdict.at(bound), format.c_str()) ==
                 formatted(verdict.at("measured"), format.c_str());
    };
    if (!looks_equal("at_least") && !looks_equal("at_most")) return format;
  }
  return "%.9g";
}

std::string in_colour(const std::string& verdict, std::FILE* out) {
  if (verdict == "SHOWN") return verdict;
  const bool bad = verdict == "DIFFERS" || verdict == "MISSED";
  const bool good = verdict == "REPRODUCED" || verdict == "MET";
  return coloured(verdict, bad ? Colour::red : good ? Colour::green : Colour::yellow, out);
}

}  // namespace

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string formatted(const Json& value, const char* format) {
  if (!value.is_number()) return "-";
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value.get<double>());
  return text.data();
}

std::vector<std::string> varying_parameters(const Json& rows) {
  std::vector<std::string> names;
  for (const auto& item : rows.front().at("params").items()) {
    const bool varies = std::any_of(rows.begin(), rows.end(), [&](const Json& row) {
      const Json& params = row.at("params");
      return !params.contains(item.key()) || params.at(item.key()) != item.value();
    });
    if (varies) names.push_back(item.key());
  }
  return names;
}

void print_table(const std::vector<std::vector<std::string>>& lines, std::FILE* out) {
  std::vector<std::size_t> width(lines.front().size());
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) width[i] = std::max(width[i], line[i].size());
  }
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool last = i + 1 == line.size();
      std::fprintf(out, "%-*s%s", last ? 0 : static_cast<int>(width[i]), line[i].c_str(),
                   last ? "\n" : "  ");
    }
  }
}

void print_verdicts(const Json& verdicts, std::FILE* out) {
  for (const Json& verdict : verdicts) {
    const std::string format = digits_for(verdict);
    const auto figure = [&](const char* name) {
      return formatted(verdict.at(name), format.c_str());
    };
    const char* const metric = verdict.contains("counter") ? "counter" : "metric";
    std::string word = in_colour(text_of(verdict.at("verdict")), out);
    if (verdict.contains("settings")) {
      const Json& settings = verdict.at("settings");
      word +=
          " (" + settings.at("judged").dump() + " of " + settings.at("all").dump() + " settings)";
    }
    std::fprintf(out, "%s (%s): %s", word.c_str(), text_of(verdict.at("kind")).c_str(),
                 text_of(verdict.at(metric)).c_str());
    if (verdict.contains("baseline"))
      std::fprintf(out, " %s", verdict.at("baseline").dump().c_str());
    std::fprintf(out, " where %s: measured %s", verdict.at("where").dump().c_str(),
                 figure("measured").c_str());
    if (verdict.contains("at_least"))
      std::fprintf(out, ", at least %s", figure("at_least").c_str());
    if (verdict.contains("at_most")) std::fprintf(out, ", at most %s", figure("at_most").c_str());
    if (!verdict.at("published").is_null()) {
      std::fprintf(out, ", published %s", figure("published").c_str());
    }
    if (verdict.contains("missing"))
      std::fprintf(out, " (missing: %s)", text_of(verdict.at("missing")).c_str());
    std::fprintf(out, "\n");
  }
}

void print_summary(const Json& archive, std::FILE* out) {
  std::fprintf(out, "\n%s/%s: %s\n", text_of(archive.at("technique")).c_str(),
               text_of(archive.at("experiment")).c_str(), text_of(archive.at("title")).c_str());
  if (!archive.at("rows").empty()) print_rows(archive.at("rows"), out);
  print_verdicts(archive.at("verdicts"), out);
}

}  // namespace warpath::harness
