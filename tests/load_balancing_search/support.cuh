// What the tests of load-balancing search share: all ways to search.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "../device_vectors.cuh"
#include "../guarded.cuh"
#include "../stream.cuh"
#include "core/buffer.cuh"
#include "counts.hpp"
#include "load_balancing_search/load_balancing_search.cuh"
#include "load_balancing_search/oracle.hpp"

namespace warpath::load_balancing_search::test {

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
  Guarded<Index> out(items, out_offset);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
  load_balancing_search(items, scan.span(), out.span(), workspace, stream, way.options);
  const std::vector<Index> found = out.get();
  const auto wrong = std::mismatch(expected.begin(), expected.end(), found.begin());
  if (wrong.first == expected.end()) return;
  ADD_FAILURE() << way.name << ", " << counts.size() << " objects, " << items
                << " work items, output offset " << out_offset << ": work item "
                << wrong.first - expected.begin() << " has object " << *wrong.second
                << ", expected " << *wrong.first;
}

}  // namespace warpath::load_balancing_search::test
