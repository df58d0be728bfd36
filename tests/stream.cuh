// For tests: a stream of its own, which does not wait for the default stream.
#pragma once

#include <cuda_runtime.h>

#include "core/cuda_check.cuh"

namespace warpath {

class Stream {
 public:
  Stream() { WARPATH_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace warpath
