// The experiments of map_reduce: inputs, variants, answers and costs.
#include <algorithm>
#include <cmath>
#include <random>

#include "device_compare.cuh"
#include "map_reduce/map_reduce.cuh"
#include "map_reduce/oracle.hpp"
#include "peers/dense_cpu.hpp"
#include "techniques.hpp"

namespace warpath {
namespace {

using namespace experiments;  // NOLINT(google-build-using-namespace)
using harness::Parameters;
using map_reduce::Accuracy;
using map_reduce::Array;
using map_reduce::Options;
using map_reduce::Variant;
using map_reduce::Vector;
namespace oracle = map_reduce::oracle;

Options options_of(const Parameters& point) {
  Options options;
  options.variant = enum_value<Variant>(point.text("variant"), "variant");
  options.block_threads = static_cast<int>(point.integer("block_threads"));
  options.rows_per_thread = static_cast<int>(point.integer("rows_per_thread"));
  options.splits = static_cast<int>(point.integer("splits"));
  return options;
}

template <class T>
std::vector<T> uniform(std::int64_t count, std::uint64_t seed, double low) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) {
    value = static_cast<T>(static_cast<double>(random() >> 40) * 0x1p-24 + low);
  }
  return values;
}

/// Points and signals on the host: x and y in [0, 1), b in [-1/2, 1/2).
template <class T, int D>
struct Points {
  explicit Points(const Parameters& problem)
      : x(uniform<T>(problem.integer("m") * D, seed_of(problem, 1), 0)),
        y(uniform<T>(problem.integer("n") * D, seed_of(problem, 2), 0)),
        b(uniform<T>(problem.integer("n"), seed_of(problem, 3), -0.5)) {}
  /// The same in another type.
  template <class U>
  explicit Points(const Points<U, D>& other)
      : x(other.x.begin(), other.x.end()),
        y(other.y.begin(), other.y.end()),
        b(other.b.begin(), other.b.end()) {}

  static std::uint64_t seed_of(const Parameters& problem, std::uint64_t which) {
    return 4 * static_cast<std::uint64_t>(problem.integer("seed")) + which;
  }

  std::vector<T> x;
  std::vector<T> y;
  std::vector<T> b;
};

/// The same on the device.
template <class T, int D>
struct DevicePoints {
  explicit DevicePoints(const Points<T, D>& points)
      : x(upload(points.x)), y(upload(points.y)), b(upload(points.b)) {}

  [[nodiscard]] auto rows() const { return map_reduce::over_i(map_reduce::vectors<D>(x.span())); }
  [[nodiscard]] auto columns() const {
    return map_reduce::over_j(map_reduce::vectors<D>(y.span()));
  }
  [[nodiscard]] auto columns_with_signal() const {
    return map_reduce::over_j(map_reduce::vectors<D>(y.span()), map_reduce::vectors<1>(b.span()));
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

/// The answer in double precision: by the source's 1D scheme for all rows, and by the oracle for
/// some of them, which must agree.
template <class Formula, class Reduction, class X, class Y>
std::vector<typename Reduction::Result> reference(const Formula& formula,
                                                  const Reduction& reduction, const X& x,
                                                  const Y& y) {
  DeviceBuffer<typename Reduction::Result> out(x.count);
  const map_reduce::Problem<Formula, Reduction, decltype(x.arrays), decltype(y.arrays)> problem{
      formula, reduction, x.arrays, y.arrays, x.count, y.count, out.data()};
  map_reduce::run_gpu_1d(problem, 192, nullptr);
  return download(out.data(), out.count(), nullptr);
}

// ---------------------------------------------------------------- cases: what is computed

/// Gaussian, Laplacian, ... with Sum.
template <class T, int D, template <class, int, int> class Formula_, Accuracy accuracy>
struct SumOf {
  using Number = T;
  static constexpr int dimension = D;
  static constexpr int results = 1;
  using Formula = Formula_<T, D, 1>;
  using Reduction = map_reduce::Sum<T, accuracy>;
  static constexpr double most_error = sizeof(T) == 8                ? 1e-13
                                       : accuracy == Accuracy::plain ? 1e-3
                                                                     : 2e-6;
  static auto columns(const DevicePoints<T, D>& points) { return points.columns_with_signal(); }
  static std::vector<double> answer(const DevicePoints<double, D>& points) {
    return reference(Formula_<double, D, 1>(), map_reduce::Sum<double>(), points.rows(),
                     points.columns_with_signal());
  }
  static double answer_of_row(const Points<double, D>& points, std::int64_t i) {
    std::vector<double> values;
    for (std::size_t j = 0; j < points.b.size(); ++j) {
      const double* x = &points.x[static_cast<std::size_t>(i * D)];
      const double* y = &points.y[j * D];
      const bool is_gaussian = std::is_same_v<Formula, map_reduce::Gaussian<T, D, 1>>;
      values.push_back(points.b[j] * (is_gaussian ? oracle::gaussian(x, y, D, 1.0)
                                                  : oracle::laplacian(x, y, D, 1.0)));
    }
    return oracle::sum(values);
  }
  /// A result, as the number that the answer has for it.
  static std::vector<double> numbers(const std::vector<T>& results_, const Points<double, D>&) {
    return {results_.begin(), results_.end()};
  }
};

template <class T, int D>
struct LogSumExpOf {
  using Number = T;
  static constexpr int dimension = D;
  static constexpr int results = 1;
  using Formula = map_reduce::LogGaussian<T, D>;
  using Reduction = map_reduce::LogSumExp<T>;
  static constexpr double most_error = sizeof(T) == 8 ? 1e-13 : 2e-6;
  static auto columns(const DevicePoints<T, D>& points) { return points.columns(); }
  static std::vector<double> answer(const DevicePoints<double, D>& points) {
    return reference(map_reduce::LogGaussian<double, D>(), map_reduce::LogSumExp<double>(),
                     points.rows(), points.columns());
  }
  static double answer_of_row(const Points<double, D>& points, std::int64_t i) {
    std::vector<double> values;
    for (std::size_t j = 0; j < points.b.size(); ++j) {
      values.push_back(-oracle::squared_distance(&points.x[static_cast<std::size_t>(i * D)],
                                                 &points.y[j * D], D));
    }
    return oracle::log_sum_exp(values);
  }
  static std::vector<double> numbers(const std::vector<T>& results_, const Points<double, D>&) {
    return {results_.begin(), results_.end()};
  }
};

/// The K nearest columns of each row. The answer is their distances: a column is as good as another
/// one that is as near.
template <class T, int D, int K>
struct NearestOf {
  using Number = T;
  static constexpr int dimension = D;
  static constexpr int results = K;
  using Formula = map_reduce::SquaredDistance<T, D>;
  using Reduction = std::conditional_t<K == 1, map_reduce::ArgMin<T>, map_reduce::ArgKMin<T, K>>;
  static constexpr double most_error = 1e-6;
  static auto columns(const DevicePoints<T, D>& points) { return points.columns(); }
  static std::vector<double> answer(const DevicePoints<double, D>& points) {
    const auto least = reference(map_reduce::SquaredDistance<double, D>(),
                                 map_reduce::KMin<double, K>(), points.rows(), points.columns());
    std::vector<double> all;
    for (const auto& of_row : least) all.insert(all.end(), of_row.numbers, of_row.numbers + K);
    return all;
  }
  static double answer_of_row(const Points<double, D>& points, std::int64_t i) {
    std::vector<double> squares;
    for (std::size_t j = 0; j < points.b.size(); ++j) {
      squares.push_back(oracle::squared_distance(&points.x[static_cast<std::size_t>(i * D)],
                                                 &points.y[j * D], D));
    }
    return *std::min_element(squares.begin(), squares.end());
  }
  template <class Result>
  static std::vector<double> numbers(const std::vector<Result>& results_,
                                     const Points<double, D>& points) {
    std::vector<double> squares;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      for (int k = 0; k < K; ++k) {
        const auto* columns = reinterpret_cast<const std::int64_t*>(&results_[i]);
        const bool is_column =
            0 <= columns[k] && columns[k] < static_cast<std::int64_t>(points.b.size());
        squares.push_back(is_column ? oracle::squared_distance(
                                          &points.x[i * D],
                                          &points.y[static_cast<std::size_t>(columns[k]) * D], D)
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
  using Formula = typename Case::Formula;
  using Reduction = typename Case::Reduction;
  using Result = typename Reduction::Result;

  explicit Pairs(const Parameters& problem)
      : points_(problem), exact_(points_), device_(points_), out_(problem.integer("m")) {
    expected_ = Case::answer(DevicePoints<double, D>(exact_));
    check_reference();
  }

  harness::Execution prepare(const Parameters& point) override {
    choices_.clear();
    counters_.clear();
    if (point.text("variant").starts_with("cpu")) return prepare_cpu(point);
    const Options options = options_of(point);
    const auto x = device_.rows();
    const auto y = Case::columns(device_);
    const map_reduce::Plan plan = plan_or_refuse(x, y, options);
    require_room(point, map_reduce::extra_bytes(Formula(), Reduction(), x, y, options));
    is_on_host_ = false;
    if (plan.expected_ns > 0) counters_["expected_ms"] = plan.expected_ns / 1e6;
    if (options.variant == Variant::automatic) {
      choices_["variant"] = enum_name(plan.variant);
      choices_["threads_over"] = plan.is_over_columns ? "columns" : "rows";
      if (plan.rows > 0) {
        choices_[plan.is_over_columns ? "rows_per_block" : "rows_per_thread"] =
            std::to_string(plan.rows);
      }
      choices_["parts"] = std::to_string(plan.parts);
    }
    workspace_ = std::make_shared<Workspace>();
    return [this, x, y, options, workspace = workspace_](cudaStream_t stream) {
      map_reduce::reduce(Formula(), Reduction(), x, y, out_.span(), *workspace, stream, options);
    };
  }

  void poison(cudaStream_t stream) override {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(
        out_.data(), 0xA5, static_cast<std::size_t>(out_.count()) * sizeof(Result), stream));
    std::fill(host_out_.begin(), host_out_.end(), -1e30f);
  }

  std::optional<std::string> mismatch(const Parameters&, cudaStream_t stream) override {
    double error = 0;
    if (is_on_host_) {
      error = oracle::relative_error(host_out_, expected_);
    } else {
      const std::vector<Result> results = download(out_.data(), out_.count(), stream);
      error = oracle::relative_error(Case::numbers(results, exact_), expected_);
      counters_["workspace_bytes"] = static_cast<double>(workspace_->bytes());
    }
    counters_["relative_error"] = error;
    // (A NaN is no small error.)
    if (error <= Case::most_error) return std::nullopt;
    char text[120];
    std::snprintf(text, sizeof text, "the relative error is %.3g: expected at most %.3g", error,
                  Case::most_error);
    return text;
  }

  /// Items are pairs. The bytes are those of inputs and outputs.
  [[nodiscard]] harness::Cost cost() const override {
    const auto m = static_cast<std::int64_t>(out_.count());
    const auto n = static_cast<std::int64_t>(points_.b.size());
    const std::int64_t bytes = (m + n) * D * static_cast<std::int64_t>(sizeof(T)) +
                               n * static_cast<std::int64_t>(sizeof(T)) +
                               m * static_cast<std::int64_t>(sizeof(Result));
    // The ceiling of exponentials is none for formulas that have none.
    if (std::is_same_v<Formula, map_reduce::SquaredDistance<T, D>>) return {m * n, bytes};
    return {m * n, bytes, static_cast<double>(m) * static_cast<double>(n), "ex2"};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override { return counters_; }
  [[nodiscard]] std::map<std::string, std::string> choices() const override { return choices_; }

 private:
  /// A variant that the formula has not, or a K that the device has not, is no failure.
  template <class X, class Y>
  static map_reduce::Plan plan_or_refuse(const X& x, const Y& y, const Options& options) {
    try {
      return map_reduce::plan(Formula(), Reduction(), x, y, options);
    } catch (const std::invalid_argument& error) {
      throw harness::NotHere(error.what());
    }
  }

  void check_reference() const {
    const std::int64_t m = out_.count();
    const auto n = static_cast<std::int64_t>(exact_.b.size());
    const std::int64_t looked_at =
        std::clamp<std::int64_t>((std::int64_t{1} << 24) / n, 3, std::min<std::int64_t>(m, 32));
    for (std::int64_t s = 0; s < std::min(looked_at, m); ++s) {
      const std::int64_t i = s * (m - 1) / std::max<std::int64_t>(1, looked_at - 1);
      const double expected = Case::answer_of_row(exact_, i);
      const double found = expected_[static_cast<std::size_t>(i * Case::results)];
      if (std::abs(found - expected) <= 1e-11 * std::max(1.0, std::abs(expected))) continue;
      throw std::runtime_error("the reference of row " + std::to_string(i) + " is " +
                               std::to_string(found) + ", and the oracle's " +
                               std::to_string(expected));
    }
  }

  void require_room(const Parameters& point, std::int64_t needed) const {
    std::size_t free = 0;
    std::size_t total = 0;
    WARPATH_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    if (static_cast<double>(needed) <= 0.95 * static_cast<double>(free)) return;
    throw harness::NotHere(
        point.text("variant") + " needs " + std::to_string(needed) +
        " bytes for intermediate values, which do not fit: " + std::to_string(free) + " are free");
  }

  harness::Execution prepare_cpu(const Parameters& point) {
    constexpr std::int64_t most_bytes = std::int64_t{2} << 30;
    const bool is_parallel = point.text("variant") == "cpu_openmp";
    const std::int64_t bytes = 4 * out_.count() * static_cast<std::int64_t>(points_.b.size());
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

  Points<T, D> points_;
  Points<double, D> exact_;
  DevicePoints<T, D> device_;
  DeviceBuffer<Result> out_;
  std::vector<double> expected_;  ///< in double precision, Case::results for each row
  std::shared_ptr<Workspace> workspace_;
  bool is_on_host_ = false;  ///< where the last result is
  std::vector<float> host_out_;
  std::vector<float> matrix_;
  std::map<std::string, double> counters_;
  std::map<std::string, std::string> choices_;
};

using harness::Problem;

template <class Case>
std::unique_ptr<Problem> make(const Parameters& problem) {
  return std::make_unique<Pairs<Case>>(problem);
}

template <class T, int D, Accuracy accuracy = Accuracy::block>
using GaussianSum = SumOf<T, D, map_reduce::Gaussian, accuracy>;

std::unique_ptr<Problem> make_gaussian_sum(const Parameters& problem) {
  const std::int64_t d = problem.integer("d");
  const std::string& accuracy = problem.text("accuracy");
  if (problem.text("number") == "float64") {
    if (d == 3 && accuracy == "block") return make<GaussianSum<double, 3>>(problem);
    throw std::invalid_argument("float64: compiled are d 3 and accuracy block");
  }
  if (accuracy != "block") {
    if (d != 3) throw std::invalid_argument("accuracy " + accuracy + ": compiled is d 3");
    if (accuracy == "plain") return make<GaussianSum<float, 3, Accuracy::plain>>(problem);
    return make<GaussianSum<float, 3, Accuracy::kahan>>(problem);
  }
  std::unique_ptr<Problem> made;
  map_reduce::with_dimension<1, 3, 16, 64, 128>(
      static_cast<int>(d), [&]<int D>() { made = make<GaussianSum<float, D>>(problem); });
  return made;
}

std::unique_ptr<Problem> make_problem(const Parameters& problem) {
  const std::string wanted = problem.text("formula") + " with " + problem.text("reduction");
  if (wanted == "gaussian with sum") return make_gaussian_sum(problem);
  const bool is_plain = problem.integer("d") == 3 && problem.text("number") == "float32" &&
                        problem.text("accuracy") == "block";
  if (is_plain && wanted == "log_gaussian with log_sum_exp") {
    return make<LogSumExpOf<float, 3>>(problem);
  }
  if (is_plain && wanted == "squared_distance with argmin") {
    return make<NearestOf<float, 3, 1>>(problem);
  }
  if (is_plain && wanted == "squared_distance with argkmin") {
    return make<NearestOf<float, 3, 10>>(problem);
  }
  if (is_plain && wanted == "laplacian with sum") {
    return make<SumOf<float, 3, map_reduce::Laplacian, Accuracy::block>>(problem);
  }
  throw std::invalid_argument(
      wanted + ", d " + std::to_string(problem.integer("d")) + ", " + problem.text("number") +
      ", accuracy " + problem.text("accuracy") +
      " is not compiled: there are gaussian with sum; and, with d 3, float32 and accuracy block, "
      "laplacian with sum, log_gaussian with log_sum_exp, squared_distance with argmin or argkmin");
}

/// Inputs and answers, in their own type and in double; and room for partial results.
std::int64_t device_bytes(const Parameters& problem) {
  const std::int64_t m = problem.integer("m");
  const std::int64_t n = problem.integer("n");
  const std::int64_t d = problem.integer("d");
  const std::int64_t results = problem.text("reduction") == "argkmin" ? 10 : 1;
  return (m + n) * d * 16 + n * 16 + m * results * 24 + (std::int64_t{64} << 20);
}

}  // namespace

harness::Technique map_reduce_technique() {
  using harness::Role;
  using harness::Runs;
  harness::Technique technique;
  technique.name = "map_reduce";
  technique.summary = "reductions over j of F(x_i, y_j) for every i, without storing the values";
  technique.source = "001_ff6fdd5c239363bd.txt: Map-Reduce schemes";
  technique.parameters = {
      {"m", std::int64_t{10'000}, {}, 1, 1e8, true, "rows i"},
      {"n", std::int64_t{10'000}, {}, 1, 1e8, true, "columns j"},
      {"d", std::int64_t{3}, {}, 1, 128, true, "dimensions of the points: 1, 3, 16, 64 or 128"},
      {"formula",
       std::string("gaussian"),
       {"gaussian", "laplacian", "log_gaussian", "squared_distance"},
       0,
       0,
       true,
       "F: exp(-|x-y|^2) b, exp(-|x-y|) b, -|x-y|^2, |x-y|^2"},
      {"reduction",
       std::string("sum"),
       {"sum", "log_sum_exp", "argmin", "argkmin"},
       0,
       0,
       true,
       "over j; argkmin: the 10 least"},
      {"number", std::string("float32"), {"float32", "float64"}, 0, 0, true, "type of all numbers"},
      {"accuracy", std::string("block"), enum_names<Accuracy>(), 0, 0, true,
       "how sums are added: one by one, tile by tile, with compensation"},
      {"seed", std::int64_t{42}, {}, 0, 9e15, true, "of points and signals"},
      {"block_threads", std::int64_t{192}, {}, 32, 1024, false, "K of gpu_1d and gpu_2d"},
      {"rows_per_thread",
       std::int64_t{0},
       {},
       0,
       8,
       false,
       "of tuned_1d and tuned_2d: 1, 4 or 8; 0: the cost model's choice"},
      {"splits",
       std::int64_t{0},
       {},
       0,
       65535,
       false,
       "parts of the columns, of tuned_2d and tensor; 0: the cost model's choice"},
  };
  technique.variants = {
      {"naive", Role::naive, Runs::anywhere, "tensorized: all m x n values in device memory"},
      {"gpu_1d", Role::technique, Runs::anywhere, "the source: a thread a row, tiles of columns"},
      {"gpu_2d", Role::technique, Runs::anywhere,
       "the source: tiles one by one to the blocks, partial results, a final reduction"},
      {"tuned_1d", Role::technique, Runs::anywhere, "several rows a thread, in registers"},
      {"tuned_2d", Role::technique, Runs::anywhere,
       "the same with the columns in parts; for few rows, threads over the columns"},
      {"tensor", Role::technique, Runs::anywhere, "Gram form on the tensor cores"},
      {"automatic", Role::technique, Runs::anywhere, "what the cost model expects to be fastest"},
      {"cpu", Role::oracle, Runs::host, "tensorized on one CPU core"},
      {"cpu_openmp", Role::oracle, Runs::host, "tensorized on all CPU cores"},
  };
  technique.device_bytes = device_bytes;
  technique.make_problem = make_problem;
  return technique;
}

}  // namespace warpath
