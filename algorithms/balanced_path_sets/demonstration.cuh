// The two demonstrations of the source (S. Baxter, "Modern GPU 1.1", NVIDIA Research 2013,
// https://moderngpu.github.io/ , "Multisets", DemoSets and DemoSetsPairs): 100 keys in A and 100 in
// B, their intersection and their symmetric difference, and then the same with values, which are
// the keys' indices. `warpath demo balanced_path_sets` prints them.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "balanced_path_sets/balanced_path_sets.cuh"
#include "core/buffer.cuh"
#include "core/print_array.hpp"

namespace warpath::balanced_path_sets {

/// Sorted inputs that the source has drawn.
struct DemonstrationInputs {
  std::vector<int> a;
  std::vector<int> b;
};

inline DemonstrationInputs demonstration_of_keys() {
  return {{1,  1,  3,  5,  7,  7,  8,  9,  10, 10, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16,
           17, 18, 19, 20, 21, 21, 25, 25, 28, 29, 29, 29, 31, 31, 31, 31, 32, 33, 33, 35,
           36, 38, 39, 40, 40, 42, 44, 45, 46, 47, 47, 51, 51, 53, 53, 53, 55, 55, 56, 57,
           58, 59, 59, 59, 60, 61, 62, 62, 63, 63, 64, 68, 68, 70, 70, 72, 73, 73, 75, 78,
           79, 82, 82, 83, 84, 85, 85, 85, 86, 87, 89, 91, 91, 91, 92, 95, 97, 98, 98, 98},
          {1,  2,  2,  3,  5,  6,  6,  9,  9,  10, 10, 10, 11, 12, 12, 12, 13, 13, 15, 16,
           16, 17, 17, 18, 21, 21, 22, 24, 25, 25, 29, 29, 31, 32, 32, 32, 33, 35, 35, 37,
           39, 39, 40, 41, 41, 42, 42, 44, 45, 46, 46, 47, 48, 49, 50, 50, 51, 52, 52, 53,
           54, 54, 54, 55, 56, 57, 59, 60, 65, 65, 66, 66, 66, 67, 68, 68, 70, 72, 74, 74,
           74, 74, 74, 75, 76, 76, 80, 82, 89, 89, 90, 92, 92, 93, 93, 95, 95, 96, 97, 98}};
}

inline DemonstrationInputs demonstration_of_pairs() {
  return {{0,  1,  1,  2,  3,  6,  6,  8,  11, 11, 14, 17, 18, 18, 20, 22, 22, 22, 24, 25,
           26, 27, 27, 31, 31, 31, 32, 33, 33, 34, 35, 35, 37, 37, 38, 39, 39, 40, 41, 41,
           42, 43, 44, 44, 44, 47, 50, 52, 56, 56, 57, 57, 57, 60, 62, 63, 63, 63, 64, 64,
           64, 65, 66, 67, 67, 68, 71, 72, 73, 75, 76, 76, 77, 78, 79, 81, 81, 82, 84, 85,
           85, 86, 86, 88, 89, 90, 91, 91, 91, 92, 92, 92, 93, 95, 95, 95, 98, 99, 99, 99},
          {0,  1,  2,  2,  4,  4,  4,  4,  5,  6,  6,  8,  8,  10, 10, 12, 13, 14, 18, 21,
           21, 22, 22, 22, 24, 26, 26, 27, 28, 28, 30, 32, 33, 34, 35, 38, 38, 38, 39, 40,
           40, 41, 41, 42, 43, 44, 45, 45, 48, 51, 53, 53, 53, 53, 54, 55, 57, 61, 61, 61,
           62, 62, 64, 64, 66, 66, 67, 68, 70, 70, 72, 74, 76, 78, 78, 79, 80, 80, 80, 80,
           81, 81, 87, 88, 88, 89, 91, 91, 92, 93, 93, 93, 94, 96, 97, 98, 98, 98, 98, 99}};
}

struct DemonstrationOutputs {
  std::vector<int> keys;
  std::vector<int> indices;
};

/// The operation, on the device; indices count A's keys and then B's.
template <SetOperation operation>
DemonstrationOutputs demonstrate(const DemonstrationInputs& inputs) {
  const auto a_count = static_cast<std::int64_t>(inputs.a.size());
  const auto b_count = static_cast<std::int64_t>(inputs.b.size());
  std::vector<int> keys = inputs.a;
  keys.insert(keys.end(), inputs.b.begin(), inputs.b.end());
  std::vector<int> indices(keys.size());
  std::iota(indices.begin(), indices.end(), 0);
  DeviceBuffer<int> device_keys(a_count + b_count);
  DeviceBuffer<int> device_indices(a_count + b_count);
  DeviceBuffer<int> out_keys(a_count + b_count);
  DeviceBuffer<int> out_indices(a_count + b_count);
  WARPATH_CUDA_CHECK(cudaMemcpy(device_keys.data(), keys.data(), keys.size() * sizeof(int),
                                cudaMemcpyHostToDevice));
  WARPATH_CUDA_CHECK(cudaMemcpy(device_indices.data(), indices.data(), indices.size() * sizeof(int),
                                cudaMemcpyHostToDevice));
  DeviceCount count;
  Workspace workspace;
  set_operation_by_key<operation>({device_keys.data(), a_count}, {device_indices.data(), a_count},
                                  {device_keys.data() + a_count, b_count},
                                  {device_indices.data() + a_count, b_count}, out_keys.span(),
                                  out_indices.span(), count, workspace, nullptr);
  const auto outputs = static_cast<std::size_t>(count.get(nullptr));
  DemonstrationOutputs out{std::vector<int>(outputs), std::vector<int>(outputs)};
  WARPATH_CUDA_CHECK(
      cudaMemcpy(out.keys.data(), out_keys.data(), outputs * sizeof(int), cudaMemcpyDeviceToHost));
  WARPATH_CUDA_CHECK(cudaMemcpy(out.indices.data(), out_indices.data(), outputs * sizeof(int),
                                cudaMemcpyDeviceToHost));
  return out;
}

/// What both print, in the source's layout: the results come from the kernels.
inline std::string demonstration() {
  const auto print = [](const std::vector<int>& numbers) { return print_array(numbers, 5); };
  const auto print_inputs = [&](const DemonstrationInputs& inputs) {
    return "A:\n" + print(inputs.a) + "\nB:\n\n" + print(inputs.b);
  };
  const DemonstrationInputs keys = demonstration_of_keys();
  const DemonstrationInputs pairs = demonstration_of_pairs();
  const auto intersection = demonstrate<SetOperation::intersection>(pairs);
  const auto difference = demonstrate<SetOperation::symmetric_difference>(pairs);
  return "\nMULTISET-KEYS DEMONSTRATION:\n\n" + print_inputs(keys) + "\nIntersection:\n" +
         print(demonstrate<SetOperation::intersection>(keys).keys) + "\nSymmetric Difference:\n" +
         print(demonstrate<SetOperation::symmetric_difference>(keys).keys) +
         "\n\nMULTISET-PAIRS DEMONSTRATION:\n\n" + print_inputs(pairs) + "\nIntersection keys:\n" +
         print(intersection.keys) + "\nIntersection indices:\n" + print(intersection.indices) +
         "\nSymmetric difference keys:\n" + print(difference.keys) +
         "\nSymmetric difference indices:\n" + print(difference.indices);
}

}  // namespace warpath::balanced_path_sets
