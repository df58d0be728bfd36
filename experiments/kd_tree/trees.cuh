// What all experiments of kd_tree are given: tuples, and their tree on the host.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "device_compare.cuh"
#include "harness/technique.hpp"
#include "kd_tree/host_tree.hpp"
#include "kd_tree/inputs.hpp"
#include "kd_tree/tree.cuh"

namespace warpath::experiments::trees {

template <class T>
void poison_buffer(DeviceBuffer<T>& buffer, cudaStream_t stream) {
  if (buffer.count() == 0) return;
  WARPATH_CUDA_CHECK(cudaMemsetAsync(buffer.data(), 0xA5,
                                     static_cast<std::size_t>(buffer.count()) * sizeof(T), stream));
}

template <class C>
class Trees : public harness::Problem {
 public:
  explicit Trees(const harness::Parameters& problem)
      : d_(static_cast<int>(problem.integer("d"))),
        removes_duplicates_(problem.on("removes_duplicates")),
        host_points_(points_of(problem)),
        tree_(host_points_, d_, removes_duplicates_),
        points_(upload(host_points_)),
        expected_medians_(upload(tree_.entries())) {}

 protected:
  [[nodiscard]] std::int64_t n() const { return points_.count() / d_; }
  [[nodiscard]] kd_tree::Points<C> points() const { return {points_.span(), d_}; }
  [[nodiscard]] std::int64_t point_bytes() const {
    return points_.count() * static_cast<std::int64_t>(sizeof(C));
  }

  int d_;
  bool removes_duplicates_;
  std::vector<C> host_points_;
  HostTree<C> tree_;
  DeviceBuffer<C> points_;
  DeviceBuffer<std::uint32_t> expected_medians_;

 private:
  static std::vector<C> points_of(const harness::Parameters& problem) {
    const auto d = static_cast<int>(problem.integer("d"));
    const std::int64_t seed = problem.integer("seed");
    std::vector<C> points =
        make_points<C>(problem.integer("n"), d, problem.text("distribution"), seed);
    duplicate(points, d, problem.real("duplicates"), seed);
    return points;
  }
};

}  // namespace warpath::experiments::trees
