// What the executor's tests share: arrays of a device, and launches.
#pragma once

#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace simt_test {

/// Expects success, with the executor's explanation otherwise.
#define EXPECT_CUDA(call) EXPECT_EQ(call, cudaSuccess) << simt::last_diagnostic() << '\n'

template <class T>
class Array {
 public:
  explicit Array(std::size_t n, T value = T{}) : Array(std::vector<T>(n, value)) {}
  explicit Array(const std::vector<T>& values) : n_(values.size()) {
    EXPECT_CUDA(cudaMalloc(&data_, n_ * sizeof(T)));
    EXPECT_CUDA(cudaMemcpy(data_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::vector<T> host() const {
    std::vector<T> values(n_);
    EXPECT_CUDA(cudaMemcpy(values.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t n_;
};

inline cudaLaunchConfig_t shape(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                                cudaStream_t stream = nullptr) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  return config;
}

/// Runs a kernel on the default stream, waits, and expects success.
template <class... P, class... A>
void run(dim3 grid, dim3 block, void (*kernel)(P...), A&&... arguments) {
  const cudaLaunchConfig_t config = shape(grid, block);
  EXPECT_CUDA(cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...));
  EXPECT_CUDA(cudaDeviceSynchronize());
}

/// Runs a kernel that must fail; returns what was said, and clears the error.
template <class... P, class... A>
std::string failure(const cudaLaunchConfig_t& config, void (*kernel)(P...), A&&... arguments) {
  cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...);
  const cudaError_t e = cudaDeviceSynchronize();
  EXPECT_EQ(e, cudaErrorLaunchFailure);
  std::string said = cudaGetErrorString(e);
  EXPECT_CUDA(cudaDeviceReset());
  return said;
}

}  // namespace simt_test
