// Builds on several devices: tuples that lie on them in equal parts, and one tree, in the memory of
// the first one.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/devices.cuh"
#include "kd_tree/build_on_devices.cuh"
#include "kd_tree/problems.hpp"
#include "kd_tree/trees.cuh"
#include "several_devices.cuh"

namespace warpath::experiments::trees {
namespace {

template <class C>
class BuildsOnDevices : public Trees<C> {
 public:
  BuildsOnDevices(const harness::Parameters& problem, const std::vector<int>& ordinals)
      : Trees<C>(problem), devices_(ordinals), medians_(kd_tree::median_entries(this->n())) {
    devices_.for_each([&](int i, cudaStream_t) {
      const std::int64_t begin = this->n() * i / devices_.count() * this->d_;
      const std::int64_t end = this->n() * (i + 1) / devices_.count() * this->d_;
      own_.push_back(upload(
          std::vector<C>(this->host_points_.begin() + begin, this->host_points_.begin() + end)));
      parts_.push_back({own_.back().span(), this->d_});
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    });
  }

  harness::Execution prepare(const harness::Parameters& point) override {
    const std::string& variant = point.text("variant");
    if (variant == "half_sorts") {
      throw harness::NotHere("is on several devices what four_partitioners is");
    }
    if (variant != "four_partitioners" && variant != "fast") {
      throw harness::NotHere("builds no tree on several devices");
    }
    if (!devices_.all_have_access()) {
      throw harness::NotHere("needs GPUs that access each other's memory");
    }
    kd_tree::DevicesOptions options;
    options.build.variant = harness::named<kd_tree::Variant>(point, "variant");
    options.build.removes_duplicates = this->removes_duplicates_;
    options.sort = harness::named<multi_gpu_sort::Variant>(point, "sort");
    memory_ = std::make_unique<kd_tree::DevicesMemory>();
    return [this, options](cudaStream_t stream) {
      devices_.follow(stream);
      count_ = kd_tree::build_on_devices<C>(devices_, parts_, medians_.span(), *memory_, options);
      devices_.lead(stream);
    };
  }

  void poison(cudaStream_t stream) override {
    poison_buffer(medians_, stream);
    count_ = -1;
  }

  std::optional<std::string> mismatch(const harness::Parameters&, cudaStream_t stream) override {
    if (count_ != this->tree_.nodes()) {
      return std::to_string(count_) + " nodes, expected " + std::to_string(this->tree_.nodes());
    }
    return difference("medians", medians_.data(), this->expected_medians_, stream);
  }

  /// Reads each tuple once, and writes its entry.
  [[nodiscard]] harness::Cost cost() const override {
    return {this->n(), this->point_bytes() + 4 * this->n()};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    std::int64_t most = 0;
    for (int i = 0; i < devices_.count(); ++i) most = std::max(most, memory_->bytes(i));
    return {{"nodes", static_cast<double>(count_)},
            {"workspace_of_a_device_bytes", static_cast<double>(most)},
            {"workspace_over_points_of_a_device", static_cast<double>(most * devices_.count()) /
                                                      static_cast<double>(this->point_bytes())}};
  }

 private:
  Devices devices_;
  std::vector<DeviceBuffer<C>> own_;
  std::vector<kd_tree::Points<C>> parts_;
  DeviceBuffer<std::uint32_t> medians_;
  std::int64_t count_ = 0;
  std::unique_ptr<kd_tree::DevicesMemory> memory_;
};

}  // namespace

std::unique_ptr<harness::Problem> make_builds_on_devices(const harness::Parameters& problem) {
  const std::vector<int> ordinals = ordinals_of(problem);  // before a tree is built on the host
  if (problem.text("type") == "int32") {
    return std::make_unique<BuildsOnDevices<std::int32_t>>(problem, ordinals);
  }
  return std::make_unique<BuildsOnDevices<float>>(problem, ordinals);
}

}  // namespace warpath::experiments::trees
