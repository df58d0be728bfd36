// The source's demonstration of load-balancing search (S. Baxter, "Modern GPU 1.1", NVIDIA Research
// 2013, https://moderngpu.github.io/ , "Load-Balancing Search", DemoLBS): 50 objects with 125 work
// items. `warpath demo load_balancing_search` prints it.
#pragma once

#include <array>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "core/buffer.cuh"
#include "core/print_array.hpp"
#include "load_balancing_search/load_balancing_search.cuh"

namespace warpath::load_balancing_search {

/// The counts that the source has drawn.
inline std::vector<int> demonstration_counts() {
  return {0, 3, 5, 2, 1, 3, 1, 5, 4, 5, 2, 5, 4, 0, 2, 3, 1, 4, 0, 5, 4, 3, 2, 4, 2,
          4, 3, 3, 0, 3, 1, 4, 4, 4, 4, 2, 0, 3, 0, 5, 0, 0, 0, 0, 2, 2, 3, 0, 4, 4};
}

/// The 40 objects with 79 work items of the source's worked example.
inline std::vector<int> worked_example_counts() {
  return {1, 2, 4, 0, 4, 4, 3, 3, 2, 4, 0, 0, 1, 2, 1, 1, 0, 2, 2, 1,
          1, 4, 2, 3, 2, 2, 1, 1, 3, 0, 2, 1, 1, 3, 4, 2, 2, 4, 0, 4};
}

/// The scan of demonstration_counts(), as the source prints it.
inline std::vector<int> demonstration_scan() {
  return {0,  0,   3,   8,   10,  11,  14,  15,  20,  24,  29,  31,  36,  40,  40,  42, 45,
          46, 50,  50,  55,  59,  62,  64,  68,  70,  74,  77,  80,  80,  83,  84,  88, 92,
          96, 100, 102, 102, 105, 105, 110, 110, 110, 110, 110, 112, 114, 117, 117, 121};
}

/// What the demonstration prints, in the source's layout: the references come from the kernel.
inline std::string demonstration() {
  const std::vector<int> counts = demonstration_counts();
  std::vector<int> scan(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), scan.begin(), 0);
  std::vector<int> references(static_cast<std::size_t>(scan.back() + counts.back()));

  const auto items = static_cast<std::int64_t>(references.size());
  DeviceBuffer<int> device_scan(static_cast<std::int64_t>(scan.size()));
  DeviceBuffer<int> device_references(items);
  Workspace workspace;
  WARPATH_CUDA_CHECK(cudaMemcpy(device_scan.data(), scan.data(), scan.size() * sizeof(int),
                                cudaMemcpyHostToDevice));
  load_balancing_search(items, device_scan.span(), device_references.span(), workspace, nullptr);
  WARPATH_CUDA_CHECK(cudaMemcpy(references.data(), device_references.data(),
                                references.size() * sizeof(int), cudaMemcpyDeviceToHost));

  std::array<char, 32> total{};
  std::snprintf(total.data(), total.size(), "Total: %4d\n", static_cast<int>(items));
  return "\n\nLOAD-BALANCING SEARCH DEMONSTRATION:\n\nObject counts\n" + print_array(counts, 4) +
         "\nScan of object counts:\n" + print_array(scan, 4) + total.data() +
         "\nObject references:\n" + print_array(references, 4);
}

}  // namespace warpath::load_balancing_search
