// What the tests of load-balancing search share: memory that is watched, and all ways to search.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "../device_vectors.cuh"
#include "../stream.cuh"
#include "core/buffer.cuh"
#include "counts.hpp"
#include "load_balancing_search/load_balancing_search.cuh"
#include "load_balancing_search/oracle.hpp"

namespace warpath::load_balancing_search::test {

/// An output of `count` elements that begins `offset` elements behind a 256-byte boundary, poisoned
/// and with a guard zone on each side.
template <class T>
class WatchedOutput {
 public:
  explicit WatchedOutput(std::int64_t count, int offset = 0)
      : count_(count), offset_(offset), memory_(2 * guard + offset + count) {
    WARPATH_CUDA_CHECK(cudaMemset(memory_.data(), poison, bytes()));
  }
  [[nodiscard]] DeviceSpan<T> span() { return {memory_.data() + guard + offset_, count_}; }

  /// The elements, once all work is done. A guard zone that was written fails the test.
  std::vector<T> get() const {
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<T> all(static_cast<std::size_t>(memory_.count()));
    WARPATH_CUDA_CHECK(cudaMemcpy(all.data(), memory_.data(), bytes(), cudaMemcpyDeviceToHost));
    T untouched;
    std::memset(&untouched, poison, sizeof untouched);
    for (std::int64_t i = 0; i < memory_.count(); ++i) {
      const bool is_guard = i < guard + offset_ || i >= guard + offset_ + count_;
      if (is_guard && all[static_cast<std::size_t>(i)] != untouched) {
        ADD_FAILURE() << "a guard zone was written, at element " << i - guard - offset_;
      }
    }
    return {all.begin() + guard + offset_, all.begin() + guard + offset_ + count_};
  }

 private:
  static constexpr int guard = 256;
  static constexpr int poison = 0xA5;
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(memory_.count()) * sizeof(T);
  }

  std::int64_t count_;
  int offset_;
  DeviceBuffer<T> memory_;
};

struct Way {
  const char* name;
  Options options;
};
inline constexpr std::array ways = {Way{"merge_path", {Variant::merge_path, 11}},
                                    Way{"merge_path, 3", {Variant::merge_path, 3}},
                                    Way{"merge_path, 23", {Variant::merge_path, 23}},
                                    Way{"upper_bound", {Variant::upper_bound, 11}},
                                    Way{"output_aligned", {Variant::output_aligned, 11}}};

/// Searches in one way, and compares all of the output with the oracle's.
template <class Index, class Offset>
void expect_objects(const Way& way, const std::vector<Offset>& counts, int out_offset,
                    Workspace& workspace, cudaStream_t stream) {
  const std::vector<Index> expected = oracle::objects<Index>(counts);
  const auto items = static_cast<std::int64_t>(expected.size());
  const DeviceBuffer<Offset> scan = on_device(oracle::exclusive_scan(counts));
  WatchedOutput<Index> out(items, out_offset);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
  load_balancing_search<Offset, Index>(items, scan.span(), out.span(), workspace, stream,
                                       way.options);
  const std::vector<Index> found = out.get();
  const auto wrong = std::mismatch(expected.begin(), expected.end(), found.begin());
  if (wrong.first == expected.end()) return;
  ADD_FAILURE() << way.name << ", " << counts.size() << " objects, " << items
                << " work items, output offset " << out_offset << ": work item "
                << wrong.first - expected.begin() << " has object " << *wrong.second
                << ", expected " << *wrong.first;
}

}  // namespace warpath::load_balancing_search::test
