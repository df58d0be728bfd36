// The README's example as another project's program: exit code 0 if the kept elements are right.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "core/cuda_check.cuh"
#include "warp_compaction/warp_compaction.cuh"

struct IsPositive {
  __device__ bool operator()(float x) const { return x > 0; }
};

int main() {
  const std::vector<float> values = {3, -1, 4, -1, 5, -9, 2, -6, 5};
  const std::vector<float> expected = {3, 4, 5, 2, 5};
  const std::int64_t n = static_cast<std::int64_t>(values.size());
  const std::size_t bytes = values.size() * sizeof(float);

  cudaStream_t stream = nullptr;
  WARPATH_CUDA_CHECK(cudaStreamCreate(&stream));
  std::vector<float> result(values.size());
  std::int64_t count = 0;
  {
    warpath::DeviceBuffer<float> in(n, stream), out(n, stream);
    warpath::DeviceCount kept(stream);
    warpath::Workspace workspace;
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(in.data(), values.data(), bytes, cudaMemcpyHostToDevice, stream));
    warpath::warp_compaction::compact_if(in.span(), out.span(), IsPositive{}, kept, workspace,
                                         stream);
    count = kept.get(stream);
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(result.data(), out.data(), bytes, cudaMemcpyDeviceToHost, stream));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  WARPATH_CUDA_CHECK(cudaStreamDestroy(stream));
  result.resize(static_cast<std::size_t>(count));
  std::printf("kept %lld of %lld\n", static_cast<long long>(count), static_cast<long long>(n));
  return result == expected ? 0 : 1;
}
