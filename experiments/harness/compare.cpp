#include "harness/compare.hpp"

#include <charconv>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "harness/archive_files.hpp"
#include "harness/campaign.hpp"
#include "harness/colour.hpp"
#include "harness/error.hpp"
#include "harness/json_file.hpp"
#include "harness/record.hpp"
#include "harness/summary.hpp"

namespace warpath::harness {
namespace {

/// The archives of one side, by technique/experiment; in a folder, that of a part of a sweep has
/// "@part" after it, as its file has.
using Side = std::map<std::string, Json>;

Side read_side(const std::string& name) {
  Side side;
  const std::vector<std::filesystem::path> files = archive_files({name});
  for (const std::filesystem::path& file : files) {
    const Node archive = read_document(file);
    std::string experiment = experiment_of(archive);
    for (const Node& row : archive["rows"].elements()) {
      const std::string fault = fault_of_row(row.json());
      if (!fault.empty()) row.fail(fault);
    }
    const std::string stem = file.stem().string();
    const std::size_t part = stem.find('@');
    if (std::filesystem::is_directory(name) && part != std::string::npos) {
      experiment += stem.substr(part);
    }
    if (!side.emplace(experiment, archive.json()).second) {
      throw UserError(abridged(file.string()) + ": another archive of " + abridged(name) +
                      " is of " + experiment + ", too");
    }
  }
  return side;
}

std::string device_of(const Json& archive) {
  const Json::json_pointer place("/provenance/device/name");
  if (archive.contains(place) && archive.at(place).is_string()) {
    return archive.at(place).get<std::string>();
  }
  return "an unknown device";
}

std::set<std::string> devices(const Side& side) {
  std::set<std::string> names;
  for (const auto& [experiment, archive] : side) names.insert(device_of(archive));
  return names;
}

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// The variant and all parameters of a row, by which rows of two archives are matched; independent
/// of the order of the parameters.
std::map<std::string, std::string> identity(const Json& row) {
  std::map<std::string, std::string> settings;
  for (const auto& [name, value] : row.at("params").items()) settings[name] = text_of(value);
  settings["variant"] = row.at("variant");
  return settings;
}

double time_of(const Json& row, const char* name) {
  return row.at("time_ms").at(name).get<double>();
}

bool has_time(const Json& row) {
  return !row.at("time_ms").is_null() && time_of(row, "median") > 0;
}

/// Whether `slow` takes longer than `fast`, and noise does not explain it.
bool is_slower(const Json& slow, const Json& fast) {
  const double more = time_of(slow, "median");
  const double less = time_of(fast, "median");
  return more * (1 - time_of(slow, "noise")) > less * (1 + time_of(fast, "noise")) &&
         more > time_of(fast, "p90") && less < time_of(slow, "p10");
}

class Comparison {
 public:
  explicit Comparison(std::optional<double> fail_above) : fail_above_(fail_above) {}

  void compare(const std::string& experiment, const Json& before, const Json& after) {
    std::map<std::map<std::string, std::string>, const Json*> later;
    for (const Json& row : after.at("rows")) later[identity(row)] = &row;
    std::vector<std::pair<const Json*, const Json*>> both;
    for (const Json& row : before.at("rows")) {
      const auto found = later.find(identity(row));
      if (found == later.end()) {
        ++vanished_;
        only_before_.push_back(name(experiment, row));
      } else {
        both.emplace_back(&row, found->second);
        later.erase(found);
      }
    }
    for (const Json& row : after.at("rows")) {
      if (later.contains(identity(row))) only_after_.push_back(name(experiment, row));
    }
    if (!both.empty()) print(experiment, both);
  }

  void only(const std::string& experiment, const Json& archive, bool is_before) {
    for (const Json& row : archive.at("rows")) {
      (is_before ? only_before_ : only_after_).push_back(name(experiment, row));
    }
  }

  void print_sums() const {
    std::printf("\n%zu rows compared: %zu slower and %zu faster beyond the noise", compared_,
                slower_, faster_);
    if (untimed_ > 0) std::printf(", %zu without a time on one side or both", untimed_);
    if (otherwise_ > 0) std::printf(", %zu measured in another way", otherwise_);
    if (wrong_ > 0) std::printf(", %zu not right any more", wrong_);
    std::printf("; %zu only before, %zu only after\n", only_before_.size(), only_after_.size());
    for (const std::string& name : only_before_) std::printf("only before: %s\n", name.c_str());
    for (const std::string& name : only_after_) std::printf("only after: %s\n", name.c_str());
  }

  [[nodiscard]] std::size_t compared() const { return compared_; }
  [[nodiscard]] std::size_t too_slow() const { return too_slow_; }
  [[nodiscard]] std::size_t wrong() const { return wrong_; }
  /// Rows that had a time, and have none or are not there any more.
  [[nodiscard]] std::size_t lost() const { return lost_times_ + vanished_; }

 private:
  using Pair = std::pair<const Json*, const Json*>;

  static std::string name(const std::string& experiment, const Json& row) {
    std::string text = experiment + "/variant:" + text_of(row.at("variant"));
    for (const auto& [parameter, value] : row.at("params").items()) {
      text += "/" + parameter + ":" + text_of(value);
    }
    return text;
  }

  /// What must be equal for two times to be compared. Archives of before 2026-11-23 do not say
  /// whether the host is in the time.
  static Json how_measured(const Json& row) {
    return {row.value("clock", Json()), row.value("cache", Json()), row.value("launches", Json()),
            row.value("host_is_in_the_time", false)};
  }

  void print(const std::string& experiment, const std::vector<Pair>& rows) {
    Json earlier = Json::array();
    for (const auto& [before, after] : rows) earlier.push_back(*before);
    const std::vector<std::string> columns = varying_parameters(earlier);
    std::vector<std::string> header = {"variant"};
    header.insert(header.end(), columns.begin(), columns.end());
    header.insert(header.end(), {"before ms", "+-%", "after ms", "+-%", "after/before", ""});
    std::vector<std::vector<std::string>> lines = {header};
    for (const auto& [before, after] : rows) {
      std::vector<std::string> line = {text_of(before->at("variant"))};
      for (const std::string& column : columns) {
        line.push_back(text_of(before->at("params").value(column, Json("-"))));
      }
      for (const Json* row : {before, after}) {
        line.push_back(has_time(*row) ? formatted(time_of(*row, "median"), "%.5f") : "-");
        line.push_back(has_time(*row) ? formatted(100 * time_of(*row, "noise"), "%.1f") : "-");
      }
      const bool timed = has_time(*before) && has_time(*after);
      line.push_back(
          timed ? formatted(time_of(*after, "median") / time_of(*before, "median"), "%.3f") : "-");
      line.push_back(judge(*before, *after));
      lines.push_back(line);
    }
    std::printf("\n%s\n", experiment.c_str());
    print_table(lines, stdout);
  }

  /// What is said of the pair; counts it.
  std::string judge(const Json& before, const Json& after) {
    ++compared_;
    const bool was_right = before.at("verified") == "passed" && !before.contains("error");
    if (was_right && (after.at("verified") == "failed" || after.contains("error"))) {
      ++wrong_;
      return coloured("NOT RIGHT ANY MORE", Colour::red, stdout);
    }
    if (was_right && after.at("verified") != "passed") {
      ++lost_times_;
      return coloured("NOT VERIFIED ANY MORE", Colour::red, stdout);
    }
    if (!has_time(before) || !has_time(after)) {
      ++untimed_;
      if (!has_time(before)) return "";
      ++lost_times_;
      return "no time any more";
    }
    if (how_measured(before) != how_measured(after)) {
      ++otherwise_;
      return "measured in another way";
    }
    if (is_slower(after, before)) {
      ++slower_;
      const double more = time_of(after, "median") / time_of(before, "median") - 1;
      if (fail_above_ && more > *fail_above_) ++too_slow_;
      return coloured("slower", Colour::red, stdout);
    }
    if (!is_slower(before, after)) return "";
    ++faster_;
    return coloured("faster", Colour::green, stdout);
  }

  std::optional<double> fail_above_;
  std::size_t compared_ = 0;
  std::size_t slower_ = 0;
  std::size_t faster_ = 0;
  std::size_t untimed_ = 0;
  std::size_t wrong_ = 0;
  std::size_t otherwise_ = 0;
  std::size_t lost_times_ = 0;
  std::size_t vanished_ = 0;
  std::size_t too_slow_ = 0;
  std::vector<std::string> only_before_;
  std::vector<std::string> only_after_;
};

}  // namespace

double read_percent(const std::string& option, const std::string& text) {
  const std::string digits = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  double percent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || !(percent >= 0 && percent <= 1e6)) {
    throw UserError(option + " " + abridged(text) + ": expected a percentage, like 5%");
  }
  return percent / 100;
}

int compare_archives(const std::string& before, const std::string& after,
                     std::optional<double> fail_above) {
  const Side earlier = read_side(before);
  const Side later = read_side(after);
  std::printf("before: %s, on %s\nafter:  %s, on %s\n", before.c_str(),
              listed(devices(earlier)).c_str(), after.c_str(), listed(devices(later)).c_str());
  if (devices(earlier) != devices(later)) {
    std::printf("%s: the ratios are of the hardware, too\n",
                coloured("The devices differ", Colour::yellow, stdout).c_str());
  }
  Comparison comparison(fail_above);
  for (const auto& [experiment, archive] : earlier) {
    const auto found = later.find(experiment);
    if (found == later.end()) {
      comparison.only(experiment, archive, /*is_before=*/true);
    } else {
      comparison.compare(experiment, archive, found->second);
    }
  }
  for (const auto& [experiment, archive] : later) {
    if (!earlier.contains(experiment)) comparison.only(experiment, archive, /*is_before=*/false);
  }
  if (comparison.compared() == 0) {
    throw UserError("no row of " + abridged(before) + " is in " + abridged(after) + ", too");
  }
  comparison.print_sums();
  const std::size_t bad = comparison.too_slow() + comparison.wrong() + comparison.lost();
  if (!fail_above || bad == 0) return exit_good;
  std::fprintf(stderr,
               "warpath: %zu rows are slower by more than %g %%, %zu are not right any more, %zu "
               "have no time any more or are gone\n",
               comparison.too_slow(), 100 * *fail_above, comparison.wrong(), comparison.lost());
  return exit_failed_points;
}

}  // namespace warpath::harness
