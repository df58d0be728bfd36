// For tests: points that lie on several devices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "../device_vectors.cuh"
#include "../ordinals.cuh"
#include "core/devices.cuh"
#include "kd_tree/oracle.hpp"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree::test {

using oracle::PointSet;

/// Points in parts, one a device: of about equal sizes, or of any. They are still on their way
/// there, in the devices' streams.
template <class C>
class PartsOfPoints {
 public:
  PartsOfPoints(const Devices& devices, const PointSet<C>& points, bool is_even) {
    const auto n = static_cast<std::int64_t>(points.count());
    std::mt19937 random(7);
    std::vector<std::int64_t> ends;
    for (int i = 1; i < devices.count(); ++i) {
      ends.push_back(is_even ? n * i / devices.count()
                             : static_cast<std::int64_t>(random() % (n + 1)));
    }
    std::sort(ends.begin(), ends.end());
    ends.push_back(n);
    std::int64_t begin = 0;
    devices.for_each([&](int i, cudaStream_t stream) {
      const std::int64_t end = ends[static_cast<std::size_t>(i)];
      const auto first = points.coordinates.begin() + begin * points.dimensions;
      buffers_.emplace_back(std::vector<C>(first, first + (end - begin) * points.dimensions),
                            stream);
      parts.push_back({{buffers_.back().data(), buffers_.back().count()}, points.dimensions});
      begin = end;
    });
  }
  std::vector<Points<C>> parts;

 private:
  std::deque<Arriving<C>> buffers_;
};

}  // namespace warpath::kd_tree::test
