// The experiments of biased_binary_search: inputs, variants, answers and costs.
#include <algorithm>
#include <random>

#include "array_problem.cuh"
#include "biased_binary_search/biased_binary_search.cuh"
#include "biased_binary_search/demonstration.hpp"
#include "harness/device.hpp"
#include "peers/thrust_run_starts.hpp"
#include "techniques.hpp"

namespace warpath {
namespace {

using namespace experiments;  // NOLINT(google-build-using-namespace)
using biased_binary_search::Options;
using biased_binary_search::Variant;
using harness::Parameters;

/// The key at each place of runs of one length.
struct KeyOfRun {
  std::int64_t run;
  __device__ std::int32_t operator()(std::int64_t i) const {
    return static_cast<std::int32_t>(i / run);
  }
};

/// Keys in runs of one length: a run begins at the multiple of it.
class RunStarts : public ArrayProblem<std::int32_t> {
 public:
  explicit RunStarts(const Parameters& problem)
      : ArrayProblem("starts", problem.integer("searches")),
        run_(problem.integer("run_length")),
        is_at_end_(problem.text("positions") == "end"),
        keys_(problem.integer("n")) {
    fill(keys_, KeyOfRun{run_});
    std::mt19937_64 random(static_cast<std::uint64_t>(problem.integer("seed")));
    std::vector<std::int32_t> expected;
    for (std::int64_t i = 0; i < problem.integer("searches"); ++i) {
      const auto n = static_cast<std::uint64_t>(keys_.count());
      const auto position = static_cast<std::int64_t>(is_at_end_ ? n - 1 : random() % n);
      host_positions_.push_back(static_cast<std::int32_t>(position));
      expected.push_back(static_cast<std::int32_t>(position - position % run_));
    }
    positions_ = upload(host_positions_);
    expect(expected);
  }

  harness::Execution prepare(const Parameters& point) override {
    if constexpr (!harness::emulated) {
      if (point.text("variant") == "thrust") {
        levels_ = -1;
        return thrust_run_starts(keys_.data(), keys_.count(), positions_.data(), positions_.count(),
                                 result_.data());
      }
    }
    Options options{harness::named<Variant>(point, "variant"),
                    static_cast<int>(point.integer("levels"))};
    levels_ = options.variant == Variant::plain ? 0 : options.levels;
    return [this, options](cudaStream_t stream) {
      biased_binary_search::find_run_starts(keys_.span(), positions_.span(), result_.span(), stream,
                                            options);
    };
  }

  /// Positions in, starts out; the keys that must be read depend on the search.
  [[nodiscard]] harness::Cost cost() const override {
    return {.items = positions_.count(), .bytes_min = 8 * positions_.count()};
  }

  /// Keys that a search reads beside its own, counted, on average and at most, and how many fewer
  /// than by halves alone. Where all searches are the same, what its first two splits save, too.
  [[nodiscard]] std::map<std::string, double> counters() const override {
    if (levels_ < 0) return {};
    std::int64_t sum = 0;
    std::int64_t most = 0;
    std::int64_t saved = 0;
    for (const std::int32_t position : host_positions_) {
      const std::int64_t key = position / run_;
      const std::int64_t probes = biased_binary_search::probes_of(position, key, run_, levels_);
      sum += probes;
      most = std::max(most, probes);
      saved += biased_binary_search::probes_of(position, key, run_, 0) - probes;
    }
    const auto searches = static_cast<double>(host_positions_.size());
    std::map<std::string, double> counters = {
        {"probes_per_search", static_cast<double>(sum) / searches},
        {"most_probes_count", static_cast<double>(most)},
        {"saved_probes_per_search", static_cast<double>(saved) / searches}};
    if (is_at_end_) add_splits(counters);
    return counters;
  }

 private:
  void add_splits(std::map<std::string, double>& counters) const {
    const std::int64_t position = host_positions_.front();
    counters["halving_levels_count"] = biased_binary_search::levels_of(position);
    const auto splits =
        biased_binary_search::biased_splits(position, position / run_, run_, levels_);
    for (std::size_t i = 0; i < std::min<std::size_t>(2, splits.size()); ++i) {
      const std::string name = i == 0 ? "first_split" : "second_split";
      counters[name + "_reach_keys"] = static_cast<double>(splits[i].reach);
      counters[name + "_saved_levels"] = splits[i].levels_saved;
    }
  }

  std::int64_t run_;
  bool is_at_end_;
  int levels_ = 0;  ///< of the variant that was prepared last; -1: not ours
  std::vector<std::int32_t> host_positions_;
  DeviceBuffer<std::int32_t> keys_;
  DeviceBuffer<std::int32_t> positions_;
};

}  // namespace

harness::Technique biased_binary_search_technique() {
  using namespace harness;              // NOLINT(google-build-using-namespace)
  using biased_binary_search::Variant;  // not the harness's
  return {
      .name = "biased_binary_search",
      .summary = "where runs of equal keys begin, by splits close to where they end",
      .source = "S. Baxter, Modern GPU 1.1, Multisets, NVIDIA Research 2013: BiasedBinarySearch",
      .parameters = {count_parameter("n", 1 << 20, "keys"),
                     count_parameter("run_length", 10, "equal keys in each run"),
                     count_parameter("searches", 1 << 20, "positions searched for"),
                     choice_parameter("positions", {"random", "end"},
                                      "where they lie: anywhere, or all at the last key"),
                     seed_parameter("of the positions"),
                     of_variants(
                         integer_parameter("levels", 4, 1, 4, "biased: splits before the halves"))},
      .variants = variants_of<Variant>(
          {{Variant::biased, Role::technique, "the source: biased splits, then halves"},
           {Variant::plain, Role::naive, "halves alone"}},
          {{"thrust", Role::peer, Runs::gpu,
            "thrust::lower_bound of each position's key in all keys"}}),
      .device_bytes =
          [](const Parameters& problem) {
            return 4 * problem.integer("n") + 12 * problem.integer("searches") + (1 << 20);
          },
      .make_problem = harness::make_problem<RunStarts>,
      .demonstration = biased_binary_search::demonstration};
}

}  // namespace warpath
