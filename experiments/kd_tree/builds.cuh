// What problems.hpp declares of builds.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/device.hpp"
#include "kd_tree/build.cuh"
#include "kd_tree/host_trees.hpp"
#include "kd_tree/problems.hpp"
#include "kd_tree/step_times.hpp"
#include "kd_tree/trees.cuh"
#include "kd_tree/verify.cuh"

namespace warpath::experiments::trees {

/// A build of tuples on the device; or `from_host`, all that the source's table has: tuples copied
/// there, the tree built, its nodes filled in, and verified.
template <class C>
class Builds : public Trees<C> {
 public:
  explicit Builds(const harness::Parameters& problem)
      : Trees<C>(problem),
        is_from_host_(problem.text("operation") == "from_host"),
        medians_(kd_tree::median_entries(this->n())) {
    if (is_from_host_) nodes_ = DeviceBuffer<kd_tree::Node>(this->n());
  }

  harness::Execution prepare(const harness::Parameters& point) override {
    const std::string& variant = point.text("variant");
    is_on_host_ = variant == "cpu";
    if (is_on_host_) {
      host_options_.threads = static_cast<int>(point.integer("threads"));
      host_options_.removes_duplicates = this->removes_duplicates_;
      return [this, options = host_options_](cudaStream_t) { build_on_host(options); };
    }
    if (variant.starts_with("verify_") || variant.starts_with("ask_")) {
      throw harness::NotHere("builds no tree");
    }
    options_.variant = harness::named<kd_tree::Variant>(point, "variant");
    options_.removes_duplicates = this->removes_duplicates_;
    memory_ = std::make_unique<kd_tree::BuildMemory>();
    return [this, options = options_](cudaStream_t stream) { build(options, stream, nullptr); };
  }

  void poison(cudaStream_t stream) override {
    poison_buffer(medians_, stream);
    poison_buffer(nodes_, stream);
    if (is_from_host_ && !is_on_host_) poison_buffer(this->points_, stream);
    host_build_ = {};
    count_ = -1;
    finding_.reset();
  }

  std::optional<std::string> mismatch(const harness::Parameters&, cudaStream_t stream) override {
    counters_ = {{"nodes", static_cast<double>(this->tree_.nodes())}};
    const std::int64_t count = is_on_host_ ? host_build_.nodes : count_;
    if (count != this->tree_.nodes()) {
      return std::to_string(count) + " nodes, expected " + std::to_string(this->tree_.nodes());
    }
    if (is_from_host_ && !finding_) return "nothing was verified";
    if (is_from_host_ && !finding_->is_right()) return kd_tree::describe(*finding_);
    if (is_on_host_) {
      if (host_build_.medians != this->tree_.entries()) return "a median is wrong";
    } else {
      auto wrong = difference("medians", medians_.data(), this->expected_medians_, stream);
      if (wrong) return wrong;
      count_memory(stream);
    }
    if (is_from_host_) time_steps(stream);
    return std::nullopt;
  }

  /// Reads each tuple once, and writes its entry.
  [[nodiscard]] harness::Cost cost() const override {
    return {this->n(), this->point_bytes() + 4 * this->n(), 0, "copy"};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override { return counters_; }

 private:
  /// clock: what takes the time of each step; or null.
  void build(kd_tree::Options options, cudaStream_t stream, EventClock* clock) {
    const auto end_step = [clock](const std::string& step) {
      if (clock != nullptr) clock->end_step(step);
    };
    if (clock != nullptr) {
      options.after_step = [&](kd_tree::Step step, int number) { end_step(text_of(step, number)); };
    }
    if (is_from_host_) {
      WARPATH_CUDA_CHECK(cudaMemcpyAsync(this->points_.data(), this->host_points_.data(),
                                         static_cast<std::size_t>(this->point_bytes()),
                                         cudaMemcpyHostToDevice, stream));
      end_step("init");
    }
    count_ = kd_tree::build(this->points(), medians_.span(), *memory_, stream, options);
    if (!is_from_host_) return;
    kd_tree::fill_nodes(medians_.span(), count_, nodes_.span(), stream);
    end_step("nodes");
    std::uint32_t root = kd_tree::no_node;
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(&root, medians_.data(), sizeof root, cudaMemcpyDeviceToHost, stream));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    finding_ = kd_tree::verify(this->points(), nodes_.span(), root, count_, verifying_, stream);
    end_step("verify");
  }

  StepTimes build_on_host(kd_tree::HostOptions options) {
    HostClock clock;
    options.after_step = [&](kd_tree::Step step, int number) {
      clock.end_step(text_of(step, number));
    };
    const std::span<const C> coordinates(this->host_points_);
    host_build_ = trees::build_on_host(coordinates, this->d_, options);
    if (!is_from_host_) return {};
    const std::vector<kd_tree::Node> nodes = nodes_on_host();
    clock.end_step("nodes");
    finding_ =
        trees::verify_on_host(coordinates, this->d_, std::span<const kd_tree::Node>(nodes),
                              host_build_.medians.front(), host_build_.nodes, options.threads);
    clock.end_step("verify");
    return clock.times();
  }
  [[nodiscard]] std::vector<kd_tree::Node> nodes_on_host() const {
    const std::vector<std::uint32_t>& medians = host_build_.medians;
    std::vector<kd_tree::Node> nodes(static_cast<std::size_t>(this->n()));
    const auto at = [&](std::size_t entry) {
      return entry < medians.size() ? medians[entry] : kd_tree::no_node;
    };
    in_parts(static_cast<std::int64_t>(medians.size()), [&](std::int64_t first, std::int64_t last) {
      for (auto entry = static_cast<std::size_t>(first); entry < static_cast<std::size_t>(last);
           ++entry) {
        const std::uint32_t tuple = medians[entry];
        if (tuple != kd_tree::no_node) nodes[tuple] = {tuple, at(2 * entry + 1), at(2 * entry + 2)};
      }
    });
    return nodes;
  }

  /// A step's name, of levels with two digits, so that they are in order.
  static std::string text_of(kd_tree::Step step, int number) {
    const std::string digits = (number < 10 ? "0" : "") + std::to_string(number);
    return std::string(enum_name(step)) + "_" + digits;
  }
  /// Each step's time, and those of the source's table.
  void time_steps(cudaStream_t stream) {
    std::vector<StepTimes> executions;
    const bool has_a_clock = !harness::emulated || is_on_host_;
    const int several = is_on_host_ ? 3 : 9;
    for (int i = 0; i < (has_a_clock ? several : 1); ++i) {
      if (is_on_host_) {
        executions.push_back(build_on_host(host_options_));
        continue;
      }
      EventClock clock(stream);
      build(options_, stream, &clock);
      executions.push_back(clock.times());
    }
    if (!has_a_clock) return;
    for (StepTimes& times : executions) {
      StepTimes columns;
      for (const auto& [step, milliseconds] : times) {
        const bool is_own_column = step == "init" || step == "verify";
        if (!is_own_column) columns[is_of_sort(step) ? "sort_and_remove" : "kd"] += milliseconds;
        columns["total"] += milliseconds;
      }
      times.merge(columns);
    }
    for (const auto& [step, milliseconds] : medians_of(executions)) {
      counters_[step + "_ms"] = milliseconds;
    }
  }
  static bool is_of_sort(const std::string& step) {
    return step.starts_with("sort_") || step.starts_with("remove_duplicates_");
  }

  /// The most that a first build allocates, by the driver's own count.
  void count_memory(cudaStream_t stream) {
    int device = 0;
    cudaMemPool_t pool = nullptr;
    std::uint64_t before = 0;
    std::uint64_t most = 0;
    memory_ = std::make_unique<kd_tree::BuildMemory>();
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    WARPATH_CUDA_CHECK(cudaGetDevice(&device));
    WARPATH_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
    WARPATH_CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
    WARPATH_CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &before));
    build(options_, stream, nullptr);
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    WARPATH_CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
    const double bytes = static_cast<double>(most - before);
    counters_["allocated_bytes"] = bytes;
    counters_["allocated_per_tuple_bytes"] = bytes / static_cast<double>(this->n());
    counters_["allocated_over_points"] = bytes / static_cast<double>(this->point_bytes());
  }

  bool is_from_host_;
  bool is_on_host_ = false;  ///< of the variant that was prepared last
  kd_tree::Options options_;
  kd_tree::HostOptions host_options_;
  DeviceBuffer<std::uint32_t> medians_;
  DeviceBuffer<kd_tree::Node> nodes_;
  std::int64_t count_ = 0;
  std::optional<kd_tree::Finding> finding_;
  kd_tree::HostTree host_build_;
  std::unique_ptr<kd_tree::BuildMemory> memory_;
  Workspace verifying_;
  std::map<std::string, double> counters_;
};

template <class C>
std::unique_ptr<harness::Problem> make_builds(const harness::Parameters& problem) {
  return std::make_unique<Builds<C>>(problem);
}

}  // namespace warpath::experiments::trees
