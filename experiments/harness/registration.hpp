// The points as benchmarks of Google Benchmark, so that its flags (--benchmark_filter,
// --benchmark_out, ...) work on them.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/enum_names.hpp"
#include "harness/value.hpp"

namespace warpath::harness {

enum class ReportFormat { console, json, csv };
constexpr auto enum_table(ReportFormat) {
  return std::to_array<EnumName<ReportFormat>>({{ReportFormat::console, "console"},
                                                {ReportFormat::json, "json"},
                                                {ReportFormat::csv, "csv"}});
}

/// The flags of Google Benchmark that mean something here.
struct BenchmarkFlags {
  std::string filter;  ///< of names; empty: all
  bool list_tests = false;
  std::optional<ReportFormat> format;  ///< of a report on stdout; without it there is none
  std::string out;                     ///< file of a report; empty: none
  ReportFormat out_format = ReportFormat::json;
  std::vector<std::string> passed_on;  ///< what only changes how a report looks

  /// Whether stdout holds a report for another program to read; all else goes to stderr then.
  [[nodiscard]] bool owns_stdout() const {
    return format == ReportFormat::json || format == ReportFormat::csv;
  }
};

/// Throws UserError for a flag that is none of them, or has no value that it can have. With
/// `only_names`, only the filter and the listing are: what `command` does has no report.
BenchmarkFlags read_benchmark_flags(const std::vector<std::string>& flags,
                                    const std::string& command, bool only_names);

struct Benchmark {
  std::string name;
  /// The point's row; null if the run was interrupted before it had one.
  std::function<Json()> row;
};

class Registration {
 public:
  /// Throws UserError for a filter that leaves nothing.
  Registration(std::vector<Benchmark> benchmarks, const BenchmarkFlags& flags);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  /// The names that the filter leaves, in the order in which they will run.
  [[nodiscard]] const std::vector<std::string>& selected() const { return selected_; }

  /// Runs the selected benchmarks: each calls its `row` once and reports its median as manual time.
  /// Reports are written at the end, and only those that the flags ask for. Throws what a `row`
  /// threw (none is called after that), and std::system_error for a report that cannot be written.
  void run();

 private:
  BenchmarkFlags flags_;
  std::vector<std::string> selected_;
  std::exception_ptr failure_;
};

/// The names among these that the filter leaves. Throws UserError if it leaves none.
std::vector<std::string> filtered(const std::vector<std::string>& names,
                                  const BenchmarkFlags& flags);

}  // namespace warpath::harness
