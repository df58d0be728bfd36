// A problem whose result is one array on the device, of a length that is known beforehand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device_compare.cuh"
#include "harness/technique.hpp"

namespace warpath::experiments {

template <class T, class Function>
__global__ void fill_kernel(T* elements, std::int64_t count, Function function) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    elements[i] = function(i);
  }
}

/// elements[i] becomes function(i), a __device__ function of the index. Waits for the end.
template <class T, class Function>
void fill(DeviceBuffer<T>& elements, const Function& function) {
  launch({1024, 256}, fill_kernel<T, Function>, elements.data(), elements.count(), function);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
}

/// Poisons the result and compares all of it, bit by bit, with what is expected.
template <class T>
class ArrayProblem : public harness::Problem {
 public:
  void poison(cudaStream_t stream) override {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(
        result_.data(), 0xA5, static_cast<std::size_t>(result_.count()) * sizeof(T), stream));
  }

  std::optional<std::string> mismatch(const harness::Parameters&, cudaStream_t stream) override {
    return difference(name_, result_.data(), expected_, stream);
  }

 protected:
  /// `name` is what a wrong result is called.
  ArrayProblem(std::string name, std::int64_t count) : name_(std::move(name)), result_(count) {}
  /// The oracle's answer; as many elements as the result has.
  void expect(const std::vector<T>& expected) { expected_ = upload(expected); }

  std::string name_;
  DeviceBuffer<T> result_;
  DeviceBuffer<T> expected_;
};

}  // namespace warpath::experiments
