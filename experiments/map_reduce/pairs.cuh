// One problem of map_reduce's experiments: inputs, the cases with their expected values and
// tolerances, and what runs and checks a variant. Cases are compiled in several source files.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device_compare.cuh"
#include "harness/technique.hpp"
#include "map_reduce/ceiling.hpp"
#include "map_reduce/map_reduce.cuh"
#include "map_reduce/oracle.hpp"
#include "map_reduce/points.hpp"
#include "peers/dense_cpu.hpp"

namespace warpath::experiments::pairs {

using harness::Parameters;
using map_reduce::Accuracy;
using map_reduce::Options;
using map_reduce::Variant;
namespace oracle = map_reduce::oracle;

inline Options options_of(const Parameters& point) {
  Options options;
  options.variant = harness::named<Variant>(point, "variant");
  options.block_threads = static_cast<int>(point.integer("block_threads"));
  options.rows_per_thread = static_cast<int>(point.integer("rows_per_thread"));
  options.splits = static_cast<int>(point.integer("splits"));
  return options;
}

/// Points and signals of E numbers on the host: x and y in [0, extent), b in [-1/2, 1/2). If M x N
/// is more than the oracle computes (different_rows), the rows repeat the first `different` points
/// again and again. So every row of every result is compared with the oracle, however large the
/// problem: a single wrong tile is found wherever it is.
template <class T, int D, int E>
struct Points {
  explicit Points(const Parameters& problem)
      : different(different_rows(problem.integer("m"), problem.integer("n"), D, E)),
        x(coordinates(problem, different * D, 1)),
        y(coordinates(problem, problem.integer("n") * D, 2)),
        b(uniform<T>(problem.integer("n") * E, seed_of(problem, 3), -0.5)) {
    repeat(x, problem.integer("m") * D);
  }

  static std::vector<T> coordinates(const Parameters& problem, std::int64_t count,
                                    std::uint64_t which) {
    return uniform<T>(count, seed_of(problem, which), 0, problem.integer("extent"),
                      problem.integer("averaged"));
  }
  static std::uint64_t seed_of(const Parameters& problem, std::uint64_t which) {
    return 4 * static_cast<std::uint64_t>(problem.integer("seed")) + which;
  }
  /// For the oracle: each different row once, and number e of all signals.
  [[nodiscard]] oracle::Inputs exact(int e = 0) const {
    std::vector<double> signals;
    for (std::size_t k = static_cast<std::size_t>(e); k < b.size(); k += E) signals.push_back(b[k]);
    return {D, {x.begin(), x.begin() + different * D}, {y.begin(), y.end()}, std::move(signals)};
  }

  std::int64_t different;
  std::vector<T> x;
  std::vector<T> y;
  std::vector<T> b;
};

/// The same on the device.
template <class T, int D, int E>
struct DevicePoints {
  explicit DevicePoints(const Points<T, D, E>& points)
      : x(upload(points.x)), y(upload(points.y)), b(upload(points.b)) {}

  [[nodiscard]] auto rows() const { return map_reduce::over_i(map_reduce::vectors<D>(x.span())); }
  [[nodiscard]] auto columns() const {
    return map_reduce::over_j(map_reduce::vectors<D>(y.span()));
  }
  [[nodiscard]] auto columns_with_signal() const {
    return map_reduce::over_j(map_reduce::vectors<D>(y.span()), map_reduce::vectors<E>(b.span()));
  }

  DeviceBuffer<T> x;
  DeviceBuffer<T> y;
  DeviceBuffer<T> b;
};

template <class T>
std::vector<T> download(const T* data, std::int64_t count, cudaStream_t stream) {
  std::vector<T> values(static_cast<std::size_t>(count));
  WARPATH_CUDA_CHECK(cudaMemcpyAsync(values.data(), data, values.size() * sizeof(T),
                                     cudaMemcpyDeviceToHost, stream));
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  return values;
}

// ---------------------------------------------------------------- cases: what is computed

/// Gaussian or Laplacian with Sum.
template <class T, int D, template <class, int, int> class Formula_, Accuracy accuracy, int E = 1>
struct SumOf {
  using Number = T;
  using Value = map_reduce::ValueOf<T, E>;
  static constexpr int dimension = D;
  static constexpr int signal = E;
  using Formula = Formula_<T, D, E>;
  using Reduction = map_reduce::Sum<Value, accuracy>;
  static constexpr bool is_gaussian = std::is_same_v<Formula, map_reduce::Gaussian<T, D, E>>;
  /// Signals have both signs, so that the sum of a row may be near 0.
  static constexpr oracle::Tolerance tolerance =
      sizeof(T) == 8                ? oracle::Tolerance{1e-13, 1e-12, oracle::Scale::all_rows}
      : accuracy == Accuracy::plain ? oracle::Tolerance{5e-4, 2e-3, oracle::Scale::all_rows}
                                    : oracle::Tolerance{2e-6, 1.6e-5, oracle::Scale::all_rows};
  static auto columns(const DevicePoints<T, D, E>& points) { return points.columns_with_signal(); }
  static std::vector<double> expected(const Points<T, D, E>& points) {
    const auto formula = is_gaussian ? oracle::Formula::gaussian : oracle::Formula::laplacian;
    std::vector<double> all(static_cast<std::size_t>(points.different) * E);
    for (int e = 0; e < E; ++e) {
      const std::vector<double> of_e = oracle::sums(formula, points.exact(e));
      for (std::size_t i = 0; i < of_e.size(); ++i)
        all[i * E + static_cast<std::size_t>(e)] = of_e[i];
    }
    return all;
  }
  /// Results as the numbers that the oracle has for them.
  static std::vector<double> numbers(const std::vector<Value>& results, const Points<T, D, E>&) {
    std::vector<T> all(results.size() * E);
    std::memcpy(all.data(), results.data(), all.size() * sizeof(T));
    return {all.begin(), all.end()};
  }
};

template <class T, int D>
struct LogSumExpOf {
  using Number = T;
  static constexpr int dimension = D;
  static constexpr int signal = 1;
  using Formula = map_reduce::LogGaussian<T, D>;
  using Reduction = map_reduce::LogSumExp<T>;
  /// The difference of two logarithms is the relative difference of the sums.
  static constexpr oracle::Tolerance tolerance = {2e-6, 1e-5, oracle::Scale::one};
  static auto columns(const DevicePoints<T, D, 1>& points) { return points.columns(); }
  static std::vector<double> expected(const Points<T, D, 1>& points) {
    return oracle::log_sums(oracle::Formula::log_gaussian, points.exact());
  }
  static std::vector<double> numbers(const std::vector<T>& results, const Points<T, D, 1>&) {
    return {results.begin(), results.end()};
  }
};

/// The K nearest columns of each row. The answer is their distances: a column is as good as another
/// one that is as near.
template <class T, int D, int K>
struct NearestOf {
  using Number = T;
  static constexpr int dimension = D;
  static constexpr int signal = 1;
  using Formula = map_reduce::SquaredDistance<T, D>;
  using Reduction = std::conditional_t<K == 1, map_reduce::ArgMin<T>, map_reduce::ArgKMin<T, K>>;
  static constexpr oracle::Tolerance tolerance = {1e-6, 1e-6, oracle::Scale::itself};
  static auto columns(const DevicePoints<T, D, 1>& points) { return points.columns(); }
  static std::vector<double> expected(const Points<T, D, 1>& points) {
    return oracle::least(oracle::Formula::squared_distance, points.exact(), K);
  }
  template <class Result>
  static std::vector<double> numbers(const std::vector<Result>& results,
                                     const Points<T, D, 1>& points) {
    static_assert(sizeof(Result) == K * sizeof(std::int64_t));
    std::vector<double> squares;
    squares.reserve(results.size() * K);
    for (std::size_t i = 0; i < results.size(); ++i) {
      std::int64_t columns[K];
      std::memcpy(columns, &results[i], sizeof columns);
      for (const std::int64_t j : columns) {
        const bool is_column = 0 <= j && j < static_cast<std::int64_t>(points.b.size());
        squares.push_back(is_column
                              ? oracle::squared_distance(
                                    &points.x[i * D], &points.y[static_cast<std::size_t>(j) * D], D)
                              : INFINITY);
      }
    }
    return squares;
  }
};

// ---------------------------------------------------------------- the problem

template <class Case>
class Pairs : public harness::Problem {
 public:
  using T = typename Case::Number;
  static constexpr int D = Case::dimension;
  static constexpr int E = Case::signal;
  using Formula = typename Case::Formula;
  using Reduction = typename Case::Reduction;
  using Result = typename Reduction::Result;

  explicit Pairs(const Parameters& problem)
      : points_(problem),
        device_(points_),
        out_(problem.integer("m")),
        expected_(Case::expected(points_)) {
    // Those of the different rows, again and again.
    const auto rows = static_cast<std::size_t>(points_.different);
    const std::size_t all = expected_.size() / rows * static_cast<std::size_t>(out_.count());
    expected_.reserve(all);
    for (std::size_t k = 0; expected_.size() < all; ++k) expected_.push_back(expected_[k]);
  }

  harness::Execution prepare(const Parameters& point) override {
    choices_.clear();
    counters_.clear();
    if (point.text("variant").starts_with("cpu")) return prepare_cpu(point);
    const Options options = options_of(point);
    const auto x = device_.rows();
    const auto y = Case::columns(device_);
    const map_reduce::Plan plan = plan_or_refuse(x, y, options);
    require_room(point, plan.extra_bytes);
    is_on_host_ = false;
    count_memory(plan.extra_bytes);
    variant_ = plan.variant;
    if (plan.expected_ns > 0) counters_["expected_ms"] = plan.expected_ns / 1e6;
    if (options.variant == Variant::automatic) {
      choices_["variant"] = enum_name(plan.variant);
      choices_["threads_over"] = plan.is_over_columns ? "columns" : "rows";
      if (plan.takes_warpgroups) choices_["products_of"] = "warpgroups";
      choices_["rows_per_block"] = std::to_string(plan.block_rows);
      choices_["parts"] = std::to_string(plan.parts);
    }
    workspace_ = std::make_shared<Workspace>();
    return [this, x, y, plan, workspace = workspace_](cudaStream_t stream) {
      map_reduce::reduce(Formula(), Reduction(), x, y, out_.span(), *workspace, stream, plan);
    };
  }

  void poison(cudaStream_t stream) override {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(
        out_.data(), 0xA5, static_cast<std::size_t>(out_.count()) * sizeof(Result), stream));
    std::fill(host_out_.begin(), host_out_.end(), -1e30f);
  }

  std::optional<std::string> mismatch(const Parameters&, cudaStream_t stream) override {
    std::vector<double> found(host_out_.begin(), host_out_.end());
    if (!is_on_host_) {
      found = Case::numbers(download(out_.data(), out_.count(), stream), points_);
      counters_["workspace_bytes"] = static_cast<double>(workspace_->bytes());
    }
    counters_["relative_error"] = oracle::relative_error(found, expected_);
    counters_["worst_error"] = oracle::worst_of(found, expected_, Case::tolerance.scale).error;
    counters_["checked_rows"] = static_cast<double>(out_.count());
    counters_["oracle_rows"] = static_cast<double>(points_.different);
    return oracle::mismatch(found, expected_, Case::tolerance);
  }

  /// Items are pairs. The bytes are those of inputs and outputs.
  [[nodiscard]] harness::Cost cost() const override {
    const auto m = static_cast<std::int64_t>(out_.count());
    const auto n = columns();
    const std::int64_t bytes = (m + n) * D * static_cast<std::int64_t>(sizeof(T)) +
                               n * E * static_cast<std::int64_t>(sizeof(T)) +
                               m * static_cast<std::int64_t>(sizeof(Result));
    if (std::is_same_v<Formula, map_reduce::SquaredDistance<T, D>>) return {m * n, bytes};
    return {m * n, bytes, static_cast<double>(m) * static_cast<double>(n),
            ceiling_of_exponentials(variant_, sizeof(T) == 4)};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override { return counters_; }
  [[nodiscard]] std::map<std::string, std::string> choices() const override { return choices_; }

 private:
  [[nodiscard]] std::int64_t columns() const {
    return static_cast<std::int64_t>(points_.y.size()) / D;
  }

  /// A variant that the formula has not, or a K that the device has not, is no failure.
  template <class X, class Y>
  static map_reduce::Plan plan_or_refuse(const X& x, const Y& y, const Options& options) {
    try {
      return map_reduce::plan(Formula(), Reduction(), x, y, options);
    } catch (const std::invalid_argument& error) {
      throw harness::NotHere(error.what());
    }
  }

  /// All memory, for each row and column; and how often a value goes between a thread and device
  /// memory, for each pair: what is kept there is written once and read once.
  void count_memory(std::int64_t extra_bytes) {
    const auto m = static_cast<double>(out_.count());
    const auto n = static_cast<double>(columns());
    const auto extra = static_cast<double>(extra_bytes);
    counters_["memory_bytes_per_point"] = (static_cast<double>(cost().bytes_min) + extra) / (m + n);
    counters_["value_transfers_per_pair"] = 2 * extra / sizeof(T) / (m * n);
  }

  void require_room(const Parameters& point, std::int64_t needed) const {
    std::size_t free = 0;
    std::size_t total = 0;
    WARPATH_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    if (static_cast<double>(needed) <= 0.95 * static_cast<double>(free)) return;
    throw harness::NoRoom(point.text("variant") + " needs " + std::to_string(needed) +
                          " bytes for intermediate values, and " + std::to_string(free) +
                          " are free");
  }

  harness::Execution prepare_cpu(const Parameters& point) {
    constexpr std::int64_t most_bytes = std::int64_t{2} << 30;
    const bool is_parallel = point.text("variant") == "cpu_openmp";
    const std::int64_t bytes = 4 * out_.count() * columns();
    if constexpr (!std::is_same_v<Formula, map_reduce::Gaussian<float, D, 1>>) {
      throw harness::NotHere("the tensorized CPU baseline has float Gaussian sums only");
    } else {
      if (bytes > most_bytes) {
        throw harness::NotHere("the matrix of all pairs has " + std::to_string(bytes) +
                               " bytes, and the CPU baseline takes at most " +
                               std::to_string(most_bytes));
      }
      if (is_parallel && !dense_cpu::has_openmp()) {
        throw harness::NotHere("the program was built without OpenMP");
      }
      is_on_host_ = true;
      host_out_.resize(static_cast<std::size_t>(out_.count()));
      matrix_.resize(static_cast<std::size_t>(bytes / 4));
      return [this, is_parallel](cudaStream_t) {
        is_on_host_ = true;
        const dense_cpu::Pairs pairs{points_.x, points_.y, points_.b, D, matrix_, host_out_};
        const int threads = dense_cpu::gaussian_sums(pairs, is_parallel);
        counters_["cpu_threads"] = threads;
      };
    }
  }

  Points<T, D, E> points_;
  DevicePoints<T, D, E> device_;
  DeviceBuffer<Result> out_;
  std::vector<double> expected_;  ///< by the oracle, as many for each row as results
  std::shared_ptr<Workspace> workspace_;
  Variant variant_ = Variant::naive;  ///< of the last plan: what automatic chose
  bool is_on_host_ = false;           ///< where the last result is
  std::vector<float> host_out_;
  std::vector<float> matrix_;
  std::map<std::string, double> counters_;
  std::map<std::string, std::string> choices_;
};

template <class Case>
std::unique_ptr<harness::Problem> make(const Parameters& problem) {
  return std::make_unique<Pairs<Case>>(problem);
}

template <class T, int D, Accuracy accuracy = Accuracy::block, int E = 1>
using GaussianSum = SumOf<T, D, map_reduce::Gaussian, accuracy, E>;

}  // namespace warpath::experiments::pairs
