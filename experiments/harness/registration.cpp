#include "harness/registration.hpp"

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <system_error>

#include "harness/error.hpp"
#include "harness/json_file.hpp"
#include "harness/nearest.hpp"

namespace warpath::harness {
namespace {

/// What Google Benchmark adds to the name of a benchmark with manual time and one iteration.
constexpr const char* suffix = "/iterations:1/manual_time";

/// A flag of Google Benchmark that is honoured here.
struct Flag {
  const char* name;
  bool needs_value;
  bool of_names;  ///< and not of a report
};
constexpr Flag known_flags[] = {{"benchmark_filter", true, true},
                                {"benchmark_list_tests", false, true},
                                {"benchmark_format", true, false},
                                {"benchmark_out", true, false},
                                {"benchmark_out_format", true, false},
                                {"benchmark_color", false, false},
                                {"benchmark_counters_tabular", false, false},
                                {"benchmark_context", true, false}};

bool read_switch(const std::string& flag, const std::string& value) {
  for (const char* yes : {"", "true", "yes", "on", "1"}) {
    if (value == yes) return true;
  }
  for (const char* no : {"false", "no", "off", "0"}) {
    if (value == no) return false;
  }
  throw UserError("--" + flag + "=" + abridged(value) + ": expected true or false");
}

ReportFormat read_format(const std::string& flag, const std::string& value) {
  const std::vector<std::string> names = enum_names<ReportFormat>();
  if (std::find(names.begin(), names.end(), value) == names.end()) {
    throw UserError("--" + flag + "=" + abridged(value) + ": unknown format" +
                    suggestion(value, names));
  }
  return enum_value<ReportFormat>(value);
}

/// Google Benchmark only says that such a filter leaves nothing.
void check_filter(const std::string& filter) {
  const std::string flag = "--benchmark_filter=" + abridged(filter);
  // The time and the stack that a pattern takes grow with its length.
  if (filter.size() > 1000) throw UserError(flag + ": expected at most 1000 characters");
  try {
    // A leading minus inverts the filter.
    const std::regex parsed(filter.starts_with('-') ? filter.substr(1) : filter,
                            std::regex_constants::extended);
  } catch (const std::regex_error& error) {
    throw UserError(flag + ": is no regular expression: " + error.what());
  }
}

/// Before anything runs: a report that cannot be written would come to nothing after hours.
void check_can_be_written(const std::string& file) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const auto refuse = [&](const char* why) {
    throw UserError("--benchmark_out=" + abridged(file) + ": " + why);
  };
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    refuse("its folder does not exist");
  }
  if (std::filesystem::is_directory(file, error)) refuse("is a folder");
  const bool is_device =
      std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error);
  if (is_device) return;
  // A file is replaced by one that is written beside it.
  const std::string probe = file + ".tmp." + std::to_string(getpid());
  const int descriptor = open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) refuse(std::strerror(errno));
  close(descriptor);
  unlink(probe.c_str());
}

/// The report of one format, kept until the run's end: written at once, since the table of csv has
/// the columns of the first rows that it is given.
class KeptReport : public benchmark::BenchmarkReporter {
 public:
  explicit KeptReport(ReportFormat format) {
    // Deprecated in favour of a reporter of one's own, but its format is the one that tools read.
    BENCHMARK_DISABLE_DEPRECATED_WARNING
    if (format == ReportFormat::csv) reporter_ = std::make_unique<benchmark::CSVReporter>();
    BENCHMARK_RESTORE_DEPRECATED_WARNING
    if (format == ReportFormat::json) reporter_ = std::make_unique<benchmark::JSONReporter>();
    if (format == ReportFormat::console) {
      reporter_ =
          std::make_unique<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_Tabular);
    }
    reporter_->SetOutputStream(&text_);
  }
  bool ReportContext(const Context& context) override { return reporter_->ReportContext(context); }
  void ReportRuns(const std::vector<Run>& runs) override {
    runs_.insert(runs_.end(), runs.begin(), runs.end());
  }
  void Finalize() override {
    if (!runs_.empty()) reporter_->ReportRuns(runs_);
    reporter_->Finalize();
  }
  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::vector<Run> runs_;
  std::unique_ptr<benchmark::BenchmarkReporter> reporter_;
};

/// Passes everything on to several reporters. Without any it says nothing: progress and summary are
/// the harness's own.
class Reporters : public benchmark::BenchmarkReporter {
 public:
  void add(benchmark::BenchmarkReporter& reporter) { reporters_.push_back(&reporter); }
  bool ReportContext(const Context& context) override {
    return std::all_of(reporters_.begin(), reporters_.end(),
                       [&](auto* reporter) { return reporter->ReportContext(context); });
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (auto* reporter : reporters_) reporter->ReportRuns(runs);
  }
  void Finalize() override {
    for (auto* reporter : reporters_) reporter->Finalize();
  }

 private:
  std::vector<benchmark::BenchmarkReporter*> reporters_;
};

void write_report(const std::filesystem::path& file, const std::string& text) {
  std::error_code error;
  const auto type = std::filesystem::status(file, error).type();
  if (type == std::filesystem::file_type::regular ||
      type == std::filesystem::file_type::not_found) {
    write_atomically(file, text);
    return;
  }
  // A pipe or a device is written to; nothing takes its place.
  std::ofstream stream(file);
  stream << text << std::flush;
  if (!stream)
    throw std::system_error(errno, std::generic_category(), "cannot write " + file.string());
}

void initialize(std::vector<std::string> arguments) {
  static char program[] = "warpath";  // Google Benchmark keeps the pointer
  std::vector<char*> pointers = {program};
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
}

/// All that matters, so that nothing comes from the environment, which Google Benchmark reads, too.
std::vector<std::string> explicit_flags(const BenchmarkFlags& flags, bool list_tests) {
  std::vector<std::string> all = {
      "--benchmark_filter=" + flags.filter,
      "--benchmark_out=",
      "--benchmark_format=console",
      "--benchmark_repetitions=1",
      "--benchmark_enable_random_interleaving=false",
      std::string("--benchmark_list_tests=") + (list_tests ? "true" : "false")};
  // Once: a context that is given twice is an error.
  if (!list_tests) all.insert(all.end(), flags.passed_on.begin(), flags.passed_on.end());
  return all;
}

void report(benchmark::State& state, const Json& row) {
  const bool timed = row.is_object() && !row.at("time_ms").is_null();
  if (!timed) {
    const std::string why = !row.is_object()          ? "interrupted"
                            : row.contains("error")   ? row.at("error").get<std::string>()
                            : row.contains("skipped") ? row.at("skipped").get<std::string>()
                                                      : "no time";
    state.SkipWithError(why.c_str());
    return;
  }
  while (state.KeepRunning())
    state.SetIterationTime(row.at("time_ms").at("median").get<double>() / 1000);
  for (const char* rate : {"items_per_s", "gb_per_s", "percent_of_peak"}) {
    if (row.at(rate).is_number()) state.counters[rate] = row.at(rate).get<double>();
  }
  for (const auto& [name, value] : row.at("counters").items()) {
    if (value.is_number()) state.counters[name] = value.get<double>();
  }
}

/// The names that the filter leaves: Google Benchmark's own listing is the only way to ask it.
std::vector<std::string> list(const BenchmarkFlags& flags) {
  std::ostringstream names;
  Reporters silent;
  silent.SetOutputStream(&names);
  silent.SetErrorStream(&names);
  initialize(explicit_flags(flags, /*list_tests=*/true));
  benchmark::RunSpecifiedBenchmarks(&silent);
  initialize(explicit_flags(flags, /*list_tests=*/false));
  std::vector<std::string> selected;
  std::istringstream lines(names.str());
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(suffix))
      selected.push_back(line.substr(0, line.size() - std::string(suffix).size()));
  }
  return selected;
}

}  // namespace

BenchmarkFlags read_benchmark_flags(const std::vector<std::string>& flags,
                                    const std::string& command, bool only_names) {
  BenchmarkFlags read;
  std::vector<std::string> known;
  for (const Flag& flag : known_flags) {
    if (flag.of_names || !only_names) known.push_back(flag.name);
  }
  for (const std::string& argument : flags) {
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(2, equals - 2);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UserError("--" + abridged(name) + " has no effect on warpath " + command +
                      suggestion(name, known));
    }
    const Flag& flag = *std::find_if(std::begin(known_flags), std::end(known_flags),
                                     [&](const Flag& each) { return each.name == name; });
    if (flag.needs_value && value.empty()) {
      throw UserError("--" + name + " needs a value: --" + name + "=VALUE");
    }
    if (name == "benchmark_filter") {
      check_filter(value);
      read.filter = value;
    } else if (name == "benchmark_list_tests") {
      read.list_tests = read_switch(name, value);
    } else if (name == "benchmark_format") {
      read.format = read_format(name, value);
    } else if (name == "benchmark_out") {
      check_can_be_written(value);
      read.out = value;
    } else if (name == "benchmark_out_format") {
      read.out_format = read_format(name, value);
    } else {
      if (name == "benchmark_counters_tabular" || (name == "benchmark_color" && value != "auto")) {
        read_switch(name, value);
      }
      if (name == "benchmark_context" && value.find('=') == std::string::npos) {
        throw UserError("--benchmark_context=" + abridged(value) + ": expected KEY=VALUE");
      }
      read.passed_on.push_back(argument);
    }
  }
  return read;
}

Registration::Registration(std::vector<Benchmark> benchmarks, const BenchmarkFlags& flags)
    : flags_(flags) {
  const std::size_t count = benchmarks.size();
  for (Benchmark& each : benchmarks) {
    const auto body = [this, row = std::move(each.row)](benchmark::State& state) {
      // No exception may pass through Google Benchmark: the first one ends the run, and run()
      // throws it.
      Json result;
      try {
        if (!failure_) result = row();
      } catch (...) {
        failure_ = std::current_exception();
      }
      report(state, result);
    };
    benchmark::RegisterBenchmark(each.name.c_str(), body)
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
  selected_ = list(flags);
  if (selected_.empty() && count > 0) {
    benchmark::ClearRegisteredBenchmarks();
    throw UserError("--benchmark_filter=" + abridged(flags.filter) + " leaves none of " +
                    std::to_string(count) + " points; see their names with --benchmark_list_tests");
  }
}

Registration::~Registration() {
  benchmark::ClearRegisteredBenchmarks();
  benchmark::Shutdown();
}

void Registration::run() {
  Reporters reporters;
  std::optional<KeptReport> on_stdout;
  std::optional<KeptReport> in_file;
  if (flags_.owns_stdout()) {
    reporters.add(on_stdout.emplace(*flags_.format));
  } else if (flags_.format) {
    reporters.add(*benchmark::CreateDefaultDisplayReporter());
  }
  if (!flags_.out.empty()) reporters.add(in_file.emplace(flags_.out_format));
  benchmark::RunSpecifiedBenchmarks(&reporters);
  if (failure_) std::rethrow_exception(failure_);
  if (on_stdout) std::fputs(on_stdout->text().c_str(), stdout);
  if (in_file) write_report(flags_.out, in_file->text());
}

std::vector<std::string> filtered(const std::vector<std::string>& names,
                                  const BenchmarkFlags& flags) {
  if (flags.filter.empty()) return names;
  std::vector<Benchmark> benchmarks;
  benchmarks.reserve(names.size());
  for (const std::string& name : names) benchmarks.push_back({name, [] { return Json(); }});
  return Registration(std::move(benchmarks), flags).selected();
}

}  // namespace warpath::harness
