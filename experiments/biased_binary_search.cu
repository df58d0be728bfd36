// The experiments of biased_binary_search: inputs, variants, answers and costs.
#include <random>

#include "biased_binary_search/biased_binary_search.cuh"
#include "biased_binary_search/demonstration.hpp"
#include "device_compare.cuh"
#include "peers/thrust_run_starts.hpp"
#include "techniques.hpp"

namespace warpath {
namespace {

using namespace experiments;  // NOLINT(google-build-using-namespace)
using harness::Parameters;

__global__ void write_runs_kernel(std::int32_t* keys, std::int64_t count, std::int64_t run) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    keys[i] = static_cast<std::int32_t>(i / run);
  }
}

/// Keys in runs of one length: a run begins at the multiple of it.
class RunStarts : public harness::Problem {
 public:
  explicit RunStarts(const Parameters& problem)
      : run_(problem.integer("run_length")),
        keys_(problem.integer("n")),
        starts_(problem.integer("searches")) {
    launch({1024, 256}, write_runs_kernel, keys_.data(), keys_.count(), run_);
    std::mt19937_64 random(static_cast<std::uint64_t>(problem.integer("seed")));
    std::vector<std::int32_t> expected;
    for (std::int64_t i = 0; i < starts_.count(); ++i) {
      const std::int64_t position =
          problem.text("positions") == "end"
              ? keys_.count() - 1
              : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(keys_.count()));
      host_positions_.push_back(static_cast<std::int32_t>(position));
      expected.push_back(static_cast<std::int32_t>(position - position % run_));
    }
    positions_ = upload(host_positions_);
    expected_ = upload(expected);
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  }

  harness::Execution prepare(const Parameters& point) override {
    using biased_binary_search::Options;
    using biased_binary_search::Variant;
    if (point.text("variant") == "thrust") {
      levels_ = -1;
      return thrust_run_starts::lower_bound(keys_.data(), keys_.count(), positions_.data(),
                                            positions_.count(), starts_.data());
    }
    const bool is_plain = point.text("variant") == "plain";
    levels_ = is_plain ? 0 : static_cast<int>(point.integer("levels"));
    const Options options{is_plain ? Variant::plain : Variant::biased, levels_};
    return [this, options](cudaStream_t stream) {
      biased_binary_search::find_run_starts<std::int32_t, std::int32_t>(
          keys_.span(), positions_.span(), starts_.span(), stream, options);
    };
  }

  void poison(cudaStream_t stream) override {
    WARPATH_CUDA_CHECK(
        cudaMemsetAsync(starts_.data(), 0xA5,
                        static_cast<std::size_t>(starts_.count()) * sizeof(std::int32_t), stream));
  }

  std::optional<std::string> mismatch(const Parameters&, cudaStream_t stream) override {
    return difference("starts", starts_.data(), expected_, stream);
  }

  /// Positions in, starts out; the keys that must be read depend on the search.
  [[nodiscard]] harness::Cost cost() const override {
    return {positions_.count(),
            2 * positions_.count() * static_cast<std::int64_t>(sizeof(std::int32_t)), 0, "copy"};
  }

  /// Keys that a search reads beside its own, counted, on average and at most.
  [[nodiscard]] std::map<std::string, double> counters() const override {
    if (levels_ < 0) return {};
    std::int64_t sum = 0;
    std::int64_t most = 0;
    for (const std::int32_t position : host_positions_) {
      const std::int64_t probes =
          biased_binary_search::probes_of(position, position / run_, run_, levels_);
      sum += probes;
      most = std::max(most, probes);
    }
    return {{"probes_per_search",
             static_cast<double>(sum) / static_cast<double>(host_positions_.size())},
            {"most_probes_count", static_cast<double>(most)}};
  }

 private:
  std::int64_t run_;
  int levels_ = 0;  ///< of the variant that was prepared last; -1: not ours
  std::vector<std::int32_t> host_positions_;
  DeviceBuffer<std::int32_t> keys_;
  DeviceBuffer<std::int32_t> positions_;
  DeviceBuffer<std::int32_t> starts_;
  DeviceBuffer<std::int32_t> expected_;
};

}  // namespace

harness::Technique biased_binary_search_technique() {
  using harness::Role;
  using harness::Runs;
  harness::Technique technique;
  technique.name = "biased_binary_search";
  technique.summary = "where runs of equal keys begin, by splits close to where they end";
  technique.source = "003_b91f1e2274df23be.txt: BiasedBinarySearch";
  technique.parameters = {
      {"n", std::int64_t{1} << 20, {}, 1, 2147483647.0, true, "keys"},
      {"run_length", std::int64_t{10}, {}, 1, 2147483647.0, true, "equal keys in each run"},
      {"searches", std::int64_t{1} << 20, {}, 1, 2147483647.0, true, "positions searched for"},
      {"positions",
       std::string("random"),
       {"random", "end"},
       0,
       0,
       true,
       "where they lie: anywhere, or all at the last key"},
      {"seed", std::int64_t{42}, {}, 0, 9e15, true, "of the positions"},
      {"levels", std::int64_t{4}, {}, 1, 4, false, "biased: splits before the halves"},
  };
  technique.variants = {
      {"biased", Role::technique, Runs::anywhere, "the source: biased splits, then halves"},
      {"plain", Role::naive, Runs::anywhere, "halves alone"},
      {"thrust", Role::peer, Runs::gpu, "thrust::lower_bound of each position's key in all keys"},
  };
  technique.device_bytes = [](const Parameters& problem) {
    return 4 * problem.integer("n") + 12 * problem.integer("searches") + (1 << 20);
  };
  technique.make_problem = [](const Parameters& problem) {
    return std::make_unique<RunStarts>(problem);
  };
  technique.demonstration = biased_binary_search::demonstration;
  return technique;
}

}  // namespace warpath
