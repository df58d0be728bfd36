#include "harness/registration.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/error.hpp"

namespace warpath::harness {
namespace {

/// What Google Benchmark adds to the name of a benchmark with manual time and one iteration.
constexpr const char* suffix = "/iterations:1/manual_time";

/// Says nothing: progress and summary are the harness's own.
class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

void initialize(std::vector<std::string> arguments) {
  static char program[] = "warpath";  // Google Benchmark keeps the pointer
  std::vector<char*> pointers = {program};
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (count > 1) throw UserError(std::string("Google Benchmark knows no flag ") + pointers[1]);
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
std::vector<std::string> list() {
  std::ostringstream names;
  Silent reporter;
  reporter.SetOutputStream(&names);
  reporter.SetErrorStream(&names);
  initialize({"--benchmark_list_tests=true"});
  benchmark::RunSpecifiedBenchmarks(&reporter);
  initialize({"--benchmark_list_tests=false"});
  std::vector<std::string> selected;
  std::istringstream lines(names.str());
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(suffix))
      selected.push_back(line.substr(0, line.size() - std::string(suffix).size()));
  }
  return selected;
}

}  // namespace

Registration::Registration(std::vector<Benchmark> benchmarks,
                           const std::vector<std::string>& flags) {
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
  std::vector<std::string> kept;
  for (const std::string& flag : flags) {
    const bool lists = flag.starts_with("--benchmark_list_tests");
    list_only_ = list_only_ || (lists && !flag.ends_with("=false") && !flag.ends_with("=0"));
    reports_ = reports_ || flag.starts_with("--benchmark_format");
    if (!lists) kept.push_back(flag);
  }
  initialize(kept);
  selected_ = list();
  if (selected_.empty() && count > 0) {
    throw UserError("--benchmark_filter=" + benchmark::GetBenchmarkFilter() + " leaves none of " +
                    std::to_string(count) + " points; see their names with --benchmark_list_tests");
  }
}

Registration::~Registration() {
  benchmark::ClearRegisteredBenchmarks();
  benchmark::Shutdown();
}

void Registration::run() {
  Silent silent;
  if (reports_) {
    benchmark::RunSpecifiedBenchmarks();
  } else {
    benchmark::RunSpecifiedBenchmarks(&silent);
  }
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace warpath::harness
