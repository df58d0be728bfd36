// How long the steps of an execution take, by CUDA events or by the host's clock.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/cuda_check.cuh"

namespace warpath::experiments::trees {

/// Milliseconds of each step. Steps of the same name add up.
using StepTimes = std::map<std::string, double>;

/// The steps of one execution on a stream, each ended by an event.
class EventClock {
 public:
  explicit EventClock(cudaStream_t stream) : stream_(stream) { end_step(""); }
  ~EventClock() {
    for (const auto& [step, event] : ends_) cudaEventDestroy(event);
  }
  EventClock(const EventClock&) = delete;
  EventClock& operator=(const EventClock&) = delete;

  void end_step(std::string step) {
    cudaEvent_t event = nullptr;
    WARPATH_CUDA_CHECK(cudaEventCreate(&event));
    ends_.emplace_back(std::move(step), event);
    WARPATH_CUDA_CHECK(cudaEventRecord(event, stream_));
  }
  /// Waits for the last step.
  [[nodiscard]] StepTimes times() const {
    WARPATH_CUDA_CHECK(cudaEventSynchronize(ends_.back().second));
    StepTimes times;
    for (std::size_t i = 1; i < ends_.size(); ++i) {
      float milliseconds = 0;
      WARPATH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, ends_[i - 1].second, ends_[i].second));
      times[ends_[i].first] += static_cast<double>(milliseconds);
    }
    return times;
  }

 private:
  cudaStream_t stream_;
  std::vector<std::pair<std::string, cudaEvent_t>> ends_;
};

/// The steps of one execution on the host.
class HostClock {
 public:
  void end_step(const std::string& step) {
    const Clock::time_point now = Clock::now();
    times_[step] += std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
  }
  [[nodiscard]] const StepTimes& times() const { return times_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
  StepTimes times_;
};

/// The median of each step over several executions.
inline StepTimes medians_of(const std::vector<StepTimes>& executions) {
  std::map<std::string, std::vector<double>> all;
  for (const StepTimes& times : executions) {
    for (const auto& [step, milliseconds] : times) all[step].push_back(milliseconds);
  }
  StepTimes medians;
  for (auto& [step, values] : all) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    medians[step] = *middle;
  }
  return medians;
}

}  // namespace warpath::experiments::trees
