// The experiments of load_balancing_search: inputs, variants, answers and costs.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>

#include "device_compare.cuh"
#include "harness/device.hpp"
#include "load_balancing_search/balance.cuh"
#include "load_balancing_search/demonstration.cuh"
#include "load_balancing_search/intervals.hpp"
#include "load_balancing_search/load_balancing_search.cuh"
#include "load_balancing_search/oracle.hpp"
#include "peers/thrust_search.hpp"
#include "scratch.cuh"
#include "techniques.hpp"

namespace warpath {
namespace {

using namespace experiments;  // NOLINT(google-build-using-namespace)
using harness::Parameters;
namespace oracle = load_balancing_search::oracle;

std::int64_t objects_of(const Parameters& problem) {
  const std::int64_t objects = problem.integer("objects");
  if (objects > 0) return objects;
  const double wanted = static_cast<double>(problem.integer("n")) / problem.real("average");
  return std::max<std::int64_t>(1, std::llround(wanted));
}

/// How many work items each object wants, in proportion.
std::vector<double> shares(const Parameters& problem, std::int64_t objects) {
  const std::string& distribution = problem.text("distribution");
  const double average = static_cast<double>(problem.integer("n")) / static_cast<double>(objects);
  std::mt19937_64 random(static_cast<std::uint64_t>(problem.integer("seed")));
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> shares(static_cast<std::size_t>(objects), average);
  if (distribution == "random") {
    for (double& share : shares) share = std::floor(uniform(random) * (2 * average + 1));
  } else if (distribution == "power_law") {
    for (double& share : shares) share = std::pow(1 - uniform(random), -1 / 1.5) - 1;
  } else if (distribution == "one_big") {
    shares[shares.size() / 2] = average * static_cast<double>(objects);
  } else if (distribution == "mostly_empty") {
    for (double& share : shares) share = uniform(random) < 0.01 ? uniform(random) : 0;
    shares.back() = 1;  // at least one object has items
  }
  return shares;
}

/// The counts that the source prints, if `distribution` is one of its figures; else empty.
std::vector<std::int32_t> printed_counts(const std::string& distribution) {
  if (distribution == "worked_example") return load_balancing_search::worked_example_counts();
  if (distribution == "demonstration") return load_balancing_search::demonstration_counts();
  return {};
}

std::vector<std::int32_t> make_printed_counts(const Parameters& problem) {
  std::vector<std::int32_t> counts = printed_counts(problem.text("distribution"));
  const auto items = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const auto objects = static_cast<std::int64_t>(counts.size());
  if (items != problem.integer("n") || objects != problem.integer("objects")) {
    throw std::invalid_argument("distribution " + problem.text("distribution") + ": n must be " +
                                std::to_string(items) + ", and objects " + std::to_string(objects));
  }
  return counts;
}

/// n work items in such proportions: each object's part ends where the sum of all shares up to it,
/// scaled, is rounded down.
std::vector<std::int32_t> make_counts(const Parameters& problem) {
  if (!printed_counts(problem.text("distribution")).empty()) return make_printed_counts(problem);
  const std::int64_t n = problem.integer("n");
  const std::vector<double> wanted = shares(problem, objects_of(problem));
  const double sum = std::accumulate(wanted.begin(), wanted.end(), 0.0);
  std::vector<std::int32_t> counts;
  counts.reserve(wanted.size());
  double through = 0;
  std::int64_t end = 0;
  for (const double share : wanted) {
    through += share;
    const auto next =
        std::min(n, static_cast<std::int64_t>(std::floor(through / sum * static_cast<double>(n))));
    counts.push_back(static_cast<std::int32_t>(next - end));
    end = next;
  }
  counts.back() += static_cast<std::int32_t>(n - end);
  return counts;
}

class Search : public harness::Problem {
 public:
  explicit Search(const Parameters& problem)
      : items_(problem.integer("n")),
        is_worked_example_(problem.text("distribution") == "worked_example"),
        counts_(make_counts(problem)),
        out_(items_) {
    host_scan_ = oracle::exclusive_scan(counts_);
    expected_ = oracle::objects<std::int32_t>(counts_);
    scan_ = upload(host_scan_);
    device_expected_ = upload(expected_);
  }

  harness::Execution prepare(const Parameters& point) override {
    using load_balancing_search::Options;
    using load_balancing_search::Variant;
    const std::string& variant = point.text("variant");
    scratch_ = {};
    if constexpr (!harness::emulated) {
      if (variant == "thrust_upper_bound") {
        return thrust_search::upper_bound(scan_.data(), scan_.count(), items_, out_.data());
      }
      if (variant == "thrust_scatter_scan") {
        return thrust_search::scatter_scan(scan_.data(), scan_.count(), items_, out_.data(),
                                           scratch_.peer);
      }
    }
    if (variant == "serial") {
      host_out_.resize(static_cast<std::size_t>(items_));
      return [this](cudaStream_t) { run_on_host(); };
    }
    const auto ours = enum_names<Variant>();
    if (std::find(ours.begin(), ours.end(), variant) == ours.end()) {
      throw harness::NotHere(variant + " does not search");
    }
    const Options options{harness::named<Variant>(point, "variant"),
                          static_cast<int>(point.integer("items_per_thread"))};
    return [this, options](cudaStream_t stream) {
      load_balancing_search::load_balancing_search(items_, scan_.span(), out_.span(),
                                                   *scratch_.workspace, stream, options);
    };
  }

  void poison(cudaStream_t stream) override {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(
        out_.data(), 0xA5, static_cast<std::size_t>(items_) * sizeof(std::int32_t), stream));
    std::fill(host_out_.begin(), host_out_.end(), -1);
  }

  std::optional<std::string> mismatch(const Parameters& point, cudaStream_t stream) override {
    balance_.clear();
    if (point.text("variant") != "serial") {
      auto wrong = difference("objects", out_.data(), device_expected_, stream);
      if (!wrong && point.text("variant") == "merge_path") {
        count_balance(static_cast<int>(point.integer("items_per_thread")), stream);
      }
      return wrong;
    }
    if (host_out_ == expected_) return std::nullopt;
    return "the objects differ from the oracle's";
  }

  /// As published: items and objects count.
  [[nodiscard]] harness::Cost cost() const override {
    const std::int64_t steps = items_ + scan_.count();
    return {steps, steps * static_cast<std::int64_t>(sizeof(std::int32_t)), 0, "copy"};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    std::map<std::string, double> counters = balance_;
    counters["work_items_count"] =
        static_cast<double>(std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}));
    counters["objects_count"] = static_cast<double>(scan_.count());
    counters["workspace_bytes"] = static_cast<double>(scratch_.bytes());
    return counters;
  }

 private:
  /// Of merge_path's tiles and threads. The worked example fills no tile: it has the source's four.
  void count_balance(int items_per_thread, cudaStream_t stream) {
    const int tile_steps = is_worked_example_
                               ? static_cast<int>(divide_up(items_ + scan_.count(), 4))
                               : load_balancing_search::merge_path_threads * items_per_thread;
    const auto balance = [&](int part_steps) {
      return balance_of(DeviceSpan<const std::int32_t>{scan_.data(), scan_.count()},
                        DeviceSpan<const std::int32_t>{out_.data(), items_}, part_steps, stream);
    };
    const Balance tiles = balance(tile_steps);
    balance_["tiles_count"] = static_cast<double>(tiles.parts);
    balance_["uneven_tiles_count"] = static_cast<double>(tiles.uneven);
    balance_["last_tile_steps"] = static_cast<double>(tiles.last_steps);
    balance_["uneven_threads_count"] = static_cast<double>(balance(items_per_thread).uneven);
  }

  /// The source's CPULoadBalanceSearch: a walk along the merge path.
  void run_on_host() {
    std::size_t item = 0;
    for (std::size_t object = 0; object < host_scan_.size(); ++object) {
      const std::size_t end = object + 1 < host_scan_.size()
                                  ? static_cast<std::size_t>(host_scan_[object + 1])
                                  : host_out_.size();
      for (; item < end; ++item) host_out_[item] = static_cast<std::int32_t>(object);
    }
  }

  std::int64_t items_;
  bool is_worked_example_;
  std::vector<std::int32_t> counts_;
  std::vector<std::int32_t> host_scan_;
  std::vector<std::int32_t> expected_;
  std::vector<std::int32_t> host_out_;
  DeviceBuffer<std::int32_t> scan_;
  DeviceBuffer<std::int32_t> device_expected_;
  DeviceBuffer<std::int32_t> out_;
  Scratch scratch_;
  std::map<std::string, double> balance_;  ///< counters of the answer that was checked last
};

/// The scan, the result, what is expected, the temporary storage of the variants, and the steps of
/// each thread, which has at least three.
std::int64_t device_bytes(const Parameters& problem) {
  const std::int64_t n = problem.integer("n");
  const std::int64_t objects = objects_of(problem);
  if (problem.text("operation") != "search") return intervals_device_bytes(problem, objects);
  return 4 * objects + 8 * n + (n + objects) / 16 + 4 * (n + objects) / 3 + (1 << 20);
}

std::unique_ptr<harness::Problem> make_one(const Parameters& problem) {
  if (problem.text("operation") == "search") return std::make_unique<Search>(problem);
  return make_intervals(problem, make_counts(problem));
}

}  // namespace

harness::Technique load_balancing_search_technique() {
  using namespace harness;  // NOLINT(google-build-using-namespace)
  using load_balancing_search::Options;
  using load_balancing_search::Variant;  // not the harness's
  return {
      .name = "load_balancing_search",
      .summary = "which object generated a work item, by merge path over the scan of counts",
      .source = "S. Baxter, Modern GPU 1.1, NVIDIA Research 2013: Load-Balancing Search",
      .parameters =
          {count_parameter("n", 1 << 20, "work items"),
           integer_parameter("objects", 0, 0, 2147483647, "objects; 0: n / average of them"),
           real_parameter("average", 4, 0.01, 1e9, "work items an object, if `objects` is 0"),
           choice_parameter("distribution",
                            {"random", "uniform", "power_law", "one_big", "mostly_empty",
                             "worked_example", "demonstration"},
                            "of the counts: 0 to twice the average; all equal; few with most; one "
                            "with half of all; one in a hundred not empty; the source's figures, "
                            "n 79 and objects 40, or 125 and 50"),
           choice_parameter("operation", {"search", "interval_expand", "interval_move"},
                            "each work item's object, its value, or the element that it moves"),
           integer_parameter("element_bytes", 4, 1, 16,
                             "interval operations: bytes of an element: 1, 4, 8, 12 or 16"),
           choice_parameter("order", {"packed", "gathered"},
                            "interval_move: intervals lie one after the other in the order of the "
                            "objects; those in the input in another order"),
           seed_parameter("of the counts"),
           of_variants(
               integer_parameter("items_per_thread", Options{}.items_per_thread, 3, 23,
                                 "merge_path: steps of the path a thread: 3, 7, 11, 15 or 23"))},
      .variants = variants_of<Variant>(
          {{Variant::merge_path, Role::technique,
            "the source: tiles by merge path, a serial loop in each thread"},
           {Variant::upper_bound, Role::naive, "a binary search for each work item"},
           {Variant::output_aligned, Role::technique,
            "merge-path tiles; heads, a maximum scan, 16-byte stores"}},
          {{"thrust_upper_bound", Role::peer, Runs::gpu, "thrust::upper_bound of the work items"},
           {"thrust_scatter_scan", Role::peer, Runs::gpu, "thrust::scatter_if and a maximum scan"},
           {"interval_expand", Role::technique, Runs::anywhere,
            "the search's kernel stores values; elements that are no access by copies"},
           {"interval_move", Role::technique, Runs::anywhere,
            "copies, with where they begin beside their heads in shared memory"},
           {"for_each_work_item", Role::technique, Runs::anywhere,
            "the same by a body for each work item: merge_path's tiles"},
           {"search_alone", Role::technique, Runs::anywhere,
            "output_aligned alone, which stores no value: the bound of interval_expand"},
           {"search_then_gather", Role::peer, Runs::gpu, "output_aligned, then thrust::gather"},
           {"cub_batched_copy", Role::peer, Runs::gpu, "cub::DeviceCopy::Batched"},
           {"cub_batched_memcpy", Role::peer, Runs::gpu, "cub::DeviceMemcpy::Batched"},
           {"serial", Role::oracle, Runs::host,
            "the source's serial loop, on one thread of the CPU"}}),
      .device_bytes = device_bytes,
      .make_problem = make_one,
      .demonstration = load_balancing_search::demonstration};
}

}  // namespace warpath
