// Every CUDA call and launch is checked, in every build type; a failure is an exception that says
// which call, where and why.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace warpath {

/// A CUDA call that failed. what() begins with what happened: "<error text> (<error name>);
/// <call> at <file>:<line>".
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  [[nodiscard]] cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

inline void cuda_check(cudaError_t result, const char* call, const char* file, int line) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // an error that is no longer pending cannot be blamed on the next call
  throw CudaError(result, std::string(cudaGetErrorString(result)) + " (" +
                              cudaGetErrorName(result) + "); " + call + " at " + file + ":" +
                              std::to_string(line));
}

}  // namespace warpath

/// Evaluates a CUDA runtime call and throws warpath::CudaError unless it succeeded.
#define WARPATH_CUDA_CHECK(call) ::warpath::cuda_check((call), #call, __FILE__, __LINE__)
