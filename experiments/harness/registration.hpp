// The points as benchmarks of Google Benchmark, so that its flags (--benchmark_filter,
// --benchmark_out, ...) work on them.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "harness/value.hpp"

namespace warpath::harness {

struct Benchmark {
  std::string name;
  /// The point's row; null if the run was interrupted before it had one.
  std::function<Json()> row;
};

class Registration {
 public:
  /// Registers under the names and parses the flags. Throws UserError for a flag that Google
  /// Benchmark does not know, and for a filter that leaves nothing.
  Registration(std::vector<Benchmark> benchmarks, const std::vector<std::string>& flags);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  /// The names that --benchmark_filter leaves, in the order in which they will run.
  [[nodiscard]] const std::vector<std::string>& selected() const { return selected_; }

  /// Runs the selected benchmarks: each calls its `row` once and reports its median as manual time.
  /// Reports on stdout only if the flags ask for a format. Throws what a `row` threw; none is
  /// called after that.
  void run();

  /// True if --benchmark_list_tests asked for the names only.
  [[nodiscard]] bool list_only() const { return list_only_; }

 private:
  std::vector<std::string> selected_;
  bool list_only_ = false;
  bool reports_ = false;
  std::exception_ptr failure_;
};

}  // namespace warpath::harness
